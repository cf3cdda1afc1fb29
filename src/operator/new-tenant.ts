import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { stringify } from 'yaml';
import { docsFolder } from '../docs.ts';
import { rejected } from '../errors.ts';
import { foldLabel } from '../in-words.ts';
import { definitionOf } from '../mapping/custom-fields.ts';
import { createPartnerClient, type PartnerClient } from '../partner/client/create-partner-client.ts';
import { contract } from '../partner/contract/index.ts';
import type { FieldDefinition } from '../store/fields.ts';
import { readDefinition } from '../tenants/load-tenants.ts';
import { partnerSection, tenantFile } from '../tenants/schema.ts';
import { holdsPassword, isSecretRef, resolveText } from '../tenants/secrets.ts';
import { refuse } from '../yaml/yaml-file.ts';
import { companyShown, isActive } from './check-tenant.ts';
import { CALL_MS } from './open-tenant.ts';
import { type NewRule, readSources, type Source } from './suggest-mapping.ts';

/** What the partner offers for a new tenant's files to name. */
export interface SeenPartner {
  /** Undefined if no record names it. */
  company: string | undefined;
  /** Active flows only. */
  flows: { id: string; name: string }[];
  /** Labels of the candidate's custom fields of type date. */
  dateFields: string[];
  customFields: FieldDefinition[];
}

export interface PartnerAccess {
  baseUrl: string;
  apiKey: string;
  environment: 'production' | 'sandbox';
  allowPrivate: boolean;
}

/**
 * The key shows its environment (section 5); an address on this machine is a sandbox.
 * @throws ConnectorError BAD_URL for an address that the tenant's file could not have
 */
export function partnerAccess({ baseUrl: given, apiKey }: { baseUrl: string; apiKey: string }): PartnerAccess {
  const { data: baseUrl, error } = partnerSection.shape.baseUrl.safeParse(given);
  if (baseUrl === undefined) {
    const why = error?.issues[0]?.message ?? 'expected another one';
    throw rejected('BAD_URL', `The address of the hiring platform is not right: ${why}.`);
  }
  const key = resolveText(apiKey);
  return {
    baseUrl,
    apiKey: key,
    environment: key.startsWith('sk_live_') ? 'production' : 'sandbox',
    allowPrivate: isThisMachine(baseUrl),
  };
}

function isThisMachine(url: string): boolean {
  return /^(127\.|localhost$|\[::1\]$)/.test(URL.parse(url)?.hostname ?? '');
}

/** Reads a partner that no tenant file names yet. Reads only. */
export async function seePartner(access: PartnerAccess): Promise<SeenPartner> {
  return withPartner(access, async (partner) => {
    const { items: flows } = await partner.readAll(contract.onboarding.listFlows, {}, { priority: 'live' });
    const { items: defined } = await partner.readAll(contract.customFields.list, {}, { priority: 'live' });
    const customFields = defined.map(definitionOf);
    return {
      company: await companyShown(partner),
      flows: flows
        .filter(({ status }) => isActive(status))
        .map(({ flowId, name }) => ({ id: String(flowId), name: String(name) })),
      dateFields: customFields
        .filter(({ entity, type }) => entity === 'candidate' && type === 'date')
        .map(({ label }) => label),
      customFields,
    };
  });
}

/** The fields that a mapping may read, with samples from the latest hires. */
export async function seeSources(access: PartnerAccess, { customFields }: SeenPartner): Promise<Source[]> {
  return withPartner(access, (partner) => readSources(partner, customFields));
}

/** Defines a custom field of type date for candidates. */
export async function defineDateField(access: PartnerAccess, fieldLabel: string): Promise<void> {
  const body = { entityType: 'candidate', fieldLabel, fieldType: 'date', parentSection: 'Miscellaneous' } as const;
  await withPartner(access, (partner) => partner.customFields.create({ body }, { priority: 'live' }));
}

/** The wanted label as the partner spells it. */
export function sameLabel(labels: readonly string[], wanted: string): string | undefined {
  return labels.find((label) => foldLabel(label) === foldLabel(wanted));
}

async function withPartner<T>(access: PartnerAccess, ask: (partner: PartnerClient) => Promise<T>): Promise<T> {
  const partner = createPartnerClient({ ...access, timeouts: { headersMs: CALL_MS, bodyMs: CALL_MS } });
  try {
    return await ask(partner);
  } finally {
    await partner.close();
  }
}

