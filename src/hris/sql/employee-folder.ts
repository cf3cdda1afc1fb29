import { createHash, randomUUID } from 'node:crypto';
import { constants, lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFile, EmployeeFiles } from '../port.ts';

/** Only for the user that the workers run as. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Documents beside a table of employees: FOLDER/EMPLOYEE_ID/DOCUMENT-HASH.pdf, without any person's name. The folder
 * itself is never created, because a missing one may be an unmounted volume. `assertKnown` refuses unknown ids.
 */
export function employeeFolder(
  folder: string,
  assertKnown: (id: string, signal: AbortSignal) => Promise<void>,
): Required<EmployeeFiles> {
  return {
    async deliver(id, file, { signal, beforeSend }) {
      await assertKnown(id, signal);
      return inFolder(async () => {
        const place = await placeOf(folder, id);
        const stored = await readStored(join(place, nameOf(file)));
        if (stored?.equals(file.bytes) === true) return 'there';
        if (stored !== undefined) throw changedThere();
        await mkdir(place, { mode: FOLDER_MODE }).catch(unless('EEXIST'));
        await putWhole(place, nameOf(file), file.bytes, beforeSend);
        return 'delivered';
      });
    },
    holds: (id, file) =>
      inFolder(async () => {
        const stored = await readStored(join(await placeOf(folder, id), nameOf(file)));
        return stored?.equals(file.bytes) === true;
      }),
    probe: () =>
      inFolder(async () => {
        const place = join(folder, `.hirebridge-${randomUUID()}`);
        await mkdir(place, { mode: FOLDER_MODE });
        try {
          await putWhole(place, 'check', Buffer.from('hirebridge check'), () => undefined);
        } finally {
          await rm(place, { recursive: true, force: true });
        }
      }),
  };
}

/** The folder of an employee; it may not exist yet. Neither an id nor a link placed there can lead outside. */
async function placeOf(folder: string, id: string): Promise<string> {
  const place = join(folder, plain(id));
  const found = await lstat(place).catch(unless('ENOENT'));
  if (id === '' || (found !== undefined && !found.isDirectory()))
    throw rejected(
      'FOLDER_PLACE_TAKEN',
      'In the folder for files (hris.files.folder) there is no place for this employee: the entry with their ' +
        'id is not a folder. Move it away; the next pass delivers the document.',
    );
  return place;
}

/** Letters that some file systems confuse, and signs with a special meaning, are replaced by their bytes. */
function plain(id: string): string {
  const byByte = (sign: string) => [...Buffer.from(sign)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`);
  return id.replaceAll(/[^0-9a-z_-]/gu, (sign) => byByte(sign).join(''));
}

/** `offer-88-0f3a9c51d2e7.pdf`: the document and a hash of its bytes. The title may hold a name, so it is left out. */
function nameOf({ document, name, bytes }: EmployeeFile): string {
  const which = document.toLowerCase().replaceAll(/[^0-9a-z]+/g, '-');
  const ending = /^\.[0-9a-z]{1,5}$/i.test(extname(name)) ? extname(name).toLowerCase() : '.bin';
  return `${which.slice(0, 80)}-${hashOf(bytes).slice(0, 12)}${ending}`;
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function readStored(path: string): Promise<Buffer | undefined> {
  const flag = constants.O_RDONLY | constants.O_NOFOLLOW;
  return readFile(path, { flag }).catch(unless('ENOENT'));
}

/** The file appears under its name completely or not at all; the rest of a killed attempt is overwritten. */
async function putWhole(place: string, name: string, bytes: Buffer, beforeSend: () => void): Promise<void> {
  const part = join(place, `.${name}.part`);
  await rm(part, { force: true });
  const file = await open(part, 'wx', FILE_MODE);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    beforeSend();
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  await rename(part, join(place, name));
  const directory = await open(place);
  // Not every file system supports this.
  await directory.sync().catch(() => undefined);
  await directory.close();
}

function unless(code: string): (error: unknown) => undefined {
  return (error) => {
    if ((error as { code?: unknown }).code !== code) throw error;
  };
}

async function inFolder<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Errors of `beforeSend` pass unchanged.
    if (isConnectorError(error) || code === undefined) throw error;
    throw new ConnectorError({
      code: 'FOLDER_UNUSABLE',
      action: 'retry',
      message:
        `The folder for files (hris.files.folder) cannot be used: ${REASONS[code] ?? 'the system refuses it'} ` +
        `(${code}). Every worker needs it, with the right to write there.`,
      cause: error,
    });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist; hirebridge never creates it, because a mount may be missing',
  ENOTDIR: 'it is not a folder',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'it can only be read',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  ELOOP: 'there is a link where a file belongs',
};

function changedThere(): ConnectorError {
  return rejected(
    'FOLDER_FILE_CHANGED',
    'In the folder for files (hris.files.folder) there is a file with the name of this document and other ' +
      'bytes. It is left as it is. Move it away to have the document delivered again.',
  );
}
