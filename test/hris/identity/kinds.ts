import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import {
  API_KEY,
  type BambooDouble,
  REFERENCE_FIELD,
  startBambooDouble,
} from '../../../src/counterparts/bamboohr-double.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { createDatabase } from '../../harness/postgres.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';

/** An employee in the HR system's own records, past everything that the connector uses. */
export interface OwnRow {
  id: string;
  /** Who that is, by the mark that everybody carries. */
  phone: string | null;
}

/** An HR system of its own. */
export interface OwnHris {
  /** Inside the braces of `hris` in a tenant file. */
  settings: string;
  rows(): Promise<OwnRow[]>;
}

export const ownKinds = {
  sql: async () => openTable(`sqlite:${join(await scratchFolder(), 'hr.sqlite')}`),
  'sql in PostgreSQL': async () => openTable((await createDatabase()).url),
  bamboohr: openBamboo,
} as const satisfies Record<string, () => Promise<OwnHris>>;

function openTable(url: string): OwnHris {
  vi.stubEnv('TEST_HR_URL', url);
  return {
    settings: 'kind: sql, connection: hr, url: "env:TEST_HR_URL", createTable: true, endColumn: last_day',
    async rows() {
      const { kysely, close } = openDatabase<{ employees: { id: number; phone: string | null } }>(url);
      const rows = await kysely.selectFrom('employees').select(['id', 'phone']).execute();
      await close();
      return rows.map(({ id, phone }) => ({ id: String(id), phone }));
    },
  };
}

/** With the company itself, past its API. */
export async function openBamboo(): Promise<OwnHris & Pick<BambooDouble, 'company'>> {
  const double = await startBambooDouble();
  onTestFinished(() => double.close());
  vi.stubEnv('TEST_BAMBOOHR_KEY', API_KEY);
  const where = `kind: bamboohr, connection: hr, url: "${double.url}", apiKey: "env:TEST_BAMBOOHR_KEY"`;
  const statuses = 'employment: { active: Full-Time, ended: Terminated }';
  return {
    company: double.company,
    settings: `${where}, referenceField: ${REFERENCE_FIELD}, readLag: 0ms, allowPrivateAddress: true, ${statuses}`,
    rows: async () => [...double.company.employees].map(([id, one]) => ({ id, phone: one['mobilePhone'] ?? null })),
  };
}
