import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { isConnectorError } from '../../src/errors.ts';
import { allIdsOf } from '../../src/partner/contract/events.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { stageTypes } from '../../src/partner/contract/pipelines.ts';
import { createRandom } from '../../src/sandbox/random.ts';
import { addHints } from '../../src/store/hints.ts';
import type { LeasedDelivery } from '../../src/store/inbox.ts';
import type { PullName, StreamName } from '../../src/streams/streams.ts';
import { hintStreams } from '../../src/worker/dispatch.ts';
import { openPullWorld, type PullWorld } from '../activities/streams/pull-world.ts';

// How many, where not a slice of a few seconds: npm run test:recruiting
const SEEDS = Number(process.env['RECRUITING_SEEDS'] ?? 1);
const RECORDS = Number(process.env['RECRUITING_RECORDS'] ?? 120);
const FIRST = Number(process.env['RECRUITING_FIRST'] ?? 1);

type Act = Parameters<PullWorld['world']['control']['act']>;

/** What recruiters and candidates do in the other half of the partner. */
async function recruitingWorld(streams: string) {
  const played = await openPullWorld(streams, { candidates: 6, jobs: 1, sandbox: { clock: 'stepped' } });
  const { partner, control } = played.world;
  const act = async (...given: Act) => (await control.act(...given)) as Record<string, never>;
  // From then on the platform's clock stands still but where a test moves it: nothing happens in between.
  await act('advanceClock', { ms: Date.now() - (await control.health()).now });
  const site = await act('createSite', { name: 'London' });
  const phoneNumber = '+442079460000';
  await act('verifyNumber', { phoneNumber });
  const [job] = (await partner.readAll(contract.jobs.list)).items;
  let people = 0;
  return {
    ...played,
    act,
    jobId: Number(job?.id),
    assessment: async () => String((await act('createAssessment', { title: 'Interview' }))['assessmentId']),
    async interview(assessmentId: string): Promise<string> {
      const emailAddress = `person${(people += 1)}@example.com`;
      const body = { firstName: 'Person', lastName: 'Example', emailAddress };
      await partner.assessments.invite({ params: { assessmentId }, body });
      return String((await act('takeInterview', { assessmentId, emailAddress, scored: false }))['submissionId']);
    },
    async campaign(): Promise<number> {
      const texts = { title: 'Reminder', openingMessage: 'Hello', closingMessage: 'Bye', phoneNumber };
      const about = {
        timezone: 'Europe/London',
        companySiteId: Number(site['id']),
        purposeType: 'ASSESSMENT_REMINDER',
      } as const;
      return Number((await partner.campaigns.create({ body: { ...texts, ...about } })).campaign.id);
    },
    async lead(campaignId: number, count = 1): Promise<string[]> {
      const leads = Array.from({ length: count }, (_, n) => ({ firstName: `Lead ${n}`, phone: '+442079460001' }));
      const made = await partner.campaigns.addLeads({ params: { campaignId }, body: { leads } });
      return (made['leads'] as { leadId: unknown }[]).map(({ leadId }) => String(leadId));
    },
    async schedule(): Promise<{ bookingScheduleId: string; slots: string[] }> {
      const { id } = await act('createBookingSchedule', { timezone: 'Europe/London', visibleDaysAhead: 60 });
      const day = (n: number) => new Date(Date.now() + n * 86_400_000).toISOString().slice(0, 10);
      const input = { params: { bookingScheduleId: String(id) }, query: { from: day(1), to: day(59) } };
      const { items } = await partner.readAll(contract.bookingSchedules.listSlots, input);
      return { bookingScheduleId: String(id), slots: items.map(({ startAt }) => String(startAt)) };
    },
    async screening(flowId: number): Promise<number> {
      const body = { email: `flow${(people += 1)}@example.com` };
      return Number((await partner.assessmentFlows.assign({ params: { id: flowId }, body })).data.flowCandidateId);
    },
    async calls(run: () => Promise<unknown>): Promise<number> {
      const total = async () =>
        Object.values((await control.counts({ kind: 'request' })).request ?? {}).reduce((sum, n) => sum + n, 0);
      const before = await total();
      await run();
      return (await total()) - before;
    },
  };
}

