/**
 * Streams that act by rule, killed: a process of its own runs one stream over a real partner and a real store, and dies
 * by SIGKILL at each point around each call and store write, one after the other. The partner's ledger then says
 * whether each person was invited, and each lead and each file became a candidate, exactly once; the directory's own
 * list says whether each hire got one account. Whoever withdrew their consent was stopped, as the HR database's own
 * triggers say, although the partner's answers were lost and broken as well; nobody else was.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { type ActivityDeps, type Connection, createConnections } from '../../activities/connections.ts';
import { followPrivacy } from '../../activities/erase/by-policy.ts';
import { pushRecords } from '../../activities/push/push-records.ts';
import { pullPages } from '../../activities/streams/pull-pages.ts';
import { renderTable } from '../../src/cli/command.ts';
import { newDatabase, startPostgres } from '../../src/counterparts/start-postgres.ts';
import { isConnectorError } from '../../src/errors.ts';
import { armFailpoints, passFailpoint, withFailpoints } from '../../src/failpoint.ts';
import type { ListedResume } from '../../src/hris/port.ts';
import { createPartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { defaultOverrides } from '../../src/partner/contract/assumptions.ts';
import type { LeadInput } from '../../src/partner/contract/campaigns.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { unlimited } from '../../src/rate-limit/rate-limit.ts';
import { assertMayWrite } from '../../src/store/freezes.ts';
import { addHints } from '../../src/store/hints.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { insertHires, updateHire } from '../../src/store/hires.ts';
import { openStore, type Store, writeFailpoints } from '../../src/store/open-store.ts';
import { landings } from '../../src/streams/streams.ts';
import { parseTenant } from '../../src/tenants/load-tenants.ts';
import { REQUEST_FAULTS } from '../activities/killable.ts';
import { pushDeps } from '../activities/push-deps.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { SCIM_TOKEN, startScimServer } from '../hris/scim-server.ts';
import { finishStep } from '../sandbox/open-flow.ts';
import { openPartner } from '../sandbox/open-partner.ts';

const STREAMS = ['invitations', 'moves', 'sourcing', 'resumes', 'accounts', 'consents'] as const;
type Stream = (typeof STREAMS)[number];

/** What one process is told to do: first to finish what the one before it left, then to run for one more person. */
interface Task {
  stream: Stream;
  storeUrl: string;
  url: string;
  key: string;
  settings: object;
  round: number;
  /** The application that is hinted at. */
  hint?: string;
  /** The application that comes into the rule's stage. */
  enters?: { jobCandidateId: number; stageId: number };
  /** The lead that is added. */
  lead?: { campaignId: number; lead: LeadInput };
  /** The files that the customer lists by then. */
  listed?: ListedResume[];
  /** Whose hire ended. */
  hired?: { jobCandidateId: string; candidateId: string; jobId: string };
  killAt?: string;
  listFile?: string;
}

const GIVE_UP_MS = 1_000;

async function work(task: Task): Promise<void> {
  const { stream: scene, storeUrl, round, hint, enters, lead, hired, killAt, listFile } = task;
  const stream = scene === 'moves' ? 'invitations' : scene;
  const store = await openStore(storeUrl, { plugins: [writeFailpoints(passFailpoint)] });
  const isApplied = stream === 'accounts' || stream === 'consents';
  const connection = isApplied ? await appliedConnection(task, store) : ruleConnection(task, stream);
  const { partner } = connection;
  const deps = pushDeps(store, connection, GIVE_UP_MS);
  const run = async (runId: string): Promise<void> => {
    for (;;) {
      try {
        const hinted = scene === 'invitations';
        // What left without an answer and is shown nowhere, a person asks for again.
        const full = stream === 'resumes';
        if (stream === 'consents') await followConsents(deps, runId);
        else await pushRecords(deps, { tenantId: 'acme', stream, runId, full, hinted, begun: false });
        return;
      } catch (error) {
        // The chore that follows consents looks again, whatever an answer was.
        if (!isConnectorError(error) || (error.action === 'reject' && stream !== 'consents')) throw error;
        await pause(error.retryAfterMs ?? 200);
      }
    }
  };
  if (round > 0) await run(`run-${round - 1}`);
  if (lead !== undefined)
    await partner.campaigns.addLeads({ params: { campaignId: lead.campaignId }, body: { leads: [lead.lead] } });
  if (enters !== undefined) {
    const { jobCandidateId, stageId } = enters;
    await partner.jobCandidates.move({ params: { jobCandidateId }, body: { stageId } });
  }
  if (hint !== undefined) await addHints(store, 'acme', stream, [hint]);
  if (hired !== undefined) await endAsHired(store, hired);
  armFailpoints({ killAt, listFile });
  await run(`run-${round}`);
  armFailpoints({});
  await store.close();
  await partner.close();
}

