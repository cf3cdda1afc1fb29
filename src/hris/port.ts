import type { z } from 'zod';
import type { ConnectorError } from '../errors.ts';
import type { EmployeeFields, EmployeeRef, FindKey, Found } from '../hire/employee.ts';
import type { WebhookSigning } from '../http/signed-delivery.ts';
import type { Amendment } from './fields-to-amend.ts';
import type { HrisLimits } from './http-line.ts';

/** `pending`: the HRIS accepted the request, a person or a job over there finishes it; ask `resolve(ticket)` later. */
export type CreateResult<Ref = EmployeeRef> =
  | { kind: 'created'; ref: Ref }
  | { kind: 'pending'; ticket: string; nextCheckMs: number };

export interface FieldDef {
  key: string;
  label: string;
  /** The HR system's own field; a rule that is pointed at another one writes another field. The key where absent. */
  place?: string;
  type: 'text' | 'number' | 'date' | 'boolean' | 'list';
  required: boolean;
  writable: boolean;
  options?: string[];
  /** Characters at most. */
  maxLength?: number;
  /** Digits after the point at most. */
  decimals?: number;
  /** `employees.isTaken` knows whether somebody has a value of it. */
  isLookedUp?: true;
}

/** One field as the HR system itself has it. */
export interface DescribedField {
  /** The mapping's name of it; its own where no mapping can fill it. */
  key: string;
  label: string;
  /** The tenant file makes a field of it. */
  isField: boolean;
  /** `other`: none of ours; the HR system judges each value. */
  type: FieldDef['type'] | 'other';
  /** Nothing is created without it, and nobody else fills it. */
  required: boolean;
  options?: string[];
  maxLength?: number;
  /** Digits after the point; more would be rounded away. */
  decimals?: number;
}

/** What one connection supports. */
export interface HrisCapabilities {
  /** Our reference is stored in the employee's record, and can be looked up. */
  storesReference: boolean;
  /** How long after a write a read may still miss it; 0 where reads show every write at once. */
  readLagMs: number;
  /** How long an employee may be shown as before a change that was taken; `readLagMs` where absent. */
  shownWithinMs?: number;
  /** As the kind says in `employeeUrl`. */
  employeeUrl?: string;
}

export interface WriteOptions {
  signal: AbortSignal;
  /** Called synchronously and directly before the bytes leave; throws when the intent's deadline has passed. */
  beforeSend: () => void;
  /** Time left until the intent's give-up, in ms; an adapter that can ends the write on the server's side before it. */
  remainingMs?: () => number;
}

/** What may land in an HRIS without an employee behind it: stream -> field -> type. */
export type Landings = Readonly<
  Record<string, Readonly<Record<string, { type: FieldDef['type']; required?: boolean }>>>
>;

/** One partner record, mapped; `hash` is over `fields`. */
export interface LandingRow {
  id: string;
  hash: string;
  fields: EmployeeFields;
}

export interface LandOptions {
  /** Whose records they are: tenants that share an HRIS do not share ids. */
  tenant: string;
  /** Writes every row, whatever its hash says. */
  force?: boolean;
  /** Awaited before rows are written, with all that is about to be; nothing is written where it throws. */
  beforeWrite?: (changes: readonly RowChange[]) => Promise<void>;
  signal: AbortSignal;
}

/** A row as the landing table holds it; `fields` are all of its columns. */
export type StoredRow = LandingRow;

/** A row about to be written, and what the table holds under its id. */
export interface RowChange {
  row: LandingRow;
  before: StoredRow | undefined;
}

export interface Landed {
  unchanged: number;
  created: number;
  updated: number;
}

