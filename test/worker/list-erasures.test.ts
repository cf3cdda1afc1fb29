import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ActivityDeps } from '../../activities/connections.ts';
import { createRootLogger } from '../../src/log.ts';
import { ERASURES_FILE, readErasures } from '../../src/store/erase-restored.ts';
import { askErasure, type ErasureReceipt, endErasure } from '../../src/store/erasures.ts';
import { startChores } from '../../src/worker/chores.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { until } from '../harness/world.ts';
import { sqliteStore } from '../store/stores.ts';

test('a worker lists in its own folder whom another machine erased, with the lease or without', async () => {
  const store = await sqliteStore();
  const person = { candidates: ['501'], jobCandidates: [], enrolments: [], employees: [] };
  const subject = { tenantId: 'acme', companies: ['acme'], ...person };
  const asked = await askErasure(store, { subject, by: 'ann', reason: 'request', employee: 'keep' });
  await endErasure(store, asked, () => ({ person: ['hash'], left: [] }) as unknown as ErasureReceipt);
  const log = createRootLogger(undefined, 'silent');
  for (const worker of [1, 2]) {
    const dataDir = await scratchFolder();
    const parts = { store, log, dataDir, pausedHris: new Set() } as unknown as ActivityDeps;
    const chores = startChores(parts, () => [], 50);
    onTestFinished(() => chores.close());
    const listed = () => readErasures(join(dataDir, ERASURES_FILE));
    await until(`worker ${worker} has listed them`, async () => (await listed()).length > 0);
    expect(await listed()).toMatchObject([{ erasure: asked.erasure_id, tenant: 'acme', person: ['hash'] }]);
  }
});