/** The first run of all lands everybody; each other one reads what was hinted at, and stops whose consent is over. */
async function followConsents(deps: ActivityDeps, runId: string): Promise<void> {
  const isFirst = runId === FIRST_RUN;
  for (const stream of isFirst ? (['candidates', 'applications', 'consents'] as const) : (['consents'] as const)) {
    const mode = isFirst ? 'full' : 'incremental';
    // What a broken answer refused, the next pass reads.
    for (let pass = 1, state = ''; state !== 'done'; pass += state === 'running' ? 0 : 1) {
      const input = { tenantId: 'acme', stream, runId: `${stream}-${runId}-${pass}`, mode, begun: false } as const;
      state = (await pullPages(deps, input)).state;
      if (pass > 5) throw new Error(`${stream} ended as ${state}`);
    }
  }
  await followPrivacy(deps, 'acme', new AbortController().signal);
}

const FIRST_RUN = 'run-0';

function ruleConnection({ url, key, settings, listed = [] }: Task, stream: string): Connection {
  const partner = createPartnerClient({
    baseUrl: url,
    apiKey: key,
    environment: 'sandbox',
    allowPrivate: true,
    around: withFailpoints,
  });
  const policies = { credits: { canaryEvery: 900_000 }, enrolAt: ['HIRED'], createAt: ['HIRED'] };
  const tenant = { tenant: 'acme', hris: { kind: 'sql', options: {} }, streams: { [stream]: {} }, policies, files: {} };
  return {
    tenant: { ...tenant, ...settings },
    partner,
    overrides: defaultOverrides,
    hris: { resumes: { list: async () => listed } },
    keyFingerprint: 'one',
  } as unknown as Connection;
}

/** As a worker has it, of the tenant file that the settings name. */
async function appliedConnection({ url, key, settings }: Task, store: Store): Promise<Connection> {
  const { file, directory } = settings as { file: string; directory?: string };
  Object.assign(process.env, { KILLS_PARTNER_KEY: key, KILLS_DIRECTORY_TOKEN: SCIM_TOKEN });
  const mapping = join(dirname(file), 'accounts.yaml');
  const text = tenantText(url) + (directory === undefined ? CONSENT_STREAMS : accountStreams(directory));
  const tenant = await parseTenant({ file, files: { [file]: text, [mapping]: ACCOUNT_RULES } });
  const connections = createConnections(() => tenant, {
    requestMs: 5_000,
    rateLimitOf: () => ({ ...unlimited, ownEndpoints: () => [], close: async () => undefined }),
    beforeWrite: (tenantId) => assertMayWrite(store, tenantId),
    assertOwnHris: () => undefined,
  });
  return connections.of('acme');
}

const ACCOUNT_RULES = `fields:
  givenName: { from: candidate.firstName }
  familyName: { from: candidate.lastName }
  userName: { template: "{candidate.firstName}.{candidate.lastName}", transform: [login], unique: true }
  email: { from: candidate.email }
`;

function tenantText(partner: string): string {
  return `tenant: acme
partner: { baseUrl: "${partner}", environment: sandbox, apiKey: env:KILLS_PARTNER_KEY, company: "17",
  allowPrivateAddress: true, webhookKeys: [env:KILLS_PARTNER_KEY] }
hris: { kind: sql, connection: hr, url: "sqlite:./hr.sqlite", createTable: true }
policies: { onboarding: skip }
writeBack: { customField: cf-1 }
`;
}

function accountStreams(directory: string): string {
  return `destinations:
  - { kind: scim, connection: directory, url: "${directory}", token: env:KILLS_DIRECTORY_TOKEN,
      allowPrivateAddress: true, mapping: ./accounts.yaml }
streams: { accounts: { every: 1m } }
`;
}

const CONSENT_STREAMS =
  'streams: { candidates: { every: 1h }, applications: { every: 1h }, consents: { every: 1h } }\n';

async function endAsHired(store: Store, { jobCandidateId, candidateId, jobId }: NonNullable<Task['hired']>) {
  const key = { tenantId: 'acme', jobCandidateId, period: 1 };
  await insertHires(store, [{ ...key, state: 'open' }]);
  const employee = { connection: 'hr', employee_id: `e${jobCandidateId}`, employee_number: jobCandidateId };
  await updateHire(store, key, { candidate_id: candidateId, job_id: jobId, ...employee });
  await endHire(store, key, 'done');
}

