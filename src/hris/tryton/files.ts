import type { EmployeeFile, WriteOptions } from '../port.ts';
import type { Tryton } from './find.ts';

/** As an attachment of the employee's record, unless the same bytes are there under this name. */
export async function deliverFile(
  { session }: Tryton,
  id: string,
  { name, bytes }: EmployeeFile,
  write: WriteOptions,
): Promise<'delivered' | 'there'> {
  const resource = `company.employee,${Number(id)}`;
  const base64 = bytes.toString('base64');
  const domain = [
    ['resource', '=', resource],
    ['name', '=', name],
  ];
  const method = 'model.ir.attachment.search_read';
  const params = [domain, 0, null, null, ['data']];
  const stored = await session.call<{ data: string | null }[]>({ method, params, signal: write.signal });
  // Other implementations break lines in base64.
  if (stored.some(({ data }) => Buffer.from(data ?? '', 'base64').equals(bytes))) return 'there';
  const attachment = { name, resource, type: 'data', data: { __class__: 'bytes', base64 } };
  await session.call({ method: 'model.ir.attachment.create', params: [[attachment]], ...write });
  return 'delivered';
}
