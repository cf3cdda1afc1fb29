import { ConnectorError } from '../../errors.ts';
import { encrypt } from './open-pgp.ts';
import type { SftpOptions } from './options.ts';
import { listRosters, readRoster } from './people.ts';
import { readResults } from './results.ts';
import type { Sftp } from './sftp-hris.ts';

/** The login, the folders, the keys, every result so far, and how old the newest roster is. */
export async function probe(hris: Sftp, signal: AbortSignal): Promise<void> {
  const { session, options } = hris;
  const { requests, sent } = options.folders;
  await session.list(requests, signal);
  if (!(await session.exists(sent, signal))) throw noFolder(sent);
  await readResults(hris, signal);
  if (options.encryptTo !== undefined) await encrypt(new Uint8Array(), options.encryptTo, signal);
  const newest = (await listRosters(hris, signal)).at(-1);
  if (newest === undefined) throw noRoster(options);
  const ageMs = Date.now() - newest.changedAt;
  if (ageMs > options.rosterMaxAge) throw staleRoster(options, newest.name, ageMs);
  const { columns } = await readRoster(hris, newest, signal);
  if (options.endColumn !== undefined && !columns.includes(options.endColumn)) throw noEndColumn(options, newest.name);
}

function noFolder(folder: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_MISCONFIGURED',
    action: 'reject',
    message: `The SFTP server has no folder ${folder}. Make it for us alone, or name another in hris.folders.sent.`,
  });
}

function noRoster({ folders }: SftpOptions): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_NO_ROSTER',
    action: 'reject',
    message:
      `There is no finished roster in ${folders.rosters}. Without one nobody knows who is employed already. Let the ` +
      'HR system write roster-TIME.csv there, and an empty roster-TIME.csv.ready after it.',
  });
}

function noEndColumn({ folders, endColumn }: SftpOptions, name: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_MISCONFIGURED',
    action: 'reject',
    message:
      `The newest roster, ${folders.rosters}/${name}, has no column ${endColumn}, as hris.endColumn names it. Let ` +
      'the HR system write it, empty for who stays, or leave hris.endColumn out.',
  });
}

const HOUR_MS = 3_600_000;

function staleRoster({ folders, rosterMaxAge }: SftpOptions, name: string, ageMs: number): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_STALE_ROSTER',
    action: 'reject',
    message:
      `The newest roster, ${folders.rosters}/${name}, is ${Math.floor(ageMs / HOUR_MS)} hours old, and ` +
      `hris.rosterMaxAge allows ${Math.floor(rosterMaxAge / HOUR_MS)}. Let the HR system write a new one.`,
  });
}
