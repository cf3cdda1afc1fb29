import type { z } from 'zod';
import type { ConnectorError } from '../errors.ts';
import type { EmployeeFields, EmployeeRef, FindKey, Found } from '../hire/hire.ts';
import type { WebhookSigning } from '../http/signed-delivery.ts';
import type { HrisLimits } from './http-line.ts';

/** `pending`: the HRIS accepted the request, and a person or job there finishes it; ask `resolve(ticket)` later. */
export type CreateResult<Ref = EmployeeRef> =
  | { kind: 'created'; ref: Ref }
  | { kind: 'pending'; ticket: string; nextCheckMs: number };

export interface FieldDef {
  key: string;
  label: string;
  /** The HR system's own field; it differs if a tenant points the field elsewhere. The key if absent. */
  place?: string;
  type: 'text' | 'number' | 'date' | 'boolean' | 'list';
  required: boolean;
  writable: boolean;
  options?: string[];
  /** Maximum number of characters. */
  maxLength?: number;
  /** Maximum number of digits after the point. */
  decimals?: number;
  /** `employees.isTaken` can tell whether somebody has a value of it. */
  isLookedUp?: true;
}

/** A field as the HR system itself describes it. */
export interface DescribedField {
  /** The mapping's name for it; the HR system's own if no mapping can fill it. */
  key: string;
  label: string;
  /** The tenant file defines it as a field. */
  isField: boolean;
  /** `other`: none of our types; the HR system judges each value. */
  type: FieldDef['type'] | 'other';
  /** A create needs it, and the HR system does not fill it. */
  required: boolean;
  options?: string[];
  maxLength?: number;
  /** Digits after the point; more would be rounded. */
  decimals?: number;
}

/** Features of one connection. */
export interface HrisCapabilities {
  /** The employee's record stores our reference, and can be looked up by it. */
  storesReference: boolean;
  /** A create is several writes: if its answer was lost, an update with the same fields makes the employee whole. */
  createsInParts?: true;
  /** A record may be shown without the reference that it stores. */
  mayHideReference?: boolean;
  /** How long after a write a read may still miss it; 0 if reads show every write at once. */
  readLagMs: number;
  /** How long an accepted change may not show in reads; `readLagMs` if absent. */
  shownWithinMs?: number;
  /** The kind's `employeeUrl`. */
  employeeUrl?: string;
}

export interface WriteOptions {
  signal: AbortSignal;
  /** Called synchronously and directly before the bytes leave; throws if the intent's deadline has passed. */
  beforeSend: () => void;
  /** Time left until the intent's deadline, in ms; if it can, an adapter ends the write on the server before that. */
  remainingMs?: () => number;
}

/** Records that may land in an HRIS without an employee: stream -> field -> type. */
export type Landings = Readonly<
  Record<string, Readonly<Record<string, { type: FieldDef['type']; required?: boolean }>>>
>;

/** A mapped partner record; `hash` covers `fields`. */
export interface LandingRow {
  id: string;
  hash: string;
  fields: EmployeeFields;
}

export interface LandOptions {
  /** The tenant of the records: tenants that share an HRIS do not share ids. */
  tenant: string;
  /** Writes every row, whatever its hash says. */
  force?: boolean;
  /** Awaited before rows are written, with all pending changes; if it throws, nothing is written. */
  beforeWrite?: (changes: readonly RowChange[]) => Promise<void>;
  signal: AbortSignal;
}

/** A row in the landing table; `fields` are all of its columns. */
export type StoredRow = LandingRow;

/** A row to write, and the stored row under its id. */
export interface RowChange {
  row: LandingRow;
  before: StoredRow | undefined;
}

export interface Landed {
  unchanged: number;
  created: number;
  updated: number;
}

/** A change to an existing employee. */
export interface Amendment {
  fields: EmployeeFields;
  /** The values that the employee held when this was decided. */
  over: EmployeeFields;
  /** `YYYY-MM-DD`: if the HRIS has dated values, the change is valid from this day, otherwise at once. */
  from: string;
}

