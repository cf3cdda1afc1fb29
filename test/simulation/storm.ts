import { isConnectorError } from '../../src/errors.ts';
import { changeHris as applyHris } from '../../src/store/change-hris.ts';
import { applySiblings } from './add-customer.ts';
import { killWorker } from './create-world.ts';
import { createHrisDouble, UNSEEN_MS } from './hris-double.ts';
import { hiredNow, moveOn } from './people.ts';
import { drawOne, has } from './scenario.ts';
import { simulatedTenant } from './tenants.ts';
import { served, type World } from './world.ts';

/** What breaks while the storm is on; everything is drawn from the seed. */
export function beginStorm(world: World, start: number): void {
  const { scenario, random, timeline } = world;
  const rate = scenario.faultRate;
  const share = (kind: string, part: number, more: object = {}): object[] =>
    rate === 0 ? [] : [{ kind, probability: rate * part, ...more }];
  const lost = { all: 0, some: 0.4, none: 1 }[scenario.webhooks];
  world.act('setFaults', world.customers[0]!, {
    seed: scenario.seed,
    faults: [
      ...share('throttle', 0.2, { retryAfter: drawOne(random, [1, 5]) }),
      ...share('server-error', 0.15),
      ...share('server-error-after', 0.1),
      ...share('reset-before', 0.15),
      ...share('answer-lost', 0.2),
      ...share('executed-late', 0.15, { ms: 10_000 + Math.floor(random() * 9_000) }),
      ...share('truncated-body', 0.05),
      ...share('html-body', 0.05),
      ...(rate > 0.1 ? share('revoked-key', 0.02) : []),
      ...(lost === 0 ? [] : [{ kind: 'webhook-lost', probability: lost }]),
      ...(rate === 0
        ? []
        : [
            { kind: 'webhook-duplicated', probability: 0.1 },
            { kind: 'webhook-late', probability: 0.1, ms: 4_000 },
          ]),
    ],
  });
  for (const { hris } of world.customers)
    hris.faults = { before: rate / 3, answerLost: rate / 3, late: rate / 4, read: rate / 3 };
  const within = (from: number, to: number): number => start + from + random() * (to - from);
  for (let kill = 0; kill < scenario.kills; kill += 2)
    timeline.at(within(20_000, 400_000), () => world.workers[0] && killWorker(world, world.workers[0]));
  if (scenario.loseStore) timeline.at(within(60_000, 400_000), () => loseStore(world));
  else if (scenario.loseTemporal) timeline.at(within(30_000, 400_000), () => world.temporal.forget());
  if (rate > 0.05) {
    const awayAt = within(30_000, 300_000);
    timeline.at(awayAt, () => (world.temporal.away = true));
    timeline.at(awayAt + 20_000, () => (world.temporal.away = false));
  }
  spoilKey(world, within(40_000, 250_000));
  beginExtras(world, start);
}

/** Somebody puts another key behind the reference, or the partner stops taking it; later it is put right. */
function spoilKey(world: World, at: number): void {
  const { scenario, timeline, random } = world;
  const [customer, other] = world.customers;
  if (customer === undefined || other === undefined || scenario.badKey === 'no') return;
  const until = at + 20_000 + random() * 120_000;
  const spoil: Record<string, () => void> = {
    deactivated: () => world.act('deactivateKey', customer, {}),
    'inactive-account': () => world.act('deactivateAccount', customer, {}),
    // A worker that starts in this time opens with the wrong key. Before anything is known of the tenant, nothing could
    // tell.
    'other-company': () => {
      if (world.store.all('select 1 from jobs where tenant_id = ?', customer.tenant.tenant).length === 0) return;
      customer.secret = other.key;
      const [worker] = world.workers;
      if (worker !== undefined) killWorker(world, worker);
    },
    regenerated: () => {
      const { key } = world.act('regenerateKey', customer, {}) as { key: string };
      customer.key = key;
    },
  };
  timeline.at(at, () => spoil[scenario.badKey]?.());
  timeline.at(until, () => mendKeys(world));
}

function mendKeys(world: World): void {
  const [customer] = world.customers;
  if (customer === undefined) return;
  world.act('activateKey', customer, {});
  world.act('reactivateAccount', customer, {});
  customer.secret = customer.key;
}

