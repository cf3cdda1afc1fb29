import { createHmac, randomBytes } from 'node:crypto';
import { changedRows, has, onceNow, put, readInBatches, type Store } from './open-store.ts';
import type { Row } from './schema.ts';

export type IdKind = 'candidate' | 'job-candidate' | 'enrolment' | 'employee' | 'lead' | 'record';

/** One id of a person; an employee's id is `CONNECTION/ID`, that of a landed record of its own `STREAM/ID`. */
export interface PersonId {
  kind: IdKind;
  id: string;
}

/** All known ids of one person's records in one tenant. */
export interface PersonIds {
  candidates: string[];
  jobCandidates: string[];
  enrolments: string[];
  /** `made`: hirebridge made the record, so it has the person's reference. */
  employees: { connection: string; id: string; made?: boolean }[];
  /** Leads of campaigns that became this person: without them a rule would import the person again. */
  leads?: string[];
  /** By stream: landed records that name the person and have ids of their own. */
  records?: Record<string, string[]>;
}

export function sizeOf({ candidates, jobCandidates, enrolments, employees }: PersonIds): number {
  return candidates.length + jobCandidates.length + enrolments.length + employees.length;
}

/** The id for marks on all people of a tenant, as in a legal hold on the whole tenant. */
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

/** The same with the ids of landed records that name them, which an erasure marks, and a legal hold does not. */
export function allIdsOf(of: PersonIds): PersonId[] {
  const records = Object.entries(of.records ?? {}).flatMap(([stream, ids]) => ids.map((id) => `${stream}/${id}`));
  return [...idsOf(of), ...records.map((id): PersonId => ({ kind: 'record', id }))];
}

/** The person whose ids these are: turns `allIdsOf` round. */
export function personOf(ids: readonly PersonId[]): PersonIds {
  const of = (kind: IdKind): string[] => ids.filter((one) => one.kind === kind).map(({ id }) => id);
  const split = (id: string): [string, string] => [id.slice(0, id.indexOf('/')), id.slice(id.indexOf('/') + 1)];
  const records = Map.groupBy(of('record').map(split), ([stream]) => stream);
  return {
    candidates: of('candidate'),
    jobCandidates: of('job-candidate'),
    enrolments: of('enrolment'),
    employees: of('employee').map((one) => ({ connection: split(one)[0], id: split(one)[1] })),
    leads: of('lead'),
    ...(records.size === 0
      ? {}
      : { records: Object.fromEntries([...records].map(([stream, some]) => [stream, some.map(([, id]) => id)])) }),
  };
}

/** The hash keys of this store; makes the first key if there is none. */
async function markKeys(store: Store): Promise<string[]> {
  const read = () => store.kysely.selectFrom('person_mark_keys').select('mark_key').orderBy('made_at').execute();
  const known = await read();
  if (known.length > 0) return known.map((row) => row.mark_key);
  await takeMarkKey(store, randomBytes(32).toString('base64url'));
  return (await read()).map((row) => row.mark_key);
}

/** Adds the hash key of a store that this one replaced. */
export async function takeMarkKey({ kysely, now }: Store, markKey: string): Promise<void> {
  await put({ kysely }, 'person_mark_keys', [{ mark_key: markKey, made_at: now }], { key: ['mark_key'], set: [] });
}

function digestOf(key: string, tenantId: string, name: string): string {
  return createHmac('sha256', key).update(`${tenantId}\n${name}`).digest('base64url');
}

/** With every key of this store. */
async function digestsOf(store: Store, tenantId: string, names: readonly string[]): Promise<string[]> {
  return (await markKeys(store)).flatMap((key) => names.map((name) => digestOf(key, tenantId, name)));
}

function namesOf(ids: readonly PersonId[] | typeof EVERYBODY): string[] {
  return ids === EVERYBODY ? [EVERYBODY] : ids.map(nameOf);
}

/** One text for a kind and an id. */
export function nameOf({ kind, id }: PersonId): string {
  return `${kind} ${id}`;
}

/** A stand-in for a record that can only be compared: its kind and a keyed hash of its id, as in receipts. */
export async function recordDigest(store: Store, tenantId: string, of: { kind: string; id: string }): Promise<string> {
  const [key = ''] = await markKeys(store);
  return `${of.kind} ${digestOf(key, tenantId, `${of.kind} ${of.id}`)}`;
}

interface Marking {
  tenantId: string;
  mark: Row<'person_marks'>['mark'];
  by: string;
  about: string;
}

/** Marks a person by all of their ids. Returns the hashes. */
export async function markPerson(
  store: Store,
  { tenantId, mark, by, about }: Marking,
  ids: readonly PersonId[] | typeof EVERYBODY,
): Promise<string[]> {
  const [key = ''] = await markKeys(store);
  const digests = namesOf(ids).map((name) => digestOf(key, tenantId, name));
  await takeMarks(store, { tenantId, mark, by, about }, digests);
  return digests;
}

/** The same for hashes that are known already. */
export async function takeMarks(
  store: Store,
  { tenantId, mark, by, about }: Marking,
  digests: readonly string[],
): Promise<void> {
  const rows = digests.map((digest) => ({ tenant_id: tenantId, mark, digest, at: onceNow(store), by, about }));
  await put(store, 'person_marks', rows, { key: ['tenant_id', 'mark', 'digest'], set: [] });
}

