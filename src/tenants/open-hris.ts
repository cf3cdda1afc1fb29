import { dayOf } from '../day-of.ts';
import { exchangedFields } from '../exchange/see-fields.ts';
import type { HrisLimits } from '../hris/http-line.ts';
import type { FieldDef, FieldsInUse, HrisConnection, LandingConnection, SetupStatement } from '../hris/port.ts';
import { findHrisAdapter, openHris } from '../hris/registry.ts';
import { landingFieldsOf, landingSetup, openLanding, positionFieldsOf } from '../hris/sql/sql.ts';
import { didYouMean } from '../in-words.ts';
import type { WayBack } from '../mapping/check-rule.ts';
import type { CompiledField } from '../mapping/compile-rule.ts';
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
import { type Problem, problemAt, type Texts, type YamlFile } from '../yaml/yaml-file.ts';
import { type Tenant, timezoneOf } from './schema.ts';
import { resolveText } from './secrets.ts';

/** Opens the tenant's HRIS with its secrets resolved, and its separate landing tables if any. The caller closes it. */
export async function openTenantHris(tenant: Tenant, limits?: HrisLimits): Promise<HrisConnection> {
  const { hris, landing } = tenant;
  const ofTables = findHrisAdapter(hris.kind)?.setup === undefined ? {} : { inUse: await hrisFieldsInUse(tenant) };
  const today = (): string => dayOf(Date.now(), timezoneOf(tenant));
  const surroundings = { landings, today, ...ofTables, ...(limits === undefined ? {} : { limits }) };
  const open = await openHris(hris.kind, hris.connection, resolveOptions(hris.options), surroundings);
  if (landing === undefined) return open;
  return withLanding(
    open,
    openLanding(landing, () => resolveText(landing.url), landings, await fieldsInUse(tenant)),
  );
}

/** Takes employees from the HR system, but lands records only in the separate landing tables. */
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

/** The fields in use that the HR system itself must have. */
async function hrisFieldsInUse(tenant: Tenant): Promise<FieldsInUse> {
  const all = await fieldsInUse(tenant);
  return tenant.landing === undefined ? all : { ...all, landing: {} };
}

/** The fields that the mappings write or read, for the HR system and the landing tables. */
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

/**
 * Statements that add what the HR system lacks for the tenant's mappings; undefined for kinds without such statements.
 */
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

/** The tenant's compiled mapping, checked against both sides. */
export async function loadTenantMapping({ hris, madeIn, mapping: file, files }: Tenant): Promise<Mapping> {
  const of = madeIn === undefined ? {} : { of: accountOf(madeIn) };
  return loadMapping({ kind: hris.kind, ...of, fields: employeeFields(hris), ...ownFile(file, files) });
}

/** A destination gets only what the tenant's own file says; no default mapping adds to it. */
function accountOf(hris: Tenant['hris']): MappingSubject {
  const made = ['id', 'number', ...employeeFields(hris).map(({ key }) => key)];
  return { name: 'account', reads: { ...sourceRecords, employee: { fields: made } }, isNew: true };
}

/**
 * The tenant with one of its destinations in place of its HR system, so that it is opened, mapped and guarded the same
 * way.
 */
export function destinationTenant({ landing: _landing, ...tenant }: Tenant, at: number): Tenant {
  const { mapping, ...hris } = tenant.destinations?.[at] ?? { ...tenant.hris, mapping: '' };
  // The person's identity was settled earlier, so an equal name needs no question here.
  const policies = { ...tenant.policies, identity: { sameName: 'create' as const } };
  const streams = everyStream(() => ({ wholeWithin: 0 }));
  return { ...tenant, hris, mapping, policies, streams, madeIn: tenant.hris, destinations: undefined };
}

/** The tenant's compiled mapping of a stream; undefined if the stream has no table or no mapping. */
export async function loadStreamMapping(tenant: Tenant, stream: PullName): Promise<Mapping | undefined> {
  const { kind } = tenant.landing ?? tenant.hris;
  const fields = landingFields(tenant, stream);
  const { mapping: file } = tenant.streams[stream];
  if (fields === undefined || (file === undefined && !hasDefaultMapping(kind, stream))) return undefined;
  const { name, ...record } = pullStreams[stream].record;
  // Fields that only the list shows are not part of the record, which may also be read by id.
  const whole = { without: pullStreams[stream].listOnly ?? [] };
  const of = { name: stream, reads: { [name]: { ...record, whole } } };
  return loadMapping({ kind, of, fields, ...ownFile(file, tenant.files) });
}

/** How a requisition becomes a job; undefined if no requisitions are listed or none are mapped. */
export async function loadRequisitionMapping(tenant: Tenant): Promise<Mapping | undefined> {
  const kind = requisitionKind(tenant);
  const told = requisitionFields(tenant);
  const { mapping: file } = tenant.streams.requisitions;
  if (told.length === 0 || (file === undefined && !hasDefaultMapping(kind, 'requisitions'))) return undefined;
  const reads = { requisition: { fields: ['id', ...told.map(({ key }) => key)] } };
  const of = { name: 'requisitions', reads };
  return loadMapping({ kind, of, fields: jobFields, ...ownFile(file, tenant.files) });
}

