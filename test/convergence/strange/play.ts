import type { Side } from '../../../src/hire/hire.ts';
import { createRandom, pick, type Random } from '../../../src/sandbox/random.ts';
import { acknowledgeFields } from '../../../src/store/fields.ts';
import { resumeStream } from '../../../src/store/streams.ts';
import type { ExchangeStep } from '../../../src/streams/stream-activities.ts';
import type { Mishap } from '../carrier.ts';
import { inOwnTime } from '../own-time.ts';
import type { Played } from '../play-seed.ts';
import { type Asked, type Conditions, LIMITS } from '../process.ts';
import type { Person } from '../records.ts';
import { changeSomething, remove } from './changes.ts';
import { type Field, fields, SPARE } from './fields.ts';
import type { Reader } from './history.ts';
import { isOdd, oddCell, optionsOf, typed } from './values.ts';
import { type Habits, StrangeWorld } from './world.ts';

const ROUNDS = 3;
const STEPS = 7;
const CHANCE = { kill: 0.015, freeze: 0.008, mishap: 0.05, slow: 0.02, editMeanwhile: 0.03, hintLost: 0.2, odd: 0.06 };
/** A few people with all fields; in every tenth seed a company of many with three. */
const FEW = 3;
const MANY = 105;
const CROWD_FIELDS = ['city', 'costCentre', 'hours'];

export interface Play {
  world: StrangeWorld;
  habits: Habits;
  random: Random;
  /** What the company has in mind to exchange. */
  fields: readonly Field[];
  isCrowd: boolean;
  edits: number;
  kills: number;
  freezes: number;
  asked: number;
  runs: number;
  isCalm: boolean;
  alive: Set<Promise<unknown>>;
  said: Record<string, number>;
  violations: string[];
}

/** Plays one seed in a world that knows nothing of the product's own assumptions. */
export async function playStrangeSeed(seed: number): Promise<Played> {
  const random = createRandom(seed);
  const habits = drawHabits(random);
  const isCrowd = seed % 10 === 0;
  const own = fields.filter(({ name }) => !isCrowd || CROWD_FIELDS.includes(name));
  const world = await StrangeWorld.create(habits, random, own);
  const play: Play = {
    world,
    habits,
    random,
    fields: own,
    isCrowd,
    edits: 0,
    kills: 0,
    freezes: 0,
    asked: 0,
    runs: 0,
    isCalm: false,
    alive: new Set(),
    said: {},
    violations: [],
  };
  try {
    await inOwnTime(world.clock, () => playRounds(play));
    const { edits, kills, freezes, asked, said } = play;
    const { writes, races, unseen } = world.history;
    const others = {
      'edits overtaken at a side that cannot compare': races,
      'edits that no reading tells from what became of our own write': unseen,
      'times that a person was asked about a mass': asked,
      ...Object.fromEntries(Object.entries(said).map(([code, times]) => [`fields left unequal: ${code}`, times])),
    };
    return { seed, edits, writes, kills, freezes, violations: violationsOf(play), others };
  } finally {
    await world.close();
  }
}

function violationsOf({ violations, world }: Play): string[] {
  return [...world.history.violations, ...violations];
}

function drawHabits(random: Random): Habits {
  const maybe = (chance = 0.4): boolean => random() < chance;
  const lateMs = pick(random, [0, 0, 5_000, 45_000]);
  return {
    partner: {
      refusesNull: maybe(),
      trims: maybe(),
      capitals: maybe(0.25),
      sortsLists: maybe(),
      decimals: pick(random, [2, 2, 1]),
      numbersAsText: maybe(),
      showsOrphans: maybe(),
      listsAsText: maybe(),
    },
    hr: {
      numbers: pick(random, ['text', 'numeric']),
      capitals: maybe(0.25),
      trims: maybe(),
      ...(maybe(0.25) && { cuts: 12 }),
      rounds: maybe(0.25),
      lateMs,
      compares: lateMs > 0 || maybe(0.8),
    },
  };
}

