import { ConnectorError } from '../../src/errors.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import { readSource } from '../../src/mapping/read-source.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { type JobScope, takesJob } from '../../src/plan/job-scope.ts';
import { readJob } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { Connection } from '../connections.ts';
import type { HireContext } from './with-hire.ts';

type JobRecord = Record<string, unknown>;

/** Whether the tenant takes this job, by the record given, or else as the last jobs list showed it. */
export async function isInScope(
  store: Store,
  connection: Connection,
  jobId: string | null,
  job?: JobRecord,
): Promise<boolean> {
  const { scope } = connection.tenant;
  if (scope === undefined) return true;
  return takesJob(scope, jobId === null ? [] : await shownBy(store, connection, scope, { jobId, job }));
}

/** A hire whose job is no longer the tenant's, unless a person said that it is finished here. */
export async function heldOutsideScope(
  { store, connection, ref, decisions }: HireContext,
  jobId: string | null,
  job?: JobRecord,
): Promise<Held | undefined> {
  if (decisions.takeAnyway === true || (await isInScope(store, connection, jobId, job))) return undefined;
  return held('JOB_LEFT_SCOPE', { jobCandidateId: ref.jobCandidateId, jobId: jobId ?? 'unknown' });
}

/** What the job shows for the scope's criterion. */
async function shownBy(
  store: Store,
  connection: Connection,
  scope: JobScope,
  { jobId, job }: { jobId: string; job: JobRecord | undefined },
): Promise<string[]> {
  if (scope.jobs !== undefined) return [jobId];
  if (scope.teams !== undefined) return teamsOf(connection, scope.teams, jobId);
  const record = job ?? (await readJob(store, connection.tenant.tenant, jobId))?.record;
  if (record === undefined) throw jobUnreadable(jobId);
  if (scope.countries !== undefined) return listOf(record['country']);
  return customFieldOf(record, scope.customField?.name ?? '');
}

function customFieldOf(record: Record<string, unknown>, name: string): string[] {
  const text = `job.customFields[${name}]`;
  const read = readSource({ source: 'job', customField: name, text }, { job: record });
  if ('code' in read) throw new ConnectorError({ code: read.code, action: 'reject', message: read.text });
  return listOf(read.value);
}

/** A multi-select is stored as JSON text (J13). */
function listOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return [];
  const text = String(value);
  if (!text.startsWith('[')) return [text];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.map(String) : [text];
  } catch {
    return [text];
  }
}

interface Reading {
  jobs: Promise<ReadonlySet<string>>;
  beganAt: number;
}

const readings = new WeakMap<Connection, Map<string, Reading>>();
/** A job that changes its team is seen so much later. */
const FRESH_MS = 60_000;

/** A job's record does not show its team (section 2.2), so the list is asked for each team's jobs (section 4.2). */
async function teamsOf(connection: Connection, teams: readonly string[], jobId: string): Promise<string[]> {
  const own = await Promise.all(
    teams.map(async (team) => ((await jobsOfTeam(connection, team)).has(jobId) ? [team] : [])),
  );
  return own.flat();
}

async function jobsOfTeam(connection: Connection, team: string): Promise<ReadonlySet<string>> {
  const known = readings.get(connection) ?? new Map<string, Reading>();
  readings.set(connection, known);
  const reading = known.get(team);
  if (reading !== undefined && performance.now() - reading.beganAt < FRESH_MS) return reading.jobs;
  const jobs = readJobsOfTeam(connection, team);
  known.set(team, { jobs, beganAt: performance.now() });
  jobs.catch(() => known.delete(team));
  return jobs;
}

async function readJobsOfTeam({ partner }: Connection, teamId: string): Promise<ReadonlySet<string>> {
  const { items, unreadable } = await partner.readAll(contract.jobs.list, { query: { teamId } }, { priority: 'live' });
  return new Set([...items.map(({ id }) => id), ...unreadable.flatMap(({ id }) => id ?? [])]);
}

/** Whose job it is cannot be told, and a wrong guess would hire somebody twice or not at all. */
function jobUnreadable(jobId: string): ConnectorError {
  return new ConnectorError({
    code: 'JOB_UNREADABLE',
    action: 'retry',
    message:
      `The record of job ${jobId} cannot be read, so whether it is in the tenant's scope cannot be told. ` +
      'Correct it with the partner; its hires go on by themselves.',
    retryAfterMs: 60_000,
  });
}
