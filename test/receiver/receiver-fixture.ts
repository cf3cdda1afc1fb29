import { Writable } from 'node:stream';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import { createRootLogger } from '../../src/log.ts';
import type { ReceiverTenant } from '../../src/receiver/admit.ts';
import {
  createReceiverMetrics,
  type DeliveryStore,
  type ReceiverOptions,
  startReceiver,
} from '../../src/receiver/receiver.ts';
import { createDeliveryBatches } from '../../src/store/inbox.ts';
import { type Store, storeTrouble } from '../../src/store/open-store.ts';
import { webhookHeaders } from '../harness/send-delivery.ts';
import { sqliteStore } from '../store/stores.ts';

export const KEY = 'whk_current_0123456789';
export const OLD_KEY = 'whk_previous_9876543210';

const TENANTS: readonly ReceiverTenant[] = [
  { id: 'acme', webhookKeys: () => [KEY, OLD_KEY], company: '77' },
  { id: 'beta', webhookKeys: () => [KEY] },
  { id: 'open', webhookKeys: () => [] },
];

export function deliveryStore(store: Store): DeliveryStore {
  return {
    commit: createDeliveryBatches(store),
    trouble: () => storeTrouble(store, undefined),
    close: async () => undefined,
  };
}

/** A receiver on a real socket over a real SQLite store, and what it logged and counted. */
export async function startTestReceiver(options: Partial<ReceiverOptions> = {}) {
  const store = await sqliteStore();
  const registry = new Registry();
  const lines: string[] = [];
  let opened = 0;
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const receiver = await startReceiver({
    port: 0,
    host: '127.0.0.1',
    tenants: (id) => TENANTS.find((tenant) => tenant.id === id),
    classify: (event) =>
      event.startsWith('candidate.') ? 'waiting' : event.startsWith('job.') ? 'ignored' : 'unknown',
    openStore: async () => {
      opened += 1;
      return deliveryStore(store);
    },
    log: createRootLogger(sink, 'trace'),
    metrics: createReceiverMetrics(registry),
    maxBodyMs: 400,
    maxWaitMs: 400,
    ...options,
  });
  onTestFinished(async () => {
    await receiver.close();
  });
  const rows = () => store.kysely.selectFrom('inbox').selectAll().orderBy('received_at').execute();
  return {
    receiver,
    store,
    rows,
    metrics: () => registry.metrics(),
    logged: () => lines.join(''),
    opened: () => opened,
  };
}

export function hired(ids: readonly (number | string)[], extra: Record<string, unknown> = {}): string {
  return JSON.stringify({
    event: 'candidate.hired',
    timestamp: '2026-11-21T10:00:00Z',
    companyId: 77,
    data: { jobCandidateIds: ids },
    ...extra,
  });
}

/** One delivery as the partner makes it; the answer's status and code. */
export async function deliver(
  url: string,
  body: string | Uint8Array,
  options: { tenant?: string; key?: string; headers?: Record<string, string>; method?: string } = {},
) {
  const { tenant = 'acme', key = KEY, headers = {}, method = 'POST' } = options;
  const answer = await fetch(`${url}/webhooks/${tenant}`, {
    method,
    headers: { ...webhookHeaders('candidate.hired', key), ...headers },
    ...(method === 'POST' ? { body } : {}),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    code: text === '' ? '' : Object.values(JSON.parse(text) as Record<string, string>)[0],
  };
}
