import { isConnectorError } from '../errors.ts';
import type { EmployeeFields, EmployeeRef } from '../hire/employee.ts';
import type { CreateResult, HrisConnection, WriteOptions } from '../hris/port.ts';
import type { SignedDelivery, WebhookSigning } from '../http/signed-delivery.ts';
import type { AskedRequest } from './http-proxy.ts';

/** What the suite writes into an HRIS of one kind, in the words of its fields. */
export interface HrisProfile {
  /** A complete employee, whose e-mail and name are the tag's own, so that cases share an HRIS without meeting. */
  employee(tag: string, changes?: EmployeeFields): EmployeeFields;
  /** Our reference of a tag; `27:TAG` by default. */
  reference?(tag: string): string;
  /** A required field that holds any text. */
  nameField: string;
  /** A field that may change at any time, and what it is changed to. */
  edit: EmployeeFields;
  /** A field that must not be empty, but is. */
  missing: EmployeeFields;
  /** What numbers look like; absent where it gives none. */
  number?: RegExp;
  /** Hostile texts that it refuses in a name, instead of keeping them as they are. */
  refuses: readonly string[];
  /**
   * Whether it is known that nobody has an e-mail with letters beyond ASCII: whose case not every database folds.
   * Absent where that is not known of this system.
   */
  foldsEveryLetter?: boolean;
  /** False where it tells addresses apart by their case; somebody at one in other case may then be missed. */
  foldsCase?: boolean;
  /** Whether people are found by name and birth date. */
  findsPersons: boolean;
  /** False where nobody is looked up by that. */
  findsEmails?: boolean;
  findsNames?: boolean;
  /** Keys of which an empty answer proves nothing, so that none may be taken as proof. */
  provesNothing?: readonly ('reference' | 'number' | 'email' | 'person')[];
  /** What stands between decodes every body as text, so files must be ASCII. */
  textOnly?: boolean;
}

/** Never stops: how long a case may take is the runner's to say. */
export const signal: AbortSignal = new AbortController().signal;
export const write: WriteOptions = { signal, beforeSend: () => undefined, remainingMs: () => 20_000 };

/** One real HRIS with two connections of its own, as two workers have. */
export interface HrisUnderTest {
  profile: HrisProfile;
  adapter: HrisConnection;
  second: HrisConnection;
  /** Employees in the HRIS's own table, whatever its reads show. */
  count(): Promise<number>;
  /** What the counterpart can be made to do; a case that needs what is absent here is not run. */
  powers?: Partial<Powers>;
  /** Why a need cannot be met: one sentence for the matrix. A need that is met must not stand here. */
  lacks?: Partial<Record<Need, string>>;
  stop(): Promise<void>;
}

/** What a counterpart does on demand, beside the port. */
export interface Powers {
  /** A connection over a wire that loses things. */
  wire(): Promise<Wire>;
  /** It speaks HTTP: a proxy may answer instead of it. */
  http: HttpPower;
  /** Two addresses of the HRIS behind TLS: both certificates are trusted, and one is made out to another name. */
  tls(): Promise<TlsEnds>;
  /** A connection that is refused for want of capacity, until `end`. */
  busy(): Promise<Spell>;
  /** A connection that worked, and whose credentials are taken away until `end`. */
  revoke(): Promise<Spell>;
  /** Kills the server and starts it again. */
  restart(): Promise<void>;
  /** Updates an employee while somebody else's edit comes between our read and our write. */
  staleUpdate(id: string): Promise<void>;
  /** A connection whose mapping has 400 fields of the customer's. */
  wide(): Promise<{ adapter: HrisConnection; fields: EmployeeFields }>;
  /** Two creates of one reference cannot both happen, whoever sends them. */
  uniqueReference: true;
  /** Its clock is not the clock of our machine: ours is set wrong by so many minutes, until the returned is called. */
  ownClock(minutes: number): () => void;
  /** Employees as somebody over there makes and edits them. */
  people: {
    add(count: number): Promise<string[]>;
    /** More than one page of changes holds; 230 by default. */
    many?: number;
    /** All of them at the same instant. */
    touch(ids: readonly string[]): Promise<void>;
  };
  /** What the HRIS holds of an employee's files under a name. */
  stored(id: string, name: string): Promise<Buffer[]>;
  /** Who finishes or refuses a pending create over there, and only when they are told. */
  job: { finish(ticket: string): Promise<void>; refuse(ticket: string): Promise<void> };
  /** Waits until they have finished one by themselves. */
  untilFinished(ticket: string): Promise<void>;
  /** Webhooks as the system signs them, and what the kind says of that. */
  webhooks: {
    sign(payload: Buffer, key: string, at: number): SignedDelivery['headers'];
    /** A payload about these employees, in each form there is. */
    payloads(ids: readonly string[]): Buffer[];
    signing: WebhookSigning;
  };
  /** A field of the customer's: what `describe` must call it, and a value for it. */
  custom: { key: string; label: string; value: EmployeeFields[string] };
}

