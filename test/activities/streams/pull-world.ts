import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { pullPages } from '../../../activities/streams/pull-pages.ts';
import { withTenant } from '../../../src/operator/open-tenant.ts';
import { openStore, type Store } from '../../../src/store/open-store.ts';
import type { PullInput, StreamStep } from '../../../src/streams/stream-activities.ts';
import type { PullName } from '../../../src/streams/streams.ts';
import { startWorld, type World, type WorldOptions } from '../../harness/world.ts';

// A hint is followed at once, unless a test says otherwise.
process.env['HIREBRIDGE_PARTNER_LAG_MS'] = '1';

export interface PullWorld {
  world: World;
  store: Store;
  /** One run to its end, by the product's own activity. */
  pull(
    mode: PullInput['mode'],
    more?: { stream?: PullName; recordId?: string; rewrite?: boolean; runId?: string },
  ): Promise<StreamStep>;
  /** Changes the tenant's file. */
  edit(change: (text: string) => string): Promise<void>;
  /** Rows of a landing table, by their ids. */
  rows(stream?: PullName): Map<string, Record<string, unknown>>;
  /** Calls of one operation so far. */
  calls(operation: string): Promise<number>;
}

/** A sandbox, a SQL HR system and a store for one tenant, without Temporal; `streams` is YAML of its tenant file. */
export async function openPullWorld(
  streams: string,
  options: Pick<WorldOptions, 'jobs' | 'candidates' | 'hris' | 'sandbox'> = {},
): Promise<PullWorld> {
  const world = await startWorld({ temporalAddress: '127.0.0.1:1', startDates: false, jobs: 2, ...options });
  const store = await openStore(world.storeUrl);
  onTestFinished(async () => {
    await store.close();
    await world.close();
  });
  const file = join(world.tenantsDir, 'acme.yaml');
  await writeFile(file, `${await readFile(file, 'utf8')}\nstreams: ${streams}\n`);
  let runs = 0;
  return {
    world,
    store,
    pull(mode, { stream = 'candidates', ...more } = {}) {
      runs += 1;
      const input = { tenantId: 'acme', stream, runId: `run-${runs}`, mode, begun: false, ...more };
      const places = { tenantsDir: world.tenantsDir, dataDir: world.dataDir };
      return withTenant({ store, places, tenantId: 'acme' }, async ({ deps }) => {
        for (;;) {
          const step = await pullPages(deps, input);
          if (step.state !== 'running') return step;
        }
      });
    },
    async edit(change) {
      await writeFile(file, change(await readFile(file, 'utf8')));
    },
    rows(stream = 'candidates') {
      const hris = new DatabaseSync(world.hrisUrl.slice('sqlite:'.length));
      const found = hris.prepare(`select * from partner_${stream}`).all();
      hris.close();
      return new Map(found.map((row) => [String(row['partner_id']), row]));
    },
    async calls(operation) {
      return (await world.control.counts({ kind: 'request', name: operation })).request?.[operation] ?? 0;
    },
  };
}
