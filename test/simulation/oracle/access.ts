import { readLedger } from '../../../src/sandbox/ledger.ts';
import { isFinalRefusal } from '../temporal-double.ts';
import { policies } from '../tenants.ts';
import { served, type World } from '../world.ts';

/** What may be asked with a key of which it is not yet known whose it is. */
const PROBES = new Set(['pipelines.list', 'jobs.list']);

/** I4 and I9, by the requests the sandbox wrote down. */
export function checkAccess(world: World): string[] {
  return [...checkKeys(world), ...checkRetries(world), ...checkCanaries(world)];
}

/** I4: nothing of a tenant is asked or done with another company's key. */
function checkKeys(world: World): string[] {
  const tenantOf = new Map(world.wire.map((request) => [request.requestId, request.tenantId]));
  const companyOf = new Map(served(world).map(({ tenant, companyId }) => [tenant.tenant, companyId]));
  return readLedger(world.state).flatMap(({ kind, name, requestId, companyId }) => {
    const tenantId = requestId === undefined ? undefined : tenantOf.get(requestId);
    if (tenantId === undefined || companyId === undefined || companyId === companyOf.get(tenantId)) return [];
    if (kind === 'fault' || (kind === 'request' && PROBES.has(name))) return [];
    return [`I4 ${kind} ${name} of tenant ${tenantId} in company ${companyId}`];
  });
}

/** I9: an activity is never simply tried again after a refusal that says why. */
function checkRetries(world: World): string[] {
  return world.temporal.attempts
    .filter(({ error }) => isFinalRefusal(error))
    .map(({ name, error }) => `I9 ${name} is tried again after ${String((error as Error).message).slice(0, 90)}`);
}

/** I9: with the credits gone, one canary a period. */
function checkCanaries(world: World): string[] {
  const refused = world.wire.filter((request) => request.status === 402 && request.fault === undefined);
  return refused.flatMap((request, index) => {
    const before = refused.slice(0, index).findLast((one) => one.tenantId === request.tenantId);
    if (before === undefined) return [];
    const gap = request.at - before.at;
    return gap > 12_000 && gap < policies.canaryMs - 2_000 ? [`I9 ${gap} ms between two canaries`] : [];
  });
}
