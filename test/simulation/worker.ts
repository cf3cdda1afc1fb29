import { createHash } from 'node:crypto';
import pino from 'pino';
import { patient } from '../../activities/activity-scope.ts';
import type { ActivityDeps, Connection, Connections } from '../../activities/connections.ts';
import { bindActivities } from '../../activities/create-activities.ts';
import { createAnswerRound } from '../../activities/hear-answer.ts';
import { ownHris } from '../../activities/own-hris.ts';
import { createStageLookup } from '../../activities/reconcile/hiring-stages.ts';
import { rememberReconciles } from '../../activities/reconcile/last-reconcile.ts';
import type { Reconciled } from '../../src/hire/hire-activities.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import { createPartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { Overrides } from '../../src/partner/contract/assumptions.ts';
import { purgeConflicts } from '../../src/store/field-conflicts.ts';
import type { Store } from '../../src/store/open-store.ts';
import { lapseCreating } from '../../src/store/people.ts';
import { openRateLimit } from '../../src/store/rate-limits.ts';
import { purgeBodies, purgeDeliveries, purgePlans, purgeWrites } from '../../src/store/retention.ts';
import { type HireClient, signalHire } from '../../src/temporal/hire-client.ts';
import { hireWorkflowId } from '../../src/temporal/ids.ts';
import { loadTenantMapping } from '../../src/tenants/open-hris.ts';
import { resumePaused } from '../../src/worker/chores.ts';
import { startRelay } from '../../src/worker/relay.ts';
import { createCarrier } from './network.ts';
import { currentProcess, type Process } from './processes.ts';
import { has } from './scenario.ts';
import { policies } from './tenants.ts';
import { reconcile, reconcileId, served, type World } from './world.ts';

const log = pino({ level: 'silent' });
/** By whether it has conditions. */
const mappings = new Map<boolean, Mapping>();

/** Mappings are read from their files once, before any clock is taken over. */
export async function prepareMapping(tenant: Connection['tenant']): Promise<void> {
  mappings.set(tenant.mapping !== undefined, await loadTenantMapping(tenant));
}

/** One worker process: activities, relay and chores over the doubles, wired as src/app.ts wires them. */
export function startWorker(world: World, process: Process): void {
  const { store, temporal } = world;
  const own = store.connect((point) => world.pause(process, point));
  const deps: ActivityDeps = {
    store: own,
    connections: createConnections(world, process, own),
    log,
    pausedHris: new Set(),
    signalHire: signalHireOver(world, process),
    followedHires: async (tenantId) => {
      await world.pause(process, 'temporal.followedHires');
      if (world.temporal.away) throw unavailable();
      const prefix = hireWorkflowId('hbsimulation', tenantId, '');
      const running = world.temporal.running().filter((id) => id.startsWith(prefix));
      return new Set(running.map((id) => id.slice(prefix.length)));
    },
    lastReconcile: rememberReconciles(async (tenantId) => {
      await world.pause(process, 'temporal.lastReconcile');
      if (world.temporal.away) throw unavailable();
      return (world.temporal.result(reconcileId(tenantId)) as Partial<Reconciled> | undefined)?.reconciledAt;
    }),
    limits: { giveUpMs: policies.giveUpMs, partnerLagMs: policies.partnerLagMs, pausedMs: policies.pausedMs },
  };
  temporal.workers.push({ process, activities: bindActivities(deps) });
  startRelayIn(world, process, deps);
  const hearAnswers = createAnswerRound(deps);
  const chores = (): void => {
    void runChores(world, deps, hearAnswers).finally(() => process.later(policies.pausedMs, chores));
  };
  process.later(policies.pausedMs, chores);
}

async function runChores(world: World, deps: ActivityDeps, hearAnswers: () => Promise<void>): Promise<void> {
  await hearAnswers().catch(() => undefined);
  for (const { tenant } of served(world)) await resumePaused(deps, tenant.tenant).catch(() => false);
  if (has(world, 'retention')) await clearOld(world, deps).catch(() => undefined);
}

/** What the chores of src/worker clear after weeks, after a minute or two. */
async function clearOld(world: World, { store }: ActivityDeps): Promise<void> {
  await purgeBodies(store, 30_000);
  await purgeDeliveries(store, 90_000);
  for (const { tenant } of served(world)) {
    await purgePlans(store, tenant.tenant, 20_000);
    await purgeWrites(store, tenant.tenant, 20_000);
    await purgeConflicts(store, tenant.tenant, 20_000);
    await lapseCreating(store, tenant.tenant);
  }
}

