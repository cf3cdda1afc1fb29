import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { ConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields, FieldValue } from '../../hire/hire.ts';
import { normalized } from '../../in-words.ts';
import { type Column, fieldDefs } from '../option-types.ts';
import { type ReadCell, type ReadFields, readCell, readFields } from '../read-cell.ts';
import { type SharedWork, shareWork } from '../read-many.ts';
import { assertFits } from '../records.ts';
import type { RemoteFile, SftpOptions, SftpSession } from './session.ts';

/** One customer's folders, as shared by the modules of this kind. */
export interface Sftp {
  session: SftpSession;
  files: ReadyFiles;
  options: SftpOptions;
  today?: (() => string) | undefined;
}

/** CSV files of the customer; each is read once as long as it does not change. */
interface ReadyFiles {
  /** Finished files by name: `x.csv` counts once `x.csv.ready` is beside it. */
  list(folder: string, signal: AbortSignal): Promise<RemoteFile[]>;
  read(folder: string, file: RemoteFile, signal: AbortSignal): Promise<CsvFile>;
}

export const READY = '.ready';
/** Limit for one file. A roster of 100,000 employees has some 20 MB. */
const MOST_BYTES = 64_000_000;
/** Limit for a folder whose files are all read. */
const MOST_BYTES_TOGETHER = 256_000_000;
const ENCRYPTED = /\.(?:pgp|gpg|asc)$/;
const CSV = /\.csv(?:\.(?:pgp|gpg|asc))?$/;

export function createReadyFiles(session: SftpSession, options: SftpOptions): ReadyFiles {
  const known = new Map<string, SharedWork<CsvFile>>();

  async function load(path: string, size: number, signal: AbortSignal): Promise<CsvFile> {
    if (size > MOST_BYTES) throw tooLong(path);
    const bytes = await session.read(path, Math.min(size, MOST_BYTES), signal);
    if (bytes.length !== size) throw notAsListed(path);
    const isSealed = ENCRYPTED.test(path);
    const text = isSealed ? await decrypt(bytes, { ...options, mostBytes: MOST_BYTES }, signal) : bytes;
    if (text.length > MOST_BYTES) throw tooLong(path);
    return readCsv(text, { name: path, delimiter: options.delimiter });
  }

  return {
    async list(folder, signal) {
      const files = await session.list(folder, signal);
      const ready = new Set(files.map(({ name }) => name).filter((name) => name.endsWith(READY)));
      const finished = files.filter(({ name }) => CSV.test(name) && ready.has(`${name}${READY}`));
      const keys = new Set(finished.map((file) => keyOf(folder, file)));
      for (const key of known.keys()) if (key.startsWith(`${folder}/`) && !keys.has(key)) known.delete(key);
      return finished.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },
    async read(folder, file, signal) {
      const key = keyOf(folder, file);
      const begun = known.get(key);
      const reading =
        begun === undefined || begun.isStopped()
          ? shareWork((all) => load(`${folder}/${file.name}`, file.size, all))
          : begun;
      known.set(key, reading);
      try {
        return await reading.join(signal);
      } catch (error) {
        // A caller that stops waiting does not affect the others; a failed file is read again.
        if (!signal.aborted && known.get(key) === reading) known.delete(key);
        throw error;
      }
    },
  };
}

function tooLong(path: string): ConnectorError {
  return unreadable(path, 'it is longer than 64 MB');
}

/** The file may be in the middle of being replaced, so it is read again. */
function notAsListed(path: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_UNREADABLE_FILE',
    action: 'retry',
    message:
      `The file ${path} is shorter or longer than the server's list says, as while it is written again. It is tried ` +
      'again; if that continues, write it again under another name.',
  });
}

/** Checks a folder whose files are all read. @throws ConnectorError HRIS_UNREADABLE_FILE */
export function assertReadable(folder: string, files: readonly RemoteFile[]): void {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MOST_BYTES_TOGETHER)
    throw rejected(
      'HRIS_UNREADABLE_FILE',
      `The ${files.length} files in ${folder} are together longer than 256 MB, and all of them are read. Take old ` +
        'ones and their .ready files away.',
    );
}

function keyOf(folder: string, { name, size, changedAt }: RemoteFile): string {
  return `${folder}/${name} ${size} ${changedAt}`;
}

export type Cells = Record<string, string | null>;

/** In a short file with very many records, each record takes far more memory than its bytes. */
const MOST_RECORDS = 500_000;

export interface CsvFile {
  columns: string[];
  rows: Record<string, string>[];
}

