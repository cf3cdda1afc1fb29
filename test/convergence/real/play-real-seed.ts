import { setTimeout as pause } from 'node:timers/promises';
import { createRandom, type Random } from '../../../src/sandbox/random.ts';
import { until } from '../../harness/until.ts';
import type { Process } from '../../harness/world.ts';
import { countWrites, type WriteCounter } from '../../stream/count-writes.ts';
import { type Edits, keyOf, noteEdit, type Side } from '../edits.ts';
import { comparable, type TwoWayField, twoWayFields } from '../fields.ts';
import { wrongIn } from '../judge.ts';
import type { Played } from '../play-seed.ts';
import { keepHistories } from './keep-histories.ts';
import { type RealPerson, type RealWorld, startRealWorld } from './real-world.ts';

const ROUNDS = 2;
const STEPS = 6;
const PEOPLE = 4;
const CALM_MS = 180_000;

/** What the network does to the product's own calls and to the webhooks; nothing arrives later than it believes. */
const FAULTS = [
  { kind: 'webhook-lost', probability: 0.2 },
  { kind: 'webhook-duplicated', probability: 0.2 },
  { kind: 'webhook-reordered', probability: 0.2, ms: 3_000 },
  { kind: 'answer-lost', on: 'customFieldValues.upsertBulk', probability: 0.1 },
  { kind: 'executed-late', on: 'customFieldValues.upsertBulk', probability: 0.1, ms: 1_500 },
  { kind: 'answer-lost', on: 'candidates.update', probability: 0.1 },
  { kind: 'reset-before', on: 'jobCandidates.bulkFetch', probability: 0.1 },
] as const;

interface RealPlay extends Pick<Played, 'seed' | 'edits' | 'kills' | 'violations'> {
  real: RealWorld;
  random: Random;
  people: RealPerson[];
  /** Candidates who were deleted; their employees are not exchanged any more. */
  removed: RealPerson[];
  made: Edits;
  worker: Process;
  /** Rows of the HR system that somebody wrote, people included. */
  rows: WriteCounter;
}

/** Plays one seed with the product's own processes: edits, kills, lost answers; then calm, and both sides are read. */
export async function playRealSeed(temporalAddress: string, seed: number): Promise<Played> {
  const real = await startRealWorld(temporalAddress);
  try {
    const { world } = real;
    await world.startReceiver();
    const worker = await world.startWorker();
    const rows = countWrites(world.hrisUrl.slice('sqlite:'.length), ['employees']);
    const play: RealPlay = {
      seed,
      real,
      worker,
      rows,
      random: createRandom(seed),
      made: new Map(),
      people: [],
      removed: [],
      edits: 0,
      kills: 0,
      violations: [],
    };
    await makePeople(play, PEOPLE);
    for (let round = 1; round <= ROUNDS && play.violations.length === 0; round += 1) await playRound(play, round);
    await keepHistories(temporalAddress, world.storeUrl);
    const { edits, kills, violations } = play;
    return { seed, edits, kills, violations, freezes: 0, writes: await partnerWrites(play) };
  } finally {
    await real.close();
  }
}

async function playRound(play: RealPlay, round: number): Promise<void> {
  const { real, random, seed } = play;
  if (round > 1) await makePeople(play, 1);
  await real.world.control.act('setFaults', { seed: seed * 10 + round, faults: [...FAULTS] });
  const killedAt = Math.floor(random() * STEPS);
  for (let step = 0; step < STEPS; step += 1) {
    for (let n = Math.floor(random() * 4); n > 0; n -= 1) await editSomething(play);
    await pause(random() * 1_500);
    if (step === killedAt) await killWorker(play);
  }
  if (round === 1) await removeSomebody(play);
  await real.world.control.act('clearFaults');
  await untilStill(play);
  await judge(play, round);
}

