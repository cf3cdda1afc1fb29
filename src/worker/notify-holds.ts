import { fetch } from 'undici';
import type { Logger } from '../log.ts';
import { markNotified, unnotifiedHolds } from '../store/holds.ts';
import type { Store } from '../store/open-store.ts';

const NOTIFY_MS = 10_000;

/**
 * Tells each tenant's `notify` address about new holds: ids and reason only, at least once. For a tenant without an
 * address the hold's log line is enough.
 */
export async function notifyHolds(
  store: Store,
  addressOf: (tenantId: string) => string | undefined,
  log: Logger,
): Promise<void> {
  for (const hold of await unnotifiedHolds(store)) {
    const address = addressOf(hold.tenant_id);
    if (address !== undefined && !(await post(address, hold, log))) continue;
    await markNotified(store, hold.hold_id);
  }
}

async function post(
  address: string,
  hold: { hold_id: string; tenant_id: string; job_candidate_id: string | null; code: string; answers: string },
  log: Logger,
): Promise<boolean> {
  const body = {
    event: 'hold.opened',
    holdId: hold.hold_id,
    tenantId: hold.tenant_id,
    jobCandidateId: hold.job_candidate_id,
    code: hold.code,
    answers: JSON.parse(hold.answers) as string[],
  };
  try {
    const answer = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(NOTIFY_MS),
    });
    await answer.body?.cancel();
    if (answer.ok) return true;
    log.warn({ tenantId: hold.tenant_id, holdId: hold.hold_id, status: answer.status }, 'notification refused');
  } catch {
    log.warn({ tenantId: hold.tenant_id, holdId: hold.hold_id }, 'notification not delivered');
  }
  return false;
}
