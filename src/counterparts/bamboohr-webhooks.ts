import { createHmac } from 'node:crypto';

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