async function makePeople(play: RealPlay, count: number): Promise<void> {
  const { real, random, people, removed, made } = play;
  const fresh: RealPerson[] = [];
  for (let n = 0; n < count; n += 1) {
    const nth = people.length + removed.length + fresh.length + 1;
    const values = Object.fromEntries(twoWayFields.map((field) => [field.name, field.value(random, nth)]));
    const person = await real.make(nth, values);
    for (const field of twoWayFields) {
      const value = values[field.name] ?? null;
      noteEdit(made, keyOf(person, field), { partner: value, hris: value });
    }
    fresh.push(person);
  }
  await real.link(fresh);
  people.push(...fresh);
}

async function editSomething(play: RealPlay): Promise<void> {
  const { real, random, people, made } = play;
  const person = people[Math.floor(random() * people.length)];
  const field = twoWayFields[Math.floor(random() * twoWayFields.length)];
  if (person === undefined || field === undefined) return;
  const side: Side = random() < 0.5 ? 'partner' : 'hris';
  play.edits += 1;
  const value = field.value(random, 100 * play.seed + play.edits);
  await real.edit(person, field, side, value);
  noteEdit(made, keyOf(person, field), { [side]: value });
}

async function killWorker(play: RealPlay): Promise<void> {
  await play.worker.kill();
  play.kills += 1;
  play.worker = await play.real.world.startWorker();
}

async function removeSomebody({ real, people, removed }: RealPlay): Promise<void> {
  const [gone] = people.splice(0, 1);
  if (gone === undefined) return;
  removed.push(gone);
  await real.world.control.act('deleteCandidate', { candidateIds: [Number(gone.candidateId)] });
}

/** A whole pass in which everybody is as they were. What is in doubt is over by then. */
async function untilStill({ real, people, seed }: RealPlay): Promise<void> {
  const isStill = async (): Promise<boolean> => {
    const { stdout } = await real.world.cli(['sync', 'acme', 'employees', '--full', '--json']);
    const counts = JSON.parse(stdout === '' ? '{}' : stdout) as { state?: string; unchanged?: number };
    return counts.state === 'done' && counts.unchanged === people.length;
  };
  await until(`seed ${seed} is still`, isStill, { timeoutMs: CALM_MS, everyMs: 1_000 });
}

async function judge(play: RealPlay, round: number): Promise<void> {
  const { real, people, made, rows, violations } = play;
  const say = (text: string): void => void violations.push(`round ${round}: ${text}`);
  const reported = await reportedFields(real);
  for (const person of people) {
    const held = await real.read(person);
    const isReported = (field: TwoWayField): boolean =>
      field.owner !== 'either' &&
      comparable(held[field.owner][field.name]) === 'empty' &&
      reported.has(keyOf(person, field));
    const judged = twoWayFields.filter((field) => !isReported(field));
    const wrong = judged.map((field) => wrongIn(made, person, { field, ...held }));
    for (const text of wrong) if (text !== undefined) say(text);
  }
  rows.take();
  const before = await partnerWrites(play);
  await untilStill(play);
  const echoes = (await partnerWrites(play)) - before + (rows.take()['employees'] ?? 0);
  if (echoes > 0) say(`a pass over records that nobody edited wrote ${echoes} times`);
}

/** An owner who was empty when the sides first met wipes nothing out: `conflicts` lists the field as diverged. */
async function reportedFields({ world }: RealWorld): Promise<Set<string>> {
  const { stdout } = await world.cli(['conflicts', 'acme', '--json']);
  const listed = JSON.parse(stdout) as { kind: string; record: string; field: string }[];
  const diverged = listed.filter(({ kind }) => kind === 'diverged');
  return new Set(diverged.map(({ record, field }) => `${record} ${field}`));
}

/** Calls that write, by the product alone. */
async function partnerWrites({ real }: Pick<RealPlay, 'real'>): Promise<number> {
  const { request = {} } = await real.world.control.counts({ kind: 'request' });
  return (request['customFieldValues.upsertBulk'] ?? 0) + (request['candidates.update'] ?? 0);
}
