import { styleText } from 'node:util';
import type { Command } from 'commander';
import { storeExists } from '../config.ts';
import { type ConnectorError, rejected } from '../errors.ts';
import { foldLabel } from '../in-words.ts';
import type { CompiledField } from '../mapping/compile-rule.ts';
import type { FieldTrouble } from '../mapping/custom-fields.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import { type CheckLine, checkTenant } from '../operator/check-tenant.ts';
import { CALL_MS, openHris, openPartner } from '../operator/open-tenant.ts';
import { assertPulledStream } from '../operator/streams.ts';
import { readOwnTenant } from '../operator/tenants.ts';
import { judgeCustomFields, readCustomFields, type WrittenIds, writeIds } from '../operator/write-ids.ts';
import type { PartnerClient } from '../partner/client/create-partner-client.ts';
import type { CallOptions } from '../partner/client/types.ts';
import type { CustomFieldDefinition } from '../partner/contract/custom-fields.ts';
import { contract } from '../partner/contract/index.ts';
import { acknowledgeFields, type FieldDefinition, listFieldChanges, readMatches } from '../store/fields.ts';
import { assertMayWrite } from '../store/freezes.ts';
import type { Store } from '../store/open-store.ts';
import { loadEveryMapping, setupStatements } from '../tenants/open-hris.ts';
import type { Tenant } from '../tenants/schema.ts';
import { AS, byOf, EXIT, example, type Flags, placesOf, printJson, renderTable, say } from './command.ts';
import { withOpened, withStore } from './open.ts';

export const commands = { discover: defineDiscover, ddl: defineDdl, check: defineCheck };

function defineDiscover(command: Command): void {
  command
    .description(
      'Show names and ids of both sides for the files of a tenant: custom fields with their options, stages, ' +
        'onboarding flows, users, fields of the HR system.',
    )
    .argument('<tenant>', 'tenant to look at')
    .option('--apply', 'create at the hiring platform what the mappings name and it lacks: custom fields and options')
    .option('--acknowledge', 'accept the custom fields as they are now; ends alarms about changes of them')
    .addOption(
      command
        .createOption('--write', 'replace labels in the tenant file with ids, and keep the labels as comments')
        .conflicts(['apply', 'acknowledge']),
    )
    .option('--json', 'print JSON')
    .option(...AS)
    .addHelpText('after', example('hirebridge discover acme', 'hirebridge discover acme --write'))
    .action(runDiscover);
}

interface Options extends Flags {
  apply?: boolean;
  acknowledge?: boolean;
  write?: boolean;
}

async function runDiscover(tenantId: string, options: Options, command: Command): Promise<void> {
  if (options.write === true) {
    const written = await writeIds((await placesOf(command)).tenantsDir, tenantId);
    return say(options, written, renderWritten(written));
  }
  if (options.acknowledge === true)
    await withStore(command, (store) => acknowledgeFields(store, { tenantId, by: byOf(options) }));

  await withOwnTenant(command, tenantId, async (tenant, store) => {
    const partner = openPartner(tenant);
    try {
      if (options.apply === true) await applyMissing(tenant, partner, store);
      const found = await discover(tenant, partner, store);
      say(options, found, renderDiscovered(found));
    } finally {
      await partner.close();
    }
  });
}

/**
 * A tenant of the folder, and the store if it exists: a command that only reads needs none and creates none.
 * @throws ConnectorError TENANT_UNKNOWN
 */
async function withOwnTenant<T>(
  command: Command,
  tenantId: string,
  use: (tenant: Tenant, store: Store | undefined) => Promise<T>,
): Promise<T> {
  const places = await placesOf(command);
  const own = await readOwnTenant(places.tenantsDir, tenantId);
  if (!storeExists(places.dataDir)) return use(own, undefined);
  return withOpened(places, 'never', (store) => use(own, store));
}

