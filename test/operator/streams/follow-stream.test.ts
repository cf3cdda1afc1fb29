import { expect, onTestFinished, test, vi } from 'vitest';
import { followRun, type StreamLook } from '../../../src/operator/follow-stream.ts';
import type { OperatorParts } from '../../../src/operator/open-tenant.ts';
import { noteTrouble } from '../../../src/store/alarms.ts';
import { noteProcess } from '../../../src/store/processes.ts';
import { beginRun } from '../../../src/store/streams.ts';
import { freshStore } from '../../store/stores.ts';

const KEY = { tenantId: 'acme', stream: 'candidates' } as const;
const REQUEST = { ...KEY, mode: 'full', rewrite: false, by: 'ana@acme.test' } as const;

/** What somebody who follows a run is told until Temporal ends it, eleven seconds after it was asked for. */
async function toldOf(takenBy: string | undefined, workers = 0): Promise<StreamLook['waiting'][]> {
  const { store } = await freshStore('sqlite');
  for (let n = 0; n < workers; n += 1)
    await noteProcess(store, { processId: `w${n}`, role: 'worker', version: '1', host: 'here' });
  await store.kysely.insertInto('tenants').values({ tenant_id: 'acme', state: 'active' }).execute();
  if (takenBy !== undefined) {
    await beginRun(store, KEY, { runId: takenBy, full: false, firstPage: 0 });
    await store.kysely.updateTable('streams').set({ state: 'done' }).execute();
  }
  const ended = Promise.withResolvers<unknown>();
  const client = {
    workflow: { getHandle: () => ({ result: () => ended.promise }) },
    withAbortSignal: (_signal: AbortSignal, work: () => unknown) => work(),
  };
  const began = performance.now();
  let asked = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => began + (asked++ === 0 ? 0 : 11_000));
  onTestFinished(() => clock.mockRestore());
  const told: StreamLook['waiting'][] = [];
  const parts = { store, hires: { client } } as unknown as OperatorParts;
  await followRun(parts, { ...REQUEST, run: { workflowId: 'w', runId: 'mine' } }, ({ waiting }) => {
    told.push(waiting);
    if (told.length === 2) ended.resolve({ state: 'done', counts: {} });
  });
  return told;
}

test.each([['mine'], ['mine/3']])('nobody is missed whose worker took the run and ended it (%s)', async (takenBy) => {
  expect(new Set(await toldOf(takenBy))).toEqual(new Set([undefined]));
});

test.each([[undefined], ['another']])(
  'a run that no worker took is said to be waiting for one (%s)',
  async (takenBy) => {
    expect((await toldOf(takenBy))[0]).toMatch(/^No worker has taken it yet\. Start one: hirebridge up/);
  },
);

test('nobody is told to start a worker while one runs', async () => {
  expect((await toldOf(undefined, 1))[0]).toMatch(/^A worker runs, but it has not taken this yet/);
});

test('a run whose calls fail says why it stands still, and not what failed in a run before', async () => {
  const { store } = await freshStore('sqlite');
  await store.kysely.insertInto('tenants').values({ tenant_id: 'acme', state: 'active' }).execute();
  await beginRun(store, KEY, { runId: 'mine', full: true, firstPage: 0 });
  const subject = 'pullPages of candidates';
  const trouble = { tenantId: 'acme', kind: 'activity-failing', subject, reason: 'SERVER_ERROR' } as const;
  await noteTrouble(store, { ...trouble, message: 'GET /candidates/list was answered 500.' }, 900_000);
  const ended = Promise.withResolvers<unknown>();
  const client = {
    workflow: { getHandle: () => ({ result: () => ended.promise }) },
    withAbortSignal: (_signal: AbortSignal, work: () => unknown) => work(),
  };
  const told: StreamLook['waiting'][] = [];
  const parts = { store, hires: { client } } as unknown as OperatorParts;
  const onLook = async ({ waiting }: StreamLook): Promise<void> => {
    told.push(waiting);
    if (told.length === 1) await store.kysely.updateTable('alarms').set({ last_seen_at: 1 }).execute();
    else ended.resolve({ state: 'done', counts: {} });
  };
  await followRun(parts, { ...REQUEST, run: { workflowId: 'w', runId: 'mine' } }, (look) => void onLook(look));
  expect(told[0]).toMatch(/repeated until it works: GET \/candidates\/list was answered 500\. \[SERVER_ERROR\]$/);
  expect(told[1]).toBeUndefined();
});
