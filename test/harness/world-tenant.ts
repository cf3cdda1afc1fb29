import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CustomerHris } from '../../src/counterparts/hris-sources.ts';
import type { SqlOptionsInput } from '../../src/hris/sql/options.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';

export interface WorldOptions {
  /** A running Temporal server; see temporalForTests. */
  temporalAddress: string;
  /** Default: acme. */
  tenant?: string;
  jobs?: number;
  candidates?: number;
  /** People hired long ago. */
  hired?: number;
  /** YAML put into the tenant file under `policies:`, two spaces in. `{ flow }` is replaced. */
  policies?: string;
  /** YAML of the tenant file under `writeBack:`. */
  writeBack?: string;
  /** What the SQL HRIS is like: in the tenant file, and for the table that is made. */
  hris?: Omit<SqlOptionsInput, 'url'>;
  /** An HRIS of another kind than `sql`. */
  otherHris?: Omit<CustomerHris, 'close'>;
  /** The HRIS's database as the judge reads it. Default: SQLite in the world's directory. */
  hrisUrl?: string;
  /** The same database as the tenant file names it, when something stands in between. */
  hrisProxyUrl?: string;
  /** Default: SQLite in the world's data directory. */
  storeUrl?: string;
  /** Environment of every process of the product. */
  env?: NodeJS.ProcessEnv;
  /** What the sandbox is asked for besides. */
  sandbox?: SandboxOptions;
  /** Further files of secrets, by name. */
  secrets?: Record<string, string>;
  /** Set the custom field 'Start date' for everyone in the pool; default true. */
  startDates?: boolean;
}

/** The one tenant of a world, unless it names another. */
export const TENANT = 'acme';

export interface TenantFacts extends Partial<WorldOptions> {
  /** Where its notifications go. */
  notify?: string;
  partnerUrl: string;
  apiKey: string;
  webhookKey: string;
  company: string;
  flowId: string;
  hrisUrl: string;
}

/** Writes the world's tenant: its file and its secrets. */
export async function writeTenant(tenantsDir: string, facts: TenantFacts): Promise<void> {
  const { tenant = TENANT } = facts;
  // Several tenants of one folder each have their own.
  const folder = existsSync(join(tenantsDir, 'secrets')) ? `secrets-${tenant}` : 'secrets';
  const secrets = join(tenantsDir, folder);
  await mkdir(secrets);
  await writeFile(join(secrets, 'partner.key'), `${facts.apiKey}\n`);
  await writeFile(join(secrets, 'webhook.key'), `${facts.webhookKey}\n`);
  for (const [name, secret] of Object.entries(facts.secrets ?? {})) await writeFile(join(secrets, name), `${secret}\n`);
  const settings = facts.otherHris?.settings ?? { kind: 'sql', url: facts.hrisUrl, ...facts.hris };
  const hris = Object.entries(settings).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}\n`);
  const notify = facts.notify === undefined ? '' : `notify: ${facts.notify}\n`;
  const told = facts.writeBack ?? (facts.otherHris?.employeeId && `employeeId: ${facts.otherHris.employeeId}`);
  const policies =
    facts.policies ?? 'onboarding: { flow: "{flow}" }\n  reconcile: { every: 1h }\n  cancel: { grace: 2s }';
  await writeFile(
    join(tenantsDir, `${tenant}.yaml`),
    `tenant: ${tenant}
partner:
  baseUrl: ${facts.partnerUrl}
  environment: sandbox
  apiKey: file:${folder}/partner.key
  company: "${facts.company}"
  webhookKeys: [file:${folder}/webhook.key]
  allowPrivateAddress: true
hris:
  connection: ${tenant}-hr
${hris.join('')}policies:
  ${policies.replaceAll('{flow}', facts.flowId)}
${told === undefined ? '' : `writeBack:\n  ${told}\n`}${notify}`,
  );
}