/** `name` is for the error about an invalid file; its content is never quoted. */
export function readCsv(bytes: Uint8Array, { name, delimiter }: { name: string; delimiter: string }): CsvFile {
  let columns: string[] = [];
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const rows = parse<Record<string, string>>(text, {
      bom: true,
      delimiter,
      // A header written by one program may stand above records of another.
      record_delimiter: ['\r\n', '\n', '\r'],
      // A spreadsheet leaves rows of delimiters behind the last record.
      skip_records_with_empty_values: true,
      skip_empty_lines: true,
      columns: (header: string[]) => {
        columns = header.map((column) => column.trim());
        return columns;
      },
      on_record: (record: Record<string, string>, { records }: { records: number }) => {
        if (records > MOST_RECORDS) throw unreadable(name, 'it has more than 500,000 records');
        return record;
      },
    });
    if (new Set(columns).size < columns.length) throw unreadable(name, 'a column is in its header twice');
    return { columns, rows };
  } catch (error) {
    if (error instanceof ConnectorError) throw error;
    throw unreadable(name, error instanceof TypeError ? 'it is not UTF-8' : reasonOf(error));
  }
}

/** csv-parse quotes the text that it failed on, so report only its code and line. */
function reasonOf(error: unknown): string {
  const { code = 'unknown', lines } = error as { code?: string; lines?: number };
  return `${code.toLowerCase().replaceAll('_', ' ')}${lines === undefined ? '' : `, line ${lines}`}`;
}

export function unreadable(name: string, why: string): ConnectorError {
  return rejected(
    'HRIS_UNREADABLE_FILE',
    `The file ${name} cannot be read: ${why}. Correct it on the server, or take it and its .ready file away.`,
  );
}

/**
 * Fields as cells under the names of their columns. Refuses all values at once, by field, that no cell can hold or that
 * a spreadsheet would execute: escaping would change the value.
 */
export function toCells({ columns }: SftpOptions, fields: EmployeeFields, isNew = false): Cells {
  const [accepts, requires] = ['A file of new hires cannot hold', 'This HRIS requires'];
  assertFits({ accepts, requires, known: fieldDefs({ columns }) }, fields, isNew, (value) => problemOf(toText(value)));
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [columns[key]?.column ?? key, toText(value)]));
}

/** Our fields in a row; columns missing from the file are left out. */
export function fromCells({ columns: known }: SftpOptions, row: Record<string, string>): ReadFields {
  return readFields(
    Object.entries(known).flatMap(([key, { column, type }]): [string, ReadCell][] => {
      const text = row[column];
      return text === undefined ? [] : [[key, fromCell(type, text)]];
    }),
  );
}

/** A list is JSON, or its items are separated by bars. */
function fromCell(type: Column['type'], text: string): ReadCell {
  return readCell(type, type === 'list' && text !== '' && !text.startsWith('[') ? text.split('|') : text);
}

function toText(value: FieldValue): string | null {
  if (value === null || value === '') return null;
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
}

/**
 * A formula that calls a function (`=HYPERLINK (`), a program (`=cmd|`) or another file (`='x'!A1`). Other texts that
 * begin with such a sign, as a phone number or a title behind a hyphen, are left alone, since a program reads the file.
 */
