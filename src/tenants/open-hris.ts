import type { HrisLimits } from '../hris/http-line.ts';
import type { FieldDef, FieldsInUse, HrisConnection, LandingConnection, SetupStatement } from '../hris/port.ts';
import { findHrisAdapter, openHris } from '../hris/registry.ts';
import { landingFieldsOf, landingSetup, openLanding, positionFieldsOf } from '../hris/sql/landing-destination.ts';
import type { WayBack } from '../mapping/check-direction.ts';
import { hasDefaultMapping, loadMapping, type Mapping, type MappingSubject } from '../mapping/load-mapping.ts';
import { partnerTargets, sourceRecords } from '../mapping/source-fields.ts';
import { contractTypes, degreeLevels, jobRoles, workModes } from '../partner/contract/jobs.ts';
import type { MappingVersion } from '../store/mapping-versions.ts';
import {
  entityOf,
  everyStream,
  exchangeNames,
  landedNames,
  landings,
  type PullName,
  pullStreams,
  type StreamName,
} from '../streams/streams.ts';
import type { Texts } from '../yaml/yaml-file.ts';
import type { Tenant } from './schema.ts';
import { resolveText } from './secrets.ts';

/** Opens the tenant's HRIS with its secrets resolved, and where records land beside it. Close it yourself. */
export async function openTenantHris(tenant: Tenant, limits?: HrisLimits): Promise<HrisConnection> {
  const { hris, landing } = tenant;
  const ofTables = findHrisAdapter(hris.kind)?.setup === undefined ? {} : { inUse: await hrisFieldsInUse(tenant) };
  const surroundings = { landings, ...ofTables, ...(limits === undefined ? {} : { limits }) };
  const open = await openHris(hris.kind, hris.connection, resolveOptions(hris.options), surroundings);
  if (landing === undefined) return open;
  return withLanding(
    open,
    openLanding(landing, () => resolveText(landing.url), landings, await fieldsInUse(tenant)),
  );
}

/** Employees as the HR system has them; what lands goes to the tables beside it, and to no others. */
function withLanding(hris: HrisConnection, beside: LandingConnection): HrisConnection {
  return {
    ...hris,
    landing: beside.landing,
    ...(beside.requisitions && { requisitions: beside.requisitions }),
    ...(beside.resumes && { resumes: beside.resumes }),
    describe: async (subject, signal) =>
      Object.hasOwn(landings, subject)
        ? beside.describe(subject, signal)
        : ((await hris.describe?.(subject, signal)) ?? []),
    close: async () => void (await Promise.all([hris.close(), beside.close()])),
  };
}

/** Those of them that are asked of the HR system itself. */
async function hrisFieldsInUse(tenant: Tenant): Promise<FieldsInUse> {
  const all = await fieldsInUse(tenant);
  return tenant.landing === undefined ? all : { ...all, landing: {} };
}

/** What HR system and landing tables are asked for: the fields that the mappings write or read. */
async function fieldsInUse(tenant: Tenant): Promise<FieldsInUse> {
  const exchanged = exchangeNames.filter((name) => entityOf(name) !== 'job');
  const [own, landed, ...exchanges] = await Promise.all([
    loadTenantMapping(tenant),
    Promise.all(landedNames.map(async (name) => [name, targetsOf(await loadStreamMapping(tenant, name))] as const)),
    ...exchanged.map((name) => loadExchangeMapping(tenant, name)),
  ]);
  const employee = new Set([own, ...exchanges].flatMap((mapping) => [...targetsOf(mapping)]));
  return { employee, landing: Object.fromEntries(landed) };
}

function targetsOf(mapping: Mapping | undefined): Set<string> {
  return new Set([...(mapping?.fields ?? []), ...(mapping?.back ?? [])].map(({ target }) => target));
}

/** What is missing in the HR system for the tenant's mappings, as statements; undefined for kinds that have none. */
export async function setupStatements(
  tenant: Tenant,
  more: readonly PullName[],
): Promise<SetupStatement[] | undefined> {
  const adapter = findHrisAdapter(tenant.hris.kind);
  const { setup } = adapter ?? {};
  if (setup === undefined && tenant.landing === undefined) return undefined;
  const { employee, landing: all } = await fieldsInUse(tenant);
  const asked = Object.entries(all).filter(
    ([name]) => tenant.streams[name as PullName].every !== undefined || more.some((one) => one === name),
  );
  const landing = Object.fromEntries(asked);
  const options = setup && adapter?.optionsSchema(landings).parse(resolveOptions(tenant.hris.options));
  const own = await setup?.(options, { employee, landing: tenant.landing === undefined ? landing : {} });
  if (tenant.landing === undefined) return own;
  const beside = await landingSetup({ ...tenant.landing, url: resolveText(tenant.landing.url) }, landings, {
    employee: new Set(),
    landing,
  });
  return [...(own ?? []), ...beside];
}

