import type { HttpAnswer } from '../../http/http-error.ts';
import { type Assumption, assumptions, defaultOverrides, type Overrides } from '../contract/assumptions.ts';
import { valueAt } from '../contract/endpoint.ts';
import type { AnyEndpoint, AssumptionKey, LooseInput, Observation } from './types.ts';

interface Seen {
  endpoint: AnyEndpoint;
  input: LooseInput;
  answer: HttpAnswer;
  /** As received, before other forms are converted to the contract's. */
  body: unknown;
}

/** True or false if this answer shows it, undefined if it does not. */
type Judge = (seen: Seen) => boolean | undefined;

/** The calls it concerns: an operation, `assuming` (whose contract names the assumption) or `refusals`. */
type Judged = readonly [calls: string, judge: Judge];

/** Evidence in the answers to calls that the connector makes anyway. */
const judges = {
  G1: ['assuming', ({ endpoint, answer }) => answer.status === endpoint.status],
  G12: ['assuming', paginationStandsWhereAssumed],
  G16: ['refusals', tooManyIsCanonical],
  S1: ['refusals', keyFailureIs401],
  P8: ['pipelines.list', (seen) => isRising(recordsAt(valueAt(first(seen, 'data'), 'stages'), 'order'))],
  J3: ['jobs.list', (seen) => isRising(recordsAt(valueAt(seen.body, 'jobs'), 'createdAt').toReversed())],
  J5: ['jobs.list', (seen) => isEpochMs(first(seen, 'jobs')?.['createdAt'])],
  J14: ['jobs.list', (seen) => isTypeOf('number', first(seen, 'jobs')?.['runningRevenue'])],
  C9: ['candidates.list', (seen) => isLowerCase(first(seen, 'data')?.['email'])],
  C15: ['candidates.list', (seen) => isList(first(seen, 'data')?.['jobCandidateDetails'])],
  C18: ['jobCandidates.bulkFetch', keepsTheOrder],
  STAGE: ['jobCandidates.bulkFetch', showsNoStage],
  STAGED: ['assuming', showsOneApplication],
  F12: ['customFieldValues.upsertBulk', answersWithList],
  F13: ['customFieldValues.list', (seen) => isTypeOf('string', first(seen, 'data')?.['entityId'])],
  O2: ['onboarding.setExternalStatus', isTaken],
  O6: ['onboarding.listCandidates', filtersByReference],
  O9: ['onboarding.listFlows', (seen) => isFlowStatus(first(seen, 'data.flows')?.['status'])],
  O11: ['onboarding.terminate', isTaken],
  O15: ['onboarding.getCandidate', ({ body }) => isEpochMs(valueAt(body, 'data.enrolledAt'))],
} as const satisfies Partial<Record<AssumptionKey, Judged>>;

/** Assumptions that an answer can confirm or contradict; no answer shows the others. */
export const observableAssumptions: ReadonlySet<string> = new Set(Object.keys(judges));

/** The verdicts of one answer on the assumptions; an assumption that a tenant overrides is not judged. */
export function observeAssumptions(overrides: Overrides, seen: Seen): Observation[] {
  return Object.entries<Judged>(judges).flatMap(([key, [calls, judge]]) => {
    const assumption = key as AssumptionKey;
    if (!concerns(calls, assumption, seen) || isOverridden(overrides, assumption)) return [];
    const holds = judge(seen);
    return holds === undefined ? [] : [{ assumption, holds }];
  });
}

function concerns(calls: Judged[0], assumption: AssumptionKey, { endpoint, answer }: Seen): boolean {
  if (calls === 'refusals') return answer.status >= 400;
  if (calls === endpoint.id) return answer.status < 500;
  return calls === 'assuming' && answer.status < 300 && endpoint.assumed?.includes(assumption) === true;
}