/** The tenant's compiled mapping of a stream that goes both ways; undefined if it has none. */
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

/**
 * A mapping that was used before, compiled from its stored texts; undefined if this release compiles them differently.
 */
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

/** Every mapping of the tenant, for employees and for streams. */
export async function loadEveryMapping(tenant: Tenant): Promise<Mapping[]> {
  const landed = await Promise.all(landedNames.map((name) => loadStreamMapping(tenant, name)));
  const exchanged = await Promise.all(exchangeNames.map((name) => loadExchangeMapping(tenant, name)));
  const all = [await loadTenantMapping(tenant), ...landed, await loadRequisitionMapping(tenant), ...exchanged];
  return all.filter((one) => one !== undefined);
}

/** If applied texts are given, nothing is read from the disk. */
function ownFile(file: string | undefined, texts: Tenant['files']): { file?: string; texts?: Texts } {
  if (file === undefined) return {};
  return Object.keys(texts).length === 0 ? { file } : { file, texts };
}

function employeeFields({ kind, options }: Tenant['hris']): readonly FieldDef[] {
  const found = findHrisAdapter(kind, options);
  return found?.employeeFields(found.optionsSchema(landings).parse(options)) ?? [];
}

/** Fields of an open position; none if neither the landing tables nor the HR system have positions. */
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

/** Fields that a stream's mapping may write; undefined if nothing can land. */
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
 * The options to open an HRIS with: every reference to a secret is replaced by the secret. Never log the result. Leaves
 * out the keys of its webhooks, because only the receiver needs them, and it reads the references itself.
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

/** Fields of a partner job that a requisition's mapping may set (section 2.2); none can be edited later. */
const jobFields: readonly FieldDef[] = [
  text('title', { required: true, maxLength: 120 }),
  text('city', { required: true, maxLength: 200 }),
  text('state', { maxLength: 200 }),
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

/** Fields to ask about if the tenant file names none. */
const USUAL = ['startDate', 'title', 'department'];

/** The fields of an employee's mapping that are amended, and how; undefined if there are none. */
export function amendmentMapping(
  { amendments }: Pick<Tenant, 'amendments'>,
  employee: Mapping,
  exchanged: Mapping | undefined,
): Mapping | undefined {
  const { ask = USUAL, apply } = amendments ?? { apply: [] };
  const elsewhere = exchangedTargets(exchanged);
  const fields = employee.fields.flatMap((field): CompiledField[] => {
    const { target } = field;
    if (whyNot(field, elsewhere) !== undefined || ![...ask, ...apply].includes(target)) return [];
    return [{ ...field, amends: apply.includes(target) ? 'apply' : 'ask' }];
  });
  return fields.length === 0 ? undefined : { ...employee, fields, back: [] };
}

/** Reports every field of the section `amendments` that cannot be amended, and why. */
export function checkAmendments(
  source: YamlFile,
  { amendments, streams }: Tenant,
  employee: Mapping,
  exchanged: Mapping | undefined,
): Problem[] {
  if (streams.amendments.mapping !== undefined)
    return [
      problemAt(source, ['streams', 'amendments', 'mapping'], 'amendments use the mapping of employees. Remove it.'),
    ];
  const targets = employee.fields.map(({ target }) => target);
  const elsewhere = exchangedTargets(exchanged);
  return (['ask', 'apply'] as const).flatMap((key) =>
    (amendments?.[key] ?? []).flatMap((name, index) => {
      const field = employee.fields.find(({ target }) => target === name);
      const unknown = `"${name}" is not a mapped field. ${didYouMean(name, targets)}`;
      const text = field === undefined ? unknown : whyNot(field, elsewhere);
      return text === undefined ? [] : [problemAt(source, ['amendments', key, index], text)];
    }),
  );
}

function exchangedTargets(exchanged: Mapping | undefined): string[] {
  return exchanged === undefined ? [] : exchangedFields(exchanged).map(({ target }) => target);
}

function whyNot({ target, from, rule }: CompiledField, elsewhere: readonly string[]): string | undefined {
  if (elsewhere.includes(target))
    return `the stream employees already writes "${target}" to the HR system. Keep one of the two.`;
  if (rule.direction === 'both') return `"${target}" flows both ways, so its later edits are the HR system’s.`;
  if (from.some((path) => 'customField' in path && path.of !== undefined))
    return `"${target}" is read from an entry of a list, and later edits of it are not reported. Remove it here.`;
  if (from.some((path) => path.source === 'application'))
    return `"${target}" is read from the application, which is sent once. Remove it here.`;
  const onboarding = from.some((path) => path.source === 'onboarding');
  return onboarding ? `"${target}" is read from the onboarding, which is over by then. Remove it here.` : undefined;
}
