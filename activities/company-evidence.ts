import type { JobSnapshot } from '../src/store/jobs.ts';

/** other: it has a job of a known id that is not the known job. none: neither for nor against. */
export type CompanyEvidence = 'same' | 'other' | 'none';

/**
 * Whether these jobs are of the company that the known ones are of: one that is the same is enough, however many were
 * deleted. Meaning is compared, because the form of a field may change in mid-life.
 */
export function compareJobs(
  known: readonly Pick<JobSnapshot, 'jobId' | 'record'>[],
  listed: readonly Record<string, unknown>[],
): CompanyEvidence {
  const byId = new Map(known.map((job) => [normalise(job.jobId), job.record]));
  const evidence = listed.map((job) => compareJob(job, byId.get(normalise(job['id']))));
  if (evidence.includes('same')) return 'same';
  return evidence.includes('other') ? 'other' : 'none';
}

/**
 * Ids of two companies may be equal by chance: the same moment of creation decides, or the title where one is missing.
 */
function compareJob(job: Record<string, unknown>, known: Record<string, unknown> | undefined): CompanyEvidence {
  if (known === undefined) return 'none';
  const [was, is] = [instantOf(known['createdAt']), instantOf(job['createdAt'])];
  if (was !== undefined && is !== undefined) return Math.abs(was - is) < 1000 ? 'same' : 'other';
  const title = normalise(job['title']);
  return title !== '' && title === normalise(known['title']) ? 'same' : 'none';
}

function normalise(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  return String(value)
    .normalize('NFKC')
    .replace(/[\s\p{Cf}]+/gu, ' ')
    .trim()
    .toLowerCase();
}

/** Below this a number counts seconds (until the year 5138), above it milliseconds (from 1973). */
const LEAST_MS = 1e11;

/** Milliseconds since 1970, of ISO text or a number in either unit. */
function instantOf(value: unknown): number | undefined {
  const text = normalise(value).toUpperCase().replace(' ', 'T');
  if (text === '') return undefined;
  const number = Number(text);
  if (Number.isFinite(number)) return Math.abs(number) < LEAST_MS ? number * 1000 : number;
  // Without a zone it is taken as UTC, whatever this machine's zone is.
  const parsed = Date.parse(/T(?!.*(Z|[+-]\d\d:?\d\d)$)/.test(text) ? `${text}Z` : text);
  return Number.isNaN(parsed) ? undefined : parsed;
}
