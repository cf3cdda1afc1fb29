import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openStore } from '../../src/store/open-store.ts';
import { readStream } from '../../src/store/streams.ts';
import { untilBaseline } from '../harness/hiring.ts';
import { startWorld, type World } from '../harness/world.ts';
import { withTemporal } from './bench-world.ts';
import { type Bench, openLedger } from './measured.ts';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const NODE = 'node -e 0';
const TIMES = 5;

/** `sync` beside the run that it asks for: until that begins, from its end, and both together. */
export const sync: Bench = {
  name: 'sync',
  leavesOut: 'a worker on another machine: the command then loads store and Temporal client itself.',
  measure: ({ rounds }) =>
    withTemporal(async (temporalAddress) => {
      const ledger = openLedger('sync');
      const world = await startWorld({ temporalAddress });
      const store = await openStore(world.storeUrl);
      try {
        await world.startWorker();
        await untilBaseline(world);
        await syncOnce(world);
        for (let round = 0; round < rounds * TIMES; round += 1) {
          const floor = Date.now();
          await run(process.execPath, ['-e', '0']);
          ledger.add(NODE, 's', (Date.now() - floor) / 1000);
          const began = Date.now();
          await syncOnce(world);
          const ended = Date.now();
          const row = await readStream(store, { tenantId: world.tenant, stream: 'jobs' });
          const [startedAt, endedAt] = [Number(row?.started_at), Number(row?.ended_at)];
          ledger.add('from the command to the start of its run', 's', (startedAt - began) / 1000, { floor: NODE });
          ledger.add('from the end of the run to the end of the command', 's', (ended - endedAt) / 1000, {
            floor: NODE,
          });
          ledger.add('a sync that finds nothing', 's', (ended - began) / 1000, { floor: NODE });
        }
      } finally {
        await store.close();
        await world.close();
      }
      return { measured: ledger.measured() };
    }),
};

async function syncOnce({ tenantsDir, dataDir, env, tenant }: World): Promise<void> {
  const args = [MAIN, 'sync', tenant, 'jobs', '--tenants', tenantsDir, '--data', dataDir];
  await run(process.execPath, args, { env: { ...process.env, ...env } });
}