export interface TlsEnds {
  right: HrisConnection;
  wrong: HrisConnection;
  /** Of ours, what came through: bytes or questions. */
  reached(): number | Promise<number>;
  close(): Promise<void>;
}

/** A bad time of one connection. */
export interface Spell {
  adapter: HrisConnection;
  end(): Promise<void>;
}

/** What a fault strikes; a create where nothing is said. */
export type Struck = 'create' | 'file' | 'amendment';

/** What can be lost on the way of a create. */
export interface Wire {
  adapter: HrisConnection;
  /** Arms a fault for the next request of a kind; resolves once it struck and the HRIS is done with the request. */
  strike(kind: 'reset-before' | 'answer-lost' | 'executed-late' | 'cut', of?: Struck): Promise<unknown>;
  /** A create that arrives after its time is refused over there. */
  refusesLate: boolean;
  close(): Promise<void>;
}

export interface HttpPower {
  /** Where the HRIS listens. */
  url: string;
  open(changes: { url: string }): Promise<HrisConnection>;
  /** The request that makes the employee. */
  isCreate: IsRequest;
  /** The request that brings a file. */
  isUpload: IsRequest;
  /** The request that changes an employee. */
  isAmendment: IsRequest;
}

type IsRequest = (asked: AskedRequest) => boolean;

export type Need =
  | keyof Powers
  | keyof typeof OF_PROFILE
  | 'reference'
  | 'finished'
  | (typeof OF_CONNECTION)[number]
  | (typeof OF_EMPLOYEES)[number];

const OF_EMPLOYEES = ['rehire', 'terminate', 'amend'] as const;
const OF_CONNECTION = ['pending', 'describe', 'changes', 'files'] as const;

/** What the profile says of a system: its entry, and whether it offers what a case needs. */
const OF_PROFILE = {
  persons: { entry: 'findsPersons', offers: ({ findsPersons }: HrisProfile) => findsPersons },
  numbers: { entry: 'number', offers: ({ number }: HrisProfile) => number !== undefined },
  emails: { entry: 'findsEmails', offers: ({ findsEmails }: HrisProfile) => findsEmails !== false },
  names: { entry: 'findsNames', offers: ({ findsNames }: HrisProfile) => findsNames !== false },
  required: { entry: 'missing', offers: ({ missing }: HrisProfile) => Object.keys(missing).length > 0 },
} as const;

/** One promise of the port, shown on a counterpart. */
export interface HrisCase {
  name: string;
  needs?: readonly Need[];
  run(hris: HrisUnderTest): Promise<void>;
}

/** Whether the kind and its counterpart offer what a case needs. */
export function offers({ adapter, profile, powers = {} }: HrisUnderTest, need: Need): boolean {
  if (need === 'reference') return adapter.capabilities.storesReference;
  if (need === 'finished') return powers.job !== undefined || powers.untilFinished !== undefined;
  if (isOf(need, OF_PROFILE)) return OF_PROFILE[need].offers(profile);
  const [ofEmployees, ofConnection] = [one(OF_EMPLOYEES, need), one(OF_CONNECTION, need)];
  if (ofEmployees !== undefined) return adapter.employees[ofEmployees] !== undefined;
  if (ofConnection !== undefined) return adapter[ofConnection] !== undefined;
  return need in powers;
}

/** Where a newcomer adds it. */
export function placeOf(need: Need): string {
  if (need === 'reference') return 'capabilities.storesReference of the connection';
  if (need === 'finished') return 'powers.job or powers.untilFinished of the test';
  if (isOf(need, OF_PROFILE)) return `profile.${OF_PROFILE[need].entry} of the test`;
  if (one(OF_EMPLOYEES, need) !== undefined) return `employees.${need} of the connection`;
  return one(OF_CONNECTION, need) === undefined ? `powers.${need} of the test` : `${need} of the connection`;
}

