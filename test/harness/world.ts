import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/free-port.ts';
import { createPartnerClient, type PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { type ControlClient, createControlClient } from '../../src/sandbox/control/client.ts';
import type { LedgerRow } from '../../src/sandbox/records/ledger.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { landings } from '../../src/streams/streams.ts';
import { type HostedSandbox, hostSandbox } from '../sandbox/hosted-sandbox.ts';
import { ensureHrisSchema } from './ensure-hris-schema.ts';
import { forgetWorld, noteWorld } from './open-worlds.ts';
import { readTenant } from './read-store.ts';
import { runCommand } from './run-command.ts';
import { type Process, type StartOptions, startProcess } from './run-product.ts';
import {
  type Applicant,
  defineStartDate,
  type Employee,
  finishOnboardings,
  listApplicants,
  readEmployees,
} from './world-people.ts';
import { TENANT, type WorldOptions, writeTenant } from './world-tenant.ts';

export type { Process } from './run-product.ts';
export { until } from './until.ts';
export { type Applicant, writtenBack } from './world-people.ts';
export type { WorldOptions } from './world-tenant.ts';

/**
 * One tenant: sandbox, HRIS and tenant file, all real. The judge is the ledger and the HRIS's table. Its receiver and
 * worker are its own (`World`) or a fleet's, shared with other tests (see fleet.ts).
 */
export interface TenantWorld {
  tenant: string;
  dir: string;
  tenantsDir: string;
  dataDir: string;
  company: string;
  flowId: string;
  startDateField: string;
  hrisUrl: string;
  storeUrl: string;
  webhookUrl: string;
  webhookKey: string;
  apiKey: string;
  control: ControlClient;
  partner: PartnerClient;
  sandbox: HostedSandbox;
  env: NodeJS.ProcessEnv;
  /** Everybody on a job and not hired, oldest first. */
  applicants(): Promise<Applicant[]>;
  /** Runs one command of the CLI to its end. */
  cli(
    args: readonly string[],
    env?: NodeJS.ProcessEnv,
  ): Promise<{ code: number | null; stdout: string; stderr: string }>;
  employees(): Promise<Employee[]>;
  effects(name: string): Promise<LedgerRow[]>;
  /** Finishes every onboarding that is under way in the sandbox. */
  finishOnboardings(): Promise<void>;
  /** Everything the product's processes logged so far; in a fleet, of other tenants, too. */
  logs(): Promise<string>;
  close(): Promise<void>;
}

/** A tenant with processes of the product for itself. */
export interface World extends TenantWorld {
  logFile: string;
  startWorker(env?: NodeJS.ProcessEnv, how?: StartOptions): Promise<Process>;
  /** Listens on the world's webhook port, where the sandbox delivers. */
  startReceiver(env?: NodeJS.ProcessEnv): Promise<Process>;
}

type Addresses = Pick<
  World,
  | 'tenant'
  | 'dir'
  | 'tenantsDir'
  | 'dataDir'
  | 'hrisUrl'
  | 'storeUrl'
  | 'webhookUrl'
  | 'webhookKey'
  | 'apiKey'
  | 'env'
  | 'logFile'
>;

/** What a tenant that joins a running fleet shares with its other tenants. */
export type SharedAddresses = Pick<World, 'dataDir' | 'storeUrl' | 'env' | 'logFile'> & { webhookPort: number };

export async function startWorld(options: WorldOptions, shared?: SharedAddresses): Promise<World> {
  const webhookPort = shared?.webhookPort ?? (await freePort());
  const addresses = { ...(await chooseAddresses(options, webhookPort)), ...shared };
  const { tenant, dir, tenantsDir, dataDir, storeUrl, hrisUrl, apiKey, env, logFile } = addresses;
  const out = createWriteStream(shared === undefined ? logFile : join(dir, 'product.log'));
  const processes: Process[] = [];
  const start = async (cliArgs: string[], more: NodeJS.ProcessEnv = {}, how?: StartOptions): Promise<Process> => {
    const started = await startProcess(cliArgs, { ...env, ...more }, out, how);
    processes.push(started);
    return started;
  };
  const sandbox = await hostSandbox(sandboxOptions(options, addresses));
  const control = createControlClient(sandbox.controlUrl);
  const partner = createPartnerClient({ baseUrl: sandbox.url, apiKey, environment: 'sandbox', allowPrivate: true });
  const prepared = await prepare(options, addresses, sandbox, partner);
  const places = ['--tenants', tenantsDir, '--data', dataDir];
  const logs = () => readFile(logFile, 'utf8');
  const close = once(async () => {
    forgetWorld(addresses);
    await Promise.allSettled(processes.map((running) => running.stop()));
    await partner.close();
    const defects = await sandbox.close();
    await new Promise((resolve) => out.end(resolve));
    if (process.env['KEEP_WORLD'] === undefined) await rm(dir, { recursive: true, force: true });
    if (defects.length > 0) throw new Error(`errors inside the sandbox:\n${defects.join('\n')}`);
  });
  noteWorld(addresses, async () => storyOf(tenant, await readTenant(storeUrl, tenant), await logs()));
  return {
    ...addresses,
    ...prepared,
    control,
    partner,
    sandbox,
    applicants: () => listApplicants(partner),
    startWorker: (more, how) => start(['worker', ...places, '--health-port', '0'], more, how),
    startReceiver: (more) => start(['serve', ...places, '--port', `${webhookPort}`, '--health-port', '0'], more),
    cli: (cliArgs, more) => runCommand([...cliArgs, ...places], { ...env, ...more }),
    employees: () => options.otherHris?.employees() ?? readEmployees(hrisUrl),
    effects: (name) => control.ledger({ kind: 'effect', name, limit: 100_000 }),
    finishOnboardings: () => finishOnboardings(control, partner),
    logs,
    close,
  };
}

/** What a person needs who looks at a failure: where the tenant stands, and the end of its log. */
function storyOf(tenant: string, status: object, logs: string): string {
  const lines = logs.trim().split('\n');
  const own = lines.filter((line) => line.includes(`"${tenant}"`) || !line.includes('"tenantId"'));
  return [`Tenant ${tenant}: ${JSON.stringify(status)}`, 'The end of the log:', ...own.slice(-25)].join('\n');
}

async function chooseAddresses(options: WorldOptions, webhookPort: number): Promise<Addresses> {
  const { tenant = TENANT } = options;
  const dir = await mkdtemp(join(tmpdir(), 'hirebridge-world-'));
  const [tenantsDir, dataDir] = [join(dir, 'tenants'), join(dir, 'data')];
  await Promise.all([mkdir(tenantsDir), mkdir(dataDir)]);
  const storeUrl = options.storeUrl ?? `sqlite:${join(dataDir, 'store.db')}`;
  return {
    tenant,
    dir,
    tenantsDir,
    dataDir,
    logFile: join(dir, 'product.log'),
    storeUrl,
    hrisUrl: options.hrisUrl ?? `sqlite:${join(dir, 'hris.db')}`,
    webhookUrl: `http://127.0.0.1:${webhookPort}/webhooks/${tenant}`,
    webhookKey: `whk_${randomBytes(16).toString('hex')}`,
    apiKey: `sk_test_${randomBytes(11).toString('hex')}`,
    env: {
      LOG_FORMAT: 'json',
      TEMPORAL_ADDRESS: options.temporalAddress,
      // By content, so that worlds may share it: bundling costs every world's first worker seconds.
      HIREBRIDGE_BUNDLE_DIR: join(tmpdir(), 'hirebridge-test-bundles'),
      HIREBRIDGE_STORE_URL: storeUrl,
      ...options.otherHris?.env,
      ...options.env,
    },
  };
}

function sandboxOptions(options: WorldOptions, { dir, webhookUrl, webhookKey, apiKey }: Addresses): SandboxOptions {
  const { jobs = 2, candidates = 12, hired = 0 } = options;
  const state = join(dir, 'sandbox.db');
  return { seed: 7, jobs, candidates, hired, state, webhookUrl, webhookKey, key: apiKey, ...options.sandbox };
}

/** What the tenant needs before its first run: the HRIS's tables, the field of the start date and its own file. */
async function prepare(
  options: WorldOptions,
  { tenantsDir, hrisUrl, apiKey, webhookKey }: Addresses,
  { url: partnerUrl, companyId }: HostedSandbox,
  partner: PartnerClient,
): Promise<Pick<World, 'company' | 'flowId' | 'startDateField'>> {
  const company = String(companyId);
  const { items: flows } = await partner.readAll(contract.onboarding.listFlows);
  const flowId = flows[0]?.flowId ?? '';
  const isMade =
    options.otherHris !== undefined || (options.hris?.createTable === true && !hrisUrl.startsWith('sqlite:'));
  if (!isMade) await ensureHrisSchema(hrisUrl, options.hris, landings);
  const startDateField = await defineStartDate(partner, options.startDates !== false);
  await writeTenant(tenantsDir, {
    ...options,
    partnerUrl,
    apiKey,
    webhookKey,
    company,
    flowId,
    hrisUrl: options.hrisProxyUrl ?? hrisUrl,
  });
  return { company, flowId, startDateField };
}

function once(act: () => Promise<void>): () => Promise<void> {
  let acted: Promise<void> | undefined;
  return () => {
    acted ??= act();
    return acted;
  };
}