/** Reports created definitions on standard error, so that `--json` output stays JSON. */
async function applyMissing(tenant: Tenant, partner: PartnerClient, store: Store | undefined): Promise<void> {
  for (const one of await applyMissingDefinitions(tenant, partner, store))
    process.stderr.write(
      one.what === 'field'
        ? `Created ${one.body.entityType} custom field "${one.body.fieldLabel}" (${one.body.fieldType}).\n`
        : `Options of "${one.label}" are now: ${one.options.join(', ')}.\n`,
    );
}

/** What both sides of a tenant offer for its files to name. */
type Discovered = Awaited<ReturnType<typeof discover>>;

const LIVE: CallOptions = { priority: 'live' };
const MOST_CHANGES = 20;

/** Reads both sides; writes nothing. Without a store no earlier state is known. */
async function discover(tenant: Tenant, partner: PartnerClient, store: Store | undefined) {
  const customFields = await readCustomFields(partner);
  const [stages, flows, users, hrisFields] = await Promise.all([
    readStages(partner),
    readFlows(partner),
    readUsers(partner),
    describeHris(tenant, store),
  ]);
  const changes = store === undefined ? [] : await listFieldChanges(store, tenant.tenant, MOST_CHANGES);
  const troubles = await judgeCustomFields(tenant, customFields, store);
  return { customFields, troubles, changes, stages, flows, users, hrisFields };
}

async function readStages(partner: PartnerClient) {
  const { items } = await partner.readAll(contract.pipelines.list, {}, LIVE);
  return items.flatMap(({ id: pipelineId, name: pipeline, stages }) =>
    stages.map(({ id: stageId, name: stage, type }) => ({ pipelineId, pipeline, stageId, stage, type })),
  );
}

async function readFlows(partner: PartnerClient) {
  const { items } = await partner.readAll(contract.onboarding.listFlows, {}, LIVE);
  return items.map(({ flowId, name, status }) => ({ flowId, name: name ?? '', status: status ?? '' }));
}

async function readUsers(partner: PartnerClient) {
  const { items } = await partner.readAll(contract.users.list, {}, LIVE);
  return items.map(({ id, email, status, role }) => ({
    userId: id,
    email: email ?? '',
    status: status ?? '',
    role: role ?? '',
  }));
}

/** The HR system's description of an employee's fields; empty if it has none. */
async function describeHris(tenant: Tenant, store: Store | undefined): Promise<FieldDefinition[]> {
  const hris = await openHris(tenant, store);
  try {
    const described = (await hris.describe?.('employee', AbortSignal.timeout(CALL_MS))) ?? [];
    return described.map(({ key: id, isField: _isField, ...rest }) => ({ id, entity: 'employee', ...rest }));
  } finally {
    await hris.close();
  }
}

/** A definition that the tenant's mappings need and the partner lacks: a field, or options of a field. */
type MissingDefinition =
  | { what: 'field'; body: CustomFieldDefinition }
  | { what: 'options'; fieldId: string; label: string; options: string[] };

/** Lookup files list the HR system's values; only a table within a rule is short enough to become options. */
const MOST_OPTIONS = 50;

/**
 * Custom fields that mappings name and the partner never had, and options that lookups name or that were removed. Plans
 * only for the partner: an HR system's values are never changed.
 */
function planDefinitions(
  mappings: readonly Mapping[],
  defined: readonly FieldDefinition[],
  { troubles, known }: { troubles: readonly FieldTrouble[]; known: ReadonlyMap<string, FieldDefinition> },
): MissingDefinition[] {
  const planned = new Map<string, MissingDefinition>();
  for (const { field, path } of mappings.flatMap(fieldPaths)) {
    const unknown = troubles.some((one) => one.path === path.text && one.reason === 'FIELD_UNKNOWN');
    const there = defined.find((one) => isMeant(one, path));
    const missing = unknown
      ? { what: 'field' as const, body: definitionFor(field, path.source, path.customField) }
      : there && extension(field, there, known.get(path.text));
    if (missing !== undefined && !planned.has(path.text)) planned.set(path.text, missing);
  }
  return [...planned.values()];
}

function fieldPaths({ fields }: Mapping) {
  return fields.flatMap((field) => field.from.flatMap((path) => ('customField' in path ? [{ field, path }] : [])));
}

