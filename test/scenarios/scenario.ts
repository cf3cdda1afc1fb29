import type { CustomerHris, HrisSource } from '../../src/counterparts/hris-sources.ts';
import type { Quirk } from '../../src/sandbox/quirks.ts';
import { untilBaseline } from '../harness/hiring.ts';
import type { TenantStatus } from '../harness/read-store.ts';
import { type Process, startWorld, until, type World, type WorldOptions } from '../harness/world.ts';

/** What the partner's ledger and the HRIS's table say in the end; holds as the product lists them, closed ones too. */
export interface Counts {
  enrolments: number;
  credits: number;
  employees: number;
  holds: number;
  /** Employees whose number stands with the partner. */
  verified: number;
}

export interface Scenario {
  name: string;
  expected: Counts;
  world?: Partial<WorldOptions>;
  /** What this partner does from the start, beside what `--partner quirks` adds. */
  quirks?: readonly Quirk[];
  /** Without the receiver: the reconcile alone finds what happened. */
  reconcileOnly?: boolean;
  /** Starts the product's processes by itself. */
  ownStart?: boolean;
  /** The one kind of HRIS that it is played on. */
  hris?: string;
  /** What stands between the product and that HRIS. */
  between?(hris: CustomerHris): Promise<{ settings: CustomerHris['settings']; close(): Promise<void> }>;
  /** Throws with what else went wrong. */
  run(world: World): Promise<void>;
}

export interface Outcome {
  name: string;
  expected: Counts;
  seen: Counts | undefined;
  error: string | undefined;
  seconds: number;
}

const env: NodeJS.ProcessEnv = {
  HIREBRIDGE_HEARTBEAT_MS: '2000',
  HIREBRIDGE_GIVE_UP_MS: '4000',
  HIREBRIDGE_REQUEST_MS: '2000',
  HIREBRIDGE_PARTNER_LAG_MS: '500',
  HIREBRIDGE_STICKY_MS: '500',
  HIREBRIDGE_RETRY_MS: '200',
  HIREBRIDGE_PAUSED_MS: '1000',
};

export function policies({ reconcile = '1h', grace = '1s', deadline = '1d', canary = '3s' } = {}): string {
  return (
    `onboarding: { flow: "{flow}", deadline: ${deadline} }\n  reconcile: { every: ${reconcile} }\n  cancel: { ` +
    `grace: ${grace} }\n  credits: { canaryEvery: ${canary} }`
  );
}

export interface Stage {
  temporalAddress: string;
  /** What the partner does in every scenario. */
  quirks: readonly Quirk[];
  /** Instead of an SQL table. */
  hris?: HrisSource | undefined;
}

/** Plays one scenario in a world of its own and reads both ends. */
export async function play(scenario: Scenario, { temporalAddress, quirks, hris }: Stage): Promise<Outcome> {
  const started = performance.now();
  const { name, expected, reconcileOnly = false } = scenario;
  const shown = [...new Set([...quirks, ...(scenario.quirks ?? [])])];
  const otherHris = await openHris(scenario, hris);
  let world: World | undefined;
  let seen: Counts | undefined;
  let error: string | undefined;
  try {
    world = await startWorld({
      temporalAddress,
      policies: policies(reconcileOnly ? { reconcile: '2s' } : {}),
      ...(otherHris === undefined ? {} : { otherHris }),
      ...scenario.world,
      sandbox: { ...scenario.world?.sandbox, ...(shown.length === 0 ? {} : { quirks: shown.join(',') }) },
      env: { ...env, ...scenario.world?.env },
    });
    if (scenario.ownStart !== true) await startProduct(world, reconcileOnly);
    await scenario.run(world);
    seen = await settled(world, expected);
  } catch (cause) {
    error = cause instanceof Error ? cause.message : String(cause);
    seen = world === undefined ? undefined : await count(world).catch(() => undefined);
  } finally {
    await world?.close();
    await otherHris?.close();
  }
  return { name, expected, seen, error, seconds: (performance.now() - started) / 1000 };
}

/** An HRIS of its own, with whatever this scenario puts before it. */
async function openHris({ between }: Scenario, source: HrisSource | undefined): Promise<CustomerHris | undefined> {
  const own = await source?.open();
  if (own === undefined || between === undefined) return own;
  const { settings, close } = await between(own);
  return { ...own, settings, close: () => close().then(own.close) };
}

/** Receiver and worker, with go-live behind; gives the worker. */
export async function startProduct(world: World, reconcileOnly = false, more?: NodeJS.ProcessEnv): Promise<Process> {
  const [worker] = await Promise.all([world.startWorker(more), reconcileOnly ? undefined : world.startReceiver()]);
  await untilBaseline(world);
  return worker;
}

export function isAsExpected({ expected, seen, error }: Outcome): boolean {
  return error === undefined && JSON.stringify(expected) === JSON.stringify(seen);
}

export async function count(world: World): Promise<Counts> {
  const [enrolments, credits, statuses, employees, holds] = await Promise.all([
    world.effects('enrolment'),
    world.effects('onboarding-credit'),
    world.effects('external-status'),
    world.employees(),
    listHolds(world),
  ]);
  const written = new Set(statuses.map((row) => String(row.detail['employeeId'])));
  return {
    enrolments: enrolments.length,
    credits: credits.length,
    employees: employees.length,
    holds: holds.length,
    verified: employees.filter((employee) => written.has(employee.number)).length,
  };
}

/** Counts once nothing moves any more: as expected and still so after a while, or unchanged for long. */
async function settled(world: World, expected: Counts): Promise<Counts> {
  let before = '';
  let same = 0;
  return until(
    'the counts to come to rest',
    async () => {
      const counts = await count(world);
      same = JSON.stringify(counts) === before ? same + 1 : 0;
      before = JSON.stringify(counts);
      const enough = before === JSON.stringify(expected) ? 2 : 8;
      return same >= enough ? counts : undefined;
    },
    { everyMs: 500, timeoutMs: 90_000 },
  );
}

export interface ListedHold {
  holdId: string;
  code: string;
  jobCandidateId: string | null;
  state: string;
  details: Record<string, unknown>;
}

export async function listHolds(world: World): Promise<ListedHold[]> {
  const { stdout, stderr } = await world.cli(['hold', 'list', '--all', '--json']);
  if (stdout === '') throw new Error(`hold list: ${stderr}`);
  return JSON.parse(stdout) as ListedHold[];
}

export async function untilHeld(world: World, code: string): Promise<ListedHold> {
  return until(`a hold ${code}`, async () => (await listHolds(world)).find((hold) => hold.code === code));
}

export async function answer(world: World, hold: ListedHold, ...words: string[]): Promise<void> {
  const { code, stderr } = await world.cli(['hold', 'answer', hold.holdId, ...words]);
  if (code !== 0) throw new Error(`hold answer: ${stderr}`);
}

export async function hires(world: World): Promise<TenantStatus['hires']> {
  const { stdout } = await world.cli(['status', '--json']);
  const status = JSON.parse(stdout) as { tenants: TenantStatus[] };
  return status.tenants[0]?.hires ?? {};
}

export async function untilHires(world: World, state: string, wanted: number, timeoutMs = 60_000): Promise<void> {
  await until(`${wanted} ${state}`, async () => ((await hires(world))[state] ?? 0) === wanted, {
    timeoutMs,
    everyMs: 300,
  });
}

export async function untilEffects(world: World, name: string, wanted: number, timeoutMs = 60_000): Promise<void> {
  await until(`${wanted} ${name}`, async () => (await world.effects(name)).length >= wanted, { timeoutMs });
}