type RecruitingWorld = Awaited<ReturnType<typeof recruitingWorld>>;

test(`${RECORDS} interviews, bookings and leads cost at most 1.1 times the calls that they must`, async () => {
  const streams = '{ interviews: { every: 1h }, bookings: { every: 1h }, leads: { every: 1h } }';
  const world = await recruitingWorld(streams);
  const { partner } = world.world;
  const [one, other] = [await world.assessment(), await world.assessment()];
  for (let n = 0; n < RECORDS; n += 1) await world.interview(n % 4 === 0 ? other : one);
  const campaigns = [await world.campaign(), await world.campaign()];
  for (const campaignId of campaigns) await world.lead(campaignId, RECORDS / 2);
  for (let left = RECORDS; left > 0; ) {
    const { bookingScheduleId, slots } = await world.schedule();
    for (const scheduledStartAt of slots.slice(0, left))
      await world.act('book', { bookingScheduleId, entityId: String((left -= 1)), scheduledStartAt });
  }

  const pages = (count: number): number => Math.ceil(count / 100);
  const taken = (await partner.readAll(contract.assessments.list)).items.map(({ submissionCount }) => submissionCount);
  const everyCampaign = (await partner.readAll(contract.campaigns.list)).items.length;
  const bounds = {
    interviews: pages(taken.length) + taken.reduce<number>((sum, count) => sum + pages(Number(count ?? 0)), 0),
    leads: pages(everyCampaign) + everyCampaign,
    bookings: 1,
  };
  const measured: Record<string, string> = {};
  for (const [stream, bound] of Object.entries(bounds) as [PullName, number][]) {
    const calls = await world.calls(() => world.pull('full', { stream }));
    measured[stream] = `${world.rows(stream).size} records, ${calls} calls, ${bound} at least`;
    expect(calls, `${stream}: ${measured[stream]}`).toBeLessThanOrEqual(bound * 1.1);
  }
  // What a webhook names has its own list read, and no other.
  await addHints(world.store, 'acme', 'interviews', [other]);
  const told = await world.calls(() => world.pull('incremental', { stream: 'interviews' }));
  measured['interviews of one assessment by webhook'] = `${told} calls, ${pages(RECORDS / 4)} at least`;
  expect(told).toBe(pages(RECORDS / 4));
  process.stdout.write(`${JSON.stringify(measured, null, 2)}\n`);
});

const PLAYED = ['interviews', 'leads', 'bookings', 'screenings', 'candidates', 'applications', 'consents'] as const;

test.each(Array.from({ length: SEEDS }, (_, n) => FIRST + n))(
  'each stream comes to what the partner shows, and a second pass writes nothing (seed %i)',
  async (seed) => {
    const settings = PLAYED.map((stream) => `${stream}: { every: 1h, deletion: mark }`).join(', ');
    const world = await recruitingWorld(`{ ${settings} }`);
    const random = createRandom(seed);
    const chance = (share: number): boolean => random() < share;
    const oneOf = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
    for (const stream of PLAYED) await world.pull('full', { stream });
    const acts = await actsOf(world, oneOf);
    const seen = { events: 0, told: 0 };
    for (let step = 0; step < 12; step += 1) {
      await acts();
      await world.act('advanceClock', { ms: 1_000 });
      // Webhooks are lost and doubled, and come in any order; whoever hears of some reads again what they name.
      const events = (await world.world.control.ledger({ kind: 'event' })).slice(seen.events);
      seen.events += events.length;
      const told = events.flatMap((event) => (chance(0.4) ? [] : chance(0.5) ? [event] : [event, event]));
      seen.told += told.length;
      const hinted = await tell(
        world,
        told.toSorted(() => random() - 0.5),
      );
      for (const stream of hinted) if (chance(0.6)) await world.pull('incremental', { stream });
    }
    expect(seen.told).toBeGreaterThan(0);
    await world.act('advanceClock', { ms: 60_000 });
    // Absence is believed once two whole passes saw it.
    for (let pass = 0; pass < 2; pass += 1) for (const stream of PLAYED) await world.pull('full', { stream });
    const sizes = PLAYED.map((stream) => landed(world, stream).size);
    expect(sizes.reduce((sum, size) => sum + size)).toBeGreaterThan(20);
    for (const stream of PLAYED)
      expect(landed(world, stream), `${stream}, seed ${seed}`).toEqual(await shown(world, stream));

    const hris = new DatabaseSync(world.world.hrisUrl.slice('sqlite:'.length), { timeout: 60_000 });
    const version = () => hris.prepare('pragma data_version').get()?.['data_version'];
    const before = version();
    for (const stream of PLAYED) {
      const step = await world.pull('full', { stream });
      expect(step, stream).toMatchObject({ state: 'done', counts: { created: 0, updated: 0 } });
    }
    expect(version()).toBe(before);
    hris.close();
  },
);