interface DefinedHris {
  file: string;
  text: string;
  hasStartDate: boolean;
  options: Readonly<Record<string, string>>;
}

/** The content of a new tenant's files. */
export interface NewTenant {
  tenant: string;
  baseUrl: string;
  environment: 'production' | 'sandbox';
  allowPrivate: boolean;
  company: string | undefined;
  /** The key itself, or a reference to it. */
  apiKey: string;
  /** The webhook key from the dashboard, or a reference to it; without one, only the reconcile finds hires. */
  webhookKey?: string | undefined;
  /** The address of the HR system, including its password if it has one, or a reference to it. */
  hris: string;
  /** The definition of an HR system over HTTP, and its options; without one, the HR system is a database. */
  defined?: DefinedHris | undefined;
  createTable: boolean;
  flow: string;
  /** Label of the candidate's custom field for the first day of work. */
  startDate: string;
  /** Keys of `hris` that name the customer's own table, and its columns that hold no value of the person. */
  table?: Readonly<Record<string, string>>;
  /** Columns of the HR system, under field names that only this tenant uses. */
  columns?: Readonly<Record<string, { column: string; type?: string }>>;
  /** The tenant's differences from the default mapping; null leaves a field out. */
  rules?: Readonly<Record<string, NewRule | null>>;
  /** A comment for the mapping file. */
  note?: string;
}

/** A file to write; only this user may read a secret. */
export interface NewFile {
  path: string;
  text: string;
  isSecret: boolean;
}

/** The files of a new tenant, checked as if they were in place. @throws ConnectorError TENANT_FILE_INVALID */
export async function tenantTexts(tenantsDir: string, wanted: NewTenant): Promise<NewFile[]> {
  const apiKey = placed(wanted.apiKey, join('secrets', `${wanted.tenant}-partner.key`));
  const webhook =
    wanted.webhookKey === undefined
      ? undefined
      : placed(wanted.webhookKey, join('secrets', `${wanted.tenant}-webhook.key`));
  const hris = holdsPassword(wanted.hris)
    ? placed(wanted.hris, join('secrets', `${wanted.tenant}-hris.url`))
    : { ref: wanted.hris };
  const file = join(tenantsDir, `${wanted.tenant}.yaml`);
  const mapping = join(tenantsDir, `${wanted.tenant}-mapping.yaml`);
  const texts = {
    [file]: tenantText(wanted, tenantsDir, { apiKey: apiKey.ref, hris: hris.ref, webhook: webhook?.ref }),
    [mapping]: mappingText(wanted),
  };
  const { defined } = wanted;
  const { problems } = await readDefinition({
    file,
    files: { ...texts, ...(defined && { [defined.file]: defined.text }) },
  });
  if (problems.length > 0) throw refuse('TENANT_FILE_INVALID', problems);
  const secrets = [apiKey, hris, webhook].flatMap((one) => one?.secret ?? []);
  return [
    ...secrets.map(({ path, text }) => ({ path: join(tenantsDir, path), text, isSecret: true })),
    ...Object.entries(texts).map(([path, text]) => ({ path, text, isSecret: false })),
  ];
}

interface Placed {
  ref: string;
  secret?: { path: string; text: string };
}

/** Gives a secret a file of its own; a reference stays as it is. */
function placed(value: string, path: string): Placed {
  return isSecretRef(value) ? { ref: value } : { ref: `file:${path}`, secret: { path, text: `${value}\n` } };
}

interface Refs {
  apiKey: string;
  hris: string;
  webhook: string | undefined;
}

