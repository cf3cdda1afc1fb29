import { DatabaseSync } from 'node:sqlite';
import type { PartnerClient } from '../../partner/client/create-partner-client.ts';
import { contract } from '../../partner/contract/index.ts';
import type { SecondFacts } from './demo-files.ts';

/** The position that the second customer opens in its HR system. */
const REQUISITION = 'REQ-1';

/** The second tenant's two ends, to act at them and to count what stands there. */
export interface SecondTenant {
  partner: PartnerClient;
  hrisFile: string;
  referenceField: string;
}

/** Defines the custom fields that its tenant file names. */
export async function defineFields(
  partner: PartnerClient,
): Promise<Pick<SecondFacts, 'referenceField' | 'employeeIdField'>> {
  const define = async (entityType: 'job' | 'candidate', fieldLabel: string): Promise<string> => {
    const { data } = await partner.customFields.create({ body: { entityType, fieldLabel, fieldType: 'text' } });
    return String(data.id);
  };
  const referenceField = await define('job', 'Requisition');
  return { referenceField, employeeIdField: await define('candidate', 'Employee ID') };
}

/** The table of its HR system where positions stand while they are open. */
export function makePositions(hrisFile: string): void {
  const database = new DatabaseSync(hrisFile);
  database.exec(`create table requisitions (id text primary key, title text, description text,
    city text, state text, country text, cost_centre text)`);
  database.close();
}

/** Somebody in the HR system opens a position. */
export function openPosition({ hrisFile }: SecondTenant): void {
  const database = new DatabaseSync(hrisFile, { timeout: 2_000 });
  try {
    const insert = 'insert into requisitions (id, title, city, country, cost_centre) values (?, ?, ?, ?, ?)';
    database.prepare(insert).run(REQUISITION, 'Night porter', 'Oslo', 'Norway', 'K-7');
  } finally {
    database.close();
  }
}

/** Jobs of the partner that carry the position's id. */
export async function countJobs({ partner, referenceField }: SecondTenant): Promise<number> {
  const { items } = await partner.readAll(contract.jobs.list);
  return items.filter(({ customFields }) => customFields?.[referenceField]?.value === REQUISITION).length;
}
