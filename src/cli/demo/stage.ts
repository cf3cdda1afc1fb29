import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { freePort } from '../../free-port.ts';
import type { PartnerClient } from '../../partner/client/create-partner-client.ts';
import { contract } from '../../partner/contract/index.ts';
import { type ControlClient, createControlClient } from '../../sandbox/control/client.ts';
import { Announcement } from '../part.ts';
import { type Supervisor, supervise } from '../supervise.ts';
import { type DemoHris, type DemoKind, openDemoHris } from './hris.ts';
import { openPartner, prepareStory, type StoryFacts, storySettings } from './recruiting.ts';

/** The demo's surroundings: a fresh directory, a sandbox with people, and a matching tenant file. */
export interface Stage {
  dir: string;
  tenantsDir: string;
  hris: DemoHris;
  /** The port that the receiver must use: the sandbox delivers to it. */
  webhookPort: number;
  /** The partner company's id. */
  company: string;
  control: ControlClient;
  controlUrl: string;
  partner: PartnerClient;
  /** Another company at the same partner, with its own HR system. */
  second: SecondTenant;
  sandbox: Supervisor;
  /** Set if a story was asked for. */
  story: StoryFacts | undefined;
  /** Prints the children's lines, apart from the bars. */
  print: (line: string) => void;
  /** The last lines of the children, shown after a failure. */
  lastLines(): Promise<string>;
  /** Removes the directory when the stage closes; after a failure it is kept for inspection. */
  forget(): void;
  close(): Promise<void>;
}

export interface StageOptions {
  dataDir: string;
  seed: number;
  hris: DemoKind;
  /** A story to play in place of the five hires. */
  story?: 'recruiting' | undefined;
}

