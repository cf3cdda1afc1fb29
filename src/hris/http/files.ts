import { createHash } from 'node:crypto';
import { isConnectorError } from '../../errors.ts';
import type { EmployeeFile, WriteOptions } from '../port.ts';
import { cellText } from '../read-cell.ts';
import type { Defined } from './line.ts';
import type { FilesPlan } from './load-definition.ts';
import { wholeList } from './look-through.ts';
import { idOf, unlessThere } from './record.ts';

/** Puts a file into the employee's record, unless the same bytes are there under this name. */
export async function deliverFile(
  defined: Defined,
  plan: FilesPlan,
  { id, file }: { id: string; file: EmployeeFile },
  { signal, beforeSend }: WriteOptions,
): Promise<'delivered' | 'there'> {
  if (await isThere(defined, plan, { id, file }, signal)) return 'there';
  const values = {
    id,
    file: new File([new Uint8Array(file.bytes)], file.name, { type: file.mediaType }),
    'file.name': file.name,
    'file.mediaType': file.mediaType,
    'file.base64': file.bytes.toString('base64'),
  };
  // Safe to repeat: the next delivery looks first.
  return defined.line.send({ plan: plan.upload, values, signal, beforeSend, makes: true }).then(
    () => 'delivered',
    (error: unknown) =>
      unlessThere(error, async () => ((await isThere(defined, plan, { id, file }, signal)) ? 'there' : undefined)),
  );
}

/** Whether the employee has a file of this name with the same bytes. */
export async function isThere(
  defined: Defined,
  { list, same, download }: FilesPlan,
  { id, file }: { id: string; file: EmployeeFile },
  signal: AbortSignal,
): Promise<boolean> {
  const call = { plan: list, values: { id }, signal, priority: 'live' } as const;
  for await (const { items } of wholeList(defined, call, 'a file that is there would be uploaded again'))
    for (const item of items) {
      if (cellText(await list.name(item)) !== file.name) continue;
      for (const [digest, read] of Object.entries(same))
        if (read !== undefined && (await read(item)) === digestOf(file, digest)) return true;
      const fileId = idOf(await list.id?.(item));
      if (download === undefined || fileId === undefined) continue;
      const bytes = { plan: download, values: { id, 'file.id': fileId }, signal, isRaw: true };
      const got = await defined.line.send(bytes).catch((error: unknown) => {
        if (isConnectorError(error) && error.status === 404 && error.action === 'reject') return undefined;
        throw error;
      });
      if (got?.at.body.equals(file.bytes) === true) return true;
    }
  return false;
}

function digestOf({ bytes }: EmployeeFile, digest: string): string {
  return digest === 'base64' ? bytes.toString('base64') : createHash(digest).update(bytes).digest('hex');
}
