import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from '../../activities/connections.ts';
import { carryOutErasure } from '../../activities/erase/carry-out.ts';
import { sqlOptions } from '../../src/hris/sql/options.ts';
import { openLandingTables } from '../../src/hris/sql/sql.ts';
import { createRootLogger } from '../../src/log.ts';
import { openDatabase } from '../../src/sql/open-database.ts';
import { askErasure, type ErasureReceipt } from '../../src/store/erasures.ts';
import type { Store } from '../../src/store/open-store.ts';
import { completeIds } from '../../src/store/person-data.ts';
import { landings } from '../../src/streams/streams.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import type { SeededPerson } from '../store/seeded-person.ts';
import { LANDED, type Model, type Reach, seedModel } from './crowd.ts';

/** The HR system's, of employees whose employment has ended. */
export const END_COLUMN = 'last_day';

export interface Ground {
  store: Store;
  hr: Reach;
  /** Where the signing key and the list of erasures stand. */
  dataDir: string;
  model: Model;
  /** Erases somebody as a worker does, without Temporal: nobody is being hired. */
  erase(person: Pick<SeededPerson, 'tenant' | 'candidate'>): Promise<ErasureReceipt>;
  close(): Promise<void>;
}

/** A store and an HR database with landing tables, in which one person stands everywhere: the model of a crowd. */
export async function openGround(store: Store, hrisUrl: string): Promise<Ground> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hirebridge-erasure-'));
  await ensureHrisSchema(hrisUrl, { endColumn: END_COLUMN }, landings);
  const options = sqlOptions(landings).parse({ url: hrisUrl });
  const { landing, close } = openLandingTables(options);
  // Filling takes longer than any statement of the product may.
  const hr = openDatabase<never>(hrisUrl.startsWith('sqlite:') ? hrisUrl : `${hrisUrl}?statement_timeout=600000`);
  const model = await seedModel(store, hr, landing);
  const connection = {
    tenant: { tenant: '', hris: { connection: 'hr' }, streams: {}, policies: {} },
    landings: Object.fromEntries(Object.keys(LANDED).map((name) => [name, {}])),
    hris: { landing },
  } as unknown as Connection;
  const deps = {
    store,
    dataDir,
    log: createRootLogger(undefined, 'silent'),
    limits: { giveUpMs: 2_000, partnerLagMs: 1, pausedMs: 1 },
    connect: async () => connection,
    forgetHire: async () => 0,
    forgetTenant: async () => 0,
  };
  return {
    store,
    hr,
    dataDir,
    model,
    async erase({ tenant, candidate }) {
      const known = { candidates: [candidate], jobCandidates: [], enrolments: [], employees: [] };
      const subject = await completeIds(store, tenant, known);
      const asked = await askErasure(store, { subject, by: 'ann', reason: 'asked for', employee: 'keep' });
      const receipt = await carryOutErasure(deps, asked.erasure_id);
      if (receipt === undefined) throw new Error('another process erases somebody of this tenant');
      return receipt;
    },
    async close() {
      await Promise.all([close(), hr.close()]);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