async function playRounds(play: Play): Promise<void> {
  const { world, random, isCrowd } = play;
  for (let n = 0; n < (isCrowd ? MANY : FEW); n += 1) hireOne(play);
  for (let round = 1; round <= ROUNDS && violationsOf(play).length === 0; round += 1) {
    play.isCalm = false;
    for (let step = 0; step < STEPS; step += 1) {
      for (let n = Math.floor(random() * 4); n > 0; n -= 1) editSomething(play);
      if (random() < 0.1) handOn(play);
      if (isCrowd && random() < 0.3) await editMany(play);
      if (random() < 0.25) await changeSomething(play);
      if (random() < 0.6) await run(play, random() < 0.4 ? { mode: 'incremental' } : {});
      world.clock.advance(Math.floor(random() * LIMITS.giveUpMs));
    }
    await becomeCalm(play, round);
    judge(play, round);
  }
}

function hireOne(play: Play): void {
  const { world, random } = play;
  const person = world.hire();
  for (const field of world.fields) {
    const first: Side[] = random() < 0.3 ? ['partner', 'hris'] : [random() < 0.5 ? 'partner' : 'hris'];
    for (const side of first) edit(play, person, field, side, { isEmpty: random() < 0.1 });
  }
}

function edit(play: Play, person: Person, field: Field, side: Side, { isEmpty }: { isEmpty: boolean }): void {
  const { world, random } = play;
  play.edits += 1;
  const value = typed(field.kind, random, play.edits);
  const isOddOne = side === 'hris' && random() < CHANCE.odd;
  // The platform has no candidate without an address.
  if (isEmpty && field.kind !== 'email') world.edit(person, field, side, null);
  else world.edit(person, field, side, isOddOne ? { ...value, hr: oddCell(field.kind, random) } : value);
  if (random() >= CHANCE.hintLost) world.hint(person, side);
}

function editSomething(play: Play): void {
  const { world, random } = play;
  const side = random() < 0.5 ? 'partner' : 'hris';
  edit(play, pick(random, world.people), pick(random, world.fields), side, { isEmpty: random() < 0.15 });
}

/** One gives up an address, and another takes it; now and then the two swap. */
function handOn(play: Play): void {
  const { world, random } = play;
  const field = world.fields.find(({ kind }) => kind === 'email');
  const [giver, taker] = [pick(random, world.people), pick(random, world.people)];
  if (field === undefined || giver === taker) return;
  const side = random() < 0.5 ? 'partner' : 'hris';
  const [given, taken] = [world.textAt(giver, field, side), world.textAt(taker, field, side)];
  play.edits += 2;
  world.edit(giver, field, side, typed('email', random, play.edits));
  world.edit(taker, field, side, { partner: given, hr: given });
  if (random() < 0.3) world.edit(giver, field, side, { partner: taken, hr: taken });
  for (const one of [giver, taker]) world.hint(one, side);
}

/** An import, or somebody who empties a column; all at once, or one by one while runs go by. */
async function editMany(play: Play): Promise<void> {
  const { world, random } = play;
  const field = pick(random, world.fields);
  const side = random() < 0.5 ? 'partner' : 'hris';
  const [share, isEmpty, isTrickle] = [0.15 + random() * 0.6, random() < 0.5, random() < 0.4];
  for (const [nth, person] of world.people.entries()) {
    if (random() >= share) continue;
    edit(play, person, field, side, { isEmpty });
    if (isTrickle && nth % 8 === 0) await run(play, { mode: 'incremental' });
  }
}

/** Nothing goes wrong any more, and a person has put right what the alarms say. */
async function becomeCalm(play: Play, round: number): Promise<void> {
  const { world } = play;
  play.isCalm = true;
  for (let n = 0; n < 6; n += 1) {
    // A process of before may still have kept what it had read.
    if (n < 3) await repair(play);
    world.clock.advance(4 * LIMITS.giveUpMs + play.habits.hr.lateMs);
    let step = await run(play, {});
    // One limit a time: each is asked about by itself.
    for (let times = 0; step?.state === 'refused' && times < 6; times += 1) step = await run(play, {});
    if (n === 0) await Promise.all(play.alive);
    if (n > 1 && step?.state !== 'done' && step?.state !== 'partial')
      play.violations.push(
        `round ${round}: a run of a calm day ended as ${step?.state ?? 'nothing'} ${step?.code ?? ''}`,
      );
  }
}

