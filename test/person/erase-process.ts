import type { Connection } from '../../activities/connections.ts';
import { carryOutErasure } from '../../activities/erase/carry-out.ts';
import { readConfig } from '../../src/config.ts';
import { armFailpoints, passFailpoint, withFailpoints } from '../../src/failpoint.ts';
import { sqlOptions } from '../../src/hris/sql/options.ts';
import { openLandingTables } from '../../src/hris/sql/sql.ts';
import { createRootLogger } from '../../src/log.ts';
import { openStore } from '../../src/store/open-store.ts';
import { writeFailpoints } from '../../src/store/write-failpoints.ts';
import { landings } from '../../src/streams/streams.ts';

// Carries out one erasure as a worker does, without Temporal: a process of its own, so that it can be killed.
const [storeUrl = '', hrisUrl = '', dataDir = '', erasureId = ''] = process.argv.slice(2);
const config = readConfig();
armFailpoints({ killAt: config.HIREBRIDGE_FAILPOINT_KILL, listFile: config.HIREBRIDGE_FAILPOINT_LIST });
const store = await openStore(storeUrl, { plugins: [writeFailpoints(passFailpoint)] });
const tables = openLandingTables(sqlOptions(landings).parse({ url: hrisUrl }));
const { landing } = tables;
const connection = {
  tenant: { tenant: 'acme', hris: { connection: 'hr' } },
  landings: { candidates: {} },
  hris: {
    landing: {
      ...landing,
      remove: (...given: Parameters<typeof landing.remove>) =>
        withFailpoints('hris.remove', () => landing.remove(...given)),
    },
  },
} as unknown as Connection;
const receipt = await carryOutErasure(
  {
    store,
    dataDir,
    log: createRootLogger(undefined, 'silent'),
    limits: { giveUpMs: 1, partnerLagMs: 1, pausedMs: 1 },
    connect: async () => connection,
    forgetHire: () => withFailpoints('temporal.forgetHire', async () => undefined),
  },
  erasureId,
);
process.stdout.write(JSON.stringify(receipt));
await tables.close();
await store.close();
