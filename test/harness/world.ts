import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/cli/up/free-port.ts';
import { ensureHrisSchema } from '../../src/hris/sql/ensure-hris-schema.ts';
import type { SqlOptionsInput } from '../../src/hris/sql/options.ts';
import { createPartnerClient, type PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { type ControlClient, createControlClient } from '../../src/sandbox/control/client.ts';
import type { LedgerRow } from '../../src/sandbox/records/platform/ledger.ts';
import { landings } from '../../src/streams/streams.ts';
import { defineStartDate, finishOnboardings, listApplicants, readEmployees } from './world-people.ts';
import { TENANT, writeTenant } from './world-tenant.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** One process of the real CLI. */
export interface Process {
  child: ChildProcess;
  /** Addresses it announced once it listened. */
  facts: Record<string, string>;
  /** SIGTERM and the end of the drain. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Resolves with exit code or signal. */
  ended: Promise<number | NodeJS.Signals | null>;
}

export interface WorldOptions {
  /** A running Temporal server; see temporalForTests. */
  temporalAddress: string;
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
  /** The HRIS's database as the judge reads it. Default: SQLite in the world's directory. */
  hrisUrl?: string;
  /** The same database as the tenant file names it, when something stands in between. */
  hrisProxyUrl?: string;
  /** Default: SQLite in the world's data directory. */
  storeUrl?: string;
  /** Environment of every process of the product. */
  env?: NodeJS.ProcessEnv;
  /** Further sandbox flags. */
  sandbox?: string[];
  /** Set the custom field 'Start date' for everyone in the pool; default true. */
  startDates?: boolean;
}

export interface Employee {
  id: string;
  number: string;
  reference: string | null;
  email: string | null;
}

/** A person of the sandbox who is not hired yet. */
export interface Applicant {
  jobCandidateId: number;
  candidateId: number;
  jobId: number;
}

/** Sandbox, HRIS, tenant file and the product's own processes, all real. The judge is the ledger and the HRIS's table. */
export interface World {
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
  sandbox: Process;
  env: NodeJS.ProcessEnv;
  /** Everybody on a job and not hired, oldest first. */
  applicants(): Promise<Applicant[]>;
  startWorker(env?: NodeJS.ProcessEnv): Promise<Process>;
  /** Listens on the world's webhook port, where the sandbox delivers. */
  startReceiver(env?: NodeJS.ProcessEnv): Promise<Process>;
  /** Runs one command of the CLI to its end. */
  cli(
    args: readonly string[],
    env?: NodeJS.ProcessEnv,
  ): Promise<{ code: number | null; stdout: string; stderr: string }>;
  employees(): Promise<Employee[]>;
  effects(name: string): Promise<LedgerRow[]>;
  /** Finishes every onboarding that is under way in the sandbox. */
  finishOnboardings(): Promise<void>;
  /** Everything the product's processes logged so far. */
  logs(): Promise<string>;
  close(): Promise<void>;
}

export async function startWorld(options: WorldOptions): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), 'hirebridge-world-'));
  const [tenantsDir, dataDir, logFile] = [join(dir, 'tenants'), join(dir, 'data'), join(dir, 'product.log')];
  await Promise.all([mkdir(tenantsDir), mkdir(dataDir)]);
  const out = createWriteStream(logFile);
  const webhookPort = await freePort();
  const webhookUrl = `http://127.0.0.1:${webhookPort}/webhooks/${TENANT}`;
  const apiKey = `sk_test_${randomBytes(11).toString('hex')}`;
  const webhookKey = `whk_${randomBytes(16).toString('hex')}`;
  const hrisUrl = options.hrisUrl ?? `sqlite:${join(dir, 'hris.db')}`;
  const storeUrl = options.storeUrl ?? `sqlite:${join(dataDir, 'store.db')}`;
  const env: NodeJS.ProcessEnv = {
    LOG_FORMAT: 'json',
    TEMPORAL_ADDRESS: options.temporalAddress,
    // By content, so that worlds may share it: bundling costs every world's first worker seconds.
    HIREBRIDGE_BUNDLE_DIR: join(tmpdir(), 'hirebridge-test-bundles'),
    HIREBRIDGE_STORE_URL: storeUrl,
    ...options.env,
  };
  const numbers = [
    '--seed',
    '7',
    '--jobs',
    `${options.jobs ?? 2}`,
    '--candidates',
    `${options.candidates ?? 12}`,
    '--hired',
    `${options.hired ?? 0}`,
  ];
  const addresses = [
    '--port',
    '0',
    '--control-port',
    '0',
    '--state',
    join(dir, 'sandbox.db'),
    '--webhook-url',
    webhookUrl,
  ];
  const args = [
    'sandbox',
    ...numbers,
    ...addresses,
    '--webhook-key',
    webhookKey,
    '--key',
    apiKey,
    ...(options.sandbox ?? []),
  ];
  const processes: Process[] = [];
  const start = async (cliArgs: string[], more: NodeJS.ProcessEnv = {}): Promise<Process> => {
    const started = await startProcess(cliArgs, { ...env, ...more }, out);
    processes.push(started);
    return started;
  };
  const sandbox = await startProcess(args, { LOG_FORMAT: 'json', LOG_LEVEL: 'error' }, out);
  const { partner: partnerUrl = '', control: controlUrl = '', company = '' } = sandbox.facts;
  const control = createControlClient(controlUrl);
  const partner = createPartnerClient({ baseUrl: partnerUrl, apiKey, environment: 'sandbox', allowPrivate: true });
  const { items: flows } = await partner.readAll(contract.onboarding.listFlows);
  const flowId = flows[0]?.flowId ?? '';
  if (hrisUrl.startsWith('sqlite:') || options.hris?.createTable !== true)
    await ensureHrisSchema(hrisUrl, options.hris, landings);
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
  const places = ['--tenants', tenantsDir, '--data', dataDir];
  let closed = false;
  const world: World = {
    dir,
    tenantsDir,
    dataDir,
    company,
    flowId,
    startDateField,
    hrisUrl,
    storeUrl,
    webhookUrl,
    webhookKey,
    apiKey,
    control,
    partner,
    sandbox,
    env,
    applicants: () => listApplicants(partner),
    startWorker: (more) => start(['worker', ...places, '--health-port', '0'], more),
    startReceiver: (more) => start(['serve', ...places, '--port', `${webhookPort}`, '--health-port', '0'], more),
    cli: (cliArgs, more) => runCli([...cliArgs, ...places], { ...env, ...more }),
    employees: () => readEmployees(hrisUrl),
    effects: (name) => control.ledger({ kind: 'effect', name, limit: 100_000 }),
    finishOnboardings: () => finishOnboardings(control, partner),
    logs: () => readFile(logFile, 'utf8'),
    async close() {
      if (closed) return;
      closed = true;
      await Promise.allSettled(processes.map((running) => running.stop()));
      await partner.close();
      await sandbox.kill();
      await new Promise((resolve) => out.end(resolve));
      if (process.env['KEEP_WORLD'] === undefined) await rm(dir, { recursive: true, force: true });
    },
  };
  return world;
}