async function repair({ world }: Play): Promise<void> {
  const { partner, history } = world;
  for (const { at, kind } of [...fields, { at: { label: SPARE }, kind: 'text' as const }]) {
    if ('property' in at || kind === 'email') continue;
    const options = optionsOf(kind);
    const labelled = () => partner.definitions.filter(({ label }) => label.replace(' (old)', '') === at.label);
    for (const one of labelled()) if (one.kind !== kind) remove(world, one.id);
    for (const one of labelled().slice(1)) remove(world, one.id);
    const [found] = labelled();
    const one = found ?? partner.define(at.label, kind, options);
    if (found === undefined || one.label !== at.label || options?.join() !== one.options?.join())
      history.changed(one.id);
    one.label = at.label;
    one.options = options;
  }
  // Another process may be within a transaction of the one connection; then the next day's repair says it.
  const store = world.store.connect(async () => undefined);
  await acknowledgeFields(store, { tenantId: 'acme', by: 'jo' }).catch(() => undefined);
}

function judge(play: Play, round: number): void {
  const { world } = play;
  for (const person of world.people)
    for (const field of world.fields) {
      if (field.onlyHere === true && !world.isHere(person)) continue;
      const held = { partner: world.textAt(person, field, 'partner'), hris: world.textAt(person, field, 'hris') };
      if (world.isSame(field, held.partner, held.hris)) continue;
      const why = whySaid(play, person, field);
      for (const code of why) play.said[code] = (play.said[code] ?? 0) + 1;
      if (why.length > 0 && why.every((code) => isTrue(play, { code, person, field, held }))) continue;
      play.violations.push(
        `round ${round}: ${field.name} of ${person.employeeId} (${field.owner}) differs ` +
          `${why.length === 0 ? 'in silence' : `and ${why.join(', ')} is not true`}: ` +
          `partner ${held.partner}, hris ${held.hris}`,
      );
    }
}

function whySaid({ world }: Play, { employeeId }: Person, { name }: Field): string[] {
  const said = world.store.all<{ kind: string; code: string | null }>(
    'select kind, code from field_conflicts where pair_id = ? and field = ? and closed_at is null',
    employeeId,
    name,
  );
  return said.map(({ kind, code }) => code ?? kind);
}

interface SaidOf {
  code: string;
  person: Person;
  field: Field;
  held: Record<Side, string | null>;
}

/** Whether what is said of a field is so, as far as the world can tell. */
function isTrue({ world }: Play, { code, person, field, held }: SaidOf): boolean {
  const others = world.people.filter((one) => one !== person);
  const has = (side: Side, text: string | null): boolean =>
    text !== null && others.some((one) => world.textAt(one, field, side)?.toLowerCase() === text.toLowerCase());
  switch (code) {
    case 'diverged':
      return field.owner === 'either' || held[field.owner] === null;
    case 'DUPLICATE_VALUE':
      return has('hris', held.partner);
    // Each side has a way of emptying everything but an address.
    case 'INVALID_REQUEST':
      return held.hris !== null;
    case 'EMAIL_CONFLICT':
      return has('partner', held.hris);
    case 'NOT_A_NUMBER':
    case 'NOT_A_DAY':
    case 'NOT_A_LIST':
    case 'NOT_TRUE_OR_FALSE':
    case 'BROKEN_TEXT':
      return isOdd(field.kind, held.hris);
    default:
      return true;
  }
}

/** A run as Temporal carries it on: what died, or gave up, is begun again by a new process. */
async function run(play: Play, asked: Asked): Promise<ExchangeStep | undefined> {
  play.runs += 1;
  const runId = `run-${play.runs}`;
  for (let attempt = 0; attempt < 6; attempt += 1) {
    const step = await attemptRun(play, runId, asked);
    if (step?.state === 'refused') await answer(play);
    if ((step?.state === 'done' || step?.state === 'partial') && asked.mode === undefined) play.world.history.ended();
    if (step !== undefined && step.state !== 'running') return step;
    play.world.clock.advance(1_000);
  }
  return undefined;
}