/** The tenant's compiled mapping, checked at both ends. */
export async function loadTenantMapping({ hris, madeIn, mapping: file, files }: Tenant): Promise<Mapping> {
  const of = madeIn === undefined ? {} : { of: accountOf(madeIn) };
  return loadMapping({ kind: hris.kind, ...of, fields: employeeFields(hris), ...ownFile(file, files) });
}

/** What a destination gets is what the tenant's own file says, and no default adds to it. */
function accountOf(hris: Tenant['hris']): MappingSubject {
  const made = ['id', 'number', ...employeeFields(hris).map(({ key }) => key)];
  return { name: 'account', reads: { ...sourceRecords, employee: { fields: made } }, isNew: true };
}

/** A tenant with one of its destinations in the place of its HR system: opened, mapped and guarded as that is. */
export function destinationTenant({ landing: _landing, ...tenant }: Tenant, at: number): Tenant {
  const { mapping, ...hris } = tenant.destinations?.[at] ?? { ...tenant.hris, mapping: '' };
  // Who the person is was settled before, so that a mere name is no question here.
  const policies = { ...tenant.policies, identity: { sameName: 'create' as const } };
  const streams = everyStream(() => ({ wholeWithin: 0 }));
  return { ...tenant, hris, mapping, policies, streams, madeIn: tenant.hris, destinations: undefined };
}

/** The tenant's compiled mapping of a stream; undefined where there is no table for it, or nothing maps it. */
export async function loadStreamMapping(tenant: Tenant, stream: PullName): Promise<Mapping | undefined> {
  const { kind } = tenant.landing ?? tenant.hris;
  const fields = landingFields(tenant, stream);
  const { mapping: file } = tenant.streams[stream];
  if (fields === undefined || (file === undefined && !hasDefaultMapping(kind, stream))) return undefined;
  const { name, ...record } = pullStreams[stream].record;
  // What only the list tells is none of the record, which is also read by its id.
  const whole = { without: pullStreams[stream].listOnly ?? [] };
  const of = { name: stream, reads: { [name]: { ...record, whole } } };
  return loadMapping({ kind, of, fields, ...ownFile(file, tenant.files) });
}

/** What a new job gets of a requisition; undefined where nobody tells any, or nothing maps them. */
export async function loadRequisitionMapping(tenant: Tenant): Promise<Mapping | undefined> {
  const kind = requisitionKind(tenant);
  const told = requisitionFields(tenant);
  const { mapping: file } = tenant.streams.requisitions;
  if (told.length === 0 || (file === undefined && !hasDefaultMapping(kind, 'requisitions'))) return undefined;
  const reads = { requisition: { fields: ['id', ...told.map(({ key }) => key)] } };
  const of = { name: 'requisitions', reads };
  return loadMapping({ kind, of, fields: jobFields, ...ownFile(file, tenant.files) });
}

/** The tenant's compiled mapping of a stream that goes both ways; undefined where it has none. */
export async function loadExchangeMapping(tenant: Tenant, stream: StreamName): Promise<Mapping | undefined> {
  const { kind } = tenant.hris;
  const { mapping: file } = tenant.streams[stream];
  if (file === undefined) return undefined;
  const entity = entityOf(stream);
  const way: WayBack = {
    carrier: `The stream ${stream}`,
    writes: { [entity]: partnerTargets[entity] },
    owners: ['partner', 'hris', 'either'],
  };
  const of = { name: stream, reads: { [entity]: { ...sourceRecords[entity], lists: [] } }, way, isPartial: true };
  const fields = entity === 'job' ? requisitionFields(tenant) : employeeFields(tenant.hris);
  return loadMapping({ kind, of, fields, ...ownFile(file, tenant.files) });
}

