import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields, FindKey, Found } from '../../hire/hire.ts';
import { readCursor } from '../change-cursor.ts';
import { fieldDefs } from '../option-types.ts';
import type {
  ChangedEmployees,
  CreateResult,
  DescribedField,
  EmployeeFile,
  EmployeeRecord,
  Employees,
  FieldDef,
  HrisAdapter,
  HrisConnection,
  ListedResume,
  WriteOptions,
} from '../port.ts';
import { readTogether } from '../read-many.ts';
import { alreadyExists, fitsKey, foundBy, probed } from '../records.ts';
import { handOverLast, handOverOnce } from './hand-over.ts';
import {
  encode,
  listRosters,
  madeTwice,
  type People,
  type Roster,
  readPeople,
  readResults,
  readRoster,
  referenceOf,
  stillThere,
  verdictOn,
} from './people.ts';
import {
  type Cells,
  createReadyFiles,
  encrypt,
  problemOf,
  readCsv,
  type Sftp,
  toCells,
  unreadable,
} from './ready-files.ts';
import { openSession, type RemoteFile, type SftpOptions, sftpOptions } from './session.ts';

/** CSV files over SFTP: we write requests, a job of the customer takes them, and results and rosters come back. */
export const sftp: HrisAdapter<SftpOptions> = {
  optionsSchema: () => sftpOptions,
  // Folders are relative to the user's home, so the user counts, too.
  systemOf: ({ host, port, user, folders }) => ({
    host: host.toLowerCase(),
    port,
    user,
    ...Object.fromEntries(Object.entries(folders).map(([name, folder]) => [`folders.${name}`, folder])),
  }),
  secrets: ['privateKey', 'passphrase', 'decryptWith', 'decryptPassphrase'],
  employeeFields: fieldDefs,
  supports: () => ({ files: true, amend: false, accounts: false }),
  employeeUrl: ({ employeeUrl }) => employeeUrl,
  open: async (options, _limits, _inUse, today) => openConnection(options, today),
};

function openConnection(options: SftpOptions, today: Sftp['today']): HrisConnection {
  const session = openSession(options);
  const hris: Sftp = { session, files: createReadyFiles(session, options), options, today };
  return {
    // A request shows at once, and a second one with its name is refused; only changes show late, in the next roster.
    capabilities: { storesReference: true, mayHideReference: true, readLagMs: 0, shownWithinMs: options.rosterMaxAge },
    employees: {
      find: (key, signal) => findEmployee(hris, key, signal),
      read: readTogether((ids, signal) => readEmployees(hris, ids, signal)),
      create: (fields, reference, write) => createEmployee(hris, fields, reference, write),
      update: (id, fields, write) => updateEmployee(hris, id, fields, write),
      ...endOf(hris),
    },
    files: { deliver: (id, file, write) => deliverFile(hris, id, file, write) },
    changes: { since: (cursor, signal) => changedEmployees(hris, cursor, signal) },
    pending: { resolve: (ticket, signal) => resolveRequest(hris, ticket, signal) },
    ...resumesOf(hris),
    describe: (subject, signal) => (subject === 'employee' ? describeColumns(hris, signal) : Promise.resolve([])),
    probe: (signal) => probed(probe(hris, signal)),
    close: () => session.close(),
  };
}

/** Only rosters that list people who left can show the outcome of such a request. */
function endOf(hris: Sftp): Pick<Employees, 'rehire' | 'terminate'> {
  const { endColumn } = hris.options;
  if (endColumn === undefined) return {};
  return {
    rehire: async (id, fields, write) => {
      const cells = { [endColumn]: null, ...toCells(hris.options, fields) };
      await askFor(hris, { action: 'rehire', id, cells }, write);
    },
    terminate: (id, lastDay, write) =>
      askFor(hris, { action: 'terminate', id, cells: { [endColumn]: lastDay } }, write),
  };
}

/** Entries of every ready list in the folder; their files are beside the lists. */
function resumesOf(hris: Sftp): Pick<HrisConnection, 'resumes'> {
  const { folder } = hris.options.resumes ?? {};
  if (folder === undefined) return {};
  return {
    resumes: {
      async list(signal) {
        const listed: ListedResume[] = [];
        for (const file of await hris.files.list(folder, signal)) {
          const { columns, rows } = await hris.files.read(folder, file, signal);
          const path = `${folder}/${file.name}`;
          for (const column of ['id', 'job'])
            if (!columns.includes(column)) throw unreadable(path, `its header has no ${column}`);
          for (const [index, { id = '', job: jobId = '', url = '', file: name = '' }] of rows.entries()) {
            if (id === '') throw unreadable(path, `record ${index + 1} has no id`);
            listed.push({ id, jobId, url, file: name });
          }
        }
        return listed;
      },
      async read(name, signal) {
        const path = `${folder}/${name}`;
        if (NO_NAME.test(name)) throw unreadable(path, 'a list may only name files beside it');
        if (!(await hris.session.exists(path, signal))) throw unreadable(path, 'it is not there');
        return hris.session.read(path, MOST_RESUME_BYTES, signal);
      },
    },
  };
}

