import type { ConnectorError } from '../errors.ts';
import type { EmployeeFields, EmployeeRef, FindKey, Found } from '../hire/employee.ts';

/** `pending`: the HRIS accepted the request, a person or a job over there finishes it; ask `resolve(ticket)` later. */
export type CreateResult =
  | { kind: 'created'; ref: EmployeeRef }
  | { kind: 'pending'; ticket: string; nextCheckMs: number };

export interface FieldDef {
  key: string;
  label: string;
  type: 'text' | 'number' | 'date' | 'boolean' | 'list';
  required: boolean;
  writable: boolean;
  options?: string[];
}

/** Static truths about one connection; `probe` may lower them. */
export interface HrisFacts {
  /** Which filters' empty answers prove absence. */
  trustedFilters: ReadonlySet<FindKey['by']>;
  /** How long after a write a read may still miss it. */
  readLagMs: number;
  /** Who assigns the employee number: at once, later by HR, or never (then the id is the number). */
  numberBy: 'server' | 'later' | 'none';
  /** Whether our reference is stored in the record itself. */
  storesReference: boolean;
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
  signal: AbortSignal;
}

export interface Landed {
  unchanged: number;
  created: number;
  updated: number;
}

/**
 * One customer connection to an HR system. It states facts and does what it is told; order, retry and policy are the
 * caller's. Every refusal is a ConnectorError: `reject` for bad data (details: field -> text), `unknown` when a write left and no
 * answer came, `retry`/`throttle` when nothing happened, `reauthorize` when the credentials no longer work.
 */
export interface HrisAdapter {
  readonly kind: string;
  facts(): HrisFacts;
  /** Checks credentials, fields and filters; read-only. */
  probe(signal: AbortSignal): Promise<{ ok: true; facts: HrisFacts } | { ok: false; error: ConnectorError }>;
  /** What may be written; used by the mapping at load. */
  fields(): readonly FieldDef[];
  /** Looks a person up by one key. Each hit is checked here again, whatever the server's filter says. */
  find(key: FindKey, signal: AbortSignal): Promise<Found>;
  /** Not idempotent: only inside an intent. `reference` is stored in the record where the system has room for it. */
  create(fields: EmployeeFields, reference: string, options: WriteOptions): Promise<CreateResult>;
  /** Writes only the fields given. Idempotent. */
  update(id: string, fields: EmployeeFields, options: WriteOptions): Promise<void>;
  /** Undefined when there is no such record. */
  read(
    id: string,
    signal: AbortSignal,
  ): Promise<{ ref: EmployeeRef; fields: EmployeeFields; reference?: string } | undefined>;
  /** Asks what became of a pending create. */
  resolve?(ticket: string, signal: AbortSignal): Promise<CreateResult>;
  /** Writes the rows of one page whose hash is not the stored one, whole or not at all. Idempotent. Only where the HRIS has room for them. */
  land?(stream: string, rows: readonly LandingRow[], options: LandOptions): Promise<Landed>;
  close(): Promise<void>;
}
