import { amendsOnly, hiredForms } from '../../src/exchange/amendments.ts';
import { readsSource } from '../../src/mapping/compile-rule.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { PairState } from '../../src/store/exchange-pairs.ts';
import { readJobs } from '../../src/store/jobs.ts';
import type { LinkedPair } from '../../src/store/linked-pairs.ts';
import { latestPlan } from '../../src/store/plans.ts';
import type { ExchangeContext } from './exchange-context.ts';
import type { FetchedRecord } from './fetch-people.ts';

/** Jobs as they were last listed, by id. */
export type JobRecords = ReadonlyMap<string, Record<string, unknown>>;

/** The jobs that people were hired on, from the store; none where the mapping reads no job. */
export async function readJobRecords(
  { deps, key, mapping }: ExchangeContext,
  people: readonly FetchedRecord[],
): Promise<JobRecords> {
  const ids = new Set(people.flatMap(({ jobId }) => (jobId === undefined ? [] : [jobId])));
  if (!readsSource(mapping.fields, 'job') || ids.size === 0) return new Map();
  const jobs = await readJobs(deps.store, key.tenantId, [...ids]);
  return new Map(jobs.map(({ jobId, record }) => [jobId, record]));
}

/** A job that is no longer listed has no values: they must not read as emptied. */
export function isWithoutJob(mapping: Mapping, job: Record<string, unknown> | undefined): boolean {
  return job === undefined && readsSource(mapping.fields, 'job');
}

/** What a hire whose employee was never looked at since was made of, while its plan is kept. */
export async function readHired(
  { deps, key, mapping }: ExchangeContext,
  { pair, state }: { pair: LinkedPair; state: PairState },
): Promise<Record<string, string>> {
  if (!amendsOnly(mapping) || state.version > 0 || pair.hire === undefined) return {};
  const plan = await latestPlan(deps.store, { tenantId: key.tenantId, ...pair.hire });
  return plan === undefined || plan.change === 'purged' ? {} : hiredForms(mapping, pair.pairId, plan.change);
}