/** One byte more than the limit shows that the file is too long. */
const MOST_RESUME_BYTES = 10_000_000;

/** The customer's description of its columns, if it exists: column, type, required, options, max_length. */
const COLUMNS = 'columns.csv';
const MOST_BYTES = 1_000_000;
const TYPES: readonly string[] = ['text', 'number', 'date', 'boolean', 'list'] satisfies FieldDef['type'][];

/** The columns of a request as the customer describes them; empty without such a file. */
async function describeColumns({ session, options }: Sftp, signal: AbortSignal): Promise<DescribedField[]> {
  const { requests } = options.folders;
  if (!(await session.list(requests, signal)).some(({ name }) => name === COLUMNS)) return [];
  const path = `${requests}/${COLUMNS}`;
  const { rows } = readCsv(await session.read(path, MOST_BYTES, signal), { name: path, delimiter: options.delimiter });
  const keys = new Map(Object.entries(options.columns).map(([key, { column }]) => [column, key]));
  return rows.map((row, index) => {
    const { column: label, type = 'text' } = row;
    if (label === undefined || label === '') throw unreadable(path, `record ${index + 1} has no column`);
    const key = keys.get(label);
    return {
      key: key ?? label,
      label,
      isField: key !== undefined,
      type: TYPES.includes(type) ? (type as FieldDef['type']) : 'other',
      required: /^(true|yes|1)$/i.test(row['required'] ?? ''),
      ...(row['options'] ? { options: row['options'].split('|') } : {}),
      ...(row['max_length'] ? { maxLength: Number(row['max_length']) } : {}),
    };
  });
}

/**
 * Hands over a document beside a row that says whose it is. Its note stays, so that an employee gets the same bytes
 * under the same name only once, even after the customer's job took them.
 */
async function deliverFile(
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

/** The type comes from some web server: text other than a media type (RFC 6838, section 4.2) might be a formula. */
function typeIn(mediaType: string): string {
  const name = String.raw`[a-z\d][\w!#$&^.+-]{0,126}`;
  return new RegExp(`^${name}/${name}$`, 'i').test(mediaType) ? mediaType : 'application/octet-stream';
}

/** The customer's job may use it as a file name. */
const NO_NAME = /[\p{Cc}/\\]/u;

function refuseName(name: string): void {
  const problem = problemOf(name) ?? (NO_NAME.test(name) ? 'holds a line break or a path' : undefined);
  if (problem === undefined) return;
  throw rejected(
    'INVALID_VALUE',
    `The name of a document ${problem}, so no row can name it. Rename it in the hiring platform.`,
    { details: { name: problem } },
  );
}

/** Checks login, folders, keys, all results, and the newest roster. */
async function probe(hris: Sftp, signal: AbortSignal): Promise<void> {
  const { session, options } = hris;
  const { requests, sent } = options.folders;
  await session.list(requests, signal);
  if (!(await session.exists(sent, signal)))
    throw rejected(
      'HRIS_MISCONFIGURED',
      `The SFTP server has no folder ${sent}. Make it for hirebridge alone, or name another in hris.folders.sent.`,
    );
  const people = await readPeople(hris, signal);
  if (options.encryptTo !== undefined) await encrypt(new Uint8Array(), options.encryptTo, signal);
  const { name, columns } = await tellingRoster(hris, people, signal);
  if (options.endColumn !== undefined && !columns.includes(options.endColumn)) throw noEndColumn(options, name);
}

/** The newest roster. @throws ConnectorError (retry) if it cannot tell who is employed: hires wait for the next. */
async function tellingRoster(
  hris: Sftp,
  { roster, rosters }: Pick<People, 'roster' | 'rosters'>,
  signal: AbortSignal,
): Promise<Roster> {
  const { options } = hris;
  const [newest, before] = [rosters.at(-1), rosters.at(-2)];
  if (newest === undefined || roster === undefined) throw noRoster(options);
  if (roster.ageMs > options.rosterMaxAge) throw staleRoster(options, roster);
  const later = rosters.find(({ changedAt }) => changedAt > newest.changedAt + HOUR_MS);
  if (later !== undefined) throw doubtfulRoster(options, roster, `is older than ${later.name}, which sorts before it`);
  const earlier = before && (await readRoster(hris, before, signal).catch(unlessUnreadable));
  if ((earlier?.employees.length ?? 0) > 2 * roster.employees.length)
    throw doubtfulRoster(options, roster, 'has less than half of the employees of the one before, and may be cut off');
  return roster;
}

function unlessUnreadable(error: unknown): undefined {
  if (!isConnectorError(error, 'HRIS_UNREADABLE_FILE')) throw error;
}

function noRoster({ folders }: SftpOptions): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_NO_ROSTER',
    action: 'retry',
    message:
      `There is no finished roster in ${folders.rosters}. Without one, hirebridge does not know who is employed ` +
      'already, and hires wait. Let the HR system write roster-TIME.csv there, and an empty roster-TIME.csv.ready ' +
      'after it.',
  });
}

