import type { KyselyPlugin } from 'kysely';
import { onTestFinished } from 'vitest';
import { createRootLogger } from '../../src/log.ts';
import { readDelivery } from '../../src/receiver/admit.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import type { Store } from '../../src/store/open-store.ts';
import { finishBaseline, readTenantState } from '../../src/store/tenant-states.ts';
import { type RelayOptions, startRelay } from '../../src/worker/relay.ts';
import { until } from '../harness/world.ts';
import { sqliteStore } from '../store/stores.ts';

export const TENANT_ID = 'acme';
const log = createRootLogger(undefined, 'silent');

export async function freshStore(others: readonly string[] = [], plugins: KyselyPlugin[] = []): Promise<Store> {
  const store = await sqliteStore({ plugins });
  for (const tenantId of [TENANT_ID, ...others]) {
    await readTenantState(store, tenantId);
    await finishBaseline(store, tenantId);
  }
  return store;
}

/** The real relay over a real store; what it sends on is kept in lists. */
export function relayOver(store: Store, options: Partial<RelayOptions> = {}) {
  const hinted: string[] = [];
  const reconciles: number[] = [];
  const streams: string[] = [];
  const relay = startRelay({
    store,
    log,
    idleMs: 10,
    signalHire: async ({ jobCandidateId }, about) => hinted.push(`${jobCandidateId} ${about}`) > 0,
    triggerReconcile: async () => void reconciles.push(performance.now()),
    isHiringStage: async () => true,
    hintStream: async ({ stream }) => void streams.push(stream),
    runsByItself: () => true,
    isReadable: () => true,
    isShared: () => true,
    ...options,
  });
  onTestFinished(() => relay.close());
  return { relay, hinted, reconciles, streams };
}

export async function deliver(store: Store, event: string, data: object, tenantId = TENANT_ID): Promise<void> {
  const body = Buffer.from(JSON.stringify({ event, data }));
  await insertDelivery(store, readDelivery(body, { tenantId, company: undefined, classify: () => 'waiting' }));
}

export function relayed(store: Store, count: number): Promise<true> {
  return until(`${count} rows relayed`, async () => {
    const rows = await store.kysely.selectFrom('inbox').select('state').where('state', '=', 'relayed').execute();
    return rows.length === count;
  });
}