/** A mapping that was used once, from its kept texts; undefined where this release makes something else of them. */
export async function loadMappingVersion(tenant: Tenant, version: MappingVersion): Promise<Mapping | undefined> {
  const { subject, file, files, hash } = version;
  const { mapping: _own, ...rest } = tenant;
  const stream = landedNames.find((name) => name === subject);
  const own = file === undefined ? {} : { mapping: file };
  const loaded =
    stream === undefined
      ? await loadTenantMapping({ ...rest, ...own, files })
      : await loadStreamMapping({ ...tenant, files, streams: { ...tenant.streams, [stream]: own } }, stream);
  return loaded?.hash === hash ? loaded : undefined;
}

/** Every mapping that the tenant has, of employees and of streams. */
export async function loadEveryMapping(tenant: Tenant): Promise<Mapping[]> {
  const landed = await Promise.all(landedNames.map((name) => loadStreamMapping(tenant, name)));
  const exchanged = await Promise.all(exchangeNames.map((name) => loadExchangeMapping(tenant, name)));
  const all = [await loadTenantMapping(tenant), ...landed, await loadRequisitionMapping(tenant), ...exchanged];
  return all.filter((one) => one !== undefined);
}

/** With the texts that were applied, nothing is taken from the disk. */
function ownFile(file: string | undefined, texts: Tenant['files']): { file?: string; texts?: Texts } {
  if (file === undefined) return {};
  return Object.keys(texts).length === 0 ? { file } : { file, texts };
}

function employeeFields({ kind, options }: Tenant['hris']): readonly FieldDef[] {
  const found = findHrisAdapter(kind, options);
  return found?.employeeFields(found.optionsSchema(landings).parse(options)) ?? [];
}

/** What an open position holds; none where neither the landing tables nor the HR system tell any. */
export function requisitionFields({ hris, landing }: Pick<Tenant, 'hris' | 'landing'>): readonly FieldDef[] {
  if (landing?.requisitions !== undefined) return positionFieldsOf(landing);
  const { kind, options } = hris;
  const found = findHrisAdapter(kind, options);
  return found?.requisitionFields?.(found.optionsSchema(landings).parse(options)) ?? [];
}

/** The kind whose default mapping turns open positions into jobs. */
export function requisitionKind({ hris, landing }: Pick<Tenant, 'hris' | 'landing'>): string {
  return landing?.requisitions === undefined ? hris.kind : landing.kind;
}

/** What a stream's mapping may write; undefined where nothing can land. */
export function landingFields(
  { hris, landing }: Pick<Tenant, 'hris' | 'landing'>,
  stream: PullName,
): readonly FieldDef[] | undefined {
  if (landing !== undefined) return landingFieldsOf(landing, stream);
  const { kind, options } = hris;
  const found = findHrisAdapter(kind, options);
  return found?.landingFields?.(found.optionsSchema(landings).parse(options), stream);
}

/**
 * What an HRIS is opened with: every reference to a secret replaced by the secret. Never log the result. Keys of its
 * webhooks are left out: the receiver alone needs them, and has them from the references.
 */
export function resolveOptions(options: Record<string, unknown>): Record<string, unknown> {
  const { webhookKey: _one, webhookKeys: _all, ...needed } = options;
  return Object.fromEntries(
    Object.entries(needed).map(([key, value]) => [key, typeof value === 'string' ? resolveText(value) : value]),
  );
}

const text = (key: string, more: Partial<FieldDef> = {}): FieldDef => ({
  key,
  label: key,
  type: 'text',
  required: false,
  writable: true,
  ...more,
});

/** What a requisition's mapping may say of the partner's job (section 2.2); nothing of it can be edited later. */
const jobFields: readonly FieldDef[] = [
  text('title', { required: true, maxLength: 120 }),
  text('city', { required: true, maxLength: 200 }),
  text('state', { required: true, maxLength: 200 }),
  text('country', { required: true, maxLength: 200 }),
  text('description', { maxLength: 10_000 }),
  text('status', { options: ['DRAFT', 'ACTIVE'] }),
  text('workMode', { options: [...workModes] }),
  text('teamId'),
  text('contractType', { options: [...contractTypes] }),
  text('degreeLevel', { options: [...degreeLevels] }),
  text('jobRole', { options: [...jobRoles] }),
  text('salaryRangeFrom', { type: 'number', decimals: 0 }),
  text('salaryRangeTo', { type: 'number', decimals: 0 }),
  text('salaryCurrency', { maxLength: 3 }),
];
