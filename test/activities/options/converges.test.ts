import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { readStreamState } from '../../../src/store/streams.ts';
import { seeded } from '../../harness/seeded.ts';
import { KEY } from './option-run.ts';
import { optionWorld } from './option-world.ts';

/** `npm run test:options` plays 1,000, each pass in a process that may be killed at any moment. */
const EDITS = Number(process.env['OPTION_EDITS'] ?? 24);
/** Edits of the HR system between two passes, at most. */
const AT_ONCE = 4;

type World = Awaited<ReturnType<typeof optionWorld>>;

/** A pass that may die; true where it came to its end. */
type Attempt = (runId: string, full: boolean) => Promise<boolean>;

/** In this process it dies at a point around a call or a store write. */
function dyingHere({ run, points }: World, random: () => number): Attempt {
  return async (runId, full) => {
    points.arm(random() < 0.5 ? 1 + Math.floor(random() * 30) : 0);
    const ended = await run(runId, { full }).then(
      () => true,
      () => false,
    );
    points.arm(0);
    return ended;
  };
}

/** In a process of its own that gets SIGKILL after a while. */
function dyingThere({ storeUrl, hrUrl, fieldId, sandbox }: World, random: () => number): Attempt {
  const facts = JSON.stringify({ storeUrl, hrUrl, fieldId, url: sandbox.url, key: sandbox.key });
  let child: ChildProcess | undefined;
  let answer: (ended: boolean) => void = () => undefined;
  onTestFinished(() => void child?.kill('SIGKILL'));
  const start = async (): Promise<ChildProcess> => {
    const started = fork(fileURLToPath(new URL('./options-process.ts', import.meta.url)), [facts], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const ready = once(started, 'message').then(() => true);
    if (!(await Promise.race([ready, once(started, 'exit').then(() => false)])))
      throw new Error('the process of the passes ended before it had begun');
    started.on('message', (ended) => answer(ended === true));
    // What is sent to one that died a moment ago.
    started.on('error', () => undefined);
    started.on('exit', () => {
      child = undefined;
      answer(false);
    });
    return started;
  };
  return async (runId, full) => {
    child ??= await start();
    const own = child;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    answer = resolve;
    const timer = random() < 0.25 ? setTimeout(() => own.kill('SIGKILL'), random() * 120) : undefined;
    own.send({ runId, full });
    const ended = await promise;
    clearTimeout(timer);
    if (!ended) own.kill('SIGKILL');
    while (!ended && child === own) await once(own, 'exit');
    return ended;
  };
}

test(`options follow ${EDITS} edits of the HR system although passes die, and none in use goes`, async () => {
  const random = seeded('options');
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const world = await optionWorld({ jobs: 12, options: ['Other'] });
  const { hr, options, held, hold, resume, store } = world;
  const attempt = (process.env['OPTION_EDITS'] === undefined ? dyingHere : dyingThere)(world, random);
  const open = new Map<number, string>();
  /** The entry that each job means, and entries whose name was another's: what means them, no name tells. */
  const meant = new Map<string, number>();
  const shared = new Set<number>();
  const everyName = new Map<string, number>([['Other', 0]]);
  const [deaths, counts] = [{ count: 0 }, { passes: 0, held: 0 }];
  const jobs = [...(await held()).keys()];

  const bear = (id: number, name: string): void => {
    const before = everyName.get(name);
    if (before !== undefined && before !== id) for (const one of [id, before]) shared.add(one);
    everyName.set(name, id);
    open.set(id, name);
  };
  const nameFor = (n: number): string => (random() < 0.1 ? pick([...everyName.keys()]) : `Department ${n}`);
  const edit = (n: number): void => {
    const roll = random();
    if (open.size < 8 || roll < 0.3) {
      const name = nameFor(n);
      bear(hr.add(name), name);
      return;
    }
    const id = pick([...open.keys()]);
    if (roll < 0.7) {
      const name = nameFor(n);
      hr.rename(id, name);
      bear(id, name);
      return;
    }
    hr.close(id);
    open.delete(id);
  };
  /** A recruiter chooses what the field offers. */
  const choose = async (): Promise<void> => {
    const [job, option] = [pick(jobs), pick(await options())];
    await hold(job, option);
    const bearer = [...open].find(([, name]) => name === option)?.[0];
    if (bearer === undefined) meant.delete(job);
    else meant.set(job, bearer);
  };
  const assertNoneLost = async (): Promise<void> => {
    const [shown, values] = [new Set(await options()), await held()];
    for (const [job, value] of values) if (value !== '') expect(shown, `job ${job} holds ${value}`).toContain(value);
  };
  /** A full one asks again whether what was in use is. */
  const pass = async (full = random() < 0.3): Promise<void> => {
    counts.passes += 1;
    while (!(await attempt(`pass-${counts.passes}`, full))) {
      deaths.count += 1;
      await assertNoneLost();
    }
    await assertNoneLost();
    if ((await readStreamState(store, KEY))?.held_code === null) return;
    if (!(await resume())) return;
    counts.held += 1;
    await pass(full);
  };

  for (let n = 0; n < EDITS; ) {
    for (let left = 1 + Math.floor(random() * AT_ONCE); left > 0 && n < EDITS; left -= 1, n += 1) edit(n);
    if (random() < 0.5) await choose();
    await pass();
  }
  for (let last = 0; last < 3; last += 1) await pass(true);

  const [values, names] = [await held(), hr.names()];
  const inUse = [...values.values()].filter((value) => value !== '');
  expect(new Set(await options())).toEqual(new Set([...names, ...inUse]));
  const told = [...meant].filter(([, id]) => open.has(id) && !shared.has(id));
  for (const [job, id] of told) expect(values.get(job), `job ${job}`).toBe(open.get(id));
  expect(deaths.count).toBeGreaterThan(0);
  const facts = { edits: EDITS, ...counts, deaths: deaths.count, followed: told.length };
  process.stdout.write(`${JSON.stringify(facts)}\n`);
});
