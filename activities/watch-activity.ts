import { ConnectorError, isConnectorError } from '../src/errors.ts';
import { HIRE_BEHIND } from '../src/hire/hire-run.ts';
import type { Logger } from '../src/log.ts';
import { type AlarmKey, clearTrouble, noteTrouble, postponeTrouble } from '../src/store/alarms.ts';
import type { Store } from '../src/store/open-store.ts';

/** A refusal that nobody is asked about is an alarm at once; other failures cure themselves, or last. */
const LASTING_MS = 900_000;

/** One activity of one hire, stream or tenant, across all of its attempts. */
export interface WatchedActivity {
  name: string;
  input: unknown;
  /** From 1. */
  attempt: number;
}

type Watcher = { store: Store; log: Logger };

/** Waits that are no trouble: for the rate limit, for a paused tenant (which says why), for the baseline. */
function isWait(error: unknown): boolean {
  return isConnectorError(error) && error.action === 'throttle';
}

/**
 * Notes that an activity failed; once that has lasted a quarter of an hour, it is an alarm. Says how often it has
 * failed so far. A wait is no failure, and the time it takes does not make an earlier one last.
 */
export async function noteFailure(
  { store, log }: Watcher,
  activity: WatchedActivity,
  error: unknown,
): Promise<number | undefined> {
  const key = keyOf(activity);
  // Nobody tries that again under this name: the hire begins anew.
  if (key === undefined || isConnectorError(error, HIRE_BEHIND)) return undefined;
  if (isWait(error)) {
    if (activity.attempt > 1) await postponeTrouble(store, key, (error as ConnectorError).retryAfterMs ?? 0);
    return undefined;
  }
  const { code, message, action } = error instanceof ConnectorError ? error : unexpected(error);
  const trouble = { ...key, reason: code, message };
  const { raised, times } = await noteTrouble(store, trouble, action === 'reject' ? 0 : LASTING_MS);
  if (raised) log.error({ tenantId: key.tenantId, subject: key.subject, code, reason: message }, 'alarm raised');
  return times;
}

/** Notes that an activity works. Only one that was tried before can have failed. */
export async function noteSuccess({ store, log }: Watcher, activity: WatchedActivity): Promise<void> {
  const key = activity.attempt > 1 ? keyOf(activity) : undefined;
  if (key !== undefined && (await clearTrouble(store, key)))
    log.info({ tenantId: key.tenantId, subject: key.subject }, 'alarm over');
}

function keyOf({ name, input }: WatchedActivity): AlarmKey | undefined {
  const { tenantId, jobCandidateId, stream } = input as Partial<Record<string, string>>;
  if (tenantId === undefined) return undefined;
  const of = jobCandidateId === undefined ? stream : `job candidate ${jobCandidateId}`;
  return { tenantId, kind: 'activity-failing', subject: of === undefined ? name : `${name} of ${of}` };
}

function unexpected(error: unknown): { code: string; message: string; action: 'retry' } {
  const code = error instanceof Error ? error.name : 'Error';
  return { code, message: `Unexpected ${code}; see the worker's log.`, action: 'retry' };
}
