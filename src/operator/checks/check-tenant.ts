import { assertKnownCompany } from '../../../activities/assert-known-company.ts';
import { isConnectorError } from '../../errors.ts';
import type { HrisConnection } from '../../hris/port.ts';
import type { PartnerClient } from '../../partner/client/create-partner-client.ts';
import { fingerprintOf } from '../../partner/client/key-format.ts';
import { contract } from '../../partner/contract/index.ts';
import { viewRateLimits } from '../../store/open-rate-limit.ts';
import type { Store } from '../../store/open-store.ts';
import { listTenantStates, readClock } from '../../store/tenant-states.ts';
import { readWebhookFacts } from '../../store/webhook-refusals.ts';
import { loadTenantMapping } from '../../tenants/open-hris.ts';
import type { Tenant } from '../../tenants/schema.ts';
import { resolveSecret } from '../../tenants/secrets.ts';
import { openHris } from '../open-hris.ts';
import { CALL_MS, openPartner } from '../open-partner.ts';
import { describeRole, isMissing, readProcesses } from '../status/read-processes.ts';
import { checkClock, watchClock } from './check-clock.ts';
import { checkCustomFields, checkHrisFields } from './check-fields.ts';
import { checkIds } from './check-ids.ts';
import type { CheckLine, Found } from './check-line.ts';
import { checkStreams } from './check-streams.ts';
import { checkWriteBack } from './check-write-back.ts';
import { judgeWebhooks } from './judge-webhooks.ts';

/** Asks both sides whether they are as the tenant file says; reads only. Without a store nothing was received yet. */
export async function checkTenant(tenant: Tenant, store: Store | undefined): Promise<CheckLine[]> {
  const [partnerLines, hris, webhooks, state] = await Promise.all([
    checkPartner(tenant, store),
    checkHris(tenant, store),
    checkWebhooks(tenant, store),
    checkState(tenant, store),
  ]);
  return [
    ...partnerLines,
    ...hris,
    { check: 'rate-limit', ...(await checkRateLimit(tenant, store)) },
    { check: 'webhooks', ...webhooks },
    { check: 'state', ...state },
    { check: 'processes', ...(await attempted(() => checkProcesses(tenant, store))) },
  ];
}

/** With a key that does not work nothing more can be asked. */
async function checkPartner(tenant: Tenant, store: Store | undefined): Promise<CheckLine[]> {
  const clock = watchClock();
  let partner: PartnerClient | undefined;
  try {
    const client = openPartner(tenant, clock.rateLimit);
    partner = client;
    const key = await attempted(() => checkKey(client));
    if (key.state === 'fail') return [{ check: 'key', ...key }];
    return [
      { check: 'key', ...key },
      { check: 'company', ...(await attempted(() => checkCompany(tenant, client, store))) },
      { check: 'flow', ...(await attempted(() => checkFlow(tenant, client))) },
      { check: 'write-back', ...(await attempted(() => checkWriteBack(tenant, client))) },
      { check: 'custom-fields', ...(await attempted(() => checkCustomFields(tenant, client, store))) },
      { check: 'ids', ...(await attempted(() => checkIds(tenant, client))) },
      { check: 'clock', ...(await attempted(() => checkClock(clock.skewMs(), store))) },
    ];
  } catch (error) {
    return [{ check: 'key', ...failed(error) }];
  } finally {
    await partner?.close();
  }
}

async function checkKey(partner: PartnerClient): Promise<Found> {
  const { items } = await partner.readAll(contract.pipelines.list, {}, { priority: 'live' });
  return { state: 'ok', message: `The partner accepts the key and shows ${items.length} pipelines.` };
}

/** Jobs known from before, and the company that records name, both show whose key it is. */
async function checkCompany(tenant: Tenant, partner: PartnerClient, store: Store | undefined): Promise<Found> {
  if (store !== undefined)
    await assertKnownCompany(store, {
      tenant,
      partner,
      keyFingerprint: fingerprintOf(resolveSecret(tenant.partner.apiKey)),
    });
  const expected = tenant.partner.company;
  if (expected === undefined)
    return {
      state: 'warn',
      message: 'partner.company is not set, so webhooks of another company are not set aside. Set it.',
    };
  const shown = await companyShown(partner);
  if (shown === undefined) return { state: 'ok', message: `No record shows another company than ${expected}.` };
  if (shown === expected) return { state: 'ok', message: `The key is of company ${expected}.` };
  return {
    state: 'fail',
    message:
      `The key is of company ${shown}, and partner.company says ${expected}. ` +
      'Correct partner.company, or put the right key behind partner.apiKey.',
  };
}

/** Of the records this API lists, assessments and their flows name their company. */
export async function companyShown(partner: PartnerClient): Promise<string | undefined> {
  for (const list of [contract.assessments.list, contract.assessmentFlows.list])
    for await (const { items } of partner.pages(list, {}, { priority: 'live' })) {
      const named = items.map(({ companyId }) => companyId).find((id) => id !== undefined && id !== null);
      if (named !== undefined && named !== null) return String(named);
      break;
    }
  return undefined;
}

async function checkFlow({ policies }: Tenant, partner: PartnerClient): Promise<Found> {
  if (policies.onboarding === 'skip') return { state: 'ok', message: 'No onboarding flow is used.' };
  const wanted = policies.onboarding.flow;
  const { items } = await partner.readAll(contract.onboarding.listFlows, {}, { priority: 'live' });
  const flow = items.find(({ flowId }) => flowId === wanted);
  const active = items.filter(({ status }) => isActive(status)).map(({ flowId }) => flowId);
  const known = active.length === 0 ? 'none is active' : `active: ${active.join(', ')}`;
  if (flow === undefined)
    return {
      state: 'fail',
      message: `flow ${wanted} does not exist at the partner (${known}). Correct policies.onboarding.flow.`,
    };
  if (isActive(flow.status)) return { state: 'ok', message: `flow ${wanted} is active.` };
  return {
    state: 'fail',
    message:
      `flow ${wanted} is not active: its status is ${flow.status ?? 'not shown'} (${known}). ` +
      "Activate it in the partner's dashboard, or name another in policies.onboarding.flow.",
  };
}

