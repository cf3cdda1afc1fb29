import { createHash, randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ConnectorError } from '../../../src/errors.ts';
import type { EmployeeFields, FindKey, Found } from '../../../src/hire/hire.ts';
import type {
  CreateResult,
  EmployeeRecord,
  HrisAdapter,
  HrisConnection,
  WriteOptions,
} from '../../../src/hris/port.ts';

const folderOptions = z.strictObject({ folder: z.string().min(1), fields: z.array(z.string()).default([]) });
type Options = z.output<typeof folderOptions>;

const FIELDS = ['givenName', 'familyName', 'email', 'title', 'startDate', 'birthDate'];
const REQUIRED = new Set(['givenName', 'familyName', 'startDate']);

/** Employees as files of one folder, each named by the hash of our reference: a very small company's shared drive. */
export const folder: HrisAdapter<Options> = {
  optionsSchema: () => folderOptions,
  systemOf: ({ folder: place }) => ({ place }),
  employeeFields: (options) =>
    [...FIELDS, ...options.fields].map((key) => ({
      key,
      label: key,
      type: key.endsWith('Date') ? 'date' : 'text',
      required: REQUIRED.has(key),
      writable: true,
    })),
  open: async (options) => openFolder(options),
};

function openFolder(options: Options): HrisConnection {
  const fields = folder.employeeFields(options);
  return {
    capabilities: { storesReference: true, readLagMs: 0 },
    employees: {
      find: (key) => find(options, key),
      read: (id) => read(options, id),
      create: (values, reference, write) => create(options, values, reference, write),
      update: (id, values, write) => update(options, id, values, write),
    },
    describe: async () =>
      fields.map(({ key, label, type, required }) => ({ key, label, isField: true, type, required })),
    probe: async () => {
      const isThere = await readdir(options.folder).catch(() => undefined);
      return isThere ? { ok: true } : { ok: false, error: refusal('HRIS_UNREACHABLE', 'retry', 'There is no folder.') };
    },
    close: async () => undefined,
  };
}

async function find({ folder: place }: Options, key: FindKey): Promise<Found> {
  const names = (await readdir(place)).filter((name) => name.endsWith('.json'));
  const records = await Promise.all(names.map((name) => parse(join(place, name))));
  const refs = records.filter((record) => fits(record, key)).map(({ ref }) => ref);
  const [first, ...others] = refs;
  if (first === undefined) return { kind: 'none', trusted: key.by !== 'name' };
  return others.length === 0 ? { kind: 'one', ref: first, by: key.by } : { kind: 'many', refs, by: key.by };
}

function fits({ ref, fields, reference }: EmployeeRecord, key: FindKey): boolean {
  if (key.by === 'reference') return reference === key.value;
  if (key.by === 'number') return ref.number === key.value;
  if (key.by === 'email') return folded(fields['email']) === folded(key.value);
  const { givenName, familyName, birthDate } = fields;
  const isUnknown = birthDate === null || key.birthDate === undefined;
  if (key.by === 'name' ? !isUnknown : birthDate !== key.birthDate) return false;
  const names = key.by === 'name' ? key.parts : key;
  return folded(givenName) === folded(names?.givenName) && folded(familyName) === folded(names?.familyName);
}

function folded(value: unknown): string {
  return String(value).normalize('NFC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
}

async function read({ folder: place }: Options, id: string): Promise<EmployeeRecord | undefined> {
  const isThere = /^[0-9a-f]{12}$/.test(id) && (await readdir(place)).includes(`${id}.json`);
  return isThere ? parse(join(place, `${id}.json`)) : undefined;
}

async function parse(file: string): Promise<EmployeeRecord> {
  return JSON.parse(await readFile(file, 'utf8')) as EmployeeRecord;
}

/** A link is made whole or not at all, and never over another: one file a reference, whoever writes it. */
async function create(options: Options, fields: EmployeeFields, reference: string, write: WriteOptions) {
  check(options, fields, true);
  const id = createHash('sha256').update(reference).digest('hex').slice(0, 12);
  const known = await read(options, id);
  if (known !== undefined) throw alreadyExists(known);
  begin(write);
  const record: EmployeeRecord = { ref: { id, number: await takeNumber(options) }, fields, reference };
  const draft = join(options.folder, `${randomUUID()}.draft`);
  await writeFile(draft, JSON.stringify(record));
  try {
    await link(draft, join(options.folder, `${id}.json`));
    return { kind: 'created', ref: record.ref } satisfies CreateResult;
  } catch {
    throw alreadyExists(await read(options, id));
  } finally {
    await rm(draft);
  }
}

/** Folders cannot be made twice, so numbers are not given twice; one that was taken in vain is left out. */
async function takeNumber({ folder: place }: Options): Promise<string> {
  for (let next = 1; ; next += 1) {
    const number = String(next).padStart(6, '0');
    const taken = await mkdir(join(place, `number-${number}`)).catch(() => 'taken');
    if (taken === undefined) return number;
  }
}

async function update(options: Options, id: string, fields: EmployeeFields, write: WriteOptions): Promise<void> {
  check(options, fields, false);
  const known = await read(options, id);
  if (known === undefined) throw refusal('EMPLOYEE_NOT_FOUND', 'reject', `There is no employee with the id ${id}.`);
  begin(write);
  const draft = join(options.folder, `${randomUUID()}.draft`);
  await writeFile(draft, JSON.stringify({ ...known, fields: { ...known.fields, ...fields } }));
  await rename(draft, join(options.folder, `${id}.json`));
}

function check(options: Options, fields: EmployeeFields, isNew: boolean): void {
  const known = new Map(folder.employeeFields(options).map((def) => [def.key, def]));
  const unfit = Object.keys(fields).filter((key) => !known.has(key) || String(fields[key]).includes('\0'));
  if (unfit.length > 0) throw refusal('INVALID_VALUE', 'reject', 'Some values do not fit.', unfit);
  const missing = [...REQUIRED].filter((key) => (key in fields ? !fields[key] : isNew));
  if (missing.length > 0) throw refusal('MISSING_FIELD', 'reject', 'Some fields are missing.', missing);
}

function begin({ signal, beforeSend }: WriteOptions): void {
  if (signal.aborted) throw refusal('STOPPED', 'retry', 'The caller stopped; nothing was written.');
  beforeSend();
}

function alreadyExists(known: EmployeeRecord | undefined): ConnectorError {
  const message = 'There is an employee of this reference.';
  return new ConnectorError({ code: 'ALREADY_EXISTS', action: 'ignore', message, details: { ...known?.ref } });
}

function refusal(code: string, action: 'reject' | 'retry', message: string, fields: readonly string[] = []) {
  const details = Object.fromEntries(fields.map((key) => [key, 'does not fit']));
  return new ConnectorError({ code, action, message, ...(fields.length === 0 ? {} : { details }) });
}