function extension(
  field: CompiledField,
  there: FieldDefinition,
  known: FieldDefinition | undefined,
): MissingDefinition | undefined {
  const options = missingOptions(field, there, known);
  if (options.length === 0) return undefined;
  return { what: 'options', fieldId: there.id, label: there.label, options: [...(there.options ?? []), ...options] };
}

/** Creates what is missing at the partner, and returns it. Refuses a frozen tenant. */
export async function applyMissingDefinitions(
  tenant: Tenant,
  partner: PartnerClient,
  store: Store | undefined,
): Promise<MissingDefinition[]> {
  if (store !== undefined) await assertMayWrite(store, tenant.tenant);
  const defined = await readCustomFields(partner);
  const troubles = await judgeCustomFields(tenant, defined, store);
  const known = store === undefined ? new Map<string, FieldDefinition>() : await readMatches(store, tenant.tenant);
  const missing = planDefinitions(await loadEveryMapping(tenant), defined, { troubles, known });
  for (const one of missing) await make(partner, one);
  return missing;
}

/** Makes one call; a repeat would find nothing missing. */
async function make(partner: PartnerClient, one: MissingDefinition): Promise<void> {
  if (one.what === 'field') await partner.customFields.create({ body: one.body }, { priority: 'live' });
  else
    await partner.customFields.update(
      { params: { customFieldId: one.fieldId }, body: { options: one.options } },
      { priority: 'live' },
    );
}

function isMeant(
  { id, entity, label }: Pick<FieldDefinition, 'id' | 'entity' | 'label'>,
  { source, customField }: { source: string; customField: string },
): boolean {
  return entity === source && (id === customField || foldLabel(label) === foldLabel(customField));
}

/** A field of the type that fits the HR system's field; the keys of a lookup become its options. */
function definitionFor(field: CompiledField, entity: string, fieldLabel: string): CustomFieldDefinition {
  const entityType = entity === 'job' ? 'job' : 'candidate';
  const options = lookupKeys(field) ?? field.def.options;
  if (options !== undefined)
    return { entityType, fieldLabel, fieldType: field.def.type === 'list' ? 'multi-select' : 'select', options };
  const types = { text: 'text', number: 'number', date: 'date', boolean: 'checkbox', list: 'textarea' } as const;
  return { entityType, fieldLabel, fieldType: types[field.def.type] };
}

function missingOptions(
  field: CompiledField,
  { options }: FieldDefinition,
  known: FieldDefinition | undefined,
): string[] {
  if (!options?.length) return [];
  const wanted = new Set([...(known?.options ?? []), ...(lookupKeys(field) ?? [])]);
  return [...wanted].filter((option) => !options.includes(option));
}

/** With transforms, the options differ from the lookup's keys. */
function lookupKeys({ lookup, transforms }: CompiledField): string[] | undefined {
  const keys = Object.keys(lookup ?? {});
  return keys.length === 0 || keys.length > MOST_OPTIONS || transforms.length > 0 ? undefined : keys;
}