/** Employees: what every HRIS supports. */
export interface Employees {
  /** Looks a person up by one key. Each hit is compared again on our side, whatever the server's filter says. */
  find(key: FindKey, signal: AbortSignal): Promise<Found>;
  /** Whether any employee, former ones too, has this value in a field, whatever its capitals; see `isLookedUp`. */
  isTaken?(field: string, value: string, signal: AbortSignal): Promise<boolean>;
  /** Not idempotent: only inside an intent. `reference` is stored in the record where the system has room for it. */
  create(fields: EmployeeFields, reference: string, options: WriteOptions): Promise<CreateResult>;
  /** Writes only the fields given. Idempotent. */
  update(id: string, fields: EmployeeFields, options: WriteOptions): Promise<void>;
  /** Undefined when there is no such record. */
  read(id: string, signal: AbortSignal): Promise<EmployeeRecord | undefined>;
  /**
   * Changes an employee over the values that this was decided from. Idempotent. STALE (retry) where somebody has edited
   * one of them since: then nothing is written. Absent where a change cannot be held to that.
   */
  amend?(id: string, amendment: Amendment, options: WriteOptions): Promise<void>;
  /** Makes a former employee an active one with these fields; the record and its id stay. Idempotent. */
  rehire?(id: string, fields: EmployeeFields, options: WriteOptions): Promise<void>;
  /** Ends the employment after a last day, `YYYY-MM-DD`. Idempotent. Only ever on a person's answer. */
  terminate?(id: string, lastDay: string, options: WriteOptions): Promise<void>;
}

export interface EmployeeRecord<Ref = EmployeeRef> {
  ref: Ref;
  /** A field that is left out is not known to be empty. */
  fields: EmployeeFields;
  /** Fields that hold something else than a value of their type: the code that says what is wrong, by field. */
  unreadable?: Readonly<Record<string, string>>;
  reference?: string;
  /** The employment has ended by now; absent where the HRIS does not say. */
  former?: boolean;
}

/** Employees as they change in the HRIS, whoever changes them; our own writes come too. */
export interface EmployeeChanges {
  /**
   * One page of what changed since a cursor, which is opaque and was returned as `next` before; without one it begins
   * at the beginning, with every employee. At least once: an employee may come again unchanged, and none is left out,
   * neither between two pages nor among equal times nor where a change is committed late. Save `next` only after the
   * page is dealt with.
   */
  since(cursor: string | undefined, signal: AbortSignal): Promise<ChangedEmployees>;
  /**
   * Ids of some who changed since a cursor, for whoever reads them then; without a cursor nobody, and from now on. A
   * change that was committed late may be missing. Absent where asking every moment would be a burden.
   */
  news?(cursor: string | undefined, signal: AbortSignal): Promise<EmployeeNews>;
}

export interface EmployeeNews {
  ids: string[];
  next: string;
}

export interface ChangedEmployees {
  /** As they are now. */
  employees: EmployeeRecord[];
  /** Ids of records that the HRIS says are deleted; an employee who left is not: see `former`. */
  gone: string[];
  next: string;
  /** There is another page by now. */
  more: boolean;
}

/** Documents in an employee's record. */
export interface EmployeeFiles {
  /**
   * Puts a file into the record, unless the same bytes are there under this name. Repeating it after any trouble is
   * safe; two deliveries of one file at the same moment are not.
   */
  deliver(id: string, file: EmployeeFile, options: WriteOptions): Promise<'delivered' | 'there'>;
  /** Whether the same bytes are there under this name; absent where a file that was taken cannot be read. */
  holds?(id: string, file: EmployeeFile, signal: AbortSignal): Promise<boolean>;
  /** Whether files can be put there, tried with one that is taken away again; absent where `probe` says it. */
  probe?(signal: AbortSignal): Promise<void>;
}

export interface EmployeeFile {
  name: string;
  /** Which one of the hire, without a word of anybody's: `resume`, `offer:88`. */
  document: string;
  /** `application/pdf`. */
  mediaType: string;
  bytes: Buffer;
}

/** Positions that the HRIS wants filled. */
export interface Requisitions {
  /** All that are open now. */
  listOpen(signal: AbortSignal): Promise<Requisition[]>;
  /** Those of these that are open, in any order. */
  read(ids: readonly string[], signal: AbortSignal): Promise<Requisition[]>;
  /** Writes only the fields given. Idempotent. REQUISITION_NOT_FOUND (reject) where it is no longer open. */
  update(id: string, fields: EmployeeFields, options: WriteOptions): Promise<void>;
  /** As of an employee: over the values that this was decided from, or STALE. */
  amend?(id: string, amendment: Omit<Amendment, 'from'>, options: WriteOptions): Promise<void>;
}