/** The spelling of the status is not shown by the specification (O9). */
export function isActive(status: string | null | undefined): boolean {
  return status?.toLowerCase() === 'active';
}

/** Of an HR system that does not work, nothing more can be asked. */
async function checkHris(tenant: Tenant, store: Store | undefined): Promise<CheckLine[]> {
  let hris: HrisConnection | undefined;
  try {
    const open = await openHris(tenant, store);
    hris = open;
    const works = await attempted(() => checkProbe(tenant, open));
    if (works.state === 'fail') return [{ check: 'hris', ...works }];
    const fields = await attempted(() => checkHrisFields(tenant, open));
    return [
      { check: 'hris', ...works },
      { check: 'hris-fields', ...fields },
      { check: 'employee-id', ...(await attempted(() => checkEmployeeId(tenant, open))) },
      { check: 'streams', ...(await attempted(() => checkStreams(tenant, open))) },
    ];
  } catch (error) {
    return [{ check: 'hris', ...failed(error) }];
  } finally {
    await hris?.close();
  }
}

async function checkProbe(tenant: Tenant, hris: HrisConnection): Promise<Found> {
  const { fields } = await loadTenantMapping(tenant);
  const result = await hris.probe(AbortSignal.timeout(CALL_MS));
  if (!result.ok) return failed(result.error);
  return { state: 'ok', message: `The HR system answers and has what the ${fields.length} mapped fields need.` };
}

/** The Employee ID that is written back is one that the HR system gives. */
async function checkEmployeeId({ hris, writeBack }: Tenant, { givesNumber }: HrisConnection): Promise<Found> {
  if (writeBack.employeeId === 'id') return { state: 'ok', message: 'The key of the HR system is written back.' };
  if (givesNumber === undefined || (await givesNumber(AbortSignal.timeout(CALL_MS))))
    return { state: 'ok', message: 'The employee number of the HR system is written back.' };
  return {
    state: 'fail',
    message:
      `No new employee of ${hris.connection} gets a number: the column hris.numberColumn has no default, and no ` +
      'trigger runs on insert. Add one there; or, where a job of yours numbers the rows, write "job: {}" under hris; ' +
      'or write the key back: writeBack.employeeId: id.',
  };
}

async function checkRateLimit({ tenant }: Tenant, store: Store | undefined): Promise<Found> {
  const all = store === undefined ? [] : await viewRateLimits(store, tenant);
  const seen = all.find(({ upstream }) => upstream === 'partner');
  if (seen === undefined) return { state: 'ok', message: 'No call was counted yet.' };
  const { state, rate, limit } = seen;
  if (state === 'paused')
    return { state: 'warn', message: 'The partner asked for a pause; calls go on by themselves after it.' };
  const met = limit === undefined ? 'no limit was met yet' : `the limit is met at about ${limit.toFixed(1)} a second`;
  return { state: 'ok', message: `${rate.toFixed(1)} calls a second are allowed now; ${met}.` };
}

async function checkWebhooks({ tenant, partner }: Tenant, store: Store | undefined): Promise<Found> {
  if (partner.webhooks === 'off') return { state: 'ok', message: 'Webhooks are off; the reconcile alone finds hires.' };
  if (store === undefined) return judgeWebhooks(tenant, undefined, 0);
  return judgeWebhooks(tenant, (await readWebhookFacts(store)).get(tenant), await readClock(store));
}

async function checkState({ tenant }: Tenant, store: Store | undefined): Promise<Found> {
  const rows = store === undefined ? [] : await listTenantStates(store);
  const row = rows.find(({ tenant_id: id }) => id === tenant);
  if (row?.state === 'paused')
    return { state: 'fail', message: `The tenant is paused: ${row.paused_message ?? ''} [${row.paused_code ?? ''}]` };
  if (row === undefined || row.baseline_done_at === null)
    return { state: 'warn', message: 'The first reconcile is not done: no hire starts before. Run hirebridge worker.' };
  return { state: 'ok', message: 'The tenant is active and its first reconcile is done.' };
}

/** Before the first start nothing should run. */
async function checkProcesses({ partner }: Tenant, store: Store | undefined): Promise<Found> {
  if (store === undefined) return { state: 'ok', message: 'Nothing was started here yet.' };
  const roles = await readProcesses(store, await readClock(store), [partner]);
  const message = roles.map((role) => describeRole(role, (ms) => `${Math.round(ms / 1_000)} s`)).join(' ');
  return { state: roles.some(isMissing) ? 'warn' : 'ok', message };
}

async function attempted(look: () => Promise<Found>): Promise<Found> {
  try {
    return await look();
  } catch (error) {
    return failed(error);
  }
}

/** Nothing of an unexpected error's text is shown: drivers quote values. */
function failed(error: unknown): Found {
  if (isConnectorError(error)) {
    const state = error.action === 'throttle' ? 'warn' : 'fail';
    return { state, message: `${error.message} [${error.code}]` };
  }
  const name = error instanceof Error ? error.name : 'unknown error';
  return { state: 'fail', message: `It ended unexpectedly (${name}). Run again with LOG_LEVEL=debug.` };
}
