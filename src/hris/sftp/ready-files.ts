import { type SharedWork, shareWork } from '../share-work.ts';
import { type CsvFile, readCsv } from './csv.ts';
import { decrypt } from './open-pgp.ts';
import type { SftpOptions } from './options.ts';
import type { RemoteFile, SftpSession } from './session.ts';

/** CSV files of the customer, each read once as long as it stays what it is. */
export interface ReadyFiles {
  /** Those that are finished, by name: `x.csv` counts once `x.csv.ready` is beside it. */
  list(folder: string, signal: AbortSignal): Promise<RemoteFile[]>;
  read(folder: string, file: RemoteFile, signal: AbortSignal): Promise<CsvFile>;
}

export const READY = '.ready';
const ENCRYPTED = /\.(?:pgp|gpg|asc)$/;
const CSV = /\.csv(?:\.(?:pgp|gpg|asc))?$/;

export function createReadyFiles(session: SftpSession, options: SftpOptions): ReadyFiles {
  const known = new Map<string, SharedWork<CsvFile>>();

  async function load(path: string, signal: AbortSignal): Promise<CsvFile> {
    const bytes = await session.read(path, signal);
    const text = ENCRYPTED.test(path) ? await decrypt(bytes, options, signal) : bytes;
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
        begun === undefined || begun.isStopped() ? shareWork((all) => load(`${folder}/${file.name}`, all)) : begun;
      known.set(key, reading);
      try {
        return await reading.join(signal);
      } catch (error) {
        // Whoever stopped waiting takes nothing away from the others; one that failed is read again.
        if (!signal.aborted && known.get(key) === reading) known.delete(key);
        throw error;
      }
    },
  };
}

function keyOf(folder: string, { name, size, changedAt }: RemoteFile): string {
  return `${folder}/${name} ${size} ${changedAt}`;
}