/** One act of somebody at the partner, by chance. */
async function actsOf(world: RecruitingWorld, oneOf: <T>(all: readonly T[]) => T | undefined) {
  const { act, jobId } = world;
  const assessments = [await world.assessment(), await world.assessment()];
  const campaigns = [await world.campaign(), await world.campaign()];
  const { bookingScheduleId, slots } = await world.schedule();
  const steps = [{ assessmentId: assessments[0] ?? '', passThreshold: 50 }];
  const flow = await world.world.partner.assessmentFlows.create({ body: { flowName: 'Screening', steps } });
  const made = { interviews: [] as string[], leads: [] as string[], bookings: [] as string[], flows: [] as number[] };
  const applied: { jobCandidateId: number; candidateId: number }[] = [];
  let count = 0;
  const slot = (): string => slots[(count += 1)] ?? '';
  const all: (() => Promise<unknown>)[] = [
    async () => made.interviews.push(await world.interview(oneOf(assessments) ?? '')),
    async () => {
      const submissionId = made.interviews.pop();
      if (submissionId !== undefined) await act('scoreInterview', { submissionId, score: 30 + (count += 1) });
    },
    async () => made.leads.push(...(await world.lead(oneOf(campaigns) ?? 0))),
    async () => {
      const leadId = oneOf(made.leads);
      if (leadId !== undefined) await act('setLeadStatus', { leadId: Number(leadId), status: 'COMPLETED' });
    },
    async () => {
      const booked = await act('book', { bookingScheduleId, entityId: String((count += 1)), scheduledStartAt: slot() });
      made.bookings.push(String(booked['id']));
    },
    async () => {
      const bookingId = oneOf(made.bookings);
      if (bookingId !== undefined) await act('rescheduleBooking', { bookingId, scheduledStartAt: slot() });
    },
    async () => {
      const bookingId = made.bookings.pop();
      if (bookingId !== undefined) await act('cancelBooking', { bookingId });
    },
    async () => made.flows.push(await world.screening(Number(flow.data.id))),
    async () => {
      const flowCandidateId = made.flows.pop();
      if (flowCandidateId !== undefined) await act('finishFlowStep', { flowCandidateId, score: 20 });
    },
    async () => {
      const candidate = { firstName: 'Eva', lastName: 'Lind', email: `eva${(count += 1)}@example.com` };
      const { jobCandidateId, candidateId } = await act('apply', { jobId, candidate });
      applied.push({ jobCandidateId: Number(jobCandidateId), candidateId: Number(candidateId) });
    },
    async () => {
      const one = oneOf(applied);
      const fields = { city: `City ${(count += 1)}` };
      if (one !== undefined) await act('editCandidate', { candidateId: one.candidateId, fields });
    },
    async () => {
      const one = applied.pop();
      if (one !== undefined) await act('deleteCandidate', { candidateIds: [one.candidateId] });
    },
    async () => {
      const one = oneOf(applied);
      if (one !== undefined) await act('move', { jobCandidateIds: [one.jobCandidateId], stageType: 'SCREEN' });
    },
  ];
  return async (): Promise<void> => {
    // A few at a time, so that each makes, edits and takes away.
    for (let n = 0; n < 4; n += 1) await oneOf(all)?.();
  };
}