/** Employees: every HRIS supports this. */
export interface Employees {
  /** Finds a person by one key. Each hit is compared again on our side, whatever the server's filter does. */
  find(key: FindKey, signal: AbortSignal): Promise<Found>;
  /** Whether any current or former employee has this value in a field, ignoring case; see `isLookedUp`. */
  isTaken?(field: string, value: string, signal: AbortSignal): Promise<boolean>;
  /** Not idempotent: call it only inside an intent. The record stores `reference` if the system has a place for it. */
  create(fields: EmployeeFields, reference: string, options: WriteOptions): Promise<CreateResult>;
  /** Writes only the given fields. Idempotent. */
  update(id: string, fields: EmployeeFields, options: WriteOptions): Promise<void>;
  /** Undefined if there is no such record. */
  read(id: string, signal: AbortSignal): Promise<EmployeeRecord | undefined>;
  /**
   * Changes an employee over the values that this was decided from. Idempotent. STALE (retry) if somebody edited one of
   * them since: then nothing is written. Absent if the system cannot guarantee that.
   */
  amend?(id: string, amendment: Amendment, options: WriteOptions): Promise<void>;
  /** Makes a former employee active again with these fields; the record and its id stay. Idempotent. */
  rehire?(id: string, fields: EmployeeFields, options: WriteOptions): Promise<void>;
  /** Ends the employment after a last day, `YYYY-MM-DD`. Idempotent. Only ever called on a person's answer. */
  terminate?(id: string, lastDay: string, options: WriteOptions): Promise<void>;
}

export interface EmployeeRecord<Ref = EmployeeRef> {
  ref: Ref;
  /** An absent field is unknown, not empty. */
  fields: EmployeeFields;
  /** By field, the code of the fault if its value does not fit its type. */
  unreadable?: Readonly<Record<string, string>>;
  reference?: string;
  /** The employment has ended; absent if the HRIS does not say. */
  former?: boolean;
}

/** Changes of employees in the HRIS by anybody, including our own writes. */
export interface EmployeeChanges {
  /**
   * One page of changes after a cursor, an opaque text from an earlier `next`; without a cursor it starts at the
   * beginning, with every employee. At least once: an employee may come again unchanged, but none is missed: not
   * between pages, not among equal times, not if a change is committed late. Save `next` only after the page is
   * handled.
   */
  since(cursor: string | undefined, signal: AbortSignal): Promise<ChangedEmployees>;
  /**
   * Ids of employees who changed after a cursor, for callers that then read them; without a cursor, none, and it starts
   * from now. A late-committed change may be missing. Absent if frequent calls would be a burden.
   */
  news?(cursor: string | undefined, signal: AbortSignal): Promise<EmployeeNews>;
}

export interface EmployeeNews {
  ids: string[];
  next: string;
}

export interface ChangedEmployees {
  /** In their current state. */
  employees: EmployeeRecord[];
  /** Ids of records that the HRIS reports as deleted; for an employee who left see `former`. */
  gone: string[];
  /** Records that changed but that the HRIS does not show, while it shows others. */
  unread?: { id: string; reason: string }[];
  next: string;
  /** Another page is available. */
  more: boolean;
}

/** Documents in an employee's record. */
export interface EmployeeFiles {
  /**
   * Puts a file into the record, unless the same bytes are there under this name. Repeating it after a failure is safe;
   * two deliveries of one file at the same time are not.
   */
  deliver(id: string, file: EmployeeFile, options: WriteOptions): Promise<'delivered' | 'there'>;
  /** Whether the same bytes are there under this name; absent if an accepted file cannot be read. */
  holds?(id: string, file: EmployeeFile, signal: AbortSignal): Promise<boolean>;
  /** Checks that files can be stored, by storing one and removing it; absent if `probe` covers that. */
  probe?(signal: AbortSignal): Promise<void>;
}

export interface EmployeeFile {
  name: string;
  /** The hire's document, without personal words: `resume`, `offer:88`. */
  document: string;
  /** `application/pdf`. */
  mediaType: string;
  bytes: Buffer;
}

