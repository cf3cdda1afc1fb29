import type { FieldValue } from '../../src/hire/employee.ts';
import { createRandom, type Random } from '../../src/sandbox/random.ts';
import type { ExchangeStep } from '../../src/streams/exchange-activities.ts';
import type { Mishap } from './carrier.ts';
import { comparable, type TwoWayField, twoWayFields } from './fields.ts';
import { type Conditions, LIMITS } from './process.ts';
import { createWorld, type Person, type World } from './world.ts';

/** What a seed came to. */
export interface Played {
  seed: number;
  edits: number;
  /** Values sent to either side. */
  writes: number;
  kills: number;
  violations: string[];
}

/** How often each thing goes wrong. */
const CHANCE = { kill: 0.02, mishap: 0.08, hintLost: 0.2, hintTwice: 0.2, editMeanwhile: 0.03 };
const ROUNDS = 3;
const STEPS = 8;

interface Play {
  world: World;
  random: Random;
  people: Person[];
  removed: Set<Person>;
  /** The last edit of each side since both agreed, by person and field; of an owner, the last one of all. */
  edits: Map<string, Partial<Record<Side | 'agreed', FieldValue>>>;
  /** Which side edits a shared field in this round. */
  editors: Map<string, Side | 'both'>;
  count: number;
  kills: number;
  runs: number;
  violations: string[];
  calm: boolean;
  /** The partner left out a record that it has: once a round, so that two passes never miss the same. */
  hidden: boolean;
}

type Side = 'partner' | 'hris';

/** Plays one seed: edits on both sides, a network that loses and a process that dies; then calm, and a look. */
export async function playSeed(seed: number): Promise<Played> {
  const world = await createWorld();
  const play: Play = {
    world,
    random: createRandom(seed),
    people: [],
    removed: new Set(),
    edits: new Map(),
    editors: new Map(),
    count: 0,
    kills: 0,
    runs: 0,
    violations: [],
    calm: false,
    hidden: false,
  };
  try {
    for (let n = 0; n < 3; n += 1) await hireOne(play);
    for (let round = 0; round < ROUNDS && play.violations.length === 0; round += 1) {
      await storm(play, round);
      await becomeCalm(play);
      await judge(play, `round ${round + 1}`);
    }
    const { partner, hris } = world.writes;
    return { seed, edits: play.count, writes: partner + hris, kills: play.kills, violations: play.violations };
  } finally {
    await world.close();
  }
}

async function hireOne(play: Play): Promise<void> {
  const person = await play.world.hire();
  play.people.push(person);
  for (const field of twoWayFields) {
    let value = valueOf(play, field);
    // An owner who never had a value wipes nothing out at the first meeting, so the sides may then differ.
    while (field.owner !== 'either' && value === null) value = valueOf(play, field);
    const side = field.owner === 'either' ? (play.random() < 0.5 ? 'partner' : 'hris') : field.owner;
    await edit(play, person, field, side, value);
  }
}

async function storm(play: Play, round: number): Promise<void> {
  const { random } = play;
  play.calm = false;
  play.hidden = false;
  play.editors.clear();
  if (round > 0 && random() < 0.5) await hireOne(play);
  for (let step = 0; step < STEPS; step += 1) {
    for (let n = Math.floor(random() * 4); n > 0; n -= 1) await editSomething(play);
    if (random() < 0.05) await removeSomebody(play);
    if (random() < 0.6) await run(play);
    play.world.clock.advance(Math.floor(random() * LIMITS.giveUpMs));
  }
}

/** Nothing goes wrong any more, and everything in doubt is over. */
async function becomeCalm(play: Play): Promise<void> {
  play.calm = true;
  for (let n = 0; n < 4; n += 1) {
    play.world.clock.advance(4 * LIMITS.giveUpMs);
    await run(play);
  }
}

/** A run as Temporal would carry it on: an activity that died is begun again by a new process. */
async function run(play: Play): Promise<void> {
  play.runs += 1;
  const runId = `run-${play.runs}`;
  for (let attempt = 0; attempt < 6; attempt += 1) {
    const step = await attemptRun(play, runId);
    if (step !== undefined && step.state !== 'running') return;
    play.world.clock.advance(1_000);
  }
}

/** Undefined where it died or failed. */
async function attemptRun(play: Play, runId: string): Promise<ExchangeStep | undefined> {
  const { world, random } = play;
  let die: () => void = () => undefined;
  const death = new Promise<undefined>((resolve) => {
    die = () => resolve(undefined);
  });
  let isDead = false;
  const conditions: Conditions = {
    pause: async () => {
      if (isDead) return new Promise<never>(() => undefined);
      if (play.calm) return undefined;
      if (random() < CHANCE.editMeanwhile) await editSomething(play);
      world.clock.advance(1 + Math.floor(random() * 20));
      if (random() >= CHANCE.kill) return undefined;
      isDead = true;
      play.kills += 1;
      die();
      return new Promise<never>(() => undefined);
    },
    mishap: (method, path) => mishapOf(play, method, path),
    updateMishap: () => {
      if (play.calm || random() >= CHANCE.mishap) return undefined;
      return random() < 0.5 ? 'lost-before' : 'lost-answer';
    },
    // At the latest when the product says that nothing can arrive any more.
    later: (carryOut) =>
      void world.clock.at(world.clock.now() + Math.floor(random() * 0.8 * LIMITS.giveUpMs), carryOut),
  };
  return Promise.race([world.exchange(runId, conditions).catch(() => undefined), death]);
}

