import pLimit from 'p-limit';
import { ConnectorError } from '../../errors.ts';
import type { EmployeeRef } from '../../hire/hire.ts';
import { unreadable } from './csv.ts';
import { assertReadable } from './ready-files.ts';
import type { Sftp } from './sftp-hris.ts';

/** What the customer said about one request; `saidAt`: when the file with it was written. */
export type Result = { requestId: string; row: Record<string, string>; saidAt: number } & (
  | { status: 'created'; ref: EmployeeRef }
  | { status: 'rejected'; reason: string }
);

/** Files read at once, because each takes several round trips. */
const AT_ONCE = 16;

/** Every result so far, oldest first. Rows with `pending` are not results. */
export async function readResults(hris: Sftp, signal: AbortSignal): Promise<Result[]> {
  const { files, options } = hris;
  const folder = options.folders.results;
  const limit = pLimit(AT_ONCE);
  const finished = await files.list(folder, signal);
  assertReadable(folder, finished);
  const tables = await limit.map(finished, async (file) => ({ file, ...(await files.read(folder, file, signal)) }));
  const results: Result[] = [];
  for (const { file, rows } of tables) {
    for (const [index, row] of rows.entries()) {
      const result = resultOf(hris, row, file.changedAt);
      if (typeof result === 'string') throw unreadable(`${folder}/${file.name}`, `record ${index + 1} ${result}`);
      if (result !== undefined) results.push(result);
    }
  }
  return results;
}

function resultOf({ options }: Sftp, row: Record<string, string>, saidAt: number): Result | string | undefined {
  const { request_id: requestId, status, error = '' } = row;
  if (requestId === undefined || requestId === '') return 'has no request_id';
  if (status === 'pending') return undefined;
  if (status === 'rejected') return { requestId, row, saidAt, status, reason: error };
  if (status !== 'created') return 'has a status other than created, rejected or pending';
  const ref = refIn(options, row);
  return ref === undefined ? `is created but has no ${options.idColumn}` : { requestId, row, saidAt, status, ref };
}

/** The employee that a row is about; undefined if it names none. */
export function refIn(
  { idColumn, numberColumn }: Sftp['options'],
  row: Record<string, string>,
): EmployeeRef | undefined {
  const id = row[idColumn];
  const number = row[numberColumn];
  if (id === undefined || id === '') return undefined;
  return number === undefined || number === '' ? { id } : { id, number };
}

/** The final result of one request; if it has two employees, a person must settle that. */
export function verdictOn(results: readonly Result[], requestId: string): Result | undefined {
  const own = results.filter((result) => result.requestId === requestId);
  const made = own.filter((result) => result.status === 'created');
  const refs = made.map(({ ref }) => ref);
  if (new Set(refs.map(({ id }) => id)).size > 1) throw madeTwice(`request ${requestId}`, refs);
  return made.at(-1) ?? own.at(-1);
}

/** Nothing is requested again while the results say this. */
export function madeTwice(what: string, refs: readonly EmployeeRef[]): ConnectorError {
  const ids = [...new Set(refs.map(({ id }) => id))];
  return new ConnectorError({
    code: 'CREATED_TWICE',
    action: 'reject',
    message:
      `The results say that ${what} made several employees: ${ids.join(', ')}. Correct that in the HR system and in ` +
      'the results, then answer retry.',
  });
}