function isOf<T extends object>(name: PropertyKey, table: T): name is keyof T {
  return Object.hasOwn(table, name);
}

function one<T extends string>(names: readonly T[], name: string): T | undefined {
  return names.find((known) => known === name);
}

/** A power of a case that named it under `needs`. */
export function power<Name extends keyof Powers>({ powers = {} }: HrisUnderTest, name: Name): Powers[Name] {
  const found = powers[name];
  if (found === undefined) throw new Error(`The case does not say that it needs "${name}".`);
  return found as Powers[Name];
}

/** What every kind owes under one name of a case, as it stands with one HRIS. */
export interface HrisCell {
  name: string;
  /** Why this HRIS cannot show it: a sentence for the matrix. */
  impossible?: string;
  /** @throws where the promise is not kept */
  run(): Promise<void>;
}

/**
 * A case as a cell of the matrix. What is neither offered nor excused under `lacks` fails, and says where it belongs.
 */
export function cellOf(one: HrisCase, hris: HrisUnderTest): HrisCell {
  const missing = one.needs?.find((need) => !offers(hris, need));
  if (missing === undefined) return { name: one.name, run: () => one.run(hris) };
  const reason = hris.lacks?.[missing];
  const run = async (): Promise<void> => {
    throw new Error(`Offer ${placeOf(missing)}, or say under lacks.${missing} why not.`);
  };
  return { name: one.name, run, ...(reason === undefined ? {} : { impossible: reason }) };
}

/** Excuses for what is offered: there must be none. */
export function needlessExcuses(hris: HrisUnderTest): Need[] {
  return (Object.keys(hris.lacks ?? {}) as Need[]).filter((need) => offers(hris, need));
}

export function referenceOf({ profile }: Pick<HrisUnderTest, 'profile'>, tag: string): string {
  return profile.reference?.(tag) ?? `27:${tag}`;
}

/** The address of a tag's employee. */
export function emailOf({ profile }: Pick<HrisUnderTest, 'profile'>, tag: string): string {
  return String(profile.employee(tag)['email']);
}

/** A create of the profile's employee under the tag's reference. */
export function create(
  hris: HrisUnderTest,
  tag: string,
  {
    on = hris.adapter,
    fields = {},
    options = {},
  }: { on?: HrisConnection; fields?: EmployeeFields; options?: Partial<WriteOptions> } = {},
): Promise<CreateResult> {
  const employee = hris.profile.employee(tag, fields);
  return on.employees.create(employee, referenceOf(hris, tag), { ...write, ...options });
}

/** A new employee, finished by whoever finishes it over there. */
export async function employ(hris: HrisUnderTest, tag: string, fields: EmployeeFields = {}): Promise<EmployeeRef> {
  return settled(hris, hris.adapter, await create(hris, tag, { fields }));
}

/** The employee of a create, at once or after the job over there has run. */
export async function settled(
  { powers }: HrisUnderTest,
  connection: HrisConnection,
  result: CreateResult,
): Promise<EmployeeRef> {
  if (result.kind === 'created') return result.ref;
  await (powers?.job?.finish ?? powers?.untilFinished)?.(result.ticket);
  if (connection.pending === undefined) throw new Error('A create is pending, and nobody can be asked about it.');
  return created(await connection.pending.resolve(result.ticket, signal));
}

/** The new employee; a pending create would fail the case. */
export function created(result: CreateResult): EmployeeRef {
  if (result.kind !== 'created') throw new Error(`expected an employee at once, got ${result.kind}`);
  return result.ref;
}

/** What the call was refused with. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ code: string; action: string; details: Record<string, unknown> | undefined; message: string }> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isConnectorError(error)) throw new Error(`expected a ConnectorError, got ${String(error)}`);
  return { code: error.code, action: error.action, details: error.details, message: error.message };
}

/** Reads show a write no later than the adapter says. */
export function shown({ adapter }: Pick<HrisUnderTest, 'adapter'>): { interval: number; timeout: number } {
  return { interval: 20, timeout: adapter.capabilities.readLagMs + 10_000 };
}