/** Runs a process to its end; true where it was killed. */
async function start(task: Task): Promise<boolean> {
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(task)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HIREBRIDGE_LOG_LEVEL: 'fatal', HIREBRIDGE_PARTNER_LAG_MS: '1' },
  });
  let said = '';
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once('exit', (...ended) => resolve(ended)),
  );
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`A run ended with ${String(code ?? signal)}: ${said}`);
  return signal === 'SIGKILL';
}

interface Row {
  stream: Stream;
  store: string;
  kills: number;
  people: number;
  done: number;
  twice: number;
}

async function killAtEach(stream: Stream, kind: string, storeUrl: string, dir: string): Promise<Row> {
  await using sandbox = await openPartner({ jobs: 1, candidates: 400, clock: 'real' });
  const scene = await SCENES[stream](sandbox, dir);
  const { url, key } = sandbox;
  const task = { stream, storeUrl, url, key, settings: scene.settings };
  const listFile = join(dir, `${stream}-${kind}.points`);
  // Everybody lands before anybody withdraws.
  if (stream === 'consents') await start({ ...task, round: 0 });
  await start({ ...task, round: 1, ...(await scene.next(0)), listFile });
  const counted = new Map<string, number>();
  const points = (await readFile(listFile, 'utf8'))
    .trim()
    .split('\n')
    .map((point) => {
      counted.set(point, (counted.get(point) ?? 0) + 1);
      return `${point}#${counted.get(point) ?? 1}`;
    });
  let kills = 0;
  for (const [index, killAt] of points.entries())
    if (await start({ ...task, round: index + 2, ...(await scene.next(index + 1)), killAt })) kills += 1;
  await start({ ...task, round: points.length + 2, ...(await scene.next(points.length)) });
  const times = await scene.times();
  await scene.close?.();
  const people = points.length + 1;
  return {
    stream,
    store: kind,
    kills,
    people,
    done: times.size,
    twice: [...times.values()].filter((n) => n > 1).length,
  };
}

type Sandbox = Awaited<ReturnType<typeof openPartner>>;

type Next = Pick<Task, 'hint' | 'enters' | 'lead' | 'listed' | 'hired'>;

interface Scene {
  settings: object;
  /** Who comes under the rule next. */
  next(index: number): Next | Promise<Next>;
  /** By person, how often the oracle has what the rule is for: the partner's ledger, or the directory's own list. */
  times(): Promise<Map<string, number>>;
  close?(): Promise<void>;
}

async function invitationScene({ control, partner }: Sandbox): Promise<Scene> {
  const made = (await control.act('createAssessment', { title: 'Interview' })) as { assessmentId: string };
  const query = { stageType: 'APPLIED' } as const;
  const { items } = await partner.readAll(contract.jobCandidates.listByStageType, { query });
  const rules = [{ on: { stage: 'APPLIED' }, assessment: made.assessmentId }];
  return {
    settings: { invitations: { rules, atOnce: 100 } },
    next: (index) => ({ hint: String(items[index]?.jobCandidateDetails.id) }),
    async times() {
      const effects = await control.ledger({ kind: 'effect', name: 'invite' });
      const own = effects.filter(({ detail }) => detail['assessmentId'] === made.assessmentId);
      return countBy(own.map(({ subject }) => String(subject)));
    },
  };
}

/** Whoever comes into the stage has completed the flow by then, and goes on to the next. */
async function moveScene({ control, partner }: Sandbox): Promise<Scene> {
  const { assessmentId } = (await control.act('createAssessment', { title: 'Interview' })) as { assessmentId: string };
  const body = { flowName: 'Flow', steps: [{ assessmentId }] };
  const flow = Number((await partner.assessmentFlows.create({ body })).data.id);
  const query = { stageType: 'APPLIED' } as const;
  const { items } = await partner.readAll(contract.jobCandidates.listByStageType, { query });
  const ids = items.slice(0, 80).map(({ jobCandidateDetails }) => Number(jobCandidateDetails.id));
  for (const jobCandidateId of ids) {
    const { data } = await partner.assessmentFlows.assign({ params: { id: flow }, body: { jobCandidateId } });
    await finishStep(control, Number(data.flowCandidateId), 80);
  }
  const [job] = (await partner.readAll(contract.jobs.list, {})).items;
  const pipelines = await partner.readAll(contract.pipelines.list, {});
  const stages = pipelines.items.find(({ id }) => id === job?.pipelineId)?.stages ?? [];
  const stageId = Number(stages.find(({ type }) => type === 'SCREEN')?.id);
  const rules = [{ on: { stage: 'SCREEN' }, flow, moveTo: 'SHORTLISTED' }];
  return {
    settings: { invitations: { rules, atOnce: 1_000 } },
    next: (index) => ({ enters: { jobCandidateId: ids[index] ?? 0, stageId } }),
    async times() {
      const effects = await control.ledger({ kind: 'effect', name: 'stage-move' });
      const own = effects.filter(({ detail }) => detail['type'] === 'SHORTLISTED');
      return countBy(own.map(({ subject }) => String(subject)).filter((id) => ids.includes(Number(id))));
    },
  };
}

