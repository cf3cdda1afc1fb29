import { createHash } from 'node:crypto';
import { ConnectorError } from '../../errors.ts';
import type { EmployeeFile, WriteOptions } from '../port.ts';
import { assertKnown } from './find.ts';
import { handOverOnce } from './hand-over.ts';
import { encode } from './request-id.ts';
import type { Sftp } from './sftp-hris.ts';
import { problemOf } from './values.ts';

/**
 * Hands a document over beside a row that says whose it is. The note of it stays, so the same bytes under the same name
 * go to an employee once, although the customer's job has taken them.
 */
export async function deliverFile(
  hris: Sftp,
  id: string,
  { name, mediaType, bytes }: EmployeeFile,
  write: WriteOptions,
): Promise<'delivered' | 'there'> {
  const { encryptTo, idColumn } = hris.options;
  refuseName(name);
  await assertKnown(hris, id, write.signal);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const key = createHash('sha256')
    .update(JSON.stringify([name, sha256]))
    .digest('hex')
    .slice(0, 12);
  const request = `file-${encode(id)}-${key}`;
  const document = `${request}.document${encryptTo === undefined ? '' : '.pgp'}`;
  const row = { action: 'file', [idColumn]: id, document, file_name: name, media_type: mediaType, sha256 };
  const isNew = await handOverOnce(hris, { id: request, cells: row, document: { name: document, bytes } }, write);
  return isNew ? 'delivered' : 'there';
}

function refuseName(name: string): void {
  const problem = problemOf(name);
  if (problem === undefined) return;
  throw new ConnectorError({
    code: 'INVALID_VALUE',
    action: 'reject',
    message: `The name of a document ${problem}, so no row can name it. Rename it in the hiring platform.`,
    details: { name: problem },
  });
}
