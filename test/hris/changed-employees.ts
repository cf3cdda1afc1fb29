import pino from 'pino';
import { expect, onTestFinished } from 'vitest';
import type { ActivityDeps, Connection } from '../../activities/connections.ts';
import { exchangePairs } from '../../activities/exchange/exchange-pairs.ts';
import { ownHris } from '../../activities/own-hris.ts';
import { pushRecords } from '../../activities/push/push-records.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { createPartnerClient, type PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { resumeStream } from '../../src/store/streams.ts';
import { loadExchangeMapping } from '../../src/tenants/open-hris.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { type OpenSandbox, openSandbox } from '../sandbox/open-sandbox.ts';
import { freshStore } from '../store/stores.ts';
import { employLongAgo, type Person } from './employ-long-ago.ts';
import type { Staff } from './staff.ts';

const RULES = '/mappings/employees.yaml';
const LABEL = 'What the HR system says';

/** What arrived at the partner, by its ledger. */
export interface Arrived {
  /** Employees whose text or employment the partner does not show. */
  lost: string[];
  /** Employees whose text or employment was written more than once. */
  twice: string[];
  /** How often a process died. */
  deaths: number;
}

/**
 * Edits everybody, in two halves with the same stamp, and lets both streams bring it to the partner, by processes that
 * die after every page of changes and at every fiftieth call to the partner.
 */
export async function bringChanges(staff: Staff, count: number): Promise<Arrived> {
  const world = await openWorld(staff, count);
  const { people, run } = world;
  await run('first');
  const since = (await world.sandbox.control.ledger({ kind: 'effect' })).at(-1)?.seq ?? 0;
  const ids = people.map(({ employeeId }) => employeeId);
  const half = Math.ceil(count / 2);
  await staff.edit(ids.slice(0, half), textOf);
  await run('half');
  await staff.edit(ids.slice(half), textOf);
  await run('whole');
  return { ...(await compare(world, staff, since)), deaths: world.deaths() };
}

function textOf(id: string): string {
  return `Edited ${id}`;
}

async function openWorld(staff: Staff, count: number) {
  const sandbox = await openSandbox({ jobs: 1, candidates: Math.ceil(1.5 * count) });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const clock = { ahead: 0 };
  const { store } = await freshStore('sqlite', { now: () => Date.now() + clock.ahead });
  const fieldId = await defineText(sandbox.partner);
  const people = await employLongAgo({ sandbox, store, staff }, count);
  const mishaps = createMishaps();
  const tenant = tenantOf(staff);
  const connection = {
    tenant,
    partner: dyingPartner(sandbox, mishaps),
    hris: ownHris('hr', dyingHris(staff.hris, mishaps)),
    mapping: { fields: [], back: [] },
    landings: {},
    exchanges: { employees: await loadExchangeMapping(tenant, 'employees') },
    keyFingerprint: 'one',
  } as unknown as Connection;
  const deps = {
    store,
    log: pino({ level: 'silent' }),
    limits: { giveUpMs: 1_000, partnerLagMs: 0, pausedMs: 0 },
    connections: { of: async () => connection, reopenIfRotated: async () => false },
  } as unknown as ActivityDeps;
  return { sandbox, people, fieldId, deaths: mishaps.deaths, run: (name: string) => runBoth(deps, clock, name) };
}

class Killed extends Error {}

function createMishaps() {
  let calls = 0;
  let deaths = 0;
  const die = (where: string): never => {
    deaths += 1;
    throw new Killed(where);
  };
  return {
    deaths: () => deaths,
    die,
    call(operation: string): void {
      calls += 1;
      if (calls % 50 === 0) die(operation);
    },
  };
}

type Mishaps = ReturnType<typeof createMishaps>;

function dyingPartner({ url, key }: OpenSandbox, mishaps: Mishaps): PartnerClient {
  const partner = createPartnerClient({
    baseUrl: url,
    apiKey: key,
    environment: 'sandbox',
    allowPrivate: true,
    around: (operation, run) => {
      mishaps.call(operation);
      return run();
    },
  });
  onTestFinished(() => partner.close());
  return partner;
}

/** Every second time that changes are asked for, the process dies instead: between each page and the next. */
function dyingHris(hris: HrisConnection, mishaps: Mishaps): HrisConnection {
  const { changes } = hris;
  if (changes === undefined) return hris;
  let asked = 0;
  const since: typeof changes.since = async (cursor, signal) => {
    asked += 1;
    return asked % 2 === 0 ? mishaps.die('changes') : changes.since(cursor, signal);
  };
  return { ...hris, changes: { since } };
}

