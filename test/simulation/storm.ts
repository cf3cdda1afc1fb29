import { killWorker } from './create-world.ts';
import { drawOne } from './scenario.ts';
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
  for (const { tenant, companyId, hris } of served(world)) {
    const enrolled = world.state.one(
      "select 1 from onboarding_candidates where company_id = ? and external_ref like 'hirebridge:%'",
      companyId,
    );
    const created =
      hris.profile === 'strict' && hris.employees.some((one) => one.reference?.startsWith(`${companyId}:`));
    if (enrolled === undefined && !created) world.untraced.add(tenant.tenant);
  }
  for (const process of world.workers.slice()) killWorker(world, process);
  world.temporal.forget();
  world.store.forget();
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
