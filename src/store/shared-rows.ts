import { nameHire } from '../hire/hire.ts';
import type { PersonIds } from './person-marks.ts';

// What an erasure leaves of rows that the person shares with others.

type Row = Record<string, unknown>;

export const employeeIds = ({ employees }: PersonIds): string[] => employees.map(({ id }) => id);

export function allIds(of: PersonIds): string[] {
  return [...of.candidates, ...of.jobCandidates, ...of.enrolments, ...employeeIds(of)];
}

/** By the names of ids in deliveries and holds: somebody else may have the same number. */
function idsByName(of: PersonIds): Record<string, readonly string[]> {
  return {
    candidateId: of.candidates,
    jobCandidateId: of.jobCandidates,
    onboardingCandidateId: of.enrolments,
    employeeId: employeeIds(of),
  };
}

export function keepOthers(row: Row, of: PersonIds): Row | 'gone' | undefined {
  const ids = JSON.parse(String(row['ids'])) as Record<string, string[]>;
  const own = idsByName(of);
  if (!Object.entries(own).some(([kind, some]) => ids[kind]?.some((id) => some.includes(id)))) return undefined;
  const left = Object.fromEntries(
    Object.entries(ids).map(([kind, some]) => [kind, some.filter((id) => !own[kind]?.includes(id))]),
  );
  // A list of applications names the same people as the list of candidates beside it.
  if (Object.keys(own).every((kind) => (left[kind] ?? []).length === 0)) return 'gone';
  return { ids: JSON.stringify(left), body: '', last_error: null };
}

/** A body that mentions them is emptied: only a person who looks at an unknown event needs it. */
export function keepBody({ body }: Row, of: PersonIds): Row | undefined {
  return withoutWords(String(body), allIds(of)) === body ? undefined : { body: '' };
}

export function keepHold(row: Row, of: PersonIds & { tenantId: string }): Row | 'gone' | undefined {
  const { tenantId } = of;
  if (row['tenant_id'] !== tenantId) return withoutHires(row, tenantId, (id) => of.jobCandidates.includes(id));
  if (of.jobCandidates.includes(String(row['job_candidate_id']))) return 'gone';
  const own = idsByName(of);
  const found = new Set<string>();
  const isTheirs = (name: string, id: unknown): boolean => {
    const is = own[name.replace(/s$/, '')]?.includes(String(id)) === true;
    if (is) found.add(String(id));
    return is;
  };
  const details = withoutNamed(JSON.parse(String(row['details'])) as Row, { tenantId, within: tenantId }, isTheirs);
  if (found.size === 0) return undefined;
  const given = row['answer_arguments'];
  return {
    details: JSON.stringify(details),
    message: withoutWords(String(row['message']), [...found]),
    ...(typeof given === 'string' ? { answer_arguments: JSON.stringify(without(JSON.parse(given), found)) } : {}),
    history: JSON.stringify(without(JSON.parse(String(row['history'])), found)),
  };
}

/**
 * Another tenant's question without the hires of this one that it names; undefined if it names none. Its own hire and
 * the employee in its HR system stay: they are that tenant's, and nobody could answer without them.
 */
export function withoutHires(row: Row, tenantId: string, isTheirs: (id: string) => boolean): Row | undefined {
  const found = new Set<string>();
  const details = withoutNamed(JSON.parse(String(row['details'])) as Row, { tenantId, within: '' }, (name, id) => {
    const is = name === 'jobCandidateId' && id !== ERASED && isTheirs(String(id));
    if (is) found.add(String(id));
    return is;
  });
  if (found.size === 0) return undefined;
  const message = [...found].reduce(
    (left, jobCandidateId) =>
      left.replaceAll(nameHire({ tenantId, jobCandidateId, period: 1 }), `an erased hire of tenant ${tenantId}`),
    String(row['message']),
  );
  return { details: JSON.stringify(details), message };
}

