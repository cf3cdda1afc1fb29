import { Agent, fetch } from 'undici';
import type { ActivityDeps } from '../../activities/deps.ts';
import { isConnectorError } from '../errors.ts';
import { assertPublicAddress, publicLookup } from '../http/public-address.ts';
import type { Logger } from '../log.ts';
import { markNotified, unnotifiedHolds } from '../store/holds.ts';
import type { HoldRow } from '../store/schema.ts';
import type { Tenant } from '../tenants/schema.ts';

const NOTIFY_MS = 10_000;
/** Notifications in one round; the next round goes on. */
const MOST_IN_A_ROUND = 50;

/**
 * Tells a tenant's `notify` address about its new holds: ids and reason only, at least once, one after the other, until
 * one fails. For a tenant without an address the hold's log line is enough. An address inside the network is refused
 * unless the tenant's file allows private addresses: a customer must not make us call our own machines.
 */
export function createNotifier({ store, log }: ActivityDeps): (tenant: Tenant, stop: AbortSignal) => Promise<boolean> {
  const outside = new Agent({ connect: { lookup: publicLookup } });
  const inside = new Agent();
  return async (tenant, stop) => {
    const dispatcher = tenant.partner.allowPrivateAddress ? inside : outside;
    for (const hold of await unnotifiedHolds(store, tenant.tenant, MOST_IN_A_ROUND)) {
      if (tenant.notify !== undefined && !(await post({ tenant, dispatcher, stop, log }, tenant.notify, hold)))
        return false;
      await markNotified(store, hold.hold_id);
    }
    return true;
  };
}

interface Sender {
  tenant: Tenant;
  dispatcher: Agent;
  stop: AbortSignal;
  log: Logger;
}

async function post({ tenant, dispatcher, stop, log }: Sender, address: string, hold: HoldRow): Promise<boolean> {
  const facts = { tenantId: tenant.tenant, holdId: hold.hold_id };
  try {
    if (!tenant.partner.allowPrivateAddress) assertPublicAddress(new URL(address));
    const answer = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(hold)),
      redirect: 'error',
      signal: AbortSignal.any([stop, AbortSignal.timeout(NOTIFY_MS)]),
      dispatcher,
    });
    await answer.body?.cancel();
    if (answer.ok) return true;
    log.warn({ ...facts, status: answer.status }, 'notification refused');
  } catch (error) {
    const cause = error instanceof Error && isConnectorError(error.cause) ? error.cause : error;
    log.warn({ ...facts, reason: isConnectorError(cause) ? cause.code : 'no answer' }, 'notification not delivered');
  }
  return false;
}

function bodyOf(hold: HoldRow) {
  return {
    event: 'hold.opened',
    holdId: hold.hold_id,
    tenantId: hold.tenant_id,
    jobCandidateId: hold.job_candidate_id,
    code: hold.code,
    answers: JSON.parse(hold.answers) as string[],
  };
}