/** Has the product's own relay write down what some webhooks name; the streams that they are about. */
async function tell({ store }: RecruitingWorld, events: readonly { name: string; detail: object }[]) {
  const asked = new Set<StreamName>();
  const runsByItself = (_: string, stream: StreamName): boolean => PLAYED.some((name) => name === stream);
  const streamHints = { ask: async (key: string) => void asked.add(key.split(' ')[1] as StreamName) };
  const deliveries = events.map(({ name, detail }): LeasedDelivery => {
    const told = { tenantId: 'acme', bodyHash: '', event: name, ids: allIdsOf({ ...detail }) };
    return { ...told, receivedAt: 0, leasedUntil: 0, failures: 0 } as LeasedDelivery;
  });
  await hintStreams({ store, runsByItself, streamHints: streamHints as never }, deliveries);
  return [...asked].filter((name): name is (typeof PLAYED)[number] => runsByItself('', name));
}

/** By id, the fields that show whether it follows; without rows that are marked as gone. */
type Facts = Map<string, string>;

const FACTS: Readonly<Record<(typeof PLAYED)[number], string>> = {
  interviews: 'score',
  leads: 'status',
  bookings: 'starts_at',
  screenings: 'status',
  candidates: 'city',
  applications: 'job_id',
  consents: 'candidate_id',
};

function landed(world: RecruitingWorld, stream: (typeof PLAYED)[number]): Facts {
  const rows = [...world.rows(stream)].filter(([, row]) => row['gone_at'] === null);
  return new Map(rows.map(([id, row]): [string, string] => [id, String(row[FACTS[stream]] ?? '')]).toSorted());
}

/** The same as the partner's own lists show it now, read by nothing of ours but the client. */
async function shown({ world: { partner } }: RecruitingWorld, stream: (typeof PLAYED)[number]): Promise<Facts> {
  const facts: [string, string][] = [];
  const note = (id: unknown, fact: unknown): void => void facts.push([String(id), String(fact ?? '')]);
  if (stream === 'interviews')
    for (const { assessmentId } of (await partner.readAll(contract.assessments.list)).items) {
      const input = { params: { assessmentId: String(assessmentId) } };
      for (const one of (await partner.readAll(contract.assessments.listCandidates, input)).items)
        note(one.submissionId, one['score']);
    }
  if (stream === 'leads')
    for (const { id } of (await partner.readAll(contract.campaigns.list)).items)
      for (const one of (await partner.readAll(contract.campaigns.listLeads, { params: { campaignId: Number(id) } }))
        .items)
        note(one.leadId, one['status']);
  if (stream === 'bookings')
    for (const one of (await partner.readAll(contract.bookings.list)).items)
      note(one['id'], new Date(String(one['scheduledStartAt'])).toISOString());
  if (stream === 'screenings')
    for (const { id } of (await partner.readAll(contract.assessmentFlows.list)).items)
      for (const one of (await partner.readAll(contract.assessmentFlows.listCandidates, { params: { id: Number(id) } }))
        .items)
        note(one.flowCandidateId, one.status);
  if (stream === 'candidates')
    for (const one of (await partner.readAll(contract.candidates.list)).items) note(one.id, one.city);
  if (stream === 'applications' || stream === 'consents')
    for (const stageType of stageTypes) {
      const { items } = await partner.readAll(contract.jobCandidates.listByStageType, { query: { stageType } });
      for (const { jobCandidateDetails: one } of items)
        if (stream === 'applications') note(one.id, one.jobId);
        else if (await hasConsent(partner, Number(one.id))) note(one.id, one.candidateId);
    }
  return new Map(facts.toSorted());
}

async function hasConsent(partner: RecruitingWorld['world']['partner'], jobCandidateId: number): Promise<boolean> {
  try {
    await partner.jobCandidates.getConsentDocument({ params: { jobCandidateId } });
    return true;
  } catch (error) {
    if (isConnectorError(error, 'NO_CONSENT_RECORD') || isConnectorError(error, 'NO_APPLICATION')) return false;
    throw error;
  }
}
