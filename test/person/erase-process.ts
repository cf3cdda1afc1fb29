import type { Connection } from '../../activities/connections.ts';
import { carryOutErasure } from '../../activities/erase/carry-out.ts';
import { ownHris } from '../../activities/own-hris.ts';
import { readConfig } from '../../src/config.ts';
import { armFailpoints, passFailpoint, withFailpoints } from '../../src/failpoint.ts';
import { sqlOptions } from '../../src/hris/sql/options.ts';
import { sql } from '../../src/hris/sql/sql.ts';
import { createRootLogger } from '../../src/log.ts';
import { openStore } from '../../src/store/open-store.ts';
import { writeFailpoints } from '../../src/store/write-failpoints.ts';
import { landings } from '../../src/streams/streams.ts';

// Carries out one erasure as a worker does, without Temporal: a process of its own, so that it can be killed.
const [storeUrl = '', hrisUrl = '', dataDir = '', erasureId = ''] = process.argv.slice(2);
const config = readConfig();
armFailpoints({ killAt: config.HIREBRIDGE_FAILPOINT_KILL, listFile: config.HIREBRIDGE_FAILPOINT_LIST });
const store = await openStore(storeUrl, { plugins: [writeFailpoints(passFailpoint)] });
const options = sqlOptions(landings).parse({ url: hrisUrl, endColumn: 'last_day' });
const hris = ownHris('hr', await sql.open(options, {} as Parameters<typeof sql.open>[1]));
const { landing, employees } = hris;
if (landing === undefined) throw new Error('nothing lands there');
const connection = {
  tenant: { tenant: 'acme', hris: { connection: 'hr' } },
  landings: { candidates: {} },
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
const receipt = await carryOutErasure(
  {
    store,
    dataDir,
    log: createRootLogger(undefined, 'silent'),
    limits: { giveUpMs: 2_000, partnerLagMs: 1, pausedMs: 1 },
    connect: async () => connection,
    forgetHire: () => withFailpoints('temporal.forgetHire', async () => undefined),
    forgetTenant: () => withFailpoints('temporal.forgetTenant', async () => 0),
  },
  erasureId,
);
process.stdout.write(JSON.stringify(receipt));
await hris.close();
await store.close();
