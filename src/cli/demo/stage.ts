import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../counterparts/free-port.ts';
import type { PartnerClient } from '../../partner/client/create-partner-client.ts';
import { contract } from '../../partner/contract/index.ts';
import { type ControlClient, createControlClient } from '../../sandbox/control/client.ts';
import { Announcement } from '../announcement.ts';
import { type Supervisor, supervise } from '../supervise.ts';
import { writeDemoFiles } from './demo-files.ts';
import { type DemoHris, openDemoHris } from './demo-hris.ts';
import type { DemoKind } from './demo-kinds.ts';
import { openPartner } from './recruiter.ts';
import { defineFields, makePositions, type SecondTenant } from './second-tenant.ts';

/** Where the demo plays: a fresh directory, a sandbox with people in it, and a tenant file that fits. */
export interface Stage {
  dir: string;
  tenantsDir: string;
  hris: DemoHris;
  /** Port the receiver must take: the sandbox delivers there. */
  webhookPort: number;
  /** The partner company's id. */
  company: string;
  control: ControlClient;
  controlUrl: string;
  partner: PartnerClient;
  /** Another company at the same partner, with an HR system of its own. */
  second: SecondTenant;
  sandbox: Supervisor;
  /** Children's lines go here, not between the bars. */
  print: (line: string) => void;
  /** The end of what the children wrote, for a failure. */
  lastLines(): Promise<string>;
  /** Removes the directory when the stage is closed; what went wrong is kept to be looked at. */
  forget(): void;
  close(): Promise<void>;
}

export interface StageOptions {
  dataDir: string;
  seed: number;
  hris: DemoKind;
}

/** Builds the stage under the data directory; nothing of an earlier run is used. */
export async function buildStage({ dataDir, seed, hris: kind }: StageOptions): Promise<Stage> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const dir = await mkdtemp(join(dataDir, 'demo-'));
  const [tenantsDir, logFile] = [join(dir, 'tenants'), join(dir, 'demo.log')];
  const out = createWriteStream(logFile);
  const print = (line: string) => void out.write(`${line}\n`);
  const webhookPort = await freePort();
  const [apiKey, otherKey] = [makeKey(), makeKey()];
  const webhookKey = `whk_${randomBytes(16).toString('hex')}`;
  const url = `http://127.0.0.1:${webhookPort}/webhooks/demo`;
  const people = ['--seed', String(seed), '--jobs', '3', '--candidates', '40', '--hired', '10'];
  const ports = ['--port', '0', '--control-port', '0', '--state', join(dir, 'sandbox.db')];
  const keys = ['--key', apiKey, '--other-key', otherKey];
  const args = ['sandbox', ...ports, ...people, ...keys, '--webhook-url', url, '--webhook-key', webhookKey];
  const hris = await openHris(kind, dir);
  const { sandbox, facts } = await startSandboxChild(args, print);
  const { partner: partnerUrl = '', control: controlUrl = '', company = '' } = facts;
  const partner = openPartner(partnerUrl, apiKey);
  const { items: flows } = await partner.readAll(contract.onboarding.listFlows);
  const second = await buildSecond(partnerUrl, otherKey, join(dir, 'second-hris.db'));
  const flowId = flows[0]?.flowId ?? '';
  const first = { partnerUrl, apiKey, webhookKey, companyId: company, flowId, hris };
  await writeDemoFiles(tenantsDir, first, { ...second, partnerUrl, apiKey: otherKey });
  let forgotten = false;
  return {
    dir,
    tenantsDir,
    hris,
    webhookPort,
    company,
    controlUrl,
    partner,
    second,
    sandbox,
    print,
    control: createControlClient(controlUrl),
    lastLines: async () => (await readFile(logFile, 'utf8')).split('\n').slice(-25).join('\n'),
    forget() {
      forgotten = true;
    },
    async close() {
      await Promise.all([partner.close(), second.partner.close()]);
      await sandbox.stop();
      await hris.close();
      await new Promise((resolve) => out.end(resolve));
      if (forgotten) await rm(dir, { recursive: true, force: true });
    },
  };
}

async function openHris(kind: DemoKind, dir: string): Promise<DemoHris> {
  const hris = await openDemoHris(kind, dir);
  // The processes started from here on read the secrets there.
  Object.assign(process.env, hris.env);
  return hris;
}

function makeKey(): string {
  return `sk_test_${randomBytes(11).toString('hex')}`;
}

async function buildSecond(partnerUrl: string, apiKey: string, hrisFile: string) {
  const partner = openPartner(partnerUrl, apiKey);
  const fields = await defineFields(partner);
  makePositions(hrisFile);
  return { partner, hrisFile, ...fields };
}

/** A state file on a fixed port would let it restart; here its addresses are free ones, so its end ends the demo. */
async function startSandboxChild(args: string[], print: (line: string) => void) {
  const told = Promise.withResolvers<Record<string, string>>();
  const sandbox = supervise([{ name: 'sandbox', args }], {
    print,
    onMessage: (_name, message) => told.resolve(Announcement.parse(message).facts),
  });
  try {
    return { sandbox, facts: await Promise.race([told.promise, sandbox.failed]) };
  } catch (error) {
    await sandbox.stop();
    throw error;
  }
}