/** The product's relay: it runs as long as its process. */
function startRelayIn(world: World, process: Process, { store, signalHire: signal, connections }: ActivityDeps): void {
  const relay = startRelay({
    store,
    log,
    signalHire: signal,
    triggerReconcile: async (tenantId) => {
      await world.pause(process, 'temporal.triggerReconcile/before');
      reconcile(world, tenantId);
    },
    isHiringStage: createStageLookup(connections),
    // Its tenants pull no streams.
    hintStream: async () => undefined,
    runsByItself: () => false,
    isReadable: () => true,
    isShared: () => true,
    idleMs: policies.relayMs,
  });
  world.relays.set(process, () => currentProcess.run(process, () => relay.look()));
}

/** The product's own signalHire over a client whose calls may fail before or after Temporal took them. */
function signalHireOver(world: World, process: Process): ActivityDeps['signalHire'] {
  const { temporal, random, scenario } = world;
  const call = async (take: () => void): Promise<void> => {
    await world.pause(process, 'temporal/before');
    const faulty = world.calm ? 0 : scenario.faultRate / 4;
    if (temporal.away || random() < faulty) throw unavailable();
    take();
    if (random() < faulty) throw unavailable();
    await world.pause(process, 'temporal/after');
  };
  const client = {
    workflow: {
      signalWithStart: (type: string, options: StartOptions) =>
        call(() =>
          temporal.signalWithStart(options.workflowId, type, options.args[0], {
            name: 'hint',
            args: options.signalArgs,
          }),
        ),
      getHandle: (id: string) => ({
        signal: (signal: { name: string }, ...args: unknown[]) => call(() => temporal.signal(id, signal.name, args)),
      }),
    },
  };
  const timing = {
    heartbeatMs: policies.heartbeatMs,
    attemptMs: policies.giveUpMs * 2 + 60_000,
    retryMs: policies.retryMs,
  };
  const hires = { client, installationId: 'hbsimulation', timing } as unknown as HireClient;
  return (hire, about, options) => signalHire(hires, hire, about, options);
}

interface StartOptions {
  workflowId: string;
  args: unknown[];
  signalArgs: unknown[];
}

/** As the Temporal client says it: code 14. */
function unavailable(): Error {
  return Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: 'unavailable', metadata: {} });
}

function createConnections(world: World, process: Process, store: Store): Connections {
  const open = new Map<string, Promise<Connection>>();
  return {
    of(tenantId) {
      const known = open.get(tenantId) ?? openConnection(world, { process, store }, tenantId);
      open.set(tenantId, known);
      return known;
    },
    reopen: async (tenantId) => void open.delete(tenantId),
    reopenIfRotated: async () => false,
    close: async () => undefined,
  };
}

async function openConnection(
  world: World,
  { process, store }: { process: Process; store: Store },
  tenantId: string,
): Promise<Connection> {
  const customer = served(world).find(({ tenant }) => tenant.tenant === tenantId)!;
  const { tenant, secret, hris } = customer;
  const wires = {
    timeline: world.timeline,
    random: world.random,
    state: world.state,
    log: world.wire,
    ignoredWrites: () => (world.calm ? 0 : world.scenario.faultRate * 2),
    carriedOut: () => {
      for (const heard of world.onEnrolled) heard();
    },
    pause: world.pause,
  };
  const rateLimit = openRateLimit(store, { tenantId, upstream: 'partner' }, log);
  const partner = createPartnerClient({
    baseUrl: tenant.partner.baseUrl,
    apiKey: secret,
    environment: 'sandbox',
    allowPrivate: true,
    timeouts: { headersMs: policies.requestMs, bodyMs: policies.requestMs },
    rateLimit: patient(rateLimit),
    dispatcher: createCarrier(wires, process, tenantId),
  });
  const keyFingerprint = createHash('sha256').update(secret).digest('hex').slice(0, 16);
  return {
    tenant,
    partner,
    hris: ownHris(tenant.hris.connection, hris.connect(process)),
    // One of its own: what a process remembers of a mapping must not come from the seed before.
    mapping: { ...mappings.get(tenant.mapping !== undefined)! },
    landings: {},
    exchanges: {},
    overrides: Overrides.parse({}),
    keyFingerprint,
    rateLimit,
  };
}
