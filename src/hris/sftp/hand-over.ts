import type { WriteOptions } from '../port.ts';
import { type Cells, writeCsv } from './csv.ts';
import { encrypt } from './open-pgp.ts';
import { READY } from './ready-files.ts';
import type { Sftp } from './sftp-hris.ts';

export interface Request {
  id: string;
  cells: Cells;
  /** It must never be handed over again, although the customer's job has taken it: a note of it stays. */
  once: boolean;
}

/**
 * Hands one request over: the file, our note of it, and last the empty file that says it is ready. Only the last one
 * counts, and it can be made once. What another attempt handed over stays as it is.
 */
export async function handOver(hris: Sftp, { id, cells, once }: Request, write: WriteOptions): Promise<void> {
  const { session, options } = hris;
  const { requests, sent } = options.folders;
  const { signal } = write;
  const path = `${requests}/${id}.csv${options.encryptTo === undefined ? '' : '.pgp'}`;
  const note = `${sent}/${id}`;
  const names = new Set((await session.list(requests, signal)).map(({ name }) => `${requests}/${name}`));
  if (names.has(path + READY)) return;
  // Noted, and no longer there: the customer's job has taken it.
  if (once && !names.has(path) && (await session.exists(note, signal))) return;
  const file = writeCsv([{ request_id: id, ...cells }], options.delimiter);
  const bytes = options.encryptTo === undefined ? file : await encrypt(file, options.encryptTo, signal);
  // An earlier attempt ended before it was ready; its values may be old by now.
  if (names.has(path)) await session.remove(path, signal);
  const unread = { signal, beforeSend: () => undefined };
  await session.publish(path, bytes, unread);
  if (once) await session.publish(note, new Uint8Array(), unread);
  await session.publish(path + READY, new Uint8Array(), write);
}