function mishapOf(play: Play, method: string, path: string): Mishap | undefined {
  const { random } = play;
  if (play.calm || random() >= CHANCE.mishap) return undefined;
  if (path.endsWith('/job-candidates/bulk-fetch')) {
    if (play.hidden) return 'lost-before';
    play.hidden = true;
    return 'missing-record';
  }
  if (method === 'GET') return 'lost-answer';
  return (['lost-before', 'lost-answer', 'late'] as const)[Math.floor(random() * 3)];
}

async function editSomething(play: Play): Promise<void> {
  const { random, people, removed } = play;
  const present = people.filter((one) => !removed.has(one));
  const person = present[Math.floor(random() * present.length)];
  const field = twoWayFields[Math.floor(random() * twoWayFields.length)];
  if (person === undefined || field === undefined) return;
  const key = keyOf(person, field);
  const editors = play.editors.get(key) ?? (['partner', 'hris', 'both'] as const)[Math.floor(random() * 3)] ?? 'both';
  play.editors.set(key, editors);
  const side = editors === 'both' ? (random() < 0.5 ? 'partner' : 'hris') : editors;
  await edit(play, person, field, side, valueOf(play, field));
}

async function edit(play: Play, person: Person, field: TwoWayField, side: Side, value: FieldValue): Promise<void> {
  const { world } = play;
  play.count += 1;
  const key = keyOf(person, field);
  const { agreed: _over, ...before } = play.edits.get(key) ?? {};
  play.edits.set(key, { ...before, [side]: value });
  if (side === 'partner') world.editPartner(person, field, value);
  else await world.editHris(person, field, value);
  hint(play, side === 'partner' ? person.candidateId : person.employeeId);
}

/** Webhooks are lost, and come twice. */
function hint({ world, random }: Play, recordId: string): void {
  if (random() < CHANCE.hintLost) return;
  world.hint(recordId);
  if (random() < CHANCE.hintTwice) world.hint(recordId);
}

async function removeSomebody(play: Play): Promise<void> {
  const present = play.people.filter((one) => !play.removed.has(one));
  const person = present.length > 2 ? present[0] : undefined;
  if (person === undefined) return;
  play.removed.add(person);
  play.world.removeCandidate(person);
}

function valueOf(play: Play, field: TwoWayField): FieldValue {
  return field.value(play.random, play.count);
}

function keyOf(person: Person, field: TwoWayField): string {
  return `${person.employeeId} ${field.name}`;
}

/** Both sides agree, on what they may agree on; a run over what is still writes nothing. */
async function judge(play: Play, when: string): Promise<void> {
  const { world, people, removed, violations } = play;
  for (const person of people.filter((one) => !removed.has(one))) {
    const held = await world.read(person);
    if (held === undefined) violations.push(`${when}: employee ${person.employeeId} is lost`);
    else for (const field of twoWayFields) judgeField(play, when, person, { field, ...held });
  }
  const gone = world.store.all<{ pair_id: string }>('select pair_id from exchange_pairs where gone_at is not null');
  for (const { pair_id: id } of gone)
    if (![...removed].some(({ employeeId }) => employeeId === id))
      violations.push(`${when}: pair ${id} counts as gone`);
  const before = { ...world.writes };
  await run(play);
  const echoes = world.writes.partner + world.writes.hris - before.partner - before.hris;
  if (echoes > 0) violations.push(`${when}: a run over records that nobody edited wrote ${echoes} values`);
}

type Held = { field: TwoWayField; partner: Record<string, FieldValue>; hris: Record<string, FieldValue> };

function judgeField(play: Play, when: string, person: Person, { field, partner, hris }: Held): void {
  const { name, owner } = field;
  const [atPartner, atHris] = [comparable(partner[name]), comparable(hris[name])];
  const say = (what: string): void => {
    const shown = `partner ${atPartner}, hris ${atHris}`;
    play.violations.push(`${when}: ${name} of ${person.employeeId} (${owner}) ${what}: ${shown}`);
  };
  if (atPartner !== atHris) return say('differs');
  const key = keyOf(person, field);
  const edits = play.edits.get(key) ?? {};
  const shared = 'agreed' in edits ? (['agreed'] as const) : (['partner', 'hris'] as const);
  const sides = owner === 'either' ? shared : [owner];
  const allowed = sides.filter((side) => side in edits).map((side) => comparable(edits[side]));
  if (allowed.length > 0 && !allowed.includes(atPartner)) say(`is no last edit (${allowed.join(' or ')})`);
  // Nothing may happen to it until somebody edits it again.
  if (owner === 'either') play.edits.set(key, { agreed: hris[name] ?? null });
}