export interface Requisition {
  /** The HRIS's own key; never reused. */
  id: string;
  fields: EmployeeFields;
  /** As of an employee. */
  unreadable?: Readonly<Record<string, string>>;
}

/** Files of people who want a job, which the customer collects. */
export interface Resumes {
  /** All that are listed now. */
  list(signal: AbortSignal): Promise<ListedResume[]>;
  /** A file that one names. HRIS_UNREADABLE_FILE (reject) where it is not there. Absent where all name addresses. */
  read?(file: string, signal: AbortSignal): Promise<Buffer>;
}

export interface ListedResume {
  /** The customer's own key; never reused. */
  id: string;
  /** The partner's job that it is for. */
  jobId: string;
  /** Where the partner reads it: a public address, or else a file. */
  url?: string;
  file?: string;
}

/** Lists whose entries employees and positions name: departments, cost centres, sites. */
export interface Lists {
  /** Every entry that may be chosen now; one that was retired is left out. Never a part of them: it throws instead. */
  read(list: string, signal: AbortSignal): Promise<ListEntry[]>;
}

export interface ListEntry {
  /** The HRIS's own key, which stays when it is renamed; never reused. */
  id: string;
  label: string;
}

/** Tables where the partner's records land as they are. */
export interface Landing {
  /** Writes the rows of one page whose hash is not the stored one, whole or not at all. Idempotent. */
  land(stream: string, rows: readonly LandingRow[], options: LandOptions): Promise<Landed>;
  /** What the table holds under these ids; one that is not there is left out. */
  read(stream: string, ids: readonly string[], options: TenantRows): Promise<StoredRow[]>;
  /** Hashes of the rows under these ids: empty for one marked as gone; one that is not there is left out. */
  hashes(stream: string, ids: readonly string[], options: TenantRows): Promise<Map<string, string>>;
  /**
   * Ids of a tenant's next `most` rows behind `after`, in the table's order; marked as gone ones only `withGone`. Where
   * `naming` is given, those alone that hold one of these values in one of these fields, or more of them.
   */
  ids(stream: string, options: IdsOptions): Promise<string[]>;
  /** Whether its table can hold the mark of a row that is gone. Absent where none can. */
  marks?(stream: string, options: Pick<TenantRows, 'signal'>): Promise<boolean>;
  /** Takes rows away, or marks them as gone: landed again they are there again. Idempotent. */
  remove(stream: string, ids: readonly string[], options: RemoveOptions): Promise<void>;
}

type TenantRows = Pick<LandOptions, 'tenant' | 'signal'>;

export interface IdsOptions extends TenantRows {
  after?: string | undefined;
  most: number;
  withGone?: boolean;
  naming?: { fields: readonly string[]; values: readonly string[] };
}

export interface RemoveOptions extends TenantRows {
  /** The row stays, with the time in its column `gone_at`. */
  mark: boolean;
}

/** Creates that a person or a job on the HRIS's side finishes. */
export interface PendingCreates {
  /** Asks what became of one. HIRE_REJECTED (reject) once it is refused for good: a corrected create may follow. */
  resolve(ticket: string, signal: AbortSignal): Promise<CreateResult>;
}

/**
 * One open connection to a customer's HR system. It says what it supports and does what it is told; order, retry and
 * policy are the caller's. What it does not support is absent. Every refusal is a ConnectorError: `reject` for bad
 * data (details: field -> text), `unknown` when a write left and no answer came, `retry`/`throttle` when nothing
 * happened, `reauthorize` when the credentials no longer work.
 */