async function sourcingScene({ control, partner }: Sandbox): Promise<Scene> {
  const site = (await control.act('createSite', { name: 'London' })) as { id: number };
  const phoneNumber = '+442079460000';
  await control.act('verifyNumber', { phoneNumber });
  const { campaign } = await partner.campaigns.create({
    body: {
      title: 'Reminder',
      timezone: 'Europe/London',
      companySiteId: site.id,
      phoneNumber,
      openingMessage: 'Hello',
      closingMessage: 'Bye',
      purposeType: 'ASSESSMENT_REMINDER',
    },
  });
  const field = { entityType: 'candidate', fieldLabel: 'Consent', fieldType: 'date' } as const;
  const customField = String((await partner.customFields.create({ body: field })).data.id);
  const campaignId = Number(campaign.id);
  const [job] = (await partner.readAll(contract.jobs.list, {})).items;
  const rules = [{ on: { campaign: String(campaignId) }, job: String(job?.id) }];
  const before = new Set((await partner.readAll(contract.candidates.list, {})).items.map(({ id }) => String(id)));
  return {
    settings: { sourcing: { rules, consent: { customField }, atOnce: 100 } },
    next(index) {
      const [email, phone] = [`lead${index}@example.com`, `+44207946${1000 + index}`];
      return { lead: { campaignId, lead: { firstName: 'Lead', email, phone, consentAt: '2026-11-01T10:00:00Z' } } };
    },
    async times() {
      const query = { includeJobApplicationDetails: true };
      const { items } = await partner.readAll(contract.candidates.list, { query });
      const own = items.filter(({ id }) => !before.has(String(id)));
      return countBy(
        own.flatMap(({ email, jobCandidateDetails }) => [jobCandidateDetails ?? []].flat().map(() => String(email))),
      );
    },
  };
}

async function resumeScene({ partner, control }: Sandbox): Promise<Scene> {
  const [job] = (await partner.readAll(contract.jobs.list, {})).items;
  const jobId = String(job?.id);
  const url = (index: number) => `https://files.example.com/file-${index}.pdf`;
  return {
    settings: { resumes: { atOnce: 100 } },
    next: (index) => ({ listed: Array.from({ length: index + 1 }, (_, n) => ({ id: `f${n}`, jobId, url: url(n) })) }),
    async times() {
      // By the partner's ledger each batch has one file, and by its candidates which.
      const batches = await control.ledger({ kind: 'effect', name: 'resume-batch' });
      const files = batches.reduce((sum, { detail }) => sum + Number(detail['fileCount']), 0);
      const { items } = await partner.readAll(contract.candidates.list, { query: { jobIds: [Number(jobId)] } });
      const read = items.flatMap(({ resume }) => (resume?.startsWith('https://files.') ? [resume] : []));
      const times = countBy(read);
      if (files !== read.length) times.set('a batch beside', files - read.length + 1);
      return times;
    },
  };
}

async function accountScene({ control, partner }: Sandbox, dir: string): Promise<Scene> {
  const directory = await startScimServer();
  const query = { stageType: 'APPLIED' } as const;
  const { items } = await partner.readAll(contract.jobCandidates.listByStageType, { query });
  const people = items.map(({ jobCandidateDetails: { id, candidateId, jobId } }) => ({
    jobCandidateId: String(id),
    candidateId: String(candidateId),
    jobId: String(jobId),
  }));
  const jobCandidateIds = people.map(({ jobCandidateId }) => Number(jobCandidateId));
  await control.act('move', { jobCandidateIds, stageType: 'HIRED' });
  return {
    settings: { file: join(dir, 'acme.yaml'), directory: directory.url },
    next: (index) => ({ hired: people[index] as NonNullable<Task['hired']> }),
    times: async () => countBy([...directory.users.values()].map((user) => String(user['externalId']))),
    close: () => directory.close(),
  };
}

