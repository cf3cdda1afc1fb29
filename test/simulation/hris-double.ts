import { AsyncLocalStorage } from 'node:async_hooks';
import { ConnectorError } from '../../src/errors.ts';
import type { EmployeeFields, EmployeeRef, FindKey, Found } from '../../src/hire/hire.ts';
import type { CreateResult, EmployeeRecord, Employees, HrisConnection, WriteOptions } from '../../src/hris/port.ts';
import type { Random } from '../../src/sandbox/random.ts';
import type { Process } from './processes.ts';
import type { Timeline } from './timeline.ts';

/**
 * Strict: a unique reference column; it ends employments. Careless: neither, no unique key, reads two seconds late.
 * Replica: strict, and read 45 seconds late. Roster: files, where creates are answered later, and what changed shows
 * with the next roster.
 */
export type HrisProfile = 'strict' | 'careless' | 'replica' | 'roster';

export interface Employee {
  id: string;
  number: string;
  fields: EmployeeFields;
  /** What the caller gave; shown to nobody by a careless HRIS, but the oracle reads it. */
  reference: string | undefined;
  /** Who really stands behind the record. */
  human: string;
  /** The family name at its creation. */
  madeAs: string;
  createdAt: number;
  /** `YYYY-MM-DD`, once the employment is ended. */
  lastDay?: string;
  /** As the last roster had it, and when that was. */
  roster?: { at: number; fields: EmployeeFields; lastDay: string | undefined };
  /** When the result of its request came. */
  answeredAt?: number;
}

export interface HrisDouble {
  profile: HrisProfile;
  employees: Employee[];
  /** Chance of each fault, zero once it is calm. */
  faults: HrisFaults;
  /** Somebody's record that was there before. */
  add(human: string, fields: EmployeeFields): Employee;
  connect(process: Process): HrisConnection;
}

export interface HrisFaults {
  before: number;
  answerLost: number;
  late: number;
  read: number;
}

export interface HrisWorld {
  /** Searches by name find somebody; without it, nobody has the same name as anybody. */
  findsNames: boolean;
  timeline: Timeline;
  random: Random;
  pause: (process: Process, point: string) => Promise<void> | undefined;
  /** Who stands behind our reference. */
  humanOf: (reference: string) => string;
  /** Told of whom an employee is made at this moment. */
  created: (human: string) => void;
  /** Told of each record that is written into, besides its making. */
  touched: (employee: Employee, verb: string) => void;
}

const LAG_MS: Record<HrisProfile, number> = { strict: 0, careless: 2_000, replica: 45_000, roster: 0 };
const ROSTER_MS = 90_000;
/** So long an employee may be there and not be shown. */
export const UNSEEN_MS: Record<HrisProfile, number> = { ...LAG_MS, roster: ROSTER_MS };
const RESULTS_MS = 60_000;
const GIVE_UP_MS = 10_000;

export function createHrisDouble(profile: HrisProfile, world: HrisWorld): HrisDouble {
  const hris: HrisDouble = {
    profile,
    employees: [],
    faults: { before: 0, answerLost: 0, late: 0, read: 0 },
    add: (human, fields) => insert(hris, world, human, fields, undefined),
    connect: (process) => createConnection(hris, world, process),
  };
  return hris;
}

function insert(
  hris: HrisDouble,
  { timeline }: HrisWorld,
  human: string,
  fields: EmployeeFields,
  reference: string | undefined,
): Employee {
  const count = hris.employees.length + 1;
  const employee = {
    id: `e${count}`,
    number: String(count + 122).padStart(6, '0'),
    fields: { ...fields },
    reference,
    human,
    madeAs: String(fields['familyName']),
    createdAt: timeline.now(),
  };
  hris.employees.push(employee);
  return employee;
}