function isOverridden(overrides: Overrides, assumption: AssumptionKey): boolean {
  const { override }: Assumption = assumptions[assumption];
  return override !== undefined && JSON.stringify(overrides[override]) !== JSON.stringify(defaultOverrides[override]);
}

function paginationStandsWhereAssumed({ endpoint, body }: Seen): boolean | undefined {
  const end = endpoint.list?.paging?.end;
  return typeof end === 'object' && 'totalAt' in end ? typeof valueAt(body, end.totalAt) === 'number' : undefined;
}

function tooManyIsCanonical({ answer, body }: Seen): boolean | undefined {
  if (answer.status !== 429) return undefined;
  return valueAt(body, 'error.code') === 'RATE_LIMITED' && answer.headers['retry-after'] !== undefined;
}

function keyFailureIs401({ answer, body }: Seen): boolean | undefined {
  if (answer.status === 401) return true;
  const isFlat = answer.status === 403 && typeof valueAt(body, 'message') === 'string';
  return isFlat && valueAt(body, 'code') === undefined ? false : undefined;
}

function isTaken({ answer }: Seen): boolean | undefined {
  if (answer.status < 300) return true;
  return answer.status === 400 ? false : undefined;
}

/** A refusal shows no answer to a write. */
function answersWithList({ answer, body }: Seen): boolean | undefined {
  return answer.status < 300 ? Array.isArray(valueAt(body, 'data')) : undefined;
}

function keepsTheOrder({ input, body }: Seen): boolean | undefined {
  const asked = valueAt(input.body, 'jobCandidateIds');
  const ids = recordsAt(valueAt(body, 'data'), 'id').map(String);
  if (!Array.isArray(asked) || ids.length < 2) return undefined;
  return isRising(ids.map((id) => asked.map(String).indexOf(id)));
}

function showsNoStage(seen: Seen): boolean | undefined {
  const record = first(seen, 'data');
  return record && !Object.keys(record).some((key) => /^(current|pipeline)?stage(Id|Name|Type)?$/i.test(key));
}

function showsOneApplication(seen: Seen): boolean | undefined {
  const isSeveral = isList(first(seen, 'data')?.['jobCandidateDetails']);
  return isSeveral === undefined ? undefined : !isSeveral;
}

function filtersByReference({ input, body }: Seen): boolean | undefined {
  const wanted = valueAt(input.query, 'externalRef');
  const shown = recordsAt(valueAt(body, 'data.candidates'), 'externalRef');
  return wanted === undefined || shown.length === 0 ? undefined : shown.every((one) => one === wanted);
}

function first({ body }: Seen, path: string): Record<string, unknown> | undefined {
  const list = valueAt(body, path);
  return Array.isArray(list) ? (list[0] as Record<string, unknown> | undefined) : undefined;
}

function recordsAt(list: unknown, key: string): unknown[] {
  return Array.isArray(list) ? list.map((record) => valueAt(record, key)) : [];
}

/** Of numbers; it takes two to show an order. */
function isRising(values: readonly unknown[]): boolean | undefined {
  if (values.length < 2 || values.some((value) => typeof value !== 'number')) return undefined;
  return values.every((value, index) => index === 0 || Number(values[index - 1]) <= Number(value));
}

function isEpochMs(value: unknown): boolean | undefined {
  return isShown(value) ? typeof value === 'number' && value >= 1e11 : undefined;
}

function isTypeOf(type: 'string' | 'number', value: unknown): boolean | undefined {
  return isShown(value) ? typeof value === type : undefined;
}

function isList(value: unknown): boolean | undefined {
  return isShown(value) ? Array.isArray(value) : undefined;
}

function isLowerCase(value: unknown): boolean | undefined {
  return typeof value === 'string' ? value === value.toLowerCase() : undefined;
}

function isFlowStatus(value: unknown): boolean | undefined {
  return isShown(value) ? value === 'ACTIVE' || value === 'INACTIVE' : undefined;
}

function isShown(value: unknown): boolean {
  return value !== undefined && value !== null;
}