function tenantText(wanted: NewTenant, tenantsDir: string, { apiKey, hris, webhook }: Refs): string {
  const {
    tenant,
    baseUrl,
    environment,
    allowPrivate,
    company,
    createTable,
    flow,
    table = {},
    columns = {},
    defined,
  } = wanted;
  const lines = [
    `# Every key of this file: ${pageOf('tenants.md')}`,
    `tenant: ${tenant}`,
    'partner:',
    `  baseUrl: ${baseUrl}`,
    `  environment: ${environment}`,
    `  apiKey: ${JSON.stringify(apiKey)}`,
    ...(company === undefined ? [] : [`  company: ${JSON.stringify(company)}`]),
    ...(webhook === undefined
      ? [
          '  # The reconcile finds every hire. For webhooks too, write webhookKeys instead: [file:PATH], [env:NAME].',
          '  webhooks: off',
        ]
      : [`  webhookKeys: [${JSON.stringify(webhook)}]`]),
    ...(allowPrivate ? ['  allowPrivateAddress: true'] : []),
    'hris:',
    `  kind: ${defined === undefined ? 'sql' : 'http'}`,
    `  connection: ${tenant}-hr`,
    ...(defined === undefined ? [] : [`  definition: ${inLine(relative(tenantsDir, defined.file))}`]),
    `  url: ${JSON.stringify(hris)}`,
    ...Object.entries(defined?.options ?? {}).map(([key, value]) => `  ${key}: ${inLine(value)}`),
    ...(defined !== undefined && isThisMachine(hris) ? ['  allowPrivateAddress: true'] : []),
    ...(createTable ? ['  createTable: true # for demonstrations; a customer’s table belongs to the customer'] : []),
    ...Object.entries(table).map(([key, name]) => `  ${key}: ${inLine(name)}`),
    ...inLines('  fields', columns),
    `mapping: ${tenant}-mapping.yaml`,
    'policies:',
    `  onboarding: { flow: ${JSON.stringify(flow)} }`,
  ];
  return `${lines.join('\n')}\n`;
}

/** One entry on each line below its name; nothing if there are no entries. */
function inLines(name: string, entries: Readonly<Record<string, unknown>>): string[] {
  const inner = ' '.repeat(name.length - name.trimStart().length + 2);
  const lines = Object.entries(entries).map(([key, value]) => `${inner}${key}: ${inLine(value)}`);
  return lines.length === 0 ? [] : [`${name}:`, ...lines];
}

function inLine(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();
}

/** The path of a documentation page, relative to the current directory. */
function pageOf(name: string): string {
  const page = relative(process.cwd(), join(docsFolder() ?? 'docs', name));
  return page.startsWith('..') ? `docs/${name} of the package hirebridge` : page;
}

function mappingText({ startDate, defined, rules = {}, note }: NewTenant): string {
  const first = { from: `candidate.customFields[${startDate}]`, transform: ['date'], required: true };
  const fields = { ...(defined?.hasStartDate !== false && { startDate: first }), ...rules };
  const lines = [
    `# Where this tenant differs from the default mapping. Every kind of rule: ${pageOf('mapping.md')}`,
    ...(note === undefined ? [] : [`# ${note}`]),
    ...(Object.keys(fields).length === 0 ? ['fields: {}'] : inLines('fields', fields)),
  ];
  return `${lines.join('\n')}\n`;
}

/** @throws ConnectorError SETUP_INVALID, FILE_EXISTS if no new tenant can have this id */
export function assertNewTenant(tenantsDir: string, tenant: string): void {
  if (!tenantFile.shape.tenant.safeParse(tenant).success)
    throw rejected(
      'SETUP_INVALID',
      'The id of a tenant has 1 to 40 characters, a to z, 0 to 9 and -. It stays for good. Choose another one.',
    );
  assertAbsent([join(tenantsDir, `${tenant}.yaml`)]);
}

/** @throws ConnectorError FILE_EXISTS naming every file that exists already */
export function assertAbsent(paths: readonly string[]): void {
  const there = paths.filter((path) => existsSync(path));
  if (there.length === 0) return;
  throw rejected(
    'FILE_EXISTS',
    `${there.join(', ')} exists, and nothing is overwritten. Choose another name, or edit the file.`,
  );
}

/** Writes all files whole, or none: what a full disk left of them would refuse the next try. */
export async function writeNewFiles(files: readonly NewFile[]): Promise<void> {
  assertAbsent(files.map(({ path }) => path));
  const made: string[] = [];
  try {
    for (const { path, text, isSecret } of files) {
      await mkdir(dirname(path), { recursive: true, ...(isSecret ? { mode: 0o700 } : {}) });
      await writeFile(path, '', { flag: 'wx', ...(isSecret ? { mode: 0o600 } : {}) });
      made.push(path);
      await writeFile(path, text);
    }
  } catch (error) {
    for (const path of made) await rm(path, { force: true });
    throw error;
  }
}