/** Positions that the HRIS wants to fill. */
export interface Requisitions {
  /** All positions that are open now. */
  listOpen(signal: AbortSignal): Promise<Requisition[]>;
  /** Those of these positions that are open, in any order. */
  read(ids: readonly string[], signal: AbortSignal): Promise<Requisition[]>;
  /** Writes only the given fields. Idempotent. REQUISITION_NOT_FOUND (reject) if it is no longer open. */
  update(id: string, fields: EmployeeFields, options: WriteOptions): Promise<void>;
  /** Like an employee's: only over the values that this was decided from, otherwise STALE. */
  amend?(id: string, amendment: Omit<Amendment, 'from'>, options: WriteOptions): Promise<void>;
}

export interface Requisition {
  /** The HRIS's own key; never reused. */
  id: string;
  fields: EmployeeFields;
  /** As for an employee. */
  unreadable?: Readonly<Record<string, string>>;
}

/** Files of job seekers that the customer collects. */
export interface Resumes {
  /** All files that are listed now. */
  list(signal: AbortSignal): Promise<ListedResume[]>;
  /**
   * Reads an entry's file. HRIS_UNREADABLE_FILE (reject) if it does not exist. Absent if all entries have addresses.
   */
  read?(file: string, signal: AbortSignal): Promise<Buffer>;
}

export interface ListedResume {
  /** The customer's own key; never reused. */
  id: string;
  /** The partner's job that the file is for. */
  jobId: string;
  /** Where the partner reads it: a public address, otherwise a file. */
  url?: string;
  file?: string;
}

/** Lists whose entries employees and positions refer to: departments, cost centres, sites. */
export interface Lists {
  /** Every entry that can be chosen now, without retired ones. Throws rather than return only a part. */
  read(list: string, signal: AbortSignal): Promise<ListEntry[]>;
}

export interface ListEntry {
  /** The HRIS's own key, which survives a rename; never reused. */
  id: string;
  label: string;
}

/** Tables in which the partner's records land as they are. */
export interface Landing {
  /** Writes the rows of one page whose hash differs from the stored one, all or nothing. Idempotent. */
  land(stream: string, rows: readonly LandingRow[], options: LandOptions): Promise<Landed>;
  /** Stored rows under these ids; missing ones are left out. */
  read(stream: string, ids: readonly string[], options: TenantRows): Promise<StoredRow[]>;
  /** Hashes of the rows under these ids: empty for a row marked as gone; missing rows are left out. */
  hashes(stream: string, ids: readonly string[], options: TenantRows): Promise<Map<string, string>>;
  /**
   * Ids of a tenant's next `most` rows after `after`, in the table's order; rows marked as gone only `withGone`. With
   * `naming`, returns rows that hold one of these values in one of these fields, and perhaps others.
   */
  ids(stream: string, options: IdsOptions): Promise<string[]>;
  /** Whether the table can mark rows as gone. Absent if no table can. */
  marks?(stream: string, options: Pick<TenantRows, 'signal'>): Promise<boolean>;
  /** Deletes rows, or marks them as gone; landing them again restores them. Idempotent. */
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
  /** The row stays, and its column `gone_at` gets the time. */
  mark: boolean;
}

/** Creates that a person or job on the HRIS's side finishes. */
export interface PendingCreates {
  /**
   * A pending create's outcome. HIRE_REJECTED (reject) if it is refused for good: a corrected create may follow.
   * REQUEST_UNKNOWN (reject) if the HRIS no longer knows the ticket.
   */
  resolve(ticket: string, signal: AbortSignal): Promise<CreateResult>;
}