/** One pass of each stream, by as many processes as it takes. What is left over waits for the pass after it. */
async function runBoth(deps: ActivityDeps, clock: { ahead: number }, name: string): Promise<void> {
  for (const pass of ['one', 'two']) {
    clock.ahead += 60_000;
    const input = { tenantId: 'acme', runId: `${name} ${pass}`, full: false, begun: false };
    // A field that everybody has is met for the first time; from then on their edits are many at once.
    const asks = name === 'first' ? 'FIRST_MEETING' : 'MASS_CHANGE';
    await untilOver({ clock, asks }, () => pushRecords(deps, { ...input, stream: 'employment' }));
    const key = { tenantId: 'acme', stream: 'employees' } as const;
    const exchange = (runId: string) =>
      untilOver({ clock, asks }, () => exchangePairs(deps, { ...input, ...key, runId }));
    if ((await exchange(input.runId)) !== 'refused') continue;
    // So many edits at once hold the stream, until a person who has looked lets them pass.
    await resumeStream(deps.store, key, 'jo');
    expect(await exchange(`${input.runId}, allowed`)).not.toBe('refused');
  }
}

async function untilOver(
  { clock, asks }: { clock: { ahead: number }; asks: string },
  work: () => Promise<{ state: string; code?: string }>,
) {
  for (let lives = 0; lives < 2_000; lives += 1) {
    const step: { state: string; code?: string } = await work().catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
      // A write under way is believed to be so for a while.
      clock.ahead += 5_000;
      return { state: 'running' };
    });
    if (step.state === 'refused') expect(step.code).toBe(asks);
    if (step.state !== 'running') return step.state;
  }
  throw new Error('a pass came to no end');
}

async function defineText(partner: PartnerClient): Promise<string> {
  const body = { entityType: 'candidate' as const, fieldLabel: LABEL, fieldType: 'text' as const };
  return String((await partner.customFields.create({ body: { ...body, parentSection: 'Miscellaneous' } })).data.id);
}

function tenantOf({ kind, options, field, tells }: Staff): Tenant {
  return {
    tenant: 'acme',
    mode: 'live',
    hris: { kind, connection: 'hr', options },
    streams: { employment: { wholeWithin: 86_400_000 }, employees: { mapping: RULES } },
    writeBack: { employeeId: tells === 'number' ? 'number' : 'id', status: 'hired', leftStatus: 'left', values: [] },
    policies: {},
    files: {
      [RULES]: `fields:\n  ${field}: { from: "candidate.customFields[${LABEL}]", direction: both, owner: hris }\n`,
    },
  } as unknown as Tenant;
}

/** Each person's values at the partner, and how often its ledger says that they were written. */
async function compare(
  { sandbox, people, fieldId }: { sandbox: OpenSandbox; people: readonly Person[]; fieldId: string },
  { tells }: Staff,
  since: number,
): Promise<Omit<Arrived, 'deaths'>> {
  const effects = async (name: string) => sandbox.control.ledger({ kind: 'effect', name, afterSeq: since });
  const statuses = Map.groupBy(await effects('external-status'), ({ subject }) => String(subject));
  const values = Map.groupBy(await effects('custom-field-value'), ({ detail }) => String(detail['entityId']));
  const body = { jobCandidateIds: people.map(({ jobCandidateId }) => jobCandidateId) };
  const shown = await sandbox.partner.inChunks(contract.jobCandidates.bulkFetch, { body });
  const text = new Map<string, unknown>(
    shown.flatMap((outcome) => (outcome.ok ? outcome.value.items : [])).map((one) => [one.id, textShown(one, fieldId)]),
  );
  const lost: string[] = [];
  const twice: string[] = [];
  for (const { employeeId, candidateId, jobCandidateId, enrolment } of people) {
    const told = statuses.get(enrolment) ?? [];
    const wanted = tells === 'left' ? { status: 'left' } : { employeeId: `N-${employeeId}` };
    const isTold = Object.entries(wanted).every(([key, value]) => told.at(-1)?.detail[key] === value);
    if (!isTold || text.get(jobCandidateId) !== textOf(employeeId)) lost.push(employeeId);
    if (told.length > 1 || (values.get(candidateId) ?? []).length > 1) twice.push(employeeId);
  }
  return { lost, twice };
}

function textShown(jobCandidate: object, fieldId: string): unknown {
  const { candidate_details: candidate } = jobCandidate as { candidate_details?: { customFields?: Shown } };
  const { customFields } = jobCandidate as { customFields?: Shown };
  return (candidate?.customFields ?? customFields)?.[fieldId]?.value;
}

type Shown = Record<string, { value?: unknown }>;
