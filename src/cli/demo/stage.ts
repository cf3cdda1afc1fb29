import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { CustomerHris, hrisSources } from '../../counterparts/hris-sources.ts';
import { freePort } from '../../free-port.ts';
import { openSqlDatabase } from '../../hris/sql/open-database.ts';
import { createPartnerClient, type PartnerClient } from '../../partner/client/create-partner-client.ts';
import { contract } from '../../partner/contract/index.ts';
import { type ControlClient, createControlClient } from '../../sandbox/control/client.ts';
import { Announcement } from '../part.ts';
import { type Supervisor, supervise } from '../supervise.ts';
import type { DemoKind, EmployeeRow, HrisTables, StoryFacts } from './recruiting.ts';

/** The HR system of the demo's first customer. */
interface DemoHris {
  /** YAML under `hris:` in the tenant file, without the connection. */
  settings: string;
  /** What is sent to the partner as Employee ID. */
  employeeId: 'number' | 'id';
  /** The secrets that `settings` refers to. */
  env: NodeJS.ProcessEnv;
  /** The HR system's own records: the demo counts these, not what the connector reports. */
  employees(): Promise<EmployeeRow[]>;
  /** Tables for landed records and for the streams of the demo; absent if the HR system has none. */
  tables?: HrisTables;
  close(): Promise<void>;
}

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

const STAGES = ['ASSESSMENT', 'SCREEN', 'SHORTLISTED'] as const;

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

async function prepareStory(partner: PartnerClient, control: ControlClient): Promise<StoryFacts> {
  const { items: jobs } = await partner.readAll(contract.jobs.list, { query: { status: 'ACTIVE' } });
  const made = (await control.act('createAssessment', { title: 'First interview' })) as { assessmentId: string };
  const calendar = await control.act('createBookingSchedule', { name: 'Second interview', timezone: 'Europe/Berlin' });
  const facts = { assessmentId: made.assessmentId, bookingScheduleId: String(calendar.id) };
  for (const stageType of STAGES) {
    const { items } = await partner.readAll(contract.jobCandidates.listByStageType, { query: { stageType } });
    const taken = new Set(items.map(({ jobCandidateDetails }) => String(jobCandidateDetails.jobId)));
    const free = jobs.find(({ id }) => !taken.has(String(id)));
    if (free !== undefined) return { ...facts, stageType, jobId: Number(free.id) };
  }
  throw new Error('Each job has somebody in every stage; the story needs an empty one. Choose another --seed.');
}

async function openHris(kind: DemoKind, dir: string): Promise<DemoHris> {
  const hris = await openDemoHris(kind, dir);
  // Processes started from now on read the secrets from this environment.
  Object.assign(process.env, hris.env);
  return hris;
}

/** Installs missing parts, like the tests of this kind. */
export async function openDemoHris(kind: DemoKind, dir: string): Promise<DemoHris> {
  switch (kind) {
    case 'sql':
      return sqlHris(`sqlite:${join(dir, 'hris.db')}`, async () => undefined);
    case 'postgresql':
      return onPostgres();
    case 'mariadb':
      return onMariadb();
    case 'tryton':
    case 'ldap':
    case 'sftp':
    case 'bamboohr':
    case 'scim':
    case 'odoo':
      return onCounterpart(kind);
  }
}

async function onCounterpart(kind: keyof typeof hrisSources): Promise<DemoHris> {
  const { hrisSources: sources } = await import('../../counterparts/hris-sources.ts');
  const source = await sources[kind]();
  const hris = await source.open();
  return {
    settings: yamlOf(hris.settings),
    employeeId: hris.employeeId ?? 'number',
    env: hris.env,
    employees: () => hris.employees(),
    async close() {
      await hris.close();
      await source.stop();
    },
  };
}

function yamlOf(settings: CustomerHris['settings']): string {
  return Object.entries(settings)
    .map(([name, value]) => `  ${name}: ${JSON.stringify(value)}\n`)
    .join('');
}

async function onMariadb(): Promise<DemoHris> {
  const { startMariadb } = await import('../../counterparts/start-mariadb.ts');
  const server = await startMariadb();
  return sqlHris(await server.newDatabase(), () => server.stop());
}