/**
 * One open connection to a customer's HR system. It declares its features and does what it is told; the caller decides
 * on order, retries and policy. Unsupported parts are absent. Every refusal is a ConnectorError: `reject` for bad data
 * (details: field -> text), `unknown` if a write left and no answer came, `retry`/`throttle` if nothing happened,
 * `reauthorize` if the credentials no longer work.
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
   * The current fields of employees, or of a stream's landing table; empty if the system does not say. Absent if the HR
   * system never describes fields.
   */
  describe?(subject: string, signal: AbortSignal): Promise<DescribedField[]>;
  /** Whether a new employee gets an employee number, as far as the HR system shows; absent if it always assigns one. */
  givesNumber?(signal: AbortSignal): Promise<boolean>;
  /** Checks credentials, fields and rights; read-only. */
  probe(signal: AbortSignal): Promise<{ ok: true } | { ok: false; error: ConnectorError }>;
  close(): Promise<void>;
}

/** What a landing database beside the HR system supports: landed rows, and open positions if it holds them. */
export type LandingConnection = Required<Pick<HrisConnection, 'landing' | 'describe' | 'close'>> &
  Pick<HrisConnection, 'requisitions' | 'resumes'>;

/** Fields that a tenant's mappings name; its HR system is not asked for others. */
export interface FieldsInUse {
  employee: ReadonlySet<string>;
  /** By stream; a stream that is absent lands nothing. */
  landing: Readonly<Record<string, ReadonlySet<string>>>;
}

/** A statement that an authorised person runs in the HR system. */
export interface SetupStatement {
  /** `employee`, or a landing stream. */
  subject: string;
  text: string;
}

/** Named parts that identify one HR system. Compared, never shown. */
export type HrisSystem = Readonly<Record<string, string | number>>;

/** One kind of HR system. `options` is always the output of `optionsSchema`. */
export interface HrisAdapter<Options = unknown> {
  /**
   * Checks everything beside `kind` and `connection` in a tenant file, given what may land. A `url` may still be a
   * reference to a secret (env:, file:).
   */
  optionsSchema(landings: Landings): z.ZodType<Options>;
  /** The adapter that these options describe; undefined if none. Absent if the kind itself is the adapter. */
  definedBy?(options: Readonly<Record<string, unknown>>): HrisAdapter | undefined;
  /**
   * Identifies the HR system behind options: host, port, database, company, folder, named like the settings if
   * possible. Tenants with different parts never share links. Contains no secret and asks no system; a reference may
   * remain if its secret could not be read.
   */
  systemOf(options: Options): HrisSystem;
  /** Options that are secrets: a tenant file may only refer to them, and they are resolved before `open`. */
  secrets?: readonly string[];
  /** Absent if the kind signs no webhooks. */
  webhooks?: WebhookSigning;
  /**
   * Features that a connection with these options will have, known before it is open, so that a tenant file that needs
   * more is refused; `accounts`: it answers a create at once, and finds it again by our reference. Absent if only the
   * open connection shows this.
   */
  supports?(options: Options): { files: boolean; amend: boolean; accounts?: boolean };
  /** The fields that an employee mapping may write. */
  employeeFields(options: Options): readonly FieldDef[];
  /** The fields of an open requisition; absent if there are none. */
  requisitionFields?(options: Options): readonly FieldDef[];
  /** The address of an employee's page, with {id} or {number}; undefined if unknown. */
  employeeUrl?(options: Options): string | undefined;
  /** Names of the lists that it can read, or `any`; absent if it reads none. */
  listNames?(options: Options): readonly string[] | 'any';
  /** The fields that a stream's mapping may write; absent if nothing lands. */
  landingFields?(options: Options, stream: string): readonly FieldDef[];
  /**
   * Opens one connection; all references are resolved. Sends nothing before the first call. Adapters over HTTP send
   * under `limits`. Without `inUse`, every field is in use. `today` is the tenant's day, `YYYY-MM-DD`; without it, the
   * day by UTC.
   */
  open(options: Options, limits: HrisLimits, inUse?: FieldsInUse, today?: () => string): Promise<HrisConnection>;
  /** Statements that create what these fields need and the system lacks; absent if no statement can. Reads only. */
  setup?(options: Options, inUse: FieldsInUse): Promise<SetupStatement[]>;
}