function createConnection(hris: HrisDouble, world: HrisWorld, process: Process): HrisConnection {
  const { timeline } = world;
  const keepsReference = hris.profile !== 'careless';
  const isRoster = hris.profile === 'roster';
  const lagMs = LAG_MS[hris.profile];
  const visible = (): Employee[] =>
    hris.employees.filter((one) => Math.max(one.createdAt + lagMs, one.answeredAt ?? 0) <= timeline.now());
  const change = (id: string, verb: string, execute: (found: Employee) => void): void => {
    const found = hris.employees.find((one) => one.id === id);
    if (found === undefined) return;
    world.touched(found, verb);
    execute(found);
  };
  /** In the course of whoever asked for it. */
  const write = <T>(options: WriteOptions, execute: () => T): Promise<T> =>
    writeTo(hris, world, process, options, AsyncLocalStorage.bind(execute));
  const employees: Employees = {
    find: (key, signal) =>
      readFrom(hris, world, process, signal, () =>
        search(visible(), key, { keepsReference, findsNames: world.findsNames }),
      ),
    read: (id, signal) =>
      readFrom(hris, world, process, signal, () => {
        const found = visible().find((one) => one.id === id);
        return found === undefined ? undefined : shown(found, timeline.now(), hris.profile);
      }),
    create: (fields, reference, options) =>
      write(options, (): CreateResult => {
        const made = keepsReference ? hris.employees.find((one) => one.reference === reference) : undefined;
        if (made !== undefined && (made.answeredAt ?? 0) <= timeline.now())
          throw alreadyExists(isRoster ? made : undefined);
        const human = world.humanOf(reference);
        const employee = made ?? insert(hris, world, human, fields, reference);
        if (made === undefined) world.created(human);
        if (!isRoster) return { kind: 'created', ref: refOf(employee) };
        employee.answeredAt ??= timeline.now() + 2_000 + world.random() ** 2 * RESULTS_MS;
        return { kind: 'pending', ticket: reference, nextCheckMs: 5_000 };
      }),
    update: (id, fields, options) =>
      write(options, () => {
        change(id, 'update', (found) => Object.assign(found.fields, fields));
      }),
    ...(keepsReference && {
      rehire: (id, fields, options) =>
        write(options, () => {
          change(id, 'rehire', (found) => {
            delete found.lastDay;
            Object.assign(found.fields, fields);
          });
        }),
      terminate: (id, lastDay, options) =>
        write(options, () => {
          change(id, 'terminate', (found) => Object.assign(found, { lastDay }));
        }),
    }),
  };
  return {
    capabilities: { storesReference: keepsReference, readLagMs: lagMs, shownWithinMs: UNSEEN_MS[hris.profile] },
    employees,
    ...(isRoster && {
      pending: {
        resolve: (ticket, signal) =>
          readFrom(hris, world, process, signal, (): CreateResult => {
            const found = visible().find((one) => one.reference === ticket);
            if (found === undefined) return { kind: 'pending', ticket, nextCheckMs: 5_000 };
            return { kind: 'created', ref: refOf(found) };
          }),
      },
    }),
    probe: async () => ({ ok: true }),
    close: async () => undefined,
  };
}

function shown(employee: Employee, now: number, profile: HrisDouble['profile']): EmployeeRecord {
  const today = new Date(now).toISOString().slice(0, 10);
  const { fields, lastDay } = profile === 'roster' ? lastRoster(employee, now) : employee;
  const former = lastDay !== undefined && lastDay < today;
  const reference = profile === 'careless' ? undefined : employee.reference;
  return { ref: refOf(employee), fields: { ...fields }, former, ...(reference !== undefined && { reference }) };
}

/** Rosters are written by the clock; whoever was made since stands in the results as they were asked for. */
function lastRoster(employee: Employee, now: number): { fields: EmployeeFields; lastDay?: string | undefined } {
  const at = now - (now % ROSTER_MS);
  if (employee.roster === undefined || employee.roster.at < at)
    employee.roster = { at, fields: { ...employee.fields }, lastDay: employee.lastDay };
  return employee.roster;
}

