import { createHmac, randomBytes } from 'node:crypto';
import type { PersonMark } from './erasure-tables.ts';
import { onceNow, type Store } from './open-store.ts';

/** What an id is of. */
export type IdKind = 'candidate' | 'job-candidate' | 'enrolment' | 'employee' | 'lead';

/** One id of a person; an employee's is `CONNECTION/ID`. */
export interface PersonId {
  kind: IdKind;
  id: string;
}

/** All that is known of which records are a person's, in one tenant. */
export interface PersonIds {
  candidates: string[];
  jobCandidates: string[];
  enrolments: string[];
  employees: { connection: string; id: string }[];
  /** Leads of campaigns that became them: a rule would bring them back. */
  leads?: string[];
  /** Landed records that name them, and go by an id of their own: by stream. */
  records?: Record<string, string[]>;
}

export function sizeOf({ candidates, jobCandidates, enrolments, employees }: PersonIds): number {
  return candidates.length + jobCandidates.length + enrolments.length + employees.length;
}

/** Whom marks are of, beside people: a legal hold on everybody of the tenant. */
export const EVERYBODY = 'everybody';

export function idsOf({ candidates, jobCandidates, enrolments, employees, leads = [] }: PersonIds): PersonId[] {
  return [
    ...candidates.map((id): PersonId => ({ kind: 'candidate', id })),
    ...jobCandidates.map((id): PersonId => ({ kind: 'job-candidate', id })),
    ...enrolments.map((id): PersonId => ({ kind: 'enrolment', id })),
    ...employees.map(({ connection, id }): PersonId => ({ kind: 'employee', id: `${connection}/${id}` })),
    ...leads.map((id): PersonId => ({ kind: 'lead', id })),
  ];
}

/** The keys of this store; the first one is made where there is none. */
async function markKeys(store: Store): Promise<string[]> {
  const read = () => store.kysely.selectFrom('person_mark_keys').select('mark_key').orderBy('made_at').execute();
  const known = await read();
  if (known.length > 0) return known.map((row) => row.mark_key);
  await takeMarkKey(store, randomBytes(32).toString('base64url'));
  return (await read()).map((row) => row.mark_key);
}

/** Of a store that was there before this one. */
export async function takeMarkKey({ kysely, now }: Store, markKey: string): Promise<void> {
  await kysely
    .insertInto('person_mark_keys')
    .values({ mark_key: markKey, made_at: now })
    .onConflict((c) => c.doNothing())
    .execute();
}

function digestOf(key: string, tenantId: string, name: string): string {
  return createHmac('sha256', key).update(`${tenantId}\n${name}`).digest('base64url');
}

/** One text for an id of its kind. */
export function nameOf({ kind, id }: PersonId): string {
  return `${kind} ${id}`;
}

/** Names a record where only equality is asked: what it is, and a keyed hash of its id, as receipts have it. */
export async function recordDigest(store: Store, tenantId: string, of: { kind: string; id: string }): Promise<string> {
  const [key = ''] = await markKeys(store);
  return `${of.kind} ${digestOf(key, tenantId, `${of.kind} ${of.id}`)}`;
}

interface Marking {
  tenantId: string;
  mark: PersonMark;
  by: string;
  about: string;
}

/** Marks a person by all of their ids. Gives the hashes. */
export async function markPerson(
  store: Store,
  { tenantId, mark, by, about }: Marking,
  ids: readonly PersonId[] | typeof EVERYBODY,
): Promise<string[]> {
  const [key = ''] = await markKeys(store);
  const names = ids === EVERYBODY ? [EVERYBODY] : ids.map(nameOf);
  const digests = names.map((name) => digestOf(key, tenantId, name));
  await takeMarks(store, { tenantId, mark, by, about }, digests);
  return digests;
}

/** The same by hashes that are known. */
export async function takeMarks(
  store: Store,
  { tenantId, mark, by, about }: Marking,
  digests: readonly string[],
): Promise<void> {
  if (digests.length === 0) return;
  await store.kysely
    .insertInto('person_marks')
    .values(digests.map((digest) => ({ tenant_id: tenantId, mark, digest, at: onceNow(store), by, about })))
    .onConflict((c) => c.doNothing())
    .execute();
}