/** A person looks at what would be written, and lets it go on; in a storm not always at once. */
async function answer(play: Play): Promise<void> {
  const { world, random } = play;
  play.asked += 1;
  if (!play.isCalm && random() < 0.4) return;
  // A run that died may have asked about another limit before: the question names both.
  const held = world.store.all<{ code: string | null }>('select held_code as code from stream_states');
  for (const code of held.flatMap((one) => one.code?.split(' ') ?? []))
    world.history.allowed(code === 'MASS_EMPTIED' ? 'emptied' : 'filled');
  await resumeStream(
    world.store.connect(async () => undefined),
    { tenantId: 'acme', stream: 'employees' },
    'jo',
  );
}

async function attemptRun(play: Play, runId: string, asked: Asked): Promise<ExchangeStep | undefined> {
  const { world, random } = play;
  const reader: Reader = { shown: new Map(), isDisturbed: false };
  const isOver = Promise.withResolvers<undefined>();
  const isLeft = Promise.withResolvers<undefined>();
  const harmed = <T>(what: T): T => {
    reader.isDisturbed = true;
    return what;
  };
  const conditions: Conditions = {
    pause: createPause(play, reader, { die: () => isOver.resolve(undefined), freeze: () => isLeft.resolve(undefined) }),
    mishap: (method) => {
      if (play.isCalm || random() >= CHANCE.mishap) return undefined;
      const mishaps: Mishap[] = method === 'GET' ? ['lost-answer'] : ['lost-before', 'lost-answer', 'late'];
      return harmed(pick(random, mishaps));
    },
    updateMishap: () => {
      if (play.isCalm || random() >= CHANCE.mishap) return undefined;
      return harmed(pick(random, ['lost-before', 'lost-answer'] as const));
    },
    later: (carryOut) =>
      void world.clock.at(world.clock.now() + Math.floor(random() * 0.8 * LIMITS.giveUpMs), carryOut),
  };
  const work = world.run(runId, reader, conditions, asked).catch(() => harmed(undefined));
  const ended = Promise.race([work, isOver.promise]);
  play.alive.add(ended);
  void ended.then(() => play.alive.delete(ended));
  return Promise.race([ended, isLeft.promise]);
}

/** Wherever a process waits: an edit or a change meanwhile, a slow call, its death, or a standstill. */
function createPause(play: Play, reader: Reader, { die, freeze }: { die: () => void; freeze: () => void }) {
  const { world, random } = play;
  // A run over many waits more often.
  const rare = play.isCrowd ? 0.2 : 1;
  let isDead = false;
  let wasFrozen = false;
  return async (): Promise<void> => {
    if (isDead) return new Promise<never>(() => undefined);
    if (play.isCalm) return undefined;
    if (random() < CHANCE.editMeanwhile) editSomething(play);
    if (random() < (CHANCE.editMeanwhile / 6) * rare) await changeSomething(play);
    const isSlow = random() < CHANCE.slow * rare;
    // Its call may come to its deadline.
    if (isSlow) reader.isDisturbed = true;
    world.clock.advance(isSlow ? Math.floor(random() * LIMITS.giveUpMs) : 1 + Math.floor(random() * 20));
    if (!wasFrozen && random() < CHANCE.freeze * rare) {
      wasFrozen = true;
      reader.isDisturbed = true;
      play.freezes += 1;
      freeze();
      const ms = random() < 0.5 ? random() * 2_000 : LIMITS.giveUpMs * (1 + 3 * random());
      return new Promise((resolve) => void world.clock.at(world.clock.now() + Math.ceil(ms), resolve));
    }
    if (random() >= CHANCE.kill * rare) return undefined;
    isDead = true;
    reader.isDisturbed = true;
    play.kills += 1;
    die();
    return new Promise<never>(() => undefined);
  };
}