/**
 * Facts without the ids that are the person's by the names they have there, at any depth. A hire of another tenant
 * stays as it is: its numbers may be somebody else's, and that tenant keeps the person. `within`: whose facts they are,
 * as far as they do not say so themselves.
 */
function withoutNamed(
  facts: Row,
  { tenantId, within }: { tenantId: string; within: unknown },
  isTheirs: (name: string, id: unknown) => boolean,
): Row {
  const whose = facts['tenantId'] ?? within;
  const isNamed = (name: string, id: unknown): boolean => whose === tenantId && isTheirs(name, id);
  const isFacts = (value: unknown): value is Row =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const inside = (value: unknown): unknown =>
    isFacts(value) ? withoutNamed(value, { tenantId, within: whose }, isTheirs) : value;
  const left = (name: string, value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter((id) => !isNamed(name, id)).map(inside);
    return isNamed(name, value) ? ERASED : inside(value);
  };
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, left(name, value)]));
}

export function keepTally({ tally }: Row, of: PersonIds): Row {
  return { tally: JSON.stringify(without(JSON.parse(String(tally)), new Set(employeeIds(of)))) };
}

/** All ids that an act may name: a record that is read again may be of any stream. */
export function namedInActs(of: PersonIds): string[] {
  return [...allIds(of), ...(of.leads ?? []), ...Object.values(of.records ?? {}).flat()];
}

export function keepAct({ act, details }: Row, of: PersonIds): Row | undefined {
  const left = actWithout(String(act), String(details), of);
  return left === details ? undefined : { details: left, salt: null };
}

function actWithout(act: string, details: string, of: PersonIds): string {
  if (act === 'records-retried') return withoutWords(details, namedInActs(of));
  // Beside the application these hold numbers that name nobody.
  if (act === 'events-replayed')
    return of.jobCandidates.reduce(
      (left, id) => left.replaceAll(`"jobCandidateId":${JSON.stringify(id)}`, `"jobCandidateId":"${ERASED}"`),
      details,
    );
  const isOfHires = ['hire-started', 'went-live', 'plan-applied'].includes(act);
  return withoutWords(details, isOfHires ? of.jobCandidates : allIds(of));
}

const ERASED = 'erased';

function withoutWords(text: string, ids: readonly string[]): string {
  return ids.reduce((left, id) => {
    const word = id.replaceAll(/[^\w-]/g, String.raw`\$&`);
    return left.replaceAll(new RegExp(`(?<![\\w-])${word}(?![\\w-])`, 'g'), ERASED);
  }, text);
}

/** A JSON value without these texts, wherever they stand in lists or as names. */
function without(value: unknown, ids: ReadonlySet<string>): unknown {
  if (Array.isArray(value))
    return value.filter((one) => typeof one !== 'string' || !ids.has(one)).map((one) => without(one, ids));
  if (typeof value !== 'object' || value === null) return value;
  const left = Object.entries(value).filter(([name]) => !ids.has(name));
  return Object.fromEntries(left.map(([name, one]) => [name, without(one, ids)]));
}

export function keepPurged(records: string, ids: readonly string[]): Row | 'gone' | undefined {
  const alike = JSON.parse(records) as { ids: string[] }[];
  if (!alike.some((one) => one.ids.some((id) => ids.includes(id)))) return undefined;
  const left = alike
    .map((one) => ({ ...one, ids: one.ids.filter((id) => !ids.includes(id)) }))
    .filter((one) => one.ids.length > 0);
  return left.length === 0 ? 'gone' : { records: JSON.stringify(left) };
}

export function keepPage(list: string, known: unknown, ids: readonly string[]): Row {
  const left = (JSON.parse(list) as string[]).filter((id) => !ids.includes(id));
  if (typeof known !== 'string') return { ids: JSON.stringify(left) };
  const kept = JSON.parse(known) as { records: [string, string, ...unknown[]][] };
  const records = kept.records.filter(([, id]) => !ids.includes(id));
  return { ids: JSON.stringify(left), known: JSON.stringify({ ...kept, records }) };
}
