import { addHints } from './hints.ts';
import { inTransaction, put, readInBatches, type Store } from './open-store.ts';
import type { PersonId } from './person-marks.ts';
import { noteCases } from './privacy-cases.ts';
import type { ConsentRow } from './tenant-tables.ts';

/** Consents by application. */
export async function readConsents(
  { kysely }: Pick<Store, 'kysely'>,
  tenantId: string,
  jobCandidateIds: readonly string[],
): Promise<Map<string, ConsentRow>> {
  const own = kysely.selectFrom('consents').selectAll().where('tenant_id', '=', tenantId);
  const rows = await readInBatches(jobCandidateIds, (some) => own.where('job_candidate_id', 'in', some).execute());
  return new Map(rows.map((row) => [row.job_candidate_id, row]));
}

/** Consents of all applications of these candidates. */
export async function consentsOf(
  { kysely }: Pick<Store, 'kysely'>,
  tenantId: string,
  candidateIds: readonly string[],
): Promise<ConsentRow[]> {
  const own = kysely.selectFrom('consents').selectAll().where('tenant_id', '=', tenantId);
  return own.where('candidate_id', 'in', candidateIds).orderBy('job_candidate_id').execute();
}

/** Saves consents that changed, and opens or closes privacy cases of people whose consent ended or is good again. */
export async function saveConsents(store: Store, tenantId: string, read: readonly ConsentRow[]): Promise<void> {
  const ids = read.map((row) => row.job_candidate_id);
  const known = await readConsents(store, tenantId, ids);
  const isNew = (row: ConsentRow): boolean => {
    const before = known.get(row.job_candidate_id);
    return before?.state !== row.state || before.shown !== row.shown;
  };
  const rows = read.filter(isNew);
  if (rows.length === 0) return;
  await inTransaction(store, async (trx) => {
    await put(trx, 'consents', rows, { key: ['tenant_id', 'job_candidate_id'], set: ['state', 'shown'] });
    await judgePeople(trx, tenantId, rows);
  });
}

/** Forgets the consents of applications that the partner deleted. An ended consent stays recorded. */
export async function forgetConsents(store: Store, tenantId: string, jobCandidateIds: readonly string[]) {
  await inTransaction(store, async (trx) => {
    const known = await readConsents(trx, tenantId, jobCandidateIds);
    const given = [...known.values()].filter(({ state }) => state === 'given');
    if (given.length === 0) return;
    const ids = given.map((row) => row.job_candidate_id);
    const own = trx.kysely.deleteFrom('consents').where('tenant_id', '=', tenantId);
    await own.where('job_candidate_id', 'in', ids).execute();
    await judgePeople(trx, tenantId, given);
  });
}

/** A person's consent is over if one of their applications' consents ended and none is good. */
async function judgePeople(trx: Store, tenantId: string, changed: readonly ConsentRow[]): Promise<void> {
  const people = [...new Set(changed.map((row) => row.candidate_id))];
  const all = Map.groupBy(await consentsOf(trx, tenantId, people), (row) => row.candidate_id);
  const isGood = (id: string): boolean => all.get(id)?.some(({ state }) => state === 'given') === true;
  for (const cause of ['withdrawn', 'expired'] as const) {
    const over = people.filter((id) => !isGood(id) && all.get(id)?.some(({ state }) => state === cause) === true);
    await noteCases(trx, { tenantId, cause }, over);
  }
  const good = people.filter(isGood);
  if (good.length === 0) return;
  const cases = trx.kysely.deleteFrom('privacy_cases').where('tenant_id', '=', tenantId).where('cause', '<>', 'gone');
  const back = await cases.where('candidate_id', 'in', good).returning('candidate_id').execute();
  // Read these again: their rows were marked while the consent was over.
  for (const { candidate_id: id } of back) {
    await addHints(trx, tenantId, 'candidates', [id]);
    const own = all.get(id)?.map((row) => row.job_candidate_id) ?? [];
    await addHints(trx, tenantId, 'applications', own);
  }
}

/** Returns for each of these people, by candidate or application id, whether their consent is over. */
export async function stoppedAmong(
  { kysely }: Pick<Store, 'kysely'>,
  tenantId: string,
  people: readonly PersonId[],
): Promise<(one: PersonId) => boolean> {
  const stopped = kysely
    .selectFrom('consents')
    .innerJoin('privacy_cases', (join) =>
      join
        .onRef('privacy_cases.tenant_id', '=', 'consents.tenant_id')
        .onRef('privacy_cases.candidate_id', '=', 'consents.candidate_id'),
    )
    .select(['consents.candidate_id', 'consents.job_candidate_id'])
    .where('consents.tenant_id', '=', tenantId)
    .where('privacy_cases.cause', '<>', 'gone');
  const found = new Set<string>();
  for (const [kind, column] of [
    ['candidate', 'consents.candidate_id'],
    ['job-candidate', 'consents.job_candidate_id'],
  ] as const) {
    const ids = [...new Set(people.filter((one) => one.kind === kind).map(({ id }) => id))];
    for (const row of await readInBatches(ids, (some) => stopped.where(column, 'in', some).execute()))
      found.add(`candidate ${row.candidate_id}`).add(`job-candidate ${row.job_candidate_id}`);
  }
  return ({ kind, id }) => found.has(`${kind} ${id}`);
}
