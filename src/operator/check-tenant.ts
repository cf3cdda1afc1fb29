import { assertKnownCompany } from '../../activities/guarded.ts';
import { onePage, readStagePage } from '../../activities/presence/fetch-job-candidates.ts';
import { withCode } from '../docs.ts';
import { isConnectorError } from '../errors.ts';
import type { HrisConnection } from '../hris/port.ts';
import { count, foldLabel } from '../in-words.ts';
import { fitMapping, optionGaps } from '../mapping/fit-mapping.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import { fingerprintOf, type PartnerClient } from '../partner/client/create-partner-client.ts';
import { contract } from '../partner/contract/index.ts';
import { type RateLimitKeeper, unlimited } from '../rate-limit/rate-limit.ts';
import type { FieldDefinition } from '../store/fields.ts';
import { readClock, type Store } from '../store/open-store.ts';
import { viewRateLimits } from '../store/rate-limits.ts';
import { listTenantStates } from '../store/tenant-states.ts';
import { readWebhookFacts } from '../store/webhook-refusals.ts';
import { isExchange, isLookup, landedNames, type StreamName, streamNames } from '../streams/streams.ts';
import { impossibleSettings } from '../tenants/impossible-settings.ts';
import {
  destinationTenant,
  loadEveryMapping,
  loadExchangeMapping,
  loadRequisitionMapping,
  loadTenantMapping,
} from '../tenants/open-hris.ts';
import { hiringStagesOf, type Tenant } from '../tenants/schema.ts';
import { resolveSecret } from '../tenants/secrets.ts';
import { parseYaml } from '../yaml/yaml-file.ts';
import { cannotMark, checkTold, landingTrouble } from './check-destinations.ts';
import { judgeWebhooks } from './deliveries.ts';
import { CALL_MS, openHris, openPartner } from './open-tenant.ts';
import { describeRole, isMissing, readProcesses } from './status.ts';
import { findIdPlaces, judgeCustomFields, readCustomFields, readNamedThings, settleId } from './write-ids.ts';

/** The result of one check. */
export interface CheckLine {
  check:
    | 'key'
    | 'company'
    | 'flow'
    | 'stages'
    | 'write-back'
    | 'custom-fields'
    | 'ids'
    | 'clock'
    | 'rate-limit'
    | 'hris'
    | 'hris-fields'
    | 'employee-id'
    | 'streams'
    | 'destinations'
    | 'webhooks'
    | 'notify'
    | 'events'
    | 'state'
    | 'processes';
  state: 'ok' | 'warn' | 'fail';
  /** The finding; for a warning or a failure also the next step. */
  message: string;
}

type Found = Omit<CheckLine, 'check'>;

const ok = (message: string): Found => ({ state: 'ok', message });
const warn = (message: string): Found => ({ state: 'warn', message });
const fail = (message: string): Found => ({ state: 'fail', message });

/** Asks both sides whether they match the tenant file; reads only. Without a store nothing was received yet. */
export async function checkTenant(tenant: Tenant, store: Store | undefined): Promise<CheckLine[]> {
  const [partnerLines, hris, destinations, webhooks, state, told] = await Promise.all([
    checkPartner(tenant, store),
    checkHris(tenant, store),
    Promise.all((tenant.destinations ?? []).map((_, at) => checkDestination(destinationTenant(tenant, at), store))),
    checkWebhooks(tenant, store),
    checkState(tenant, store),
    checkAddresses(tenant),
  ]);
  return [
    ...partnerLines,
    ...hris,
    ...destinations,
    { check: 'rate-limit', ...(await checkRateLimit(tenant, store)) },
    { check: 'webhooks', ...webhooks },
    ...told,
    { check: 'state', ...state },
    { check: 'processes', ...(await attempted(() => checkProcesses(tenant, store))) },
  ];
}

/** A line for `notify` and for `events`, if the tenant has that section. */
async function checkAddresses(tenant: Tenant): Promise<CheckLine[]> {
  const lines = (['notify', 'events'] as const).map(async (check): Promise<CheckLine[]> => {
    if (tenant[check] === undefined) return [];
    return [{ check, ...(await attempted(async () => ok(await checkTold(tenant, check)))) }];
  });
  return (await Promise.all(lines)).flat();
}

/** If the key does not work, nothing else can be asked. */
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
      { check: 'stages', ...(await attempted(() => checkStages(tenant, client))) },
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
  return ok(`The partner accepts the key and shows ${count(items.length, 'pipeline')}.`);
}