/** Takes over the legal holds of a store that this one replaces. */
export async function takeLegalHolds(
  store: Store,
  { keys, marks }: Awaited<ReturnType<typeof readMarks>>,
): Promise<void> {
  for (const key of keys) await takeMarkKey(store, key);
  const holds = marks.filter(({ mark }) => mark === 'legal-hold');
  await put(store, 'person_marks', holds, { key: ['tenant_id', 'mark', 'digest'], set: [] });
}

/** Removes a legal hold. */
export async function unmarkPerson(
  store: Store,
  tenantId: string,
  ids: readonly PersonId[] | typeof EVERYBODY,
): Promise<number> {
  const digests = await digestsOf(store, tenantId, namesOf(ids));
  const marks = store.kysely.deleteFrom('person_marks').where(has({ tenant_id: tenantId, mark: 'legal-hold' }));
  return changedRows(marks.where('digest', 'in', digests));
}

/** Why nothing of this person may be erased; undefined if it may. */
export async function legalHoldOf(
  store: Store,
  tenantId: string,
  ids: readonly PersonId[],
): Promise<{ by: string; about: string } | undefined> {
  const holds = await holdsNamed(store, tenantId, [EVERYBODY, ...namesOf(ids)]);
  return holds.select(['by', 'about']).executeTakeFirst();
}

/** The hold that would end where these ids are released. */
export async function ownHoldOf(
  store: Store,
  tenantId: string,
  ids: readonly PersonId[] | typeof EVERYBODY,
): Promise<{ by: string; about: string; at: number } | undefined> {
  const holds = await holdsNamed(store, tenantId, namesOf(ids));
  return holds.select(['by', 'about', 'at']).orderBy('at').executeTakeFirst();
}

async function holdsNamed(store: Store, tenantId: string, names: readonly string[]) {
  const marks = store.kysely.selectFrom('person_marks').where(has({ tenant_id: tenantId, mark: 'legal-hold' }));
  return marks.where('digest', 'in', await digestsOf(store, tenantId, names));
}

/** Hashes of these ids whose person was asked to be erased, now or before. */
export async function erasedMarks(store: Store, tenantId: string, ids: readonly PersonId[]): Promise<string[]> {
  const { keys, marks } = await readMarks(store);
  const digests = new Set(keys.flatMap((key) => ids.map((one) => digestOf(key, tenantId, nameOf(one)))));
  const isTheirs = (row: (typeof marks)[number]) => row.tenant_id === tenantId && digests.has(row.digest);
  return marks.filter((row) => row.mark === 'erased' && isTheirs(row)).map(({ digest }) => digest);
}

/** Those of these ids (all of one kind) that belong to erased people. */
export async function erasedAmong(
  store: Store,
  tenantId: string,
  ids: readonly PersonId[],
): Promise<ReadonlySet<string>> {
  const isErased = await erasedOf(store, tenantId, ids);
  return new Set(ids.filter(isErased).map(({ id }) => id));
}

/**
 * Tells of each id whether it belongs to an erased person. The kind counts, because a candidate and another person's
 * application may have the same number. Without any erasure in the tenant this reads one small table.
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
          .where(has({ 'person_marks.tenant_id': tenantId, 'person_marks.mark': 'erased' })),
      ),
    )
    .execute();
  const named = new Map(
    keys.flatMap(({ mark_key: key }) => ids.map((one) => [digestOf(key, tenantId, nameOf(one)), nameOf(one)] as const)),
  );
  const digests = [...named.keys()];
  const marks = kysely.selectFrom('person_marks').select('digest');
  const own = marks.where(has({ tenant_id: tenantId, mark: 'erased' }));
  const rows = await readInBatches(digests, (some) => own.where('digest', 'in', some).execute());
  const erased = new Set(rows.map(({ digest }) => named.get(digest)));
  return (one) => erased.has(nameOf(one));
}

/** The same for very many ids, one at a time: which erasure one belongs to. Reads the tenant's marks once. */
export async function erasureLookup(
  { kysely }: Pick<Store, 'kysely'>,
  tenantId: string,
): Promise<((one: PersonId) => string | undefined) | undefined> {
  const rows = await kysely
    .selectFrom('person_marks')
    .select(['digest', 'about'])
    .where(has({ tenant_id: tenantId, mark: 'erased' }))
    .execute();
  if (rows.length === 0) return undefined;
  const erasures = new Map(rows.map(({ digest, about }) => [digest, about]));
  const keys = await kysely.selectFrom('person_mark_keys').select('mark_key').execute();
  return (one) =>
    keys
      .map(({ mark_key: key }) => erasures.get(digestOf(key, tenantId, nameOf(one))))
      .find((found) => found !== undefined);
}

/** For a restored store: the hashes and the keys that they were made with. */
export async function readMarks({ kysely }: Store) {
  return {
    keys: (await kysely.selectFrom('person_mark_keys').select('mark_key').execute()).map((row) => row.mark_key),
    marks: await kysely.selectFrom('person_marks').selectAll().execute(),
  };
}