export interface HrisConnection {
  readonly capabilities: HrisCapabilities;
  readonly employees: Employees;
  readonly changes?: EmployeeChanges;
  readonly files?: EmployeeFiles;
  readonly requisitions?: Requisitions;
  readonly resumes?: Resumes;
  readonly lists?: Lists;
  readonly landing?: Landing;
  readonly pending?: PendingCreates;
  /**
   * The fields of employees, or of a stream's landing, as they are there now; empty where it does not say. Absent where
   * the HR system describes none.
   */
  describe?(subject: string, signal: AbortSignal): Promise<DescribedField[]>;
  /**
   * Whether a new employee gets an employee number, as far as the HR system shows; absent where it always gives one.
   */
  givesNumber?(signal: AbortSignal): Promise<boolean>;
  /** Checks credentials, fields and rights; read-only. */
  probe(signal: AbortSignal): Promise<{ ok: true } | { ok: false; error: ConnectorError }>;
  close(): Promise<void>;
}

/** What a destination beside the HR system takes: rows that land, and open positions where it holds them. */
export type LandingConnection = Required<Pick<HrisConnection, 'landing' | 'describe' | 'close'>> &
  Pick<HrisConnection, 'requisitions' | 'resumes'>;

/** The fields that a tenant's mappings name; no others are asked of its HR system. */
export interface FieldsInUse {
  employee: ReadonlySet<string>;
  /** By stream; one that is not here lands nothing. */
  landing: Readonly<Record<string, ReadonlySet<string>>>;
}

/** A statement that somebody with the right to do so runs in the HR system. */
export interface SetupStatement {
  /** `employee`, or the stream that lands. */
  subject: string;
  text: string;
}

/** Parts of what one HR system is, by name. Compared, and never shown. */
export type HrisSystem = Readonly<Record<string, string | number>>;

/** One kind of HR system. `options` is always the output of `optionsSchema`. */
export interface HrisAdapter<Options = unknown> {
  /**
   * Checks everything beside `kind` and `connection` in a tenant file, given what may land. A `url` may still be a
   * reference to a secret (env:, file:).
   */
  optionsSchema(landings: Landings): z.ZodType<Options>;
  /** The adapter that these options describe; undefined where they describe none. Absent where the kind is one. */
  definedBy?(options: Readonly<Record<string, unknown>>): HrisAdapter | undefined;
  /**
   * What makes two sets of options the same HR system: host, port, database, company, folder, by the names of settings
   * as far as there are such. Tenants whose parts differ never share links. No secret, and nobody is asked; a reference
   * may stand where no secret could be read.
   */
  systemOf(options: Options): HrisSystem;
  /** Options that are secrets: a tenant file may only refer to them, and they are resolved before `open`. */
  secrets?: readonly string[];
  /** Absent where the kind signs none. */
  webhooks?: WebhookSigning;
  /**
   * What a connection with these options will have, known before it is open, so that a tenant file is refused that asks
   * for more; `accounts`: it answers a create at once, and finds it again by our reference. Absent where only the open
   * connection shows it.
   */
  supports?(options: Options): { files: boolean; amend: boolean; accounts?: boolean };
  /** What the mapping of an employee may write. */
  employeeFields(options: Options): readonly FieldDef[];
  /** What an open requisition holds; absent where there are none. */
  requisitionFields?(options: Options): readonly FieldDef[];
  /** Where people see an employee there, an address with {id} or {number}; undefined where it is not known. */
  employeeUrl?(options: Options): string | undefined;
  /** The lists that it tells, by name, or any of its own; absent where it tells none. */
  listNames?(options: Options): readonly string[] | 'any';
  /** What a stream's mapping may write; absent where nothing lands. */
  landingFields?(options: Options, stream: string): readonly FieldDef[];
  /** Opens one connection; every reference is resolved by now. Nothing is sent before the first call. Who speaks HTTP
   * sends by `limits`. Where `inUse` is absent, every field is in use. */
  open(options: Options, limits: HrisLimits, inUse?: FieldsInUse): Promise<HrisConnection>;
  /** What is missing there for these fields, as statements; absent where no statement makes it. Reads only. */
  setup?(options: Options, inUse: FieldsInUse): Promise<SetupStatement[]>;
}
