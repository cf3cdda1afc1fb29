import { expect, test } from 'vitest';
import { stageTypes } from '../../../src/partner/contract/pipelines.ts';
import { readParts } from '../../../src/streams/read-page.ts';
import { pullNames as everyName, type PullName, pullStreams } from '../../../src/streams/streams.ts';
import { openPullWorld, type PullWorld } from './pull-world.ts';

const PAGE = 100;

/** Of consents, a document is asked for each: test/activities/erase/consents.test.ts counts them. */
type Listed = Exclude<PullName, 'consents'>;
const pullNames = everyName.filter((name): name is Listed => name !== 'consents');

/** The operation that lists a stream's records, and why it is called more often than there are pages. */
const LISTS: Record<Listed, { operation: string; parts?: number; because?: string }> = {
  applications: {
    operation: 'jobCandidates.listByStageType',
    parts: stageTypes.length,
    because: 'applications are listed by the type of their stage only, each type from its own first page',
  },
  assessments: { operation: 'assessments.list' },
  bookings: { operation: 'bookings.list' },
  candidates: { operation: 'candidates.list' },
  flows: { operation: 'onboarding.listFlows' },
  interviews: { operation: 'assessments.listCandidates', because: 'interviews are listed an assessment at a time' },
  jobs: { operation: 'jobs.list' },
  leads: { operation: 'campaigns.listLeads', because: 'leads are listed a campaign at a time' },
  onboarding: { operation: 'onboarding.listCandidates' },
  pipelines: { operation: 'pipelines.list' },
  schedules: { operation: 'bookingSchedules.list' },
  screenings: {
    operation: 'assessmentFlows.listCandidates',
    because: 'people on flows are listed a flow at a time',
  },
  stages: { operation: 'pipelines.list' },
  teams: { operation: 'teams.list' },
  users: { operation: 'users.list' },
};

test('a whole pass over lists that are still calls once a page, and nothing else at all', async () => {
  const streams = pullNames.map((name) => `${name}: { every: 1h }`).join(', ');
  const played = await openPullWorld(`{ ${streams} }`, { candidates: 250, jobs: 130 });
  for (const stream of pullNames) await played.pull('full', { stream });
  const passes = [];
  for (const stream of pullNames) passes.push(await passOver(played, stream));
  console.table(passes);
  expect(passes.filter(({ calls, atMost }) => calls > atMost)).toEqual([]);
  expect(passes.filter(({ others }) => others !== '')).toEqual([]);
  expect(passes.map(({ records }) => records).reduce((sum, n) => sum + n)).toBeGreaterThan(2 * 250 + 130);
});

/** A second pass: what it read, and what it called. */
async function passOver({ world, pull }: PullWorld, stream: Listed) {
  const callsNow = async () => (await world.control.counts({ kind: 'request' })).request ?? {};
  const before = await callsNow();
  const step = await pull('full', { stream });
  const { read, unchanged } = step.counts ?? { read: -1, unchanged: 0 };
  expect({ state: step.state, unchanged }).toEqual({ state: 'done', unchanged: read });
  const made = Object.entries(await callsNow()).map(([name, n]) => ({ name, n: n - (before[name] ?? 0) }));
  const { operation, because = '' } = LISTS[stream];
  const { parent } = pullStreams[stream];
  const parts =
    parent === undefined ? (LISTS[stream].parts ?? 1) : (await readParts(world.partner, parent)).segments.length;
  const others = made
    .filter(({ name, n }) => name !== operation && n > (name === parent?.list.id ? 1 : 0))
    .map(({ name, n }) => `${name} ${n}`);
  return {
    stream,
    records: read,
    calls: made.find(({ name }) => name === operation)?.n ?? 0,
    // Every part has a page, though nothing may stand on it.
    atMost: Math.floor(1.05 * Math.max(1, Math.ceil(read / PAGE))) + (parts - 1),
    because,
    others: others.join(', '),
  };
}