/** Known jobs, and the company that records name, both show whose key it is. */
async function checkCompany(tenant: Tenant, partner: PartnerClient, store: Store | undefined): Promise<Found> {
  if (store !== undefined)
    await assertKnownCompany(store, {
      tenant,
      partner,
      keyFingerprint: fingerprintOf(resolveSecret(tenant.partner.apiKey)),
    });
  const expected = tenant.partner.company;
  if (expected === undefined)
    return warn('partner.company is not set, so webhooks of another company are not recognised. Set it.');
  const shown = await companyShown(partner);
  if (shown === undefined) return ok(`No record shows another company than ${expected}.`);
  if (shown === expected) return ok(`The key is of company ${expected}.`);
  return fail(
    `The key is of company ${shown}, and partner.company says ${expected}. ` +
      'Correct partner.company, or put the right key behind partner.apiKey.',
  );
}

/** The company's name, which of all records only assessments and their flows carry. */
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
  if (policies.onboarding === 'skip') return ok('No onboarding flow is used.');
  const wanted = policies.onboarding.flow;
  const { items } = await partner.readAll(contract.onboarding.listFlows, {}, { priority: 'live' });
  const flow = items.find(({ flowId }) => flowId === wanted);
  const active = items.filter(({ status }) => isActive(status)).map(({ flowId }) => flowId);
  const known = active.length === 0 ? 'none is active' : `active: ${active.join(', ')}`;
  if (flow === undefined)
    return fail(`flow ${wanted} does not exist at the partner (${known}). Correct policies.onboarding.flow.`);
  if (isActive(flow.status)) return ok(`flow ${wanted} is active.`);
  return fail(
    `flow ${wanted} is not active: its status is ${flow.status ?? 'not shown'} (${known}). ` +
      "Activate it in the partner's dashboard, or name another in policies.onboarding.flow.",
  );
}

/** Reads the lists by stage as hires and reconciles do: a partner with other query names refuses each of them. */
async function checkStages(tenant: Tenant, partner: PartnerClient): Promise<Found> {
  const jobs = await onePage(partner.pages(contract.jobs.list, {}, { priority: 'live' }));
  const ofJobs = [{}, ...(jobs?.items ?? []).slice(0, 1).map(({ id }) => ({ jobId: String(id) }))];
  const lists = hiringStagesOf(tenant).flatMap((stage) => ofJobs.map((ofJob) => ({ stage, ...ofJob })));
  const read = (list: (typeof lists)[number]) => readStagePage({ partner }, list, 1, 'live').then(() => ok(''));
  const found = await Promise.all(lists.map((list) => attempted(() => read(list))));
  const [worst] = found.filter(({ state }) => state !== 'ok').toSorted((one) => (one.state === 'fail' ? -1 : 1));
  if (worst === undefined) return ok('The lists by hiring stage can be read, of all jobs and of one.');
  return {
    ...worst,
    message: [...new Set(found.flatMap((one) => (one.state === 'ok' ? [] : [one.message])))].join(' '),
  };
}

/** The specification does not show how the status is spelled (O9). */
export function isActive(status: string | null | undefined): boolean {
  return status?.toLowerCase() === 'active';
}

/** If the HR system does not work, nothing else can be asked of it. */
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

/** The checks of the HR system for a destination, in one line. */
async function checkDestination(tenant: Tenant, store: Store | undefined): Promise<CheckLine> {
  const lines = (await checkHris(tenant, store)).filter(({ check }) => check.startsWith('hris'));
  const { state = 'ok', message = '' } = lines.find((one) => one.state !== 'ok') ?? lines[0] ?? {};
  return { check: 'destinations', state, message: `${tenant.hris.connection}: ${message}` };
}

async function checkProbe(tenant: Tenant, hris: HrisConnection): Promise<Found> {
  const { fields } = await loadTenantMapping(tenant);
  const result = await hris.probe(AbortSignal.timeout(CALL_MS));
  if (!result.ok) return failed(result.error);
  return ok(`The HR system answers and has what the ${fields.length} mapped fields need.`);
}

/** Checks that the HR system assigns the Employee ID that is written back. */
async function checkEmployeeId({ hris, writeBack }: Tenant, { givesNumber }: HrisConnection): Promise<Found> {
  if (writeBack.employeeId === 'id') return ok('The key of the HR system is written back.');
  if (givesNumber === undefined || (await givesNumber(AbortSignal.timeout(CALL_MS))))
    return ok('The employee number of the HR system is written back.');
  const why =
    hris.kind === 'sql'
      ? 'the column hris.numberColumn has no default, and no trigger runs on insert. Add one there; or, if a job of ' +
        'yours numbers the rows, write "job: {}" under hris'
      : 'its definition has no "record.number", and no other place for it. Add one';
  return fail(
    `No new employee of ${hris.connection} gets a number: ${why}; or write the key back: writeBack.employeeId: id.`,
  );
}

