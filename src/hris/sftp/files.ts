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
  const row = { action: 'file', [idColumn]: id, document, file_name: name, media_type: typeIn(mediaType), sha256 };
  const isNew = await handOverOnce(hris, { id: request, cells: row, document: { name: document, bytes } }, write);
  return isNew ? 'delivered' : 'there';
}

/** It is what some web server said: anything but a type (RFC 6838, section 4.2) may be a formula. */
function typeIn(mediaType: string): string {
  const name = String.raw`[a-z\d][\w!#$&^.+-]{0,126}`;
  return new RegExp(`^${name}/${name}$`, 'i').test(mediaType) ? mediaType : 'application/octet-stream';
}

/** The customer's job may name a file after it. */
const NO_NAME = /[\p{Cc}/\\]/u;

function refuseName(name: string): void {
  const problem = problemOf(name) ?? (NO_NAME.test(name) ? 'holds a line break or a path' : undefined);
  if (problem === undefined) return;
  throw new ConnectorError({
    code: 'INVALID_VALUE',
    action: 'reject',
    message: `The name of a document ${problem}, so no row can name it. Rename it in the hiring platform.`,
    details: { name: problem },
  });
}
