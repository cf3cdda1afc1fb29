import type { EmployeeFields } from '../hire/employee.ts';
import { evaluateMapping } from './evaluate.ts';
import { evaluateBack } from './evaluate-back.ts';
import type { Mapping } from './load-mapping.ts';
import type { MappingSources } from './read-source.ts';

/** What another mapping would change of one field, over all records. */
export interface FieldDifference {
  field: string;
  /** Masked where people see them. */
  sensitive: boolean;
  /** Records that get another value. */
  count: number;
  /** Records that get none any more for want of a valid one: a hire waits, a landed record is left out. */
  broken: number;
  /** The first few; values are personal data. */
  samples: { record: string; old: unknown; new: unknown }[];
}

export interface MappingDifference {
  compared: number;
  /** Records of which at least one field differs. */
  changed: number;
  fields: FieldDifference[];
}

const MOST_SAMPLES = 3;

/** Evaluates every record by both mappings, once each. Pure; records may come one by one. */
export async function compareMappings(
  before: Mapping,
  after: Mapping,
  records: Iterable<SourceRecord> | AsyncIterable<SourceRecord>,
): Promise<MappingDifference> {
  const found = new Map<string, FieldDifference>();
  const sensitive = new Set([...sensitiveNames(before), ...sensitiveNames(after)]);
  const counts = { compared: 0, changed: 0 };
  for await (const { id, ...record } of records) {
    counts.compared += 1;
    const differing = compareRecord(evaluate(before, record), evaluate(after, record));
    if (differing.length > 0) counts.changed += 1;
    for (const one of differing) count(found, { ...one, record: id, sensitive: sensitive.has(one.field) });
  }
  return { ...counts, fields: [...found.values()].toSorted((a, b) => b.count - a.count) };
}

/** One record to be mapped. */
export interface SourceRecord {
  id: string;
  sources: MappingSources;
  /** What the HR system holds of it, where values go back to the partner too. */
  held?: EmployeeFields;
}

interface Differing {
  field: string;
  old: unknown;
  new: unknown;
  broken: boolean;
}

type Evaluated = ReturnType<typeof evaluateMapping>;

/** Both ways where the record says what the HR system holds. */
function evaluate(mapping: Mapping, { sources, held }: Omit<SourceRecord, 'id'>): Evaluated {
  const there = evaluateMapping(mapping, sources);
  if (held === undefined) return there;
  const back = evaluateBack(mapping, held);
  const values = back.values.map(({ field, path, value }) => [backName(field, path.text), value] as const);
  const places = new Map(mapping.back.map(({ target, from }) => [target, from[0]?.text ?? '']));
  const problems = back.problems.map((one) => ({ ...one, field: backName(one.field, places.get(one.field) ?? '') }));
  return { fields: { ...there.fields, ...Object.fromEntries(values) }, problems: [...there.problems, ...problems] };
}

/** How a value that goes to the partner is told apart from the same field's way to the HR system. */
function backName(field: string, place: string): string {
  return `${field} -> ${place}`;
}

function sensitiveNames({ fields, back }: Mapping): string[] {
  const there = fields.filter((field) => field.sensitive).map(({ target }) => target);
  const here = back.filter((field) => field.sensitive);
  return [...there, ...here.map(({ target, from }) => backName(target, from[0]?.text ?? ''))];
}

function compareRecord(old: Evaluated, now: Evaluated): Differing[] {
  const names = new Set([...Object.keys(old.fields), ...Object.keys(now.fields)]);
  const failed = new Set(old.problems.map(({ field }) => field));
  const broken = now.problems.filter(({ field }) => !failed.has(field));
  const differing: Differing[] = broken.map(({ field, code }) => ({
    field,
    old: old.fields[field] ?? null,
    new: `[${code}]`,
    broken: true,
  }));
  for (const field of names) {
    const [one, other] = [old.fields[field] ?? null, now.fields[field] ?? null];
    if (isSame(one, other) || broken.some((problem) => problem.field === field)) continue;
    differing.push({ field, old: one, new: other, broken: false });
  }
  return differing;
}

/** Most values are text, and comparing those costs nothing. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || (Array.isArray(one) && JSON.stringify(one) === JSON.stringify(other));
}

function count(
  found: Map<string, FieldDifference>,
  { field, record, sensitive, broken, ...values }: Differing & { record: string; sensitive: boolean },
): void {
  const known = found.get(field) ?? { field, sensitive, count: 0, broken: 0, samples: [] };
  found.set(field, known);
  known.count += 1;
  if (broken) known.broken += 1;
  if (known.samples.length < MOST_SAMPLES) known.samples.push({ record, ...values });
}