function renderDiscovered(found: Discovered): string {
  const { changes, stages, flows, users } = found;
  const parts = [
    renderCustomFields(found.customFields),
    section(
      'Changes seen',
      ['when', 'custom field', 'before', 'after'],
      changes.map(({ at, fieldId, before, after }) => [
        new Date(at).toISOString(),
        fieldId,
        shown(before),
        shown(after),
      ]),
    ),
    section(
      'Stages',
      ['pipeline', 'stage', 'type', 'stage id'],
      stages.map(({ pipeline, stage, type, stageId }) => [pipeline, stage, type, stageId]),
    ),
    section(
      'Onboarding flows',
      ['name', 'status', 'flow id'],
      flows.map(({ name, status, flowId }) => [name, status, flowId]),
    ),
    section(
      'Users',
      ['e-mail', 'status', 'role', 'user id'],
      users.map(({ email, status, role, userId }) => [email, status, role, userId]),
    ),
    renderHrisFields(found.hrisFields),
    found.troubles.map(({ message, reason }) => `${message} [${reason}]\n`).join(''),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function renderCustomFields(fields: Discovered['customFields']): string {
  const rows = fields.map(({ entity, label, type, section: at, options, id }) => [
    entity,
    label,
    type,
    at ?? '',
    (options ?? []).join(', '),
    id,
  ]);
  return section('Custom fields', ['entity', 'label', 'type', 'section', 'options', 'id'], rows);
}

function renderHrisFields(fields: Discovered['hrisFields']): string {
  const rows = fields.map(({ id, label, type, maxLength, required, options }) => [
    id,
    label,
    type,
    maxLength ?? '',
    required === true ? 'yes' : '',
    (options ?? []).join(', '),
  ]);
  return section('Fields of the HR system', ['field', 'name there', 'type', 'length', 'required', 'values'], rows);
}

function shown(field: Discovered['customFields'][number] | undefined): string {
  if (field === undefined) return '-';
  const { label, type, options } = field;
  return `${label} (${type}${options?.length ? `: ${options.join(', ')}` : ''})`;
}

function section(title: string, head: readonly string[], rows: ReadonlyArray<ReadonlyArray<string | number>>): string {
  return rows.length === 0 ? '' : `${title}\n${renderTable(head, rows)}\n`;
}

/** `discover --write`: the changes in the tenant's file, line by line. */
function renderWritten({ file, changes }: WrittenIds): string {
  if (changes.length === 0) return `${file}: ids and labels are all in place. Nothing is written.\n`;
  const lines = changes.flatMap(({ line, before, after }) => [`${line} - ${before}`, `${line} + ${after}`]);
  return `${file}\n${lines.join('\n')}\nWritten. What was applied stays until: hirebridge tenant apply\n`;
}

function defineCheck(command: Command): void {
  command
    .description(
      'Ask both sides of a tenant whether they work and fit its files: key, company, onboarding flow, custom fields, ' +
        'clock, HR system and its fields, rate limit, webhooks. ' +
        'Reads only; exit code 2 when something fails, 3 when no worker or receiver runs that should.',
    )
    .argument('<tenant>', 'tenant to check')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge check acme'))
    .action(runCheck);
}

async function runCheck(tenantId: string, options: Flags, command: Command): Promise<void> {
  const found = await withOwnTenant(command, tenantId, checkTenant);
  say(options, found, found.map(renderCheck).join(''));
  if (found.some(({ state }) => state === 'fail')) process.exitCode = EXIT.refused;
  else if (found.some(({ check, state }) => check === 'processes' && state !== 'ok')) process.exitCode = EXIT.partial;
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

export function renderCheck({ check, state, message }: CheckLine): string {
  return `${styleText(COLOURS[state], state.padEnd(4))}  ${check.padEnd(13)}  ${message}\n`;
}

function defineDdl(command: Command): void {
  command
    .description(
      "Print the statements that a tenant's HR database still needs for its files: tables, columns, triggers, rights " +
        'and landing tables. Reads only; run them yourself.',
    )
    .argument('<tenant>', 'tenant of the folder')
    .option('--stream <name>', 'only of the landing table of this stream, scheduled or not')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge ddl acme', 'hirebridge ddl acme --stream candidates'))
    .action(runDdl);
}

async function runDdl(tenantId: string, options: Flags & { stream?: string }, command: Command): Promise<void> {
  const { stream } = options;
  if (stream !== undefined) assertPulledStream(stream);
  const all = await withOwnTenant(command, tenantId, async (tenant) => {
    const found = await setupStatements(tenant, stream === undefined ? [] : [stream]);
    if (found === undefined) throw noStatements(tenant.hris.kind);
    return found;
  });
  const statements = stream === undefined ? all : all.filter(({ subject }) => subject === stream);
  if (options.json === true) return printJson(statements);
  const nothing = '-- Nothing is missing.\n';
  process.stdout.write(statements.length === 0 ? nothing : `${statements.map(({ text }) => text).join('\n\n')}\n`);
}

function noStatements(kind: string): ConnectorError {
  return rejected(
    'NO_STATEMENTS',
    `An HR system of kind ${kind} is no database. What it needs: src/hris/${kind}/README.md.`,
  );
}