function search(
  employees: readonly Employee[],
  key: FindKey,
  { keepsReference, findsNames }: { keepsReference: boolean; findsNames: boolean },
): Found {
  const fits: Record<FindKey['by'], (one: Employee) => boolean> = {
    reference: (one) => keepsReference && key.by === 'reference' && one.reference === key.value,
    number: (one) => key.by === 'number' && one.number === key.value,
    email: (one) => key.by === 'email' && one.fields['email'] === key.value,
    person: () => false,
    name: ({ fields: { givenName, familyName } }) =>
      findsNames && key.by === 'name' && `${String(givenName)} ${String(familyName)}` === key.fullName,
  };
  const refs = employees.filter(fits[key.by]).map(refOf);
  const [first, ...others] = refs;
  if (first === undefined)
    return { kind: 'none', trusted: key.by === 'reference' ? keepsReference : key.by !== 'person' };
  return others.length === 0 ? { kind: 'one', ref: first, by: key.by } : { kind: 'many', refs, by: key.by };
}

function refOf({ id, number }: Employee): EmployeeRef {
  return { id, number };
}

async function readFrom<T>(
  { faults }: HrisDouble,
  { timeline, random, pause }: HrisWorld,
  process: Process,
  signal: AbortSignal,
  read: () => T,
): Promise<T> {
  await pause(process, 'hris.read/before');
  return new Promise((resolve, reject) => {
    timeline.at(timeline.now() + 1 + random() * 30, () => {
      const failed = random() < faults.read || signal.aborted;
      const value = failed ? undefined : read();
      process.later(1 + random() * 30, () => (failed ? reject(unreachable()) : resolve(value as T)));
    });
  });
}

/**
 * From the first byte on the write is the HRIS's. It carries the guard's bound, as the sql adapter's statement does.
 */
async function writeTo<T>(
  { faults }: HrisDouble,
  { timeline, random, pause }: HrisWorld,
  process: Process,
  write: WriteOptions,
  execute: () => T,
): Promise<T> {
  await pause(process, 'hris.write/before');
  write.beforeSend();
  const endsAt = timeline.now() + (write.remainingMs?.() ?? GIVE_UP_MS);
  const drawn = random();
  const notDone = drawn < faults.before;
  const lost = drawn < faults.before + faults.answerLost;
  const late = !lost && drawn < faults.before + faults.answerLost + faults.late;
  return new Promise((resolve, reject) => {
    const givesUp = process.later(GIVE_UP_MS, () => reject(noAnswer()));
    timeline.at(timeline.now() + (late ? GIVE_UP_MS + random() * 10_000 : 1 + random() * 40), () => {
      const outcome = notDone || timeline.now() >= endsAt ? { error: unreachable() } : attempt(execute);
      if (late || (lost && !notDone)) return;
      process.later(1 + random() * 40, () => {
        givesUp();
        if ('error' in outcome) reject(outcome.error as Error);
        else resolve(outcome.value);
      });
    });
  });
}

function attempt<T>(execute: () => T): { value: T } | { error: unknown } {
  try {
    return { value: execute() };
  } catch (error) {
    return { error };
  }
}

function unreachable(): ConnectorError {
  return new ConnectorError({ code: 'HRIS_UNREACHABLE', action: 'retry', message: 'The HRIS is away for a moment.' });
}

function noAnswer(): ConnectorError {
  return new ConnectorError({ code: 'HRIS_NO_ANSWER', action: 'unknown', message: 'No answer came from the HRIS.' });
}

/** An HR system that takes files names the employee. */
function alreadyExists(made: Employee | undefined): ConnectorError {
  return new ConnectorError({
    code: 'ALREADY_EXISTS',
    action: 'ignore',
    message: 'The reference is taken.',
    ...(made && { details: { ...refOf(made) } }),
  });
}
