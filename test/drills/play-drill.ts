import { setTimeout as pause } from 'node:timers/promises';
import { gatherEvidence } from '../harness/judge-hires.ts';
import { slowness } from '../harness/pace.ts';
import { until } from '../harness/until.ts';
import type { Ground, GroundOptions } from './ground.ts';

export type Word = 'ready' | 'not ready';

export interface Drill {
  /** What it needs of a ground of its own. @throws Impossible where this machine cannot give it */
  ground?: () => Promise<DrillGround>;
  /** Takes something away. Gives what brings it back; a fault that the product has to get over by itself gives none. */
  harm: (ground: Ground) => Promise<(() => Promise<void> | void) | void>;
  /** How long it lasts, ms; cut short where a slice is asked for. */
  lastsMs?: number;
  /** What `/readyz` has to say meanwhile; either where absent. */
  worker?: Word;
  receiver?: Word;
  /** What `hirebridge status` has to say meanwhile, on either stream. */
  status?: RegExp;
}

export interface DrillGround {
  options: Partial<GroundOptions>;
  /** Once everything on it has ended. */
  close?: () => Promise<void> | void;
}

/** Why a drill cannot be played here. */
export class Impossible extends Error {}

export interface Outcome {
  /** Everybody hired on this ground so far. */
  hires: number;
  /** Of them, without an employee whose number is the Employee ID that the partner shows. */
  lost: number;
  /** Employees and credits beyond one for each of them. */
  twice: number;
  /**
   * From the end of the fault until `/readyz` said ready, until the next effect at the partner or in the HR system, and
   * until everybody was done, ms.
   */
  readyMs: number;
  usefulMs: number;
  allMs: number;
  /** How much slower this machine was than usual, beside other work. */
  slow: number;
  /** What was said meanwhile. */
  readyz: Record<'worker' | 'receiver', string>;
  status: string;
  /** What was said that is not true. */
  untrue: string[];
}

const UNDER_WAY = 4;
/** Of the words that a process says, so many may be others than expected. */
const MOST_OTHERS = 0.25;
const POLL_MS = 500;

export interface PlayOptions {
  /** No fault lasts longer, ms. */
  mostMs?: number;
}

/** Hires come and go; something is taken away in the middle of them and brought back; then everybody is counted. */
export async function playDrill(
  drill: Drill,
  ground: Ground,
  { mostMs = Number.POSITIVE_INFINITY }: PlayOptions = {},
): Promise<Outcome> {
  const { traffic, world } = ground;
  await traffic.keep(UNDER_WAY);
  const heal = await drill.harm(ground);
  const watch = watchReadyz(ground);
  const [status] = await Promise.all([
    drill.status === undefined ? '' : statusSays(ground, drill.status),
    untilSaid(watch, drill),
    pause(Math.min(mostMs, drill.lastsMs ?? 0)),
  ]);
  const untrue = watch.untrue(drill);
  const readyz = watch.end();
  const slowBefore = slowness();
  await heal?.();
  const begin = performance.now();
  const since = () => performance.now() - begin;
  const before = await effectsOf(ground);
  await traffic.keep(UNDER_WAY + 1);
  const [usefulMs, readyMs] = await Promise.all([
    until('the next effect', async () => (await effectsOf(ground)) > before && since()),
    until('both are ready', async () => (await bothReady(ground)) && since()),
  ]);
  await traffic.keep(0);
  await until('everybody is done', async () => (await traffic.inFlight()).length === 0, { timeoutMs: 300_000 });
  const allMs = since();
  const slow = Math.max(slowBefore, slowness());
  const evidence = await gatherEvidence(world);
  const { hires, verified } = evidence.of(traffic.hired);
  const twice = Math.max(0, evidence.all.employees - hires) + Math.max(0, evidence.all.credits - hires);
  if (drill.status !== undefined && !drill.status.test(status)) untrue.push(`status said: ${status}`);
  const said = { readyz, status: firstLine(status, drill.status), untrue };
  return { hires, lost: hires - verified, twice, readyMs, usefulMs, allMs, slow, ...said };
}

