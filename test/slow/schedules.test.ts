import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { connectTemporal, type TemporalConnection } from '../../src/temporal/connection.ts';
import type { HireClient } from '../../src/temporal/hire-client.ts';
import { askLastReconcile } from '../../src/temporal/schedules.ts';
import { untilBaseline } from '../harness/exactly-hired.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { startWorld, until, type World } from '../harness/world.ts';

let address: string;
let world: World;
let temporal: TemporalConnection;

beforeAll(async () => {
  ({ address } = await temporalForTests());
});

afterEach(async () => {
  await temporal?.close();
  await world?.close();
});

async function cli(...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await world.cli(args);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
}

/** Applies the tenant file after a change. */
async function apply(change: (text: string) => string): Promise<void> {
  const file = join(world.tenantsDir, 'acme.yaml');
  await writeFile(file, change(await readFile(file, 'utf8')));
  await cli('tenant', 'apply', '--yes');
}

async function installationOf({ storeUrl }: World): Promise<string> {
  const store = await openStore(storeUrl);
  await store.close();
  return store.installationId;
}

/** What the server's schedules of this installation are: how often each runs, or that it is paused. */
async function listed(client: Client, installationId: string): Promise<Record<string, number | 'paused'>> {
  const shown: [string, number | 'paused'][] = [];
  for await (const { scheduleId, spec, state } of client.schedule.list()) {
    if (!scheduleId.startsWith(`${installationId}/`)) continue;
    const every = spec?.intervals?.[0]?.every ?? 0;
    shown.push([scheduleId.slice(installationId.length + 1), state.paused ? 'paused' : every]);
  }
  return Object.fromEntries(shown.toSorted());
}

async function readTenant({ storeUrl }: World) {
  const store = await openStore(storeUrl);
  try {
    return await readTenantState(store, 'acme');
  } finally {
    await store.close();
  }
}

const RECONCILE = 'reconcile/acme';
const JOBS = 'sync/acme/jobs';
const HOUR = 3_600_000;

test('the server’s schedules are what is applied, after every act of a person and any hand on them', async () => {
  world = await startWorld({ temporalAddress: address, candidates: 2 });
  await world.startWorker();
  await untilBaseline(world);
  temporal = await connectTemporal({ TEMPORAL_ADDRESS: address });
  const client = new Client({ connection: temporal.connection, namespace: temporal.namespace });
  const installationId = await installationOf(world);
  const untilListed = async (after: string, wanted: Record<string, number | 'paused'>) => {
    const same = async () => JSON.stringify(await listed(client, installationId)) === JSON.stringify(wanted);
    await until(`${after}: ${JSON.stringify(wanted)}`, same, { timeoutMs: 120_000, everyMs: 500 });
  };
  const both = { [RECONCILE]: HOUR, [JOBS]: 2 * HOUR };

  await apply((text) => `${text}streams:\n  jobs: { every: 2h }\n`);
  await untilListed('edit', both);
  await cli('pause', 'acme');
  await untilListed('pause', { [RECONCILE]: 'paused', [JOBS]: 'paused' });
  await cli('resume', 'acme');
  await untilListed('resume', both);
  await cli('freeze', 'acme');
  expect(await listed(client, installationId)).toEqual(both);
  await cli('thaw', 'acme');
  await apply((text) => `mode: observe\n${text}`);
  await untilListed('observe', { [RECONCILE]: HOUR });
  await apply((text) => text.replace('mode: observe\n', ''));
  await untilListed('live', both);

  const handle = (id: string) => client.schedule.getHandle(`${installationId}/${id}`);
  await handle(RECONCILE).delete();
  await handle(JOBS).update((known) => ({ ...known, spec: { intervals: [{ every: 60_000 }] } }));
  await client.schedule.create({
    scheduleId: `${installationId}/reconcile/somebody`,
    spec: { intervals: [{ every: 60_000 }] },
    action: { type: 'startWorkflow', workflowType: 'nothing', taskQueue: 'nowhere', workflowId: 'nothing' },
  });
  await untilListed('deleted, edited and added by hand', both);
  await handle(JOBS).pause('by hand');
  await untilListed('paused by hand', both);

  const hires = { client, installationId } as HireClient;
  // The store is told before the workflow ends, and a reconcile may run at any moment.
  await until('Temporal knows of the last reconcile what the store knows', async () => {
    const { reconciled_at: known } = await readTenant(world);
    return (await askLastReconcile(hires, 'acme')) === Number(known);
  });

  const { fully_reconciled_at: compared } = await readTenant(world);
  await cli('reconcile', 'acme', '--full');
  await until('everything was compared by a person’s word', async () => {
    return Number((await readTenant(world)).fully_reconciled_at) > Number(compared);
  });

  await cli('tenant', 'remove', 'acme');
  await untilListed('remove', {});
});