/** Our database's file is gone, and with it the installation whose workflows Temporal knew. */
function loseStore(world: World): void {
  world.storeLost = true;
  world.storeLostAt = world.timeline.now();
  for (const { tenant, companyId, hris } of served(world)) {
    const enrolled = world.state.one(
      "select 1 from onboarding_candidates where company_id = ? and external_ref like 'hirebridge:%'",
      companyId,
    );
    if (enrolled !== undefined) continue;
    const own = hris.employees.filter(
      ({ reference }) => hris.profile !== 'careless' && reference?.startsWith(`${companyId}:`) === true,
    );
    const traces = own.map((one) => ({
      candidateId: one.reference?.split(':')[1] ?? '',
      shownAt: one.createdAt + UNSEEN_MS[hris.profile],
    }));
    world.tracedBy.set(tenant.tenant, traces);
  }
  for (const process of world.workers.slice()) killWorker(world, process);
  world.temporal.forget();
  world.store.forget();
  if (has(world, 'shared-company')) applySiblings(world);
  world.acknowledged.length = 0;
}

/** Nothing breaks from here on, and what was missing is given. */
export function endStorm(world: World): void {
  world.calm = true;
  world.temporal.away = false;
  world.act('clearFaults', world.customers[0]!, {});
  mendKeys(world);
  for (const customer of world.customers) {
    customer.hris.faults = { before: 0, answerLost: 0, late: 0, read: 0 };
    world.act('setCredits', customer, { onboardingCredits: 1_000 });
  }
}

/** What happens besides in the storm. */
function beginExtras(world: World, start: number): void {
  const within = (from: number, to: number): number => start + from + world.random() * (to - from);
  if (has(world, 'other-hris')) world.timeline.at(within(40_000, 350_000), () => void changeHris(world));
  if (has(world, 'restored-store')) saveStore(world, within(30_000, 250_000));
}

/**
 * Whoever runs the first tenant gives its HR system another name, or the customer moves to another one, which counts
 * from one, too. Workers read the tenant's file anew by starting anew.
 */
async function changeHris(world: World): Promise<void> {
  const [customer] = world.customers;
  if (customer === undefined || world.calm || !isLive(world)) return;
  const way = world.random() < 0.5 ? 'new' : 'keep';
  for (const worker of world.workers.slice()) killWorker(world, worker);
  const { id: tenantId, connection: from } = customer.facts;
  const to = `${tenantId}-hr-anew`;
  try {
    await applyHris(world.outside, { tenantId, from, to, way });
  } catch (error) {
    if (!isConnectorError(error, 'HRIS_NOT_CHANGED')) throw error;
    // Somebody waits until what was asked of the old one is settled.
    world.timeline.at(world.timeline.now() + 20_000, () => void changeHris(world));
    return;
  }
  if (way === 'new') {
    customer.hris = createHrisDouble(world.scenario.profile, world.hrisWorld);
    customer.systems.push(customer.hris);
    for (const nth of [1, 2, 3, 4])
      customer.hris.add('stranger', {
        email: `stranger-${nth}@elsewhere.example`,
        givenName: 'Old',
        familyName: 'Hand',
        title: 'Their own',
      });
  }
  // A name is one HR system's: tenants that share it give it another one together.
  const renamed = served(world).filter((one) => one === customer || (way === 'keep' && one.facts.connection === from));
  for (const one of renamed) one.tenant = simulatedTenant({ ...one.facts, connection: to });
  for (const person of hiredNow(world, customer)) if (world.random() < 0.5) moveOn(world, customer, person);
}

function isLive(world: World): boolean {
  const rows = world.store.all<{ done: number | null }>('select baseline_done_at as done from tenants');
  return rows.length >= served(world).length && rows.every(({ done }) => done !== null);
}

/** A backup is taken, and later put back while Temporal lives on: what came in between is in no row. */
function saveStore(world: World, at: number): void {
  const { timeline, random, store } = world;
  timeline.at(at, () => {
    if (world.calm) return;
    if (!isLive(world)) return saveStore(world, timeline.now() + 5_000);
    store.save();
    world.storeSavedAt = timeline.now();
    const saved = lastReconcile(world);
    const systems = connectionsOf(world);
    const taken = world.acknowledged.length;
    const restore = (): void => {
      // Tenants' definitions are in the store: with one from before, they would have their former HR systems.
      if (world.calm || connectionsOf(world) !== systems) return;
      if (lastReconcile(world) === saved) return void timeline.at(timeline.now() + 5_000, restore);
      for (const worker of world.workers.slice()) killWorker(world, worker);
      store.restore();
      world.storeRestoredAt = timeline.now();
      world.acknowledged.length = taken;
    };
    timeline.at(timeline.now() + 15_000 + random() * 150_000, restore);
  });
}

function connectionsOf(world: World): string {
  return served(world)
    .map(({ facts, tenant }) => `${facts.id} ${tenant.hris.connection}`)
    .join();
}

/**
 * By the store's clock, of whichever tenant. A backup is older than the last one: what was asked since the backup is
 * found by the first reconcile that another one went before; without one between, by the daily pass.
 */
function lastReconcile({ store }: World): number {
  const [row] = store.all<{ at: number | null }>('select max(reconciled_at) as at from tenants');
  return row?.at ?? 0;
}
