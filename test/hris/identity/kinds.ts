import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import {
  API_KEY,
  type BambooDouble,
  REFERENCE_FIELD,
  startBambooDouble,
} from '../../../src/counterparts/bamboohr-double.ts';
import type { EmployeeFields } from '../../../src/hire/hire.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { createDatabase } from '../../harness/postgres.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { SCIM_TOKEN, startScimServer } from '../scim-server.ts';

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
  /** What the tenant's own mapping file says. */
  mapping: string;
  /** A profile as the kind's own mapping would write it; as it is where absent. */
  written?: (profile: EmployeeFields) => EmployeeFields;
  rows(): Promise<OwnRow[]>;
  /** It keeps birth dates; without them a name is all that tells namesakes apart. */
  birthDates: boolean;
}

export const ownKinds = {
  sql: async () => openTable(`sqlite:${join(await scratchFolder(), 'hr.sqlite')}`),
  'sql in PostgreSQL': async () => openTable((await createDatabase()).url),
  bamboohr: openBamboo,
  scim: openScim,
} as const satisfies Record<string, () => Promise<OwnHris>>;

const WITH_BIRTH_DATE = 'fields:\n  birthDate: { from: candidate.dateOfBirth }\n';

function openTable(url: string): OwnHris {
  vi.stubEnv('TEST_HR_URL', url);
  return {
    mapping: WITH_BIRTH_DATE,
    birthDates: true,
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
    mapping: WITH_BIRTH_DATE,
    birthDates: true,
    settings: `${where}, referenceField: ${REFERENCE_FIELD}, readLag: 0ms, allowPrivateAddress: true, ${statuses}`,
    rows: async () => [...double.company.employees].map(([id, one]) => ({ id, phone: one['mobilePhone'] ?? null })),
  };
}

/** A user has no birth date and no last day, so that more of them are asked about. */
async function openScim(): Promise<OwnHris> {
  const server = await startScimServer();
  onTestFinished(() => server.close());
  vi.stubEnv('TEST_SCIM_TOKEN', SCIM_TOKEN);
  const where = `url: "${server.url}", token: "env:TEST_SCIM_TOKEN", allowPrivateAddress: true`;
  return {
    settings: `kind: scim, connection: hr, ${where}`,
    mapping: 'fields:\n  department: { constant: Kitchen }\n',
    written: ({ birthDate: _birthDate, startDate: _startDate, ...profile }) => ({
      ...profile,
      userName: String(profile['email']).toLowerCase(),
    }),
    birthDates: false,
    rows: async () =>
      [...server.users.values()].map(({ id, phoneNumbers }) => {
        const [phone] = (phoneNumbers ?? []) as { value: string }[];
        return { id, phone: phone?.value ?? null };
      }),
  };
}
