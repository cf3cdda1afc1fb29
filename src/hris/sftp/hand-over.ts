import { createHash } from 'node:crypto';
import { stringify } from 'csv-stringify/sync';
import type { WriteOptions } from '../port.ts';
import { type Cells, encrypt, READY, type Sftp } from './ready-files.ts';
import type { RemoteFile } from './session.ts';

/** A note contains a file's name. */
const MOST_NOTE_BYTES = 1_000;

export interface Request {
  id: string;
  cells: Cells;
  /** A document that the row is about; it is stored before the row. */
  document?: SealedFile;
}

/**
 * Hands over a request that must never be handed over twice, even after the customer's job took it: a note of it stays.
 * If another attempt handed it over, that stays and the result is false.
 */
export async function handOverOnce(hris: Sftp, request: Request, write: WriteOptions): Promise<boolean> {
  return makeReady(hris, await nameOnce(hris, request, write), write);
}

/**
 * Hands over a change behind waiting changes of the same id. Nothing is handed over only if the last of them is equal:
 * an equal one further ahead is undone by those between.
 */
export async function handOverLast(hris: Sftp, { id, cells }: Request, write: WriteOptions): Promise<void> {
  const requestAt = (place: number): Request => ({ id: place === 1 ? id : `${id}-${place}`, cells });
  for (;;) {
    const { names, ready, claimed } = await readPlaces(hris, id, write.signal);
    if (ready > 0 && names.includes(rowOf(hris, requestAt(ready)).name + READY)) return;
    const place = Math.max(ready, claimed) + 1;
    const isDone = await atPlace(hris, { id, claim: requestAt(place).id, place }, write, async () => {
      await makeReady(hris, await putFile(hris, requestAt(place), write.signal), write);
    });
    if (isDone) return;
  }
}

/** An empty file beside the requests: a process is about to write the change at that place. */
const CLAIM = '.claim';

/** Works at a place that no other process has; false if another was faster. A claim left by a crash is skipped. */
async function atPlace(
  hris: Sftp,
  { id, claim, place }: { id: string; claim: string; place: number },
  { signal }: WriteOptions,
  work: () => Promise<void>,
): Promise<boolean> {
  const { session, options } = hris;
  const path = `${options.folders.requests}/${claim}${CLAIM}`;
  if (!(await session.publish(path, new Uint8Array(), { signal, beforeSend: () => undefined }))) return false;
  try {
    // The faster process has released its claim by now.
    if ((await readPlaces(hris, id, signal)).ready >= place) return false;
    await work();
    return true;
  } finally {
    await session.remove(path, signal).catch(() => undefined);
  }
}

/** The last places of one id that are ready and that are claimed; the first is 1, and 0 means none. */
async function readPlaces({ session, options }: Sftp, id: string, signal: AbortSignal) {
  const names = (await session.list(options.folders.requests, signal)).map(({ name }) => name);
  const last = (ending: string) => Math.max(0, ...names.map((name) => placeOf(id, name, ending)));
  return { names, ready: last(READY), claimed: last(CLAIM) };
}

function placeOf(id: string, name: string, ending: string): number {
  if (!name.startsWith(id) || !name.endsWith(ending)) return 0;
  const place = /^(?:-(\d+))?\.[^-]+$/.exec(name.slice(id.length));
  return place === null ? 0 : Number(place[1] ?? 1);
}

/** Makes the empty file that marks a request as ready: only that counts, and it can be made only once. */
async function makeReady(hris: Sftp, name: string, write: WriteOptions): Promise<boolean> {
  const { session, options } = hris;
  const { requests } = options.folders;
  const waiting = new Set((await session.list(requests, write.signal)).map((file) => file.name));
  // The file is gone: the customer's job has taken it.
  if (waiting.has(name + READY) || !waiting.has(name)) return false;
  return session.publish(`${requests}/${name}${READY}`, new Uint8Array(), write);
}

/**
 * Decides the only file name under which a request may ever be handed over. A note records it; it can be made only
 * once, and stays when file and ready file are gone. A file without a note is left over from a failed attempt.
 */
async function nameOnce(hris: Sftp, request: Request, write: WriteOptions): Promise<string> {
  const { session, options } = hris;
  const { requests, sent } = options.folders;
  const { signal } = write;
  const note = `${sent}/${request.id}`;
  const noted = await readNote(hris, note, signal);
  if (noted !== undefined) return noted;
  const own = await putFile(hris, request, signal);
  const isFirst = await session.publish(note, Buffer.from(own), write);
  const name = isFirst ? own : ((await readNote(hris, note, signal)) ?? own);
  const left = (await session.list(requests, signal)).map((file) => file.name).filter((one) => isOf(request, one));
  for (const other of left) if (!other.startsWith(name)) await session.remove(`${requests}/${other}`, signal);
  return name;
}

/** Finished files of the same request; an unfinished one has another ending. */
function isOf({ id }: Request, name: string): boolean {
  return name.startsWith(`${id}.`) && /\.csv(?:\.pgp)?$/.test(name);
}

async function readNote({ session }: Sftp, note: string, signal: AbortSignal): Promise<string | undefined> {
  return (await session.exists(note, signal))
    ? (await session.read(note, MOST_NOTE_BYTES, signal)).toString('utf8')
    : undefined;
}

async function putFile(hris: Sftp, request: Request, signal: AbortSignal): Promise<string> {
  if (request.document !== undefined) await putDocument(hris, request.document, signal);
  const row = rowOf(hris, request);
  await putSealed(hris, row, signal);
  return row.name;
}

/** Named after its content, so that two attempts never write the same file with different values. */
function rowOf({ options }: Sftp, { id, cells }: Request): SealedFile {
  const bytes = writeCsv([{ request_id: id, ...cells }], options.delimiter);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  return { name: `${id}.${hash}.csv${options.encryptTo === undefined ? '' : '.pgp'}`, bytes };
}

/** First removes the rest of an interrupted upload: it is as large as the document, and belongs to no other request. */
async function putDocument(hris: Sftp, document: SealedFile, signal: AbortSignal): Promise<void> {
  const { session, options } = hris;
  const { requests } = options.folders;
  const isLeft = ({ name }: RemoteFile) => name.startsWith(`${document.name}.`) && name.endsWith('.part');
  for (const { name } of (await session.list(requests, signal)).filter(isLeft))
    await session.remove(`${requests}/${name}`, signal);
  await putSealed(hris, document, signal);
}

interface SealedFile {
  name: string;
  /** Unencrypted; the file is encrypted on the way out if the customer wants that. */
  bytes: Uint8Array;
}

async function putSealed({ session, options }: Sftp, { name, bytes }: SealedFile, signal: AbortSignal): Promise<void> {
  const { encryptTo, folders } = options;
  const sealed = encryptTo === undefined ? bytes : await encrypt(bytes, encryptTo, signal);
  await session.publish(`${folders.requests}/${name}`, sealed, { signal, beforeSend: () => undefined });
}

/** RFC 4180 with a header; every value is quoted, and null is an empty unquoted cell, as Postgres' COPY reads it. */
function writeCsv(rows: readonly Cells[], delimiter: string): Buffer {
  const columns = Object.keys(rows[0] ?? {});
  const records = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? null))];
  return Buffer.from(
    stringify(records, {
      delimiter,
      record_delimiter: '\r\n',
      quoted: true,
      quoted_empty: false,
      cast: { string: mark },
    }),
  );
}

/** Quotes an empty text as well; only null stays unquoted. */
function mark(value: string): { value: string; quoted_empty: boolean } {
  return { value, quoted_empty: true };
}