function noEndColumn({ folders, endColumn }: SftpOptions, name: string): ConnectorError {
  return rejected(
    'HRIS_MISCONFIGURED',
    `The newest roster, ${folders.rosters}/${name}, has no column ${endColumn}, which hris.endColumn names. ` +
      'Let the HR system write it, empty for people who stay, or remove hris.endColumn.',
  );
}

const HOUR_MS = 3_600_000;

function staleRoster({ folders, rosterMaxAge }: SftpOptions, { name, ageMs }: Roster): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_STALE_ROSTER',
    action: 'retry',
    message:
      `The newest roster, ${folders.rosters}/${name}, is ${Math.floor(ageMs / HOUR_MS)} hours old, and ` +
      `hris.rosterMaxAge allows ${Math.floor(rosterMaxAge / HOUR_MS)}. Let the HR system write a new one: hires wait ` +
      'for it.',
  });
}

function doubtfulRoster({ folders }: SftpOptions, { name }: Roster, why: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_UNREADABLE_FILE',
    action: 'retry',
    message:
      `The last roster by its name, ${folders.rosters}/${name}, ${why}. Hires wait: let the HR system write one now, ` +
      'under a name that sorts behind all others.',
  });
}

/** Employees per page. */
const PAGE = 200;

const rosterFile = z.strictObject({ name: z.string(), size: z.number(), changedAt: z.number() });

/** The last handled roster; within a comparison also the next one, and the position in it. */
const cursor = z.strictObject({
  dealtWith: rosterFile.optional(),
  next: rosterFile.extend({ offset: z.int().min(0) }).optional(),
});
type Cursor = z.output<typeof cursor>;

/**
 * One page of the difference between the last handled and the newest roster. If one of them was removed since, returns
 * all of the newest, and reports nobody as gone.
 */
async function changedEmployees(hris: Sftp, given: string | undefined, signal: AbortSignal): Promise<ChangedEmployees> {
  const before = readCursor(cursor, given);
  const files = await listRosters(hris, signal);
  const find = (wanted: RemoteFile | undefined) => files.find((file) => wanted !== undefined && isSame(file, wanted));
  const begun = find(before.next);
  const newest = begun ?? files.at(-1);
  if (newest === undefined) return { employees: [], gone: [], next: JSON.stringify(before), more: false };
  const earlier = find(before.dealtWith);
  const olds = byId(earlier === undefined ? [] : (await readRoster(hris, earlier, signal)).employees);
  const news = byId((await readRoster(hris, newest, signal)).employees);
  const changed = [...news.values()].filter((record) => !isDeepStrictEqual(olds.get(record.ref.id), record));
  const offset = begun === undefined ? 0 : (before.next?.offset ?? 0);
  const reached = offset + PAGE;
  const employees = changed.slice(offset, reached);
  const { name, size, changedAt } = newest;
  if (reached < changed.length) {
    const next: Cursor = { ...before, next: { name, size, changedAt, offset: reached } };
    return { employees, gone: [], next: JSON.stringify(next), more: true };
  }
  const dealtWith: Cursor = { dealtWith: { name, size, changedAt } };
  const gone = [...olds.keys()].filter((id) => !news.has(id));
  return { employees, gone, next: JSON.stringify(dealtWith), more: false };
}

function byId(records: readonly EmployeeRecord[]): Map<string, EmployeeRecord> {
  return new Map(records.map((record) => [record.ref.id, record]));
}

/** A file that was overwritten under its name counts as another. */
function isSame(one: RemoteFile, other: RemoteFile): boolean {
  return one.name === other.name && one.size === other.size && one.changedAt === other.changedAt;
}

/**
 * Requests a new employee; the result is always `pending`. An attempt that was handed over before is found and not
 * repeated. ALREADY_EXISTS (ignore, details: the ref) if the reference is taken.
 */
