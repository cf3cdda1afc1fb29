import type { EmployeeFields } from '../../src/hire/hire.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import type { CompiledField } from '../../src/mapping/compile-rule.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import { giveNames, isGiven, readNames, type UniqueName } from '../../src/store/unique-names.ts';
import { searchMs } from './read-employee.ts';
import { type HireContext, reread } from './with-hire.ts';

/*
 * User names and work e-mails made by rules with `unique`. They are made up, so nobody is searched by them: a hire
 * looks and compares with its other fields, and these names are added when a new employee is made.
 */

/** The highest number to append; beyond it a person is asked. */
const MOST = 99;

/** Splits mapped fields into plain values and base names whose final values must be unique. */
export function apartFromNames(
  { fields: rules }: Mapping,
  all: EmployeeFields,
): { fields: EmployeeFields; wanted: WantedName[] } {
  const fields = { ...all };
  const wanted = rules.flatMap((rule): WantedName[] => {
    const base = fields[rule.target];
    if (rule.unique !== true || base === undefined || base === null) return [];
    delete fields[rule.target];
    return [{ rule, base: String(base) }];
  });
  return { fields, wanted };
}

/** The rule of a name, and the base it gives for the person. */
export interface WantedName {
  rule: CompiledField;
  base: string;
}

/** A chosen name with its target field in the rules. */
interface ChosenName extends UniqueName {
  target: string;
}

interface Chosen {
  names: ChosenName[];
  /** Names the hire got before, by field. */
  before: ReadonlyMap<string, string>;
  isKept: boolean;
}

/** Names for a new employee: those the hire got before, or else the first free ones, which are stored. */
export async function nameEmployee(hire: HireContext, wanted: readonly WantedName[]): Promise<Named | Held> {
  const chosen = await choose(hire, wanted);
  if ('verdict' in chosen) return chosen;
  const { connection } = hire.connection.tenant.hris;
  if (!chosen.isKept) await giveNames(hire.store, connection, hire.ref, chosen);
  return namedAs(chosen);
}

/** Returns what `nameEmployee` would; stores nothing. */
export async function foreseeNames(hire: HireContext, wanted: readonly WantedName[]): Promise<Named | Held> {
  const chosen = await choose(hire, wanted);
  return 'verdict' in chosen ? chosen : namedAs(chosen);
}

export interface Named {
  verdict: 'named';
  names: EmployeeFields;
}

function namedAs({ names }: Chosen): Named {
  return { verdict: 'named', names: Object.fromEntries(names.map(({ target, name }) => [target, name])) };
}

/** Uses the same number for all names of a hire, so that user name and address match. */
async function choose(hire: HireContext, wanted: readonly WantedName[]): Promise<Chosen | Held> {
  const own = new Set(wanted.map(({ rule }) => fieldOf(hire, rule)));
  const before = new Map([...(await readNames(hire.store, hire.ref))].filter(([field]) => own.has(field)));
  const kept = await keptNames(hire, wanted, before);
  if (kept !== undefined) return { names: kept, before, isKept: true };
  for (let number = 1; number <= MOST; number += 1) {
    const names = wanted.map((one) => numbered(hire, one, number));
    if (await areFree(hire, names)) return { names, before, isKept: false };
  }
  const fields = wanted.map(({ rule }) => rule.target);
  return held('NAMES_USED_UP', { jobCandidateId: hire.ref.jobCandidateId, fields, most: MOST });
}

/**
 * Names the hire got before, if the rules still give them and nobody took one. They also stay once a create was sent
 * with them, even by another worker a moment ago: an employee with these names may be the one it made.
 */
async function keptNames(
  hire: HireContext,
  wanted: readonly WantedName[],
  before: ReadonlyMap<string, string>,
): Promise<ChosenName[] | undefined> {
  const kept = wanted.flatMap(({ rule }) => nameOf(hire, rule, before.get(fieldOf(hire, rule))) ?? []);
  if (kept.length < wanted.length) return undefined;
  if (mayHaveLeft(hire)) return kept;
  const fits = Array.from({ length: MOST }, (_, at) => at + 1).some((number) =>
    wanted.every((one) => numbered(hire, one, number).name === before.get(fieldOf(hire, one.rule))),
  );
  if (fits && (await areFree(hire, kept))) return kept;
  return mayHaveLeft(await reread(hire)) ? kept : undefined;
}

function mayHaveLeft({ creation, row }: HireContext): boolean {
  return creation?.outcome === 'open' || creation?.outcome === 'done' || row.employee_id !== null;
}

function nameOf(hire: HireContext, rule: CompiledField, name: string | undefined): ChosenName | undefined {
  const { target, def } = rule;
  return name === undefined ? undefined : { target, field: fieldOf(hire, rule), place: def.place ?? target, name };
}

/** A hire has names in each system; names in a destination are stored under the destination's name. */
function fieldOf({ connection: { tenant } }: HireContext, { target }: CompiledField): string {
  return tenant.madeIn === undefined ? target : `${tenant.hris.connection}/${target}`;
}

/**
 * Appends the number, as in `ana.silva2`, before the @ of an address. Cuts the text before the number if the field is
 * too short.
 */
function numbered(hire: HireContext, { rule, base }: WantedName, number: number): ChosenName {
  const [local = '', ...domain] = base.split('@');
  const end = [number === 1 ? '' : String(number), ...domain].join('@');
  const room = (rule.def.maxLength ?? Number.POSITIVE_INFINITY) - end.length;
  const name = `${local.slice(0, Math.max(1, room))}${end}`;
  return { target: rule.target, field: fieldOf(hire, rule), place: rule.def.place ?? rule.target, name };
}

/** Whether no other hire was given one of the names and no employee of the HR system has one. */
async function areFree({ deps, store, ref, connection }: HireContext, names: readonly ChosenName[]): Promise<boolean> {
  const { hris, tenant } = connection;
  if (await isGiven(store, tenant.hris.connection, ref, names)) return false;
  const { isTaken } = hris.employees;
  if (isTaken === undefined) throw new Error('The HR system cannot be asked who has a name.');
  const signal = AbortSignal.timeout(searchMs({ deps }));
  const taken = await Promise.all(names.map(({ target, name }) => isTaken(target, name, signal)));
  return !taken.includes(true);
}
