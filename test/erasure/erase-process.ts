import { createInterface } from 'node:readline';
import type { Connection } from '../../activities/connections.ts';
import { carryOutErasure } from '../../activities/erase/carry-out.ts';
import { ownHris } from '../../activities/own-hris.ts';
import { armFailpoints, passFailpoint, withFailpoints } from '../../src/failpoint.ts';
import { sqlOptions } from '../../src/hris/sql/options.ts';
import { sql } from '../../src/hris/sql/sql.ts';
import { createRootLogger } from '../../src/log.ts';
import { openStore, writeFailpoints } from '../../src/store/open-store.ts';
import { landings } from '../../src/streams/streams.ts';
import { HR_SYSTEM } from '../store/seeded-person.ts';
import { LANDED } from './crowd.ts';

/** A line of this process's input. */
export interface Order {
  erasure: string;
  /** Where this process is to die. */
  killAt?: string;
  /** Where each point that it passes is to be listed. */
  listFile?: string;
}

// Carries out erasures as a worker does, without Temporal: a process of its own, so that it can be killed. A line of
// its output is a receipt. `relaxed`, because no test kills the machine.
const [storeUrl = '', hrisUrl = '', dataDir = ''] = process.argv.slice(2);
const store = await openStore(storeUrl, { relaxed: true, plugins: [writeFailpoints(passFailpoint)] });
const options = sqlOptions(landings).parse({ url: hrisUrl, endColumn: 'last_day' });
const hris = ownHris('hr', await sql.open(options, {} as Parameters<typeof sql.open>[1]));
const { landing, employees } = hris;
if (landing === undefined) throw new Error('nothing lands there');
const connection = {
  tenant: { tenant: '', hris: { connection: HR_SYSTEM }, streams: {}, policies: {} },
  landings: Object.fromEntries(Object.keys(LANDED).map((name) => [name, {}])),
  hris: {
    ...hris,
    landing: {
      ...landing,
      remove: (...given: Parameters<typeof landing.remove>) =>
        withFailpoints('hris.remove', () => landing.remove(...given)),
    },
    employees: {
      ...employees,
      terminate: (...given: Parameters<NonNullable<typeof employees.terminate>>) =>
        withFailpoints('hris.terminate', async () => employees.terminate?.(...given)),
    },
  },
} as unknown as Connection;
const deps = {
  store,
  dataDir,
  log: createRootLogger(undefined, 'silent'),
  limits: { giveUpMs: 2_000, partnerLagMs: 1, pausedMs: 1 },
  connect: async () => connection,
  forgetHire: () => withFailpoints('temporal.forgetHire', async () => 0),
  forgetTenant: () => withFailpoints('temporal.forgetTenant', async () => 0),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { erasure, ...points } = JSON.parse(line) as Order;
  armFailpoints(points);
  process.stdout.write(`${JSON.stringify(await carryOutErasure(deps, erasure))}\n`);
}
await hris.close();
await store.close();