/** Polls until `met` gives a value that is not false or undefined; fails with what was seen last. */
export async function until<T>(
  what: string,
  met: () => Promise<T | false | undefined>,
  { timeoutMs = 60_000, everyMs = 100 }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const value = await met();
    if (value !== false && value !== undefined) return value;
    if (performance.now() > end) throw new Error(`Not within ${timeoutMs} ms: ${what}`);
    await pause(everyMs);
  }
}

/** The latest Employee ID on each enrolment of ours, by job candidate: what the ledger says was written back. */
export async function writtenBack(world: World): Promise<Map<string, string>> {
  const enrolments = new Map(
    (await world.effects('enrolment')).map((row) => [String(row.subject), String(row.detail['externalRef'])]),
  );
  const written = new Map<string, string>();
  for (const row of await world.effects('external-status')) {
    const jobCandidateId = enrolments.get(String(row.subject))?.split(':')[1];
    const employeeId = row.detail['employeeId'];
    if (jobCandidateId !== undefined && employeeId !== undefined) written.set(jobCandidateId, String(employeeId));
  }
  return written;
}

async function startProcess(args: string[], env: NodeJS.ProcessEnv, out: WriteStream): Promise<Process> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let tail = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      tail = (tail + chunk.toString()).slice(-4_000);
      if (!out.writableEnded) out.write(chunk);
    });
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals | null);
  const failed = ended.then((how) => Promise.reject(new Error(`${args[0]} ended with ${how}: ${tail}`)));
  failed.catch(() => undefined);
  const [message] = (await Promise.race([once(child, 'message'), failed])) as [{ facts: Record<string, string> }];
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  return { child, facts: message.facts, ended, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}

async function runCli(args: string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}