async function onPostgres(): Promise<DemoHris> {
  const { startPostgres } = await import('../../counterparts/start-postgres.ts');
  const { newDatabase } = await import('../../counterparts/start-postgres.ts');
  const server = await startPostgres();
  return sqlHris(await newDatabase(server.url), () => server.stop());
}

function sqlHris(url: string, stop: () => Promise<void>): DemoHris {
  const tables = openTables(url);
  return {
    settings: `  kind: sql
  url: ${JSON.stringify(url)}
  createTable: true # for demonstrations; a customer's table belongs to the customer
  changes: { column: changed_at, overlap: 2s } # how employees that somebody edited there are found
`,
    employeeId: 'number',
    env: {},
    employees: () => tables.employees(),
    tables,
    async close() {
      await tables.close();
      await stop();
    },
  };
}

function openTables(url: string): HrisTables {
  const database = openSqlDatabase(url, { create: true });
  const known = new Set<string>();
  /** The connector creates the tables when it first connects. */
  const isMade = async (table: string): Promise<boolean> => {
    if (!known.has(table)) for (const { name } of await database.kysely.introspection.getTables()) known.add(name);
    return known.has(table);
  };
  return {
    async employees() {
      if (!(await isMade('employees'))) return [];
      const { kysely } = database;
      const columns = ['id', 'employee_number', 'external_ref'];
      const rows = await kysely.selectFrom('employees').select(columns).orderBy('id').execute();
      return rows.map(({ id, employee_number: number, external_ref: reference }) => ({
        id: String(id),
        number: String(number),
        reference: typeof reference === 'string' ? reference : null,
      }));
    },
    async count(table) {
      if (!(await isMade(table))) return 0;
      const count = database.kysely.fn.countAll().as('n');
      return Number((await database.kysely.selectFrom(table).select(count).executeTakeFirst())?.['n']);
    },
    async rows(table) {
      return (await isMade(table)) ? database.kysely.selectFrom(table).selectAll().execute() : [];
    },
    async readCity(id) {
      const query = database.kysely.selectFrom('employees').select('city').where('id', '=', id);
      return (await query.executeTakeFirst())?.['city'];
    },
    async edit(id, { number, city }) {
      // SQLite derives the number from the id, so a corrected number has a column of its own.
      const column = database.dialect === 'sqlite' ? 'corrected_number' : 'employee_number';
      await database.kysely
        .updateTable('employees')
        .set({ [column]: number, city })
        .where('id', '=', id)
        .execute();
    },
    close: () => database.close(),
  };
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

/** The partner API, for the simulated recruiter. */
function openPartner(baseUrl: string, apiKey: string): PartnerClient {
  return createPartnerClient({ baseUrl, apiKey, environment: 'sandbox', allowPrivate: true });
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

/** The tenant file's part for the story: extra streams, and a section. */
function storySettings({ jobId, stageType, assessmentId }: StoryFacts): { streams: string; section: string } {
  return {
    streams: `  applications: { every: 1h }
  interviews: { every: 1h } # by webhook
  bookings: { every: 5s } # no webhook tells of them
  invitations: { every: 1h } # by webhook
`,
    section: `invitations: # everybody who comes into the stage is invited, once
  rules: [{ on: { stage: ${stageType}, jobs: ["${jobId}"] }, assessment: "${assessmentId}" }]
`,
  };
}

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

const REQUISITION = 'REQ-1';

/** Both sides of the second tenant, to act on them and to count their records. */
interface SecondTenant {
  partner: PartnerClient;
  hrisFile: string;
  referenceField: string;
}

async function defineFields(partner: PartnerClient): Promise<Pick<SecondFacts, 'referenceField' | 'employeeIdField'>> {
  const define = async (entityType: 'job' | 'candidate', fieldLabel: string): Promise<string> => {
    const { data } = await partner.customFields.create({ body: { entityType, fieldLabel, fieldType: 'text' } });
    return String(data.id);
  };
  const referenceField = await define('job', 'Requisition');
  return { referenceField, employeeIdField: await define('candidate', 'Employee ID') };
}

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