async function checkRateLimit({ tenant }: Tenant, store: Store | undefined): Promise<Found> {
  const all = store === undefined ? [] : await viewRateLimits(store, [tenant]);
  const seen = all.find(({ upstream }) => upstream === 'partner');
  if (seen === undefined) return ok('No call was counted yet.');
  const { state, rate, limit } = seen;
  if (state === 'paused') return warn('The partner asked for a pause; calls continue by themselves after it.');
  const met = limit === undefined ? 'no limit was reached yet' : `the limit is about ${limit.toFixed(1)} a second`;
  return ok(`${rate.toFixed(1)} calls a second are allowed now; ${met}.`);
}

async function checkWebhooks({ tenant, partner }: Tenant, store: Store | undefined): Promise<Found> {
  if (partner.webhooks === 'off') return ok('Webhooks are off; only the reconcile finds hires.');
  if (store === undefined) return judgeWebhooks(tenant, undefined, 0);
  return judgeWebhooks(tenant, (await readWebhookFacts(store)).get(tenant), await readClock(store));
}

async function checkState({ tenant }: Tenant, store: Store | undefined): Promise<Found> {
  const rows = store === undefined ? [] : await listTenantStates(store);
  const row = rows.find(({ tenant_id: id }) => id === tenant);
  if (row?.state === 'paused')
    return fail(`The tenant is paused: ${row.paused_message ?? ''} [${row.paused_code ?? ''}]`);
  if (row === undefined || row.baseline_done_at === null)
    return warn('No hire starts before a worker has done the first reconcile (hirebridge up, or hirebridge worker).');
  return ok('The tenant is active and its first reconcile is done.');
}

