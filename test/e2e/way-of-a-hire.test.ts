import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../architecture/tree.ts';
import { readStatus } from '../harness/hiring.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { type EnteredRoom, roomOf } from '../harness/trace-calls.ts';
import { startWorld, until, type World, writtenBack } from '../harness/world.ts';

let world: World;
let traceFile: string;

beforeAll(async () => {
  const { address } = await temporalForTests();
  world = await startWorld({ temporalAddress: address });
  traceFile = path.join(world.dir, 'trace.jsonl');
});

afterAll(() => world?.close());

test('the page names the functions that a hire passes, in their order, at most fourteen and none twice', async () => {
  const tracer = path.join(root, 'test/harness/trace-calls.ts');
  const env = { NODE_OPTIONS: `--import=${tracer}`, TRACE_FILE: traceFile };
  await Promise.all([world.startReceiver(env), world.startWorker(env)]);
  await until('the baseline is complete', async () => (await world.logs()).includes('baseline complete'));
  const since = Date.now();
  await hireOne();
  const way = wayOf(await readTrace(since), since);
  expect(way.length).toBeLessThanOrEqual(14);
  expect(new Set(way).size).toBe(way.length);
  const page = await readPage();
  const always = page.filter(({ isSometimes }) => !isSometimes).map(({ name }) => name);
  const names = page.map(({ name }) => name);
  // Which of the page's two ways a hire takes depends on what is heard of the person meanwhile, so on the machine.
  expect(way.filter((name) => !names.includes(name))).toEqual([]);
  expect(names.filter((name) => way.includes(name))).toEqual(way);
  expect(way).toEqual(expect.arrayContaining(always));
});

async function hireOne(): Promise<void> {
  const [applicant] = await world.applicants();
  if (applicant === undefined) throw new Error('the sandbox has nobody to hire');
  await world.control.act('move', { jobCandidateIds: [applicant.jobCandidateId], stageType: 'HIRED' });
  await until('the enrolment', async () => (await world.effects('enrolment')).length === 1);
  await world.finishOnboardings();
  await until('the write-back', async () => (await writtenBack(world)).get(String(applicant.jobCandidateId)));
  await until('the hire is done', async () => (await readStatus(world)).hires['done'] === 1);
}

async function readTrace(since: number): Promise<EnteredRoom[]> {
  const lines = (await readFile(traceFile, 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as EnteredRoom).filter(({ at }) => at >= since);
}

/**
 * Where the hire enters a room: the receiver until its delivery is committed, the worker until Temporal has its signal,
 * the
 * workflow, then each activity. What was entered before it came (a loop, a server) is not its way.
 */
function wayOf(trace: readonly EnteredRoom[], since: number): string[] {
  const activities = trace.filter(({ file }) => roomOf(file) === 'activities/hire');
  const before = trace.slice(0, trace.indexOf(activities[0] as EnteredRoom));
  return [
    ...passed(before, since, ['src/receiver', 'src/store']),
    ...passed(before, since, ['src/worker', 'src/temporal']),
    'hire',
    ...new Set(activities.map(({ name }) => name)),
  ];
}

/** The last call that came through exactly these rooms, which handed the hire on: the function that entered each. */
function passed(trace: readonly EnteredRoom[], since: number, rooms: string[]): string[] {
  const chains = trace.map(({ by, ...last }) => [...by.filter(({ at }) => at >= since).toReversed(), last]);
  const entries = chains.map((chain) =>
    chain.filter(({ file }, at) => at === 0 || roomOf(file) !== roomOf(chain[at - 1]?.file ?? '')),
  );
  const found = entries.findLast((chain) => chain.map(({ file }) => roomOf(file)).join() === rooms.join());
  if (found === undefined) throw new Error(`No call came through ${rooms.join(' and ')}.`);
  return found.map(({ name }) => name);
}

/** The first name in each line of the page's numbered list; "sometimes" stands before one that is not always passed. */
async function readPage(): Promise<{ name: string; isSometimes: boolean }[]> {
  const page = await readFile(path.join(root, 'src/DESIGN.md'), 'utf8');
  const section = /^## The way of one `candidate\.hired`$([\s\S]*?)(?=^## )/m.exec(page)?.[1] ?? '';
  const lines = [...section.matchAll(/^\d+\. (Sometimes )?`(\w+)`/gm)];
  return lines.map(([, sometimes, name]) => ({ name: String(name), isSometimes: sometimes !== undefined }));
}