async function createEmployee(
  hris: Sftp,
  fields: EmployeeFields,
  reference: string,
  write: WriteOptions,
): Promise<CreateResult> {
  const { options } = hris;
  const values = toCells(options, fields, true);
  // Including those that HR has deleted since.
  const { employees } = await readPeople(hris, write.signal);
  const made = employees.filter((record) => record.reference === reference).map(({ ref }) => ref);
  if (made.length > 1) throw madeTwice(`reference ${reference}`, made);
  if (made[0] !== undefined) throw alreadyExists('The results already name an employee for this reference.', made[0]);
  const id = hireRequestId(reference, await nextAttempt(hris, reference, write.signal));
  // Every file has every column, so that all share one header.
  const empty = Object.fromEntries(Object.values(options.columns).map(({ column }) => [column, null]));
  const keys = { action: 'create', [options.referenceColumn]: reference };
  await handOverOnce(hris, { id, cells: { ...keys, ...empty, ...values } }, write);
  return { kind: 'pending', ticket: id, nextCheckMs: options.checkEvery };
}

/** The next attempt's number: only a rejection allows another attempt. */
async function nextAttempt(hris: Sftp, reference: string, signal: AbortSignal): Promise<number> {
  const own = (await readResults(hris, signal)).filter(({ requestId }) => referenceOf(requestId) === reference);
  return new Set(own.map(({ requestId }) => requestId)).size + 1;
}

/** The outcome of a request; a rejection becomes a refusal with the customer's reason. */
async function resolveRequest(hris: Sftp, ticket: string, signal: AbortSignal): Promise<CreateResult> {
  const verdict = verdictOn(await readResults(hris, signal), ticket);
  if (verdict === undefined) return { kind: 'pending', ticket, nextCheckMs: hris.options.checkEvery };
  if (verdict.status === 'created') return { kind: 'created', ref: verdict.ref };
  throw rejected(
    'HIRE_REJECTED',
    `The HR system rejected request ${ticket}.${verdict.reason === '' ? '' : ` It said: ${verdict.reason}.`}`,
    { said: verdict.reason },
  );
}

/** Requests a change of the given fields. It is not handed over again while an equal one is the last that waits. */
async function updateEmployee(hris: Sftp, id: string, fields: EmployeeFields, write: WriteOptions): Promise<void> {
  const values = toCells(hris.options, fields);
  if (Object.keys(values).length > 0) await askFor(hris, { action: 'update', id, cells: values }, write);
}

/** Hands over a request about an existing employee. */
async function askFor(
  hris: Sftp,
  { action, id, cells }: { action: string; id: string; cells: Cells },
  write: WriteOptions,
): Promise<void> {
  await assertKnown(hris, id, write.signal);
  const row = { action, [hris.options.idColumn]: id, ...cells };
  await handOverLast(hris, { id: `change-${encode(id)}`, cells: row }, write);
}

/**
 * Searches all known people. Values are compared in full here, so an empty result is as reliable as the roster. Nobody
 * is created by the word of one that cannot tell: whom it does not show would become a second employee.
 */
async function findEmployee(hris: Sftp, key: FindKey, signal: AbortSignal): Promise<Found> {
  const people = await readPeople(hris, signal);
  const fitting = people.employees.filter((record) => fitsKey(record, key));
  const there = await stillThere(hris, people, fitting, signal);
  if (there.length === 0 && (key.by === 'email' || key.by === 'person')) await tellingRoster(hris, people, signal);
  return foundBy(
    key,
    there.map(({ ref }) => ref),
    proves(hris.options, people.roster, key),
  );
}

/** Those of these ids that exist. All are read from the same newest files. */
async function readEmployees(
  hris: Sftp,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, EmployeeRecord>> {
  const people = await readPeople(hris, signal);
  const asked = people.employees.filter(({ ref }) => ids.includes(ref.id));
  return byId(await stillThere(hris, people, asked, signal));
}

/** @throws ConnectorError EMPLOYEE_NOT_FOUND */
async function assertKnown(hris: Sftp, id: string, signal: AbortSignal): Promise<void> {
  if ((await readEmployees(hris, [id], signal)).has(id)) return;
  throw rejected('EMPLOYEE_NOT_FOUND', `Neither the newest roster nor the results know an employee with the id ${id}.`);
}

const COMPARED: Record<'email' | 'person', readonly string[]> = {
  email: ['email'],
  person: ['birthDate', 'familyName', 'givenName'],
};

/**
 * Whether an empty result proves absence. Our own requests are found by reference however old the roster is, and a
 * second request with the same name cannot be handed over.
 */
function proves(options: SftpOptions, roster: Roster | undefined, { by }: FindKey): boolean {
  if (by === 'reference') return true;
  if (by === 'name') return false;
  if (roster === undefined || roster.ageMs > options.rosterMaxAge) return false;
  const columns =
    by === 'number' ? [options.numberColumn] : COMPARED[by].map((key) => options.columns[key]?.column ?? '');
  return columns.every((column) => roster.columns.includes(column));
}

/**
 * The name of a request: `hire-acme~3A17-1` is the first request for the employee of our reference `acme:17`. An
 * attempt always has the same name, so that it can be handed over only once; the next one follows a rejection.
 */
function hireRequestId(reference: string, attempt: number): string {
  return `hire-${encode(reference)}-${attempt}`;
}