/** Before the first start no process should run. */
async function checkProcesses({ partner }: Tenant, store: Store | undefined): Promise<Found> {
  if (store === undefined) return ok('Nothing was started here yet.');
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

/** Hides the text of an unexpected error, because drivers quote values in it. */
function failed(error: unknown): Found {
  if (isConnectorError(error)) {
    return { state: error.action === 'throttle' ? 'warn' : 'fail', message: withCode(error.message, error.code) };
  }
  const name = error instanceof Error ? error.name : 'unknown error';
  return fail(`It ended unexpectedly (${name}). Run again with LOG_LEVEL=debug.`);
}

/** The header has whole seconds; a few more are harmless. */
const MOST_SKEW_MS = 5_000;

/** How far the partner's clock is from this machine's, by one client's answers; 0 until one shows a time. */
function watchClock(): { rateLimit: RateLimitKeeper; skewMs: () => number } {
  let skewMs = 0;
  return {
    rateLimit: {
      ...unlimited,
      answered: ({ sentAt, headers }) => {
        const shown = Date.parse(String(headers?.['date']));
        if (!Number.isNaN(shown)) skewMs = outside(shown, sentAt - 1_000, Date.now());
      },
    },
    skewMs: () => skewMs,
  };
}

async function checkClock(partnerSkewMs: number, store: Store | undefined): Promise<Found> {
  const before = Date.now();
  const storeSkewMs = store === undefined ? 0 : outside(await readClock(store), before, Date.now());
  const skews = { partner: partnerSkewMs, store: storeSkewMs };
  const far = Object.entries(skews).filter(([, ms]) => Math.abs(ms) > MOST_SKEW_MS);
  if (far.length === 0) return ok('This machine, the store and the partner agree about the time.');
  const told = far.map(
    ([whose, ms]) => `${Math.round(Math.abs(ms) / 1000)} s ${ms > 0 ? 'behind' : 'ahead of'} ${whose}`,
  );
  const message = `This machine's clock is ${told.join(' and ')}. Set it by NTP: logs and digests carry its time.`;
  return warn(message);
}

/** How far a time lies outside a span; 0 inside it. */
function outside(time: number, from: number, to: number): number {
  return time < from ? time - from : Math.max(0, time - to);
}

/** Checks that every place of the tenant file that takes an id has one, and that it exists at the partner. */
async function checkIds({ tenant, file, files }: Tenant, partner: PartnerClient): Promise<Found> {
  const source = parseYaml(file, files[file] ?? '');
  const { places } = findIdPlaces(source);
  const things = await readNamedThings(source, partner);
  const found = places.flatMap((place) => {
    const settled = settleId(place, things[place.kind]);
    if (settled === 'leave') return [];
    if ('refusal' in settled) return [settled.refusal];
    const { id, label } = settled.thing;
    const where = `"${place.path.join('.')}"`;
    if (place.wanted === id) return [];
    return [`${where} has the label "${place.wanted}"; the id of "${label}" is ${id}.`];
  });
  if (found.length === 0) return ok(`Every id in the tenant file exists (${places.length}).`);
  return fail(`${found.join(' ')} To write ids: hirebridge discover ${tenant} --write`);
}

/** The Employee ID is text: a number field takes only digits, and other types take none. */
const stateByType: Record<string, Found['state']> = { text: 'ok', textarea: 'ok', number: 'warn' };

/** Checks that the custom fields written back exist for candidates, and that the one for the Employee ID takes text. */
export async function checkWriteBack({ writeBack }: Tenant, partner: PartnerClient): Promise<Found> {
  const { customField, employeeUrl, holdReason, values } = writeBack;
  const named = [customField, employeeUrl, holdReason].filter((id) => id !== undefined);
  const wanted = [...named, ...values.map((one) => one.customFieldId)];
  if (wanted.length === 0) return ok('Nothing is written back to a custom field.');
  const query = { entityType: 'candidate' } as const;
  const { items } = await partner.readAll(contract.customFields.list, { query }, { priority: 'live' });
  const fields = new Map(items.map((field) => [String(field.id), field]));
  const missing = wanted.filter((id) => fields.get(id)?.entityType !== 'candidate');
  if (missing.length > 0)
    return fail(
      `The partner has no candidate custom field ${missing.join(', ')}. ` +
        'Correct its id under writeBack, or define the field there.',
    );
  return judgeType(customField, String(fields.get(customField ?? '')?.fieldType));
}

function judgeType(customField: string | undefined, type: string): Found {
  const state = customField === undefined ? 'ok' : (stateByType[type] ?? 'fail');
  if (state === 'ok') return { state, message: 'The custom fields for write-back exist.' };
  const takes = state === 'warn' ? 'takes digits only' : 'takes no text';
  return {
    state,
    message:
      `Custom field ${customField} is of type ${type}, which ${takes}, ` +
      'and the Employee ID is text. Name a text field in writeBack.customField.',
  };
}

/** At the partner: every custom field that the tenant's files name, and all its options. */
async function checkCustomFields(tenant: Tenant, partner: PartnerClient, store: Store | undefined): Promise<Found> {
  const defined = await readCustomFields(partner);
  const troubles = await judgeCustomFields(tenant, defined, store);
  const absent = requiredDefaults(await loadTenantMapping(tenant), defined);
  if (absent.length > 0) return fail([...absent, ...troubles.map(({ message }) => message)].join(' '));
  const unfit = (tenant.options ?? []).filter(
    ({ customField }) => !defined.some(({ id, type }) => id === customField && /^(multi-)?select$/.test(type)),
  );
  if (unfit.length > 0)
    return fail(
      `The partner has no field of type select or multi-select ${unfit.map((one) => one.customField).join(', ')}, ` +
        'which the tenant file names under options. Correct its id, or define the field there.',
    );
  const gaps = (await loadEveryMapping(tenant)).flatMap((mapping) => optionGaps(mapping, defined));
  const found = [...troubles.map(({ message, reason }) => `${message} [${reason}]`), ...gaps];
  if (found.length === 0) return ok('The custom fields that the files name exist.');
  return { state: troubles.some(({ blocks }) => blocks) ? 'fail' : 'warn', message: found.join(' ') };
}

/** Required rules of the default mapping that no record can meet, since the partner lacks the fields they read. */
function requiredDefaults({ fields, files }: Mapping, defined: readonly FieldDefinition[]): string[] {
  return fields.flatMap(({ target, from, required, fallback, at }) => {
    if (!required || fallback !== undefined || from.length === 0 || Object.hasOwn(files, at.file)) return [];
    const [first] = from;
    if (first === undefined || from.some((path) => isThere(path, defined))) return [];
    const labels = defined.filter(({ entity }) => entity === first.source).map(({ label }) => label);
    const there = labels.length === 0 ? 'It has none at all.' : `It has: ${labels.join(', ')}.`;
    return [
      `"${target}" is required, and by the default mapping it comes from ${first.text}, which the hiring platform ` +
        `does not have. ${there} Define it there, or write a rule of your own into the tenant's mapping: ` +
        `${target}: { from: "${first.source}.customFields[...]" }.`,
    ];
  });
}

function isThere(path: Mapping['fields'][number]['from'][number], defined: readonly FieldDefinition[]): boolean {
  if (!('customField' in path)) return true;
  const { customField: wanted, source } = path;
  return defined.some(
    ({ entity, id, label }) => entity === source && (id === wanted || foldLabel(label) === foldLabel(wanted)),
  );
}

/** In the HR system: types, lengths, values and required fields as they are now. */
async function checkHrisFields(tenant: Tenant, hris: HrisConnection): Promise<Found> {
  const described = (await hris.describe?.('employee', AbortSignal.timeout(CALL_MS))) ?? [];
  if (described.length === 0) return ok('The HR system does not describe its fields.');
  const { misfits } = fitMapping(await loadTenantMapping(tenant), described);
  if (misfits.length > 0) return fail(misfits.map(({ text }) => text).join(' '));
  const required = described.filter((field) => field.required).length;
  const filled = count(required, 'required one');
  const message = `The mapping fits ${count(described.length, 'field')} and fills the ${filled}.`;
  return ok(message);
}

/** Checks that the HR system supports the tenant's streams and has the tables that they land in. */
async function checkStreams(tenant: Tenant, hris: HrisConnection): Promise<Found> {
  // Documents have a section of their own, which counts without a schedule.
  const isFiled = tenant.documents !== undefined;
  const asked = streamNames.filter(
    (name) => tenant.streams[name].every !== undefined || (name === 'documents' && isFiled),
  );
  const elsewhere = ['notify', 'events'];
  const impossible = impossibleSettings(tenant).filter(({ path }) => !elsewhere.includes(String(path[0])));
  const never = impossible.map(({ path, text }) => `${path.join('.')}: ${text}`);
  const troubles = await Promise.all(never.length > 0 ? [] : asked.map((name) => troubleOf(tenant, hris, name)));
  const found = [...never, ...troubles.filter((one) => one !== undefined)];
  if (found.length > 0) return fail(found.join(' '));
  const unmarked = (await Promise.all(asked.map((name) => cannotMark(tenant, hris, name)))).flat();
  const message = [`The HR system supports the ${count(asked.length, 'stream')} of the tenant.`, ...unmarked].join(' ');
  return { state: unmarked.length > 0 ? 'warn' : 'ok', message };
}

async function troubleOf(tenant: Tenant, hris: HrisConnection, name: StreamName): Promise<string | undefined> {
  if (isLookup(name)) return undefined;
  const landed = landedNames.find((one) => one === name);
  if (landed !== undefined) return landingTrouble(tenant, hris, landed);
  if (name === 'documents' && hris.files === undefined)
    return `streams.documents: an HR system of kind ${tenant.hris.kind} takes no documents as configured. Remove them.`;
  if (name === 'documents') return filesTrouble(hris);
  if (name === 'amendments' && hris.employees.amend === undefined)
    return `streams.amendments: an HR system of kind ${tenant.hris.kind} cannot be amended. Remove the stream.`;
  if (name === 'options') return listsTrouble(tenant, hris);
  if (name !== 'amendments' && isExchange(name) && (await loadExchangeMapping(tenant, name)) === undefined)
    return `streams.${name}: no mapping says what it exchanges. Name a mapping file in streams.${name}.mapping.`;
  if (name === 'requisitions' && (await loadRequisitionMapping(tenant)) === undefined)
    return 'streams.requisitions: no mapping is set for them. Name a mapping file in streams.requisitions.mapping.';
  return undefined;
}

/** Checks that a file can be stored, if this kind can try that. */
async function filesTrouble({ files }: HrisConnection): Promise<string | undefined> {
  const tried = await attempted(async () => {
    await files?.probe?.(AbortSignal.timeout(CALL_MS));
    return ok('');
  });
  return tried.state === 'ok' ? undefined : `streams.documents: ${tried.message}`;
}

async function listsTrouble({ hris: { kind }, options = [] }: Tenant, { lists }: HrisConnection) {
  if (lists === undefined) return `streams.options: an HR system of kind ${kind} provides no lists. Remove the stream.`;
  const troubles = await Promise.all(
    options.map(async ({ list }) => {
      const found = await attempted(async () => {
        const entries = await lists.read(list, AbortSignal.timeout(CALL_MS));
        if (entries.length > 0) return ok('');
        return fail('it is empty, so the stream would be held. Name another.');
      });
      return found.state === 'ok' ? [] : [`options, list "${list}": ${found.message}`];
    }),
  );
  return troubles.flat().length === 0 ? undefined : troubles.flat().join(' ');
}
