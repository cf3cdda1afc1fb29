import { ConnectorError, rejected } from '../../errors.ts';
import { type SharedWork, shareWork } from '../read-many.ts';
import { type CsvFile, readCsv, unreadable } from './csv.ts';
import { decrypt } from './open-pgp.ts';
import type { SftpOptions } from './options.ts';
import type { RemoteFile, SftpSession } from './session.ts';

/** One customer's folders, as shared by the modules of this kind. */
export interface Sftp {
  session: SftpSession;
  files: ReadyFiles;
  options: SftpOptions;
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
    if (bytes.length > size) throw longerThanListed(path);
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
function longerThanListed(path: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_UNREADABLE_FILE',
    action: 'retry',
    message:
      `The file ${path} is longer than the server's list says, so it was not read to the end. It is tried again; if ` +
      'that continues, write it again under another name.',
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
