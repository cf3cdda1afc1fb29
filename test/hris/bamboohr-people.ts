import { createHmac } from 'node:crypto';
import type { BambooDouble } from '../../src/counterparts/bamboohr-double.ts';

/** Adds people as an import would. */
export function addPeople(company: BambooDouble['company'], count: number): string[] {
  const ids = Array.from({ length: count }, () => {
    const size = company.employees.size;
    const id = String(40_500 + size);
    const fields = { firstName: 'Ana', lastName: `Imported ${id}`, employeeNumber: String(1_000 + size) };
    company.employees.set(id, { employeeId: id, status: 'Active', ...fields });
    return id;
  });
  touchPeople(company, ids);
  return ids;
}

/** Edits all within one second, as an import would. */
export function touchPeople(company: BambooDouble['company'], ids: readonly string[]): void {
  const lastChanged = `${new Date().toISOString().slice(0, 19)}+00:00`;
  for (const id of ids) company.changed.set(id, { action: 'Updated', lastChanged });
}

/** The headers of a BambooHR webhook. */
export function signWebhook(payload: Buffer, key: string, at: number): Record<string, string> {
  const stamp = String(Math.floor(at / 1_000));
  const signature = createHmac('sha256', key)
    .update(Buffer.concat([payload, Buffer.from(stamp)]))
    .digest('hex');
  return { 'x-bamboohr-signature': signature, 'x-bamboohr-timestamp': stamp };
}

/** An event-based payload about the first employee, and a field-based one about all. */
export function webhookPayloads(ids: readonly string[]): Buffer[] {
  const timestamp = '2026-01-31T18:42:00+0000';
  const [employeeId] = ids;
  const data = { companyId: '12345', employeeId, changedFields: ['firstName'] };
  const employees = ids.map((id) => ({ id, action: 'Updated', timestamp, changedFields: ['First name'], fields: {} }));
  return [{ type: 'employee.updated', timestamp, data }, { employees }].map((one) => Buffer.from(JSON.stringify(one)));
}