/** What is wrong with it; times apart. */
export function faultsOf({ lost, twice, untrue }: Outcome): string[] {
  return [...(lost === 0 ? [] : [`${lost} lost`]), ...(twice === 0 ? [] : [`${twice} twice`]), ...untrue];
}

async function effectsOf({ world }: Ground): Promise<number> {
  const { effect = {} } = await world.control.counts({ kind: 'effect' });
  return (effect['enrolment'] ?? 0) + (effect['external-status'] ?? 0) + (await world.employees()).length;
}

interface Said {
  ok: boolean;
  text: string;
}

async function readyz(health: string): Promise<Said> {
  try {
    const response = await fetch(`${health}/readyz`, { signal: AbortSignal.timeout(120_000) });
    const { checks = {}, error } = (await response.json()) as { checks?: Record<string, Check>; error?: string };
    const wrong = Object.entries(checks).filter(([, check]) => !check.ok);
    return { ok: response.ok, text: error ?? wrong.map(([name, { note }]) => `${name}: ${note}`).join('; ') };
  } catch (error) {
    return { ok: false, text: `no answer (${error instanceof Error ? error.name : 'unknown'})` };
  }
}

interface Check {
  ok: boolean;
  note?: string;
}

async function bothReady(ground: Ground): Promise<boolean> {
  const said = await Promise.all(
    [ground.worker(), ground.receiver()].map(({ facts }) => readyz(facts['health'] ?? '')),
  );
  return said.every(({ ok }) => ok);
}

const ROLES = ['worker', 'receiver'] as const;
type Role = (typeof ROLES)[number];

/** Asks both until it is told to stop. Once the expected word was said, another one is untrue. */
function watchReadyz(ground: Ground) {
  const said: Record<Role, Said[]> = { worker: [], receiver: [] };
  let ended = false;
  const ask = async (role: Role): Promise<void> => {
    for (; !ended; await pause(POLL_MS)) {
      const answer = await readyz(ground[role]().facts['health'] ?? '');
      if (!ended) said[role].push(answer);
    }
  };
  for (const role of ROLES) void ask(role);
  const isAsExpected = (one: Said, word: Word | undefined): boolean =>
    word === undefined || one.ok === (word === 'ready');
  return {
    hasSaid: (role: Role, word: Word | undefined) =>
      said[role].length > 0 && said[role].some((one) => isAsExpected(one, word)),
    untrue: (drill: Drill): string[] =>
      ROLES.flatMap((role) => {
        const first = said[role].findIndex((one) => isAsExpected(one, drill[role]));
        const later = said[role].slice(Math.max(0, first));
        const others = later.filter((one) => !isAsExpected(one, drill[role]));
        // Beside other work a database may well take longer than a second now and then.
        if (others.length <= later.length * MOST_OTHERS) return [];
        return others.slice(0, 1).map(({ ok, text }) => `${role} said ${ok ? 'ready' : `not ready (${text})`}`);
      }),
    end(): Record<Role, string> {
      ended = true;
      return { worker: summary(said.worker), receiver: summary(said.receiver) };
    },
  };
}

function summary(said: readonly Said[]): string {
  const bad = said.filter(({ ok }) => !ok);
  if (bad.length === 0) return 'ready';
  const share = bad.length === said.length ? '' : ` (${bad.length} of ${said.length})`;
  return `not ready${share}: ${bad.at(-1)?.text}`;
}

async function untilSaid(watch: ReturnType<typeof watchReadyz>, drill: Drill): Promise<void> {
  await until('/readyz says so', async () => ROLES.every((role) => watch.hasSaid(role, drill[role])), {
    timeoutMs: 60_000,
  });
}

/** Asked until it says so: what a process says of itself is up to ten seconds old, and a dead one counts for 45. */
async function statusSays({ world }: Ground, wanted: RegExp): Promise<string> {
  const until = performance.now() + 60_000;
  for (;;) {
    const { stdout, stderr } = await world.cli(['status', '--verbose']);
    const text = `${stderr}${stdout}`;
    if (wanted.test(text) || performance.now() > until) return text;
  }
}

function firstLine(text: string, wanted: RegExp | undefined): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return (lines.find((line) => wanted?.test(line)) ?? lines[0] ?? '').trim().slice(0, 160);
}