const RUNS = [
  /^=.*(?:\p{L}[\d._]*\s*\(|[|!])/su,
  /^[+\-@].*\p{L}[\d._]*\(/su,
  /^@.*\p{L}[\d._]*\s*\(/su,
  /^[+\-@](?:[^|]*\||[^\]]*\]).*!/su,
];

/**
 * A text as a spreadsheet may read it: full-width signs become plain ones, and leading invisible or blank characters
 * are dropped.
 */
function seen(text: string): string {
  return normalized(text, 'NFKC').replace(/^[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]+/u, '');
}

/** Why a cell cannot hold a text; undefined if it can. */
export function problemOf(text: string | null): string | undefined {
  if (text === null) return undefined;
  if (text.includes('\0')) return 'holds a NUL character';
  if (!text.isWellFormed()) return 'holds half a character';
  if (RUNS.some((one) => one.test(seen(text)))) return 'is a formula that a spreadsheet would run';
  return undefined;
}

/** OpenPGP through gpg of GnuPG 2.2 or later; each call uses a keyring of its own, which is removed afterwards. */
export async function encrypt(bytes: Uint8Array, publicKey: string, signal: AbortSignal): Promise<Buffer> {
  return withKeyring(async (keyring) => {
    const key = join(keyring, 'customer.asc');
    await writeFile(key, publicKey);
    return gpg(keyring, ['--trust-model', 'always', '--recipient-file', key, '--encrypt'], { input: bytes, signal });
  });
}

interface Decryption extends Pick<SftpOptions, 'decryptWith' | 'decryptPassphrase'> {
  /** A short file may decompress to a very long one: it is cut there, and the result is one byte longer. */
  mostBytes: number;
}

export async function decrypt(bytes: Uint8Array, how: Decryption, signal: AbortSignal): Promise<Buffer> {
  const { decryptWith, decryptPassphrase = '', mostBytes } = how;
  if (decryptWith === undefined)
    throw refused('A file of the customer is encrypted, but hris.decryptWith names no private key.');
  return withKeyring(async (keyring) => {
    const unlock = ['--pinentry-mode', 'loopback', '--passphrase-fd', '3'];
    const secret = { passphrase: decryptPassphrase, signal };
    await gpg(keyring, [...unlock, '--import'], { ...secret, input: Buffer.from(decryptWith) });
    return gpg(keyring, [...unlock, '--decrypt'], { ...secret, input: bytes, mostBytes });
  });
}

async function withKeyring<T>(work: (keyring: string) => Promise<T>): Promise<T> {
  const keyring = await makeKeyring();
  try {
    return await work(keyring);
  } finally {
    // Otherwise the agent that gpg starts for private keys would stay.
    await run('gpgconf', ['--homedir', keyring, '--kill', 'all'], {}).catch(() => undefined);
    await dropKeyring(keyring);
  }
}

interface Feed {
  input?: Uint8Array;
  /** Passed on descriptor 3, where no other process sees it. */
  passphrase?: string;
  signal?: AbortSignal;
  /** Maximum length of its output. */
  mostBytes?: number;
}

async function gpg(keyring: string, args: readonly string[], feed: Feed): Promise<Buffer> {
  const { code, output, said } = await run('gpg', ['--homedir', keyring, '--batch', '--no-tty', ...args], feed);
  if (code === 0 || output.length > (feed.mostBytes ?? output.length)) return output;
  const asked = args.at(-1) === '--encrypt' ? 'encrypt to the key behind hris.encryptTo' : 'decrypt a file';
  throw refused(`gpg cannot ${asked}. It said: ${reasonIn(said)}.`);
}

/** gpg's last line, without names and addresses of keys. */
function reasonIn(said: string): string {
  const lines = said.split('\n').filter((line) => line.startsWith('gpg: '));
  return (lines.at(-1) ?? 'nothing').replaceAll(/"[^"]*"|<[^>]*>/g, '…').slice(0, 200);
}

async function run(
  program: string,
  args: readonly string[],
  { input, passphrase, signal, mostBytes = Number.POSITIVE_INFINITY }: Feed,
): Promise<{ code: number | null; output: Buffer; said: string }> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe', 'pipe'], ...(signal && { signal }) });
  const output: Buffer[] = [];
  let room = mostBytes + 1;
  let said = '';
  child.stdout.on('data', (bytes: Buffer) => {
    output.push(bytes.subarray(0, room));
    room -= Math.min(room, bytes.length);
    if (room === 0) child.kill();
  });
  child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString('utf8')));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) => reject(explainSpawn(error, program)));
    child.on('close', resolve);
  });
  feedInto(child.stdin, input);
  feedInto(child.stdio[3], passphrase);
  return { code: await ended, output: Buffer.concat(output), said };
}

/** A program that ends early stops reading: its exit code says why. */
function feedInto(stream: unknown, text: Uint8Array | string | undefined): void {
  const into = stream as NodeJS.WritableStream;
  into.on('error', () => undefined);
  if (text === undefined) into.end();
  else into.end(text);
}

function explainSpawn(error: Error & { code?: string }, program: string): Error {
  if (error.code !== 'ENOENT') return error;
  return refused(`The program ${program} is not installed here. Install GnuPG, version 2.2 or later, on each worker.`);
}

function refused(message: string): ConnectorError {
  return new ConnectorError({ code: 'HRIS_OPENPGP', action: 'reauthorize', message });
}

const NAME = /^hirebridge-gpg-(\d+)-\w{6}$/;
/** No call of gpg takes this long; the process may run in another container. */
const OLD_MS = 3_600_000;

/** Keyrings of this process. */
const inUse = new Set<string>();

/** Makes a folder for one call of gpg, after removing those that killed processes left. Pass it to `dropKeyring`. */
async function makeKeyring(): Promise<string> {
  await sweepKeyrings();
  const keyring = await mkdtemp(join(tmpdir(), `hirebridge-gpg-${process.pid}-`));
  inUse.add(keyring);
  return keyring;
}

async function dropKeyring(keyring: string): Promise<void> {
  inUse.delete(keyring);
  await rm(keyring, { recursive: true, force: true });
}

/** Removes keyrings of dead processes: private keys must not remain, and a killed process cannot remove them. */
export async function sweepKeyrings(): Promise<void> {
  const folder = tmpdir();
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const [, pid] = NAME.exec(name) ?? [];
    const keyring = join(folder, name);
    if (pid !== undefined && !inUse.has(keyring) && (await isLeft(keyring, Number(pid)))) await dropKeyring(keyring);
  }
}

async function isLeft(keyring: string, pid: number): Promise<boolean> {
  const { uid, mtimeMs } = await stat(keyring).catch(() => ({ uid: -1, mtimeMs: 0 }));
  if (uid !== process.getuid?.()) return false;
  return pid === process.pid || !isAlive(pid) || Date.now() - mtimeMs > OLD_MS;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