/** So many have consented; one after the other withdraws, and those behind them never do. */
const CONSENTING = 150;

/** Each round somebody withdraws, and an answer about somebody's consent is lost or broken. */
async function consentScene({ control, partner }: Sandbox, dir: string): Promise<Scene> {
  const [job] = (await partner.readAll(contract.jobs.list, {})).items;
  const people: { jobCandidateId: number; candidateId: number }[] = [];
  for (let n = 0; n < CONSENTING; n += 1) {
    const candidate = { firstName: 'Eva', lastName: 'Lind', email: `eva${n}@example.com` };
    people.push((await control.act('apply', { jobId: Number(job?.id), candidate, resume: false })) as never);
  }
  const hr = join(await mkdtemp(join(dir, 'consents-')), 'hr.sqlite');
  await ensureHrisSchema(`sqlite:${hr}`, {}, landings);
  const hris = new DatabaseSync(hr, { timeout: 10_000 });
  hris.exec('create table marks (id text)');
  for (const table of ['partner_candidates', 'partner_applications'])
    hris.exec(`create trigger mark_${table} after update on ${table} when new.gone_at is not old.gone_at
      begin insert into marks values ('${table} ' || new.partner_id); end`);
  const all = (query: string): string[] =>
    hris
      .prepare(query)
      .all()
      .map((row) => String(row['id']));
  return {
    settings: { file: join(dirname(hr), 'acme.yaml') },
    async next(index) {
      const jobCandidateId = people[index]?.jobCandidateId ?? 0;
      await control.act('changeConsent', { jobCandidateId });
      const kind = REQUEST_FAULTS[index % REQUEST_FAULTS.length] ?? 'answer-lost';
      const on = 'jobCandidates.getConsentDocument';
      await control.act('setFaults', { faults: [{ kind, on, nth: 1 + (index % 2) }] });
      return { hint: String(jobCandidateId) };
    },
    async times() {
      const marks = countBy(all('select id from marks'));
      const withdrawn = all("select partner_id as id from partner_consents where state = 'withdrawn'");
      const times = new Map<string, number>();
      for (const { jobCandidateId, candidateId } of people) {
        const own = [`partner_applications ${jobCandidateId}`, `partner_candidates ${candidateId}`];
        const marked = own.map((name) => marks.get(name) ?? 0);
        for (const name of own) marks.delete(name);
        if (marked.every((count) => count === 0) && !withdrawn.includes(String(jobCandidateId))) continue;
        times.set(String(jobCandidateId), Math.max(...marked));
      }
      for (const name of marks.keys()) times.set(name, 2);
      return times;
    },
    close: async () => hris.close(),
  };
}

const SCENES = {
  invitations: invitationScene,
  moves: moveScene,
  sourcing: sourcingScene,
  resumes: resumeScene,
  accounts: accountScene,
  consents: consentScene,
};

function countBy(names: readonly string[]): Map<string, number> {
  return new Map([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}

async function main(only: string): Promise<void> {
  const began = performance.now();
  const dir = await mkdtemp(join(tmpdir(), 'hirebridge-rules-'));
  const postgres = await startPostgres();
  const rows: Row[] = [];
  try {
    for (const stream of STREAMS)
      for (const kind of ['sqlite', 'postgres']) {
        if (!`${stream} ${kind}`.includes(only)) continue;
        const url = kind === 'sqlite' ? `sqlite:${join(dir, `${stream}.db`)}` : await newDatabase(postgres.url);
        rows.push(await killAtEach(stream, kind, url, dir));
      }
  } finally {
    await postgres.stop();
    await rm(dir, { recursive: true, force: true });
  }
  const cells = rows.map((row) => [row.stream, row.store, row.kills, row.people, row.done, row.twice].map(String));
  process.stdout.write(`${renderTable(['stream', 'store', 'kills', 'people', 'done', 'twice'], cells)}\n`);
  process.stdout.write(`${Math.round((performance.now() - began) / 1000)} s\n`);
  if (rows.some(({ kills, people, done, twice }) => kills === 0 || done !== people || twice > 0)) process.exitCode = 1;
}

const [, , first, only = ''] = process.argv;
await (first?.startsWith('{') === true ? work(JSON.parse(first) as Task) : main(first === '--only' ? only : ''));
