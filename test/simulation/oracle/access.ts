import { ConnectorError } from '../../../src/errors.ts';
import { readLedger } from '../../../src/sandbox/records/ledger.ts';
import { policies } from '../tenants.ts';
import { isForgotten, served, type World } from '../world.ts';

/** What may be asked with a key of which it is not yet known whose it is. */
const PROBES = new Set(['pipelines.list', 'jobs.list']);
/** Where the jobs left it open, a few known people are asked for next. */
const PEOPLE = 'jobCandidates.bulkFetch';

/** I4 and I9, by the requests the sandbox wrote down. */
export function checkAccess(world: World): string[] {
  return [...checkKeys(world), ...checkRetries(world), ...checkRepeats(world), ...checkCanaries(world)];
}

/** I4: nothing of a tenant is asked or done with another company's key. */
function checkKeys(world: World): string[] {
  const tenantOf = new Map(world.wire.map((request) => [request.requestId, request.tenantId]));
  const companyOf = new Map(served(world).map(({ tenant, companyId }) => [tenant.tenant, companyId]));
  const latest = new Map<string, string>();
  return readLedger(world.state).flatMap(({ kind, name, requestId, companyId }) => {
    const tenantId = requestId === undefined ? undefined : tenantOf.get(requestId);
    if (tenantId === undefined || companyId === undefined || companyId === companyOf.get(tenantId)) return [];
    const asksPeople = name === PEOPLE && ['jobs.list', PEOPLE].includes(latest.get(tenantId) ?? '');
    // Another activity of the tenant may look for its stages in between.
    if (kind === 'request' && name !== 'pipelines.list') latest.set(tenantId, name);
    if (kind === 'fault' || (kind === 'request' && (PROBES.has(name) || asksPeople))) return [];
    return [`I4 ${kind} ${name} of tenant ${tenantId} in company ${companyId}`];
  });
}

/** I9: an activity is never simply tried again after a refusal that says why. */
function checkRetries(world: World): string[] {
  return world.temporal.attempts
    .filter(({ error }) => isFinalRefusal(error))
    .map(({ name, error }) => `I9 ${name} is tried again after ${String((error as Error).message).slice(0, 90)}`);
}

/** A repeat so soon after its refusal is a retry, and not somebody's answer or the next reconcile. */
const RETRY_MS = 10_000;

/**
 * I9, on the wire: a write is not sent again unchanged soon after it was refused; 402 is the canary's, 401 and 403 the
 * paused tenant's. A worker that was stopped sends what it had in hand when it wakes: that is an earlier attempt.
 */
function checkRepeats({ wire }: World): string[] {
  const writes = wire.filter(({ method, url }) => method !== 'GET' && !url.includes('bulk-fetch'));
  return [
    ...Map.groupBy(writes, ({ tenantId, method, url, body }) => `${tenantId} ${method} ${url} ${body}`).values(),
  ].flatMap((same) =>
    same
      .filter(({ at, status, fault }, nth) => {
        const next = same[nth + 1];
        if (next === undefined || !isRefused(status) || fault !== undefined) return false;
        return next.at - at < RETRY_MS && next.at - next.wokeAt >= RETRY_MS;
      })
      .map(({ method, url, status }) => `I9 ${method} ${url} is sent again after ${status}`),
  );
}

function isRefused(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![401, 402, 403, 408, 409, 425, 429].includes(status);
}

/** I9: with the credits gone, one canary a period. */
function checkCanaries(world: World): string[] {
  const refused = world.wire.filter((request) => request.status === 402 && request.fault === undefined);
  // A store that was lost, or is from before a refusal, does not know of it.
  const forgotAt = Math.max(world.storeLostAt, world.storeRestoredAt);
  const early = refused.filter((request, index) => {
    const known = refused.slice(0, index).filter((one) => !isForgotten(world, one.at) || request.at < forgotAt);
    const before = known.findLast((one) => one.tenantId === request.tenantId);
    const gap = request.at - (before?.at ?? 0);
    return gap > 12_000 && gap < policies.canaryMs - 2_000;
  });
  // A worker that dies with the refusal in its hands has told nobody.
  const { kills, stops } = world.scenario;
  return early.length > kills * 2 + stops
    ? [`I9 ${early.length} enrolments were refused before the next canary was due`]
    : [];
}

/** True for an answer that must not simply be asked for again: I9. One that was cut off does not say why. */
function isFinalRefusal(error: unknown): boolean {
  if (!(error instanceof ConnectorError) || error.status === undefined || error.code === 'NO_ANSWER') return false;
  return error.status >= 400 && error.status < 500 && ![408, 409, 425, 429].includes(error.status);
}