/** Builds the stage under the data directory; reuses nothing of an earlier run. */
export async function buildStage({ dataDir, seed, hris: kind, story: name }: StageOptions): Promise<Stage> {
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
  const control = createControlClient(controlUrl);
  const story = name === undefined ? undefined : await prepareStory(partner, control);
  const first = { partnerUrl, apiKey, webhookKey, companyId: company, flowId, hris, story };
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
    control,
    story,
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
  // Processes started from now on read the secrets from this environment.
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

/** With a state file and a fixed port it could be restarted; here its ports are random, so the demo ends with it. */
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

/** The streams that the demo pulls. */
export const demoStreams = ['candidates', 'jobs'] as const;

/** The second tenant: its HR system sends changes, and the partner receives them. */
interface SecondFacts extends Pick<DemoFacts, 'partnerUrl' | 'apiKey'> {
  hrisFile: string;
  /** Job custom field that holds the requisition's id. */
  referenceField: string;
  /** Candidate custom field for the Employee ID, since this tenant has no onboarding. */
  employeeIdField: string;
}

interface DemoFacts {
  partnerUrl: string;
  apiKey: string;
  webhookKey: string;
  companyId: string;
  flowId: string;
  hris: DemoHris;
  story?: StoryFacts | undefined;
}

/** Writes the tenants: for each a tenant file, a mapping and its secrets, which only this user can read. */
export async function writeDemoFiles(tenantsDir: string, facts: DemoFacts, second: SecondFacts): Promise<void> {
  const secrets = join(tenantsDir, 'secrets');
  await mkdir(secrets, { recursive: true, mode: 0o700 });
  await Promise.all([
    writeFile(join(secrets, 'partner.key'), `${facts.apiKey}\n`, { mode: 0o600 }),
    writeFile(join(secrets, 'webhook.key'), `${facts.webhookKey}\n`, { mode: 0o600 }),
    writeFile(join(secrets, 'second.key'), `${second.apiKey}\n`, { mode: 0o600 }),
    writeFile(join(tenantsDir, 'demo.yaml'), tenantFile(facts)),
    writeFile(join(tenantsDir, 'demo-mapping.yaml'), MAPPING_FILE),
    writeFile(join(tenantsDir, 'demo-employees.yaml'), EMPLOYEES_FILE),
    writeFile(join(tenantsDir, 'second.yaml'), secondFile(second)),
    writeFile(join(tenantsDir, 'second-requisitions.yaml'), REQUISITIONS_FILE),
  ]);
}

function tenantFile({ partnerUrl, companyId, flowId, hris, story }: DemoFacts): string {
  const told = story === undefined ? { streams: '', section: '' } : storySettings(story);
  const streams = hris.tables === undefined ? '' : STREAMS + told.streams + told.section;
  return `# One customer: its key for the hiring platform, its HR system, and what happens when.
# Secrets are in files of their own.
tenant: demo
partner:
  baseUrl: ${partnerUrl}
  environment: sandbox
  apiKey: file:secrets/partner.key
  company: "${companyId}"
  webhookKeys: [file:secrets/webhook.key]
  allowPrivateAddress: true # the sandbox listens on this machine
hris:
  connection: demo-hr
${hris.settings}${hris.tables === undefined ? '' : 'mapping: demo-mapping.yaml\n'}policies:
  onboarding: { flow: ${flowId}, readyAt: [final_handoff, completed], deadline: 1d }
  reconcile: { every: 15s }
${streams}writeBack: { employeeId: ${hris.employeeId}, status: hired }
`;
}

const tables = demoStreams.map((name) => `partner_${name}`).join(', ');

const STREAMS = `streams: # each into a table of its own in the HR system: ${tables}
${demoStreams.map((name) => `  ${name}: { every: 1h }`).join('\n')}
  employees: { every: 5s, mapping: demo-employees.yaml } # fields that both sides edit
  employment: { every: 5s } # a number corrected in the HR system reaches the partner
`;

const MAPPING_FILE = `# Where this customer differs from the sql adapter's own mapping.
fields:
  # The partner has no department, so everyone starts in the same one.
  department: { constant: People }
  startDate: { from: "candidate.customFields[Start date]", transform: [date], required: true }
`;

const EMPLOYEES_FILE = `# What both sides may edit, and whose value stays where both did.
fields:
  city: { from: candidate.city, direction: both, owner: either, conflict: hris }
`;

function secondFile({ partnerUrl, hrisFile, referenceField, employeeIdField }: SecondFacts): string {
  return `# Another customer, another direction: positions of its HR system become jobs of the hiring platform.
tenant: second
partner:
  baseUrl: ${partnerUrl}
  environment: sandbox
  apiKey: file:secrets/second.key
  webhooks: off
  allowPrivateAddress: true # the sandbox listens on this machine
hris:
  kind: sql
  connection: second-hr
  url: ${JSON.stringify(`sqlite:${hrisFile}`)}
  createTable: true # for demonstrations; a customer's table belongs to the customer
  requisitions: { fields: { costCentre: { column: cost_centre } } }
policies: { onboarding: skip, reconcile: { every: 1h } }
streams:
  requisitions: { every: 5s, mapping: second-requisitions.yaml }
requisitions: { reference: "${referenceField}" }
writeBack: { customField: "${employeeIdField}" }
`;
}

const REQUISITIONS_FILE = `# Where this customer differs from the sql adapter's own mapping.
fields:
  # Its positions name no region, and every job needs one.
  state: { from: requisition.city, required: true }
  description: { template: "Cost centre {requisition.costCentre}" }
`;

/** The position that the second customer opens in its HR system. */
const REQUISITION = 'REQ-1';

/** Both sides of the second tenant, to act on them and to count their records. */
interface SecondTenant {
  partner: PartnerClient;
  hrisFile: string;
  referenceField: string;
}

/** Creates the custom fields that its tenant file names. */
async function defineFields(partner: PartnerClient): Promise<Pick<SecondFacts, 'referenceField' | 'employeeIdField'>> {
  const define = async (entityType: 'job' | 'candidate', fieldLabel: string): Promise<string> => {
    const { data } = await partner.customFields.create({ body: { entityType, fieldLabel, fieldType: 'text' } });
    return String(data.id);
  };
  const referenceField = await define('job', 'Requisition');
  return { referenceField, employeeIdField: await define('candidate', 'Employee ID') };
}

/** Creates the HR system's table of open positions. */
function makePositions(hrisFile: string): void {
  const database = new DatabaseSync(hrisFile);
  database.exec(`create table requisitions (id text primary key, title text, description text,
    city text, state text, country text, cost_centre text)`);
  database.close();
}

/** Opens a position in the HR system. */
export function openPosition({ hrisFile }: SecondTenant): void {
  const database = new DatabaseSync(hrisFile, { timeout: 2_000 });
  try {
    const insert = 'insert into requisitions (id, title, city, country, cost_centre) values (?, ?, ?, ?, ?)';
    database.prepare(insert).run(REQUISITION, 'Night porter', 'Oslo', 'Norway', 'K-7');
  } finally {
    database.close();
  }
}

/** Counts the partner's jobs that carry the position's id. */
export async function countJobs({ partner, referenceField }: SecondTenant): Promise<number> {
  const { items } = await partner.readAll(contract.jobs.list);
  return items.filter(({ customFields }) => customFields?.[referenceField]?.value === REQUISITION).length;
}