/** Takes a legal hold away. */
export async function unmarkPerson(
  store: Store,
  tenantId: string,
  ids: readonly PersonId[] | typeof EVERYBODY,
): Promise<number> {
  const names = ids === EVERYBODY ? [EVERYBODY] : ids.map(nameOf);
  const digests = (await markKeys(store)).flatMap((key) => names.map((name) => digestOf(key, tenantId, name)));
  const { numDeletedRows } = await store.kysely
    .deleteFrom('person_marks')
    .where('tenant_id', '=', tenantId)
    .where('mark', '=', 'legal-hold')
    .where('digest', 'in', digests)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Why nothing of this person may be erased; undefined where it may. */
export async function legalHoldOf(
  store: Store,
  tenantId: string,
  ids: readonly PersonId[],
): Promise<{ by: string; about: string } | undefined> {
  const names = [EVERYBODY, ...ids.map(nameOf)];
  const digests = (await markKeys(store)).flatMap((key) => names.map((name) => digestOf(key, tenantId, name)));
  return store.kysely
    .selectFrom('person_marks')
    .select(['by', 'about'])
    .where('tenant_id', '=', tenantId)
    .where('mark', '=', 'legal-hold')
    .where('digest', 'in', digests)
    .executeTakeFirst();
}

/** The hashes by which the store knows that whoever has these ids was asked to be erased, now or before. */
export async function erasedMarks(store: Store, tenantId: string, ids: readonly PersonId[]): Promise<string[]> {
  const { keys, marks } = await readMarks(store);
  const digests = new Set(keys.flatMap((key) => ids.map((one) => digestOf(key, tenantId, nameOf(one)))));
  const isTheirs = (row: (typeof marks)[number]) => row.tenant_id === tenantId && digests.has(row.digest);
  return marks.filter((row) => row.mark === 'erased' && isTheirs(row)).map(({ digest }) => digest);
}

/** Which of these ids, of one kind, are of people who were erased. */
export async function erasedAmong(
  store: Store,
  tenantId: string,
  ids: readonly PersonId[],
): Promise<ReadonlySet<string>> {
  const isErased = await erasedOf(store, tenantId, ids);
  return new Set(ids.filter(isErased).map(({ id }) => id));
}

/**
 * Tells of each of these ids whether it is of somebody who was erased: a candidate and an application of somebody else
 * may have the same number. Where nobody of the tenant was erased, one look at a small table.
 */
export async function erasedOf(
  { kysely }: Store,
  tenantId: string,
  ids: readonly PersonId[],
): Promise<(one: PersonId) => boolean> {
  if (ids.length === 0) return () => false;
  const keys = await kysely
    .selectFrom('person_mark_keys')
    .select('mark_key')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('person_marks')
          .select('person_marks.digest')
          .where('person_marks.tenant_id', '=', tenantId)
          .where('person_marks.mark', '=', 'erased'),
      ),
    )
    .execute();
  const named = new Map(
    keys.flatMap(({ mark_key: key }) => ids.map((one) => [digestOf(key, tenantId, nameOf(one)), nameOf(one)] as const)),
  );
  const digests = [...named.keys()];
  const erased = new Set<string | undefined>();
  for (let from = 0; from < digests.length; from += MOST_DIGESTS) {
    const rows = await kysely
      .selectFrom('person_marks')
      .select('digest')
      .where('tenant_id', '=', tenantId)
      .where('mark', '=', 'erased')
      .where('digest', 'in', digests.slice(from, from + MOST_DIGESTS))
      .execute();
    for (const { digest } of rows) erased.add(named.get(digest));
  }
  return (one) => erased.has(nameOf(one));
}

const MOST_DIGESTS = 1_000;

/** As for a restored store: hashes and the keys that they were made with. */
export async function readMarks({ kysely }: Store) {
  return {
    keys: (await kysely.selectFrom('person_mark_keys').select('mark_key').execute()).map((row) => row.mark_key),
    marks: await kysely.selectFrom('person_marks').selectAll().execute(),
  };
}
