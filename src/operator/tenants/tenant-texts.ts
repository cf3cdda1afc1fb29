import { join } from 'node:path';
import { readDefinition } from '../../tenants/load-tenants.ts';
import { isSecretRef } from '../../tenants/secrets.ts';
import { refuse } from '../../yaml/yaml-file.ts';

/** Everything that the files of a new tenant say. */
export interface NewTenant {
  tenant: string;
  baseUrl: string;
  environment: 'production' | 'sandbox';
  allowPrivate: boolean;
  company?: string;
  /** The key itself, or a reference to it. */
  apiKey: string;
  /** The address of the HR system, with its password where it has one, or a reference to it. */
  hris: string;
  createTable: boolean;
  flow: string;
  /** Label of the candidate's custom field that holds it. */
  startDate: string;
}

/** One file to be written; a secret is readable by this user alone. */
export interface NewFile {
  path: string;
  text: string;
  isSecret: boolean;
}

/** The files of a new tenant, checked as if they stood there. @throws ConnectorError TENANT_FILE_INVALID */
export async function tenantTexts(tenantsDir: string, wanted: NewTenant): Promise<NewFile[]> {
  const apiKey = placed(wanted.apiKey, join('secrets', `${wanted.tenant}-partner.key`));
  const hris = hasPassword(wanted.hris)
    ? placed(wanted.hris, join('secrets', `${wanted.tenant}-hris.url`))
    : { ref: wanted.hris };
  const file = join(tenantsDir, `${wanted.tenant}.yaml`);
  const mapping = join(tenantsDir, `${wanted.tenant}-mapping.yaml`);
  const texts = { [file]: tenantText(wanted, apiKey.ref, hris.ref), [mapping]: mappingText(wanted) };
  const { problems } = await readDefinition({ file, files: texts });
  if (problems.length > 0) throw refuse('TENANT_FILE_INVALID', problems);
  const secrets = [apiKey, hris].flatMap(({ secret }) => secret ?? []);
  return [
    ...secrets.map(({ path, text }) => ({ path: join(tenantsDir, path), text, isSecret: true })),
    ...Object.entries(texts).map(([path, text]) => ({ path, text, isSecret: false })),
  ];
}

interface Placed {
  ref: string;
  secret?: { path: string; text: string };
}

/** A secret gets a file of its own; a reference stays as it is. */
function placed(value: string, path: string): Placed {
  return isSecretRef(value) ? { ref: value } : { ref: `file:${path}`, secret: { path, text: `${value}\n` } };
}

function hasPassword(url: string): boolean {
  return (URL.parse(url)?.password ?? '') !== '';
}

function tenantText(wanted: NewTenant, apiKey: string, hris: string): string {
  const { tenant, baseUrl, environment, allowPrivate, company, createTable, flow } = wanted;
  const lines = [
    '# Every key of this file: docs/tenants.md',
    `tenant: ${tenant}`,
    'partner:',
    `  baseUrl: ${baseUrl}`,
    `  environment: ${environment}`,
    `  apiKey: ${JSON.stringify(apiKey)}`,
    ...(company === undefined ? [] : [`  company: ${JSON.stringify(company)}`]),
    '  # The reconcile finds every hire. For webhooks too, write webhookKeys instead: [file:PATH], [env:NAME].',
    '  webhooks: off',
    ...(allowPrivate ? ['  allowPrivateAddress: true'] : []),
    'hris:',
    '  kind: sql',
    `  connection: ${tenant}-hr`,
    `  url: ${JSON.stringify(hris)}`,
    ...(createTable ? ['  createTable: true # for demonstrations; a customer’s table belongs to the customer'] : []),
    `mapping: ${tenant}-mapping.yaml`,
    'policies:',
    `  onboarding: { flow: ${JSON.stringify(flow)} }`,
  ];
  return `${lines.join('\n')}\n`;
}

function mappingText({ startDate }: NewTenant): string {
  const path = JSON.stringify(`candidate.customFields[${startDate}]`);
  const lines = [
    '# Where this tenant differs from the default mapping. Every kind of rule: docs/mapping.md',
    'fields:',
    `  startDate: { from: ${path}, transform: [date], required: true }`,
  ];
  return `${lines.join('\n')}\n`;
}
