import { AssertionError } from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';
import { isConnectorError } from '../errors.ts';
import type { EmployeeFields, EmployeeRef, FindKey } from '../hire/hire.ts';
import type { CreateResult, HrisConnection, WriteOptions } from '../hris/port.ts';
import type { SignedDelivery, WebhookSigning } from '../http/signed-delivery.ts';
import { type AskedRequest, startHttpProxy } from './http-proxy.ts';

/** The values that the suite writes into an HRIS of one kind, by its fields. */
export interface HrisProfile {
  /** A complete employee with an e-mail and name that only this tag has, so that cases can share an HRIS. */
  employee(tag: string, changes?: EmployeeFields): EmployeeFields;
  /** Our reference for a tag; `27:TAG` by default. */
  reference?(tag: string): string;
  /** A required field that takes any text. */
  nameField: string;
  /** A field that may change at any time, and its new value. */
  edit: EmployeeFields;
  /** A required field, left empty. */
  missing: EmployeeFields;
  /** The form of its numbers; absent if it assigns none. */
  number?: RegExp;
  /** Hostile texts that it refuses in a name instead of storing them unchanged. */
  refuses: readonly string[];
  /**
   * Whether an empty search for an e-mail with non-ASCII letters proves absence: not every database folds their case.
   * Absent if that is unknown for this system.
   */
  foldsEveryLetter?: boolean;
  /** False if its search depends on the case of addresses; somebody may then be missed. */
  foldsCase?: boolean;
  /** Whether people can be found by name and birth date. */
  findsPersons: boolean;
  /** False if this cannot be looked up. */
  findsEmails?: boolean;
  findsNames?: boolean;
  findsNumbers?: boolean;
  /** False if a value that it has cannot be removed again. */
  empties?: boolean;
  /** Keys whose empty result proves nothing and must not be trusted. */
  provesNothing?: readonly ('reference' | 'number' | 'email' | 'person')[];
  /** An intermediary decodes every body as text, so files must be ASCII. */
  textOnly?: boolean;
}

/** Never aborts: the runner limits the time of a case. */
export const signal: AbortSignal = new AbortController().signal;
export const write: WriteOptions = { signal, beforeSend: () => undefined, remainingMs: () => 20_000 };

/** A real HRIS with two separate connections, as two workers would have. */
export interface HrisUnderTest {
  profile: HrisProfile;
  adapter: HrisConnection;
  second: HrisConnection;
  /** Employees in the HRIS's own table, whatever reads show. */
  count(): Promise<number>;
  /** What the counterpart can do on demand; a case that needs something absent here does not run. */
  powers?: Partial<Powers>;
  /** By need, why it cannot be met: a sentence for the matrix. A need that is met must not be listed here. */
  lacks?: Partial<Record<Need, string>>;
  stop(): Promise<void>;
}

/** What a counterpart does on demand, in addition to the port. */
export interface Powers {
  /** A connection that can lose messages. */
  wire(): Promise<Wire>;
  /** It uses HTTP, so a proxy can answer in its place. */
  http: HttpPower;
  /** Two addresses of the HRIS with TLS: both certificates are trusted, but one is for another name. */
  tls(): Promise<TlsEnds>;
  /** A connection that is refused for lack of capacity until `end`. */
  busy(): Promise<Spell>;
  /** A connection that worked, and whose credentials are revoked until `end`. */
  revoke(): Promise<Spell>;
  /** Kills the server and restarts it. */
  restart(): Promise<void>;
  /** Updates an employee while another edit comes between our read and our write. */
  staleUpdate(id: string): Promise<void>;
  /** A connection whose mapping has 400 custom fields. */
  wide(): Promise<{ adapter: HrisConnection; fields: EmployeeFields }>;
  /** Of two creates with one reference at most one succeeds, no matter who sends them. */
  uniqueReference: true;
  /** Its clock is not our machine's: sets ours wrong by this many minutes, until the returned function is called. */
  ownClock(minutes: number): () => void;
  /** Employees created and edited on the HRIS's side. */
  people: {
    add(count: number): Promise<string[]>;
    /** More than one page of changes; 230 by default. */
    many?: number;
    /** Edits all of them at the same instant. */
    touch(ids: readonly string[]): Promise<void>;
  };
  /** The files that the HRIS has for an employee under a name. */
  stored(id: string, name: string): Promise<Buffer[]>;
  /** Finishes or refuses a pending create on the HRIS's side, only when told. */
  job: { finish(ticket: string): Promise<void>; refuse(ticket: string): Promise<void> };
  /** Waits until the HRIS's side has finished one by itself. */
  untilFinished(ticket: string): Promise<void>;
  /** Webhooks as the system signs them, and the kind's description of that. */
  webhooks: {
    sign(payload: Buffer, key: string, at: number): SignedDelivery['headers'];
    /** A payload about these employees in each existing form. */
    payloads(ids: readonly string[]): Buffer[];
    signing: WebhookSigning;
  };
  /** A field in a record below the employee, its new value, and how many such records somebody has. */
  below: { edit: EmployeeFields; count(id: string): Promise<number> };
  /** The ids in the list of everybody, by which a search without a hit proves absence. */
  everybody(): Promise<string[]>;
  /** A custom field: its name in `describe`, and a value for it. */
  custom: { key: string; label: string; value: EmployeeFields[string] };
}

interface TlsEnds {
  right: HrisConnection;
  wrong: HrisConnection;
  /** How many of our bytes or requests got through. */
  reached(): number | Promise<number>;
  close(): Promise<void>;
}

/** A connection in trouble until `end`. */
export interface Spell {
  adapter: HrisConnection;
  end(): Promise<void>;
}

/** What a fault affects; a create by default. */
type Struck = 'create' | 'file' | 'amendment' | 'below';

/** A connection on which messages of a create can be lost. */
export interface Wire {
  adapter: HrisConnection;
  /** Arms a fault for the next request of this kind; resolves once it struck and the HRIS finished the request. */
  strike(kind: 'reset-before' | 'answer-lost' | 'executed-late' | 'cut', of?: Struck): Promise<unknown>;
  /** The HRIS refuses a create that arrives too late. */
  refusesLate: boolean;
  close(): Promise<void>;
}

export interface HttpPower {
  /** The HRIS's address. */
  url: string;
  open(changes: { url: string }): Promise<HrisConnection>;
  /** Matches the request that creates the employee. */
  isCreate: IsRequest;
  /** Matches the request that uploads a file. */
  isUpload: IsRequest;
  /** Matches the request that changes an employee. */
  isAmendment: IsRequest;
  /** Matches a request that writes a record below an employee. */
  isBelow?: IsRequest;
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

/** Needs that the profile decides: the entry, and whether it offers the need. */
const OF_PROFILE = {
  persons: { entry: 'findsPersons', offers: ({ findsPersons }: HrisProfile) => findsPersons },
  numbers: { entry: 'number', offers: ({ number }: HrisProfile) => number !== undefined },
  emails: { entry: 'findsEmails', offers: ({ findsEmails }: HrisProfile) => findsEmails !== false },
  names: { entry: 'findsNames', offers: ({ findsNames }: HrisProfile) => findsNames !== false },
  byNumber: { entry: 'findsNumbers', offers: ({ findsNumbers }: HrisProfile) => findsNumbers !== false },
  empties: { entry: 'empties', offers: ({ empties }: HrisProfile) => empties !== false },
  required: { entry: 'missing', offers: ({ missing }: HrisProfile) => Object.keys(missing).length > 0 },
} as const;

/** A promise of the port, tested on a counterpart. */
export interface HrisCase {
  name: string;
  needs?: readonly Need[];
  run(hris: HrisUnderTest): Promise<void>;
}

/** Whether the kind and its counterpart offer a need. */
export function offers({ adapter, profile, powers = {} }: HrisUnderTest, need: Need): boolean {
  if (need === 'reference') return adapter.capabilities.storesReference;
  if (need === 'finished') return powers.job !== undefined || powers.untilFinished !== undefined;
  if (isOf(need, OF_PROFILE)) return OF_PROFILE[need].offers(profile);
  const [ofEmployees, ofConnection] = [one(OF_EMPLOYEES, need), one(OF_CONNECTION, need)];
  if (ofEmployees !== undefined) return adapter.employees[ofEmployees] !== undefined;
  if (ofConnection !== undefined) return adapter[ofConnection] !== undefined;
  return need in powers;
}

/** The place at which the author of an adapter adds it. */
function placeOf(need: Need): string {
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

/** A power that the case lists under `needs`. */
export function power<Name extends keyof Powers>({ powers = {} }: HrisUnderTest, name: Name): Powers[Name] {
  const found = powers[name];
  if (found === undefined) throw new Error(`The case does not say that it needs "${name}".`);
  return found as Powers[Name];
}

/** One case for one HRIS. */
export interface HrisCell {
  name: string;
  /** Why this HRIS cannot show it: a sentence for the matrix. */
  impossible?: string;
  /** @throws if the promise is broken */
  run(): Promise<void>;
}

/**
 * A case as a cell of the matrix. A need that is neither offered nor excused under `lacks` fails, and says where to add
 * it.
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

export function referenceOf({ profile }: Pick<HrisUnderTest, 'profile'>, tag: string): string {
  return profile.reference?.(tag) ?? `27:${tag}`;
}

/** What no write of fields may change: our reference, if reads always show it. */
export function keptOf(hris: HrisUnderTest, tag: string): { reference?: string } {
  const { mayHideReference } = hris.adapter.capabilities;
  return offers(hris, 'reference') && mayHideReference !== true ? { reference: referenceOf(hris, tag) } : {};
}

export function emailOf({ profile }: Pick<HrisUnderTest, 'profile'>, tag: string): string {
  const { email, workEmail } = profile.employee(tag);
  return String(email ?? workEmail);
}

/** How hirebridge looks for a create whose answer was lost; undefined if only a person can. */
export function keyOf(hris: HrisUnderTest, tag: string): FindKey | undefined {
  if (offers(hris, 'reference')) return { by: 'reference', value: referenceOf(hris, tag) };
  return offers(hris, 'emails') ? { by: 'email', value: emailOf(hris, tag) } : undefined;
}

/** Creates the profile's employee with the tag's reference. */
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

/** A new employee; a pending create is finished on the HRIS's side. */
export async function employ(hris: HrisUnderTest, tag: string, fields: EmployeeFields = {}): Promise<EmployeeRef> {
  return settled(hris, hris.adapter, await create(hris, tag, { fields }));
}

/** The employee of a create, directly or after the HRIS's job has run. */
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

/** The new employee; a pending create fails the case. */
export function created(result: CreateResult): EmployeeRef {
  if (result.kind !== 'created') throw new Error(`expected an employee at once, got ${result.kind}`);
  return result.ref;
}

/** The error with which the call was refused. */
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

/** Somebody is found by a key, within the time that the adapter states. */
export function expectFound(hris: HrisUnderTest, key: FindKey, ref: EmployeeRef, what = 'who is found'): Promise<void> {
  const find = () => hris.adapter.employees.find(key, signal);
  return eventually(find, { kind: 'one', ref, by: key.by }, shown(hris), what);
}

/** Works with a connection on which messages of a write can be lost. */
export async function overWire(hris: HrisUnderTest, work: (wire: Wire) => Promise<void>): Promise<void> {
  const wire = await power(hris, 'wire')();
  try {
    await work(wire);
  } finally {
    await wire.close();
  }
}

/** Reads show a write within the time that the adapter states. */
export function shown({ adapter }: Pick<HrisUnderTest, 'adapter'>): { interval: number; timeout: number } {
  return { interval: 20, timeout: adapter.capabilities.readLagMs + 10_000 };
}

/** Powers of every HRIS over HTTP, through a proxy in front of it. */
export function httpPowers(http: HttpPower): Pick<Powers, 'http' | 'wire'> {
  return { http, wire: () => openWire(http) };
}

async function openWire({ url, open, ...matches }: HttpPower): ReturnType<Powers['wire']> {
  const { isCreate, isUpload, isAmendment, isBelow = () => false } = matches;
  const requests = { create: isCreate, file: isUpload, amendment: isAmendment, below: isBelow };
  const proxy = await startHttpProxy(url);
  const adapter = await open({ url: proxy.url });
  // First lets the adapter do its one-time work, such as a login.
  await adapter.probe(signal);
  return {
    adapter,
    strike: (kind, of = 'create') => proxy.strike({ kind, on: requests[of], ms: 300 }),
    refusesLate: false,
    async close() {
      await adapter.close();
      await proxy.close();
    },
  };
}

/** An expected value: members that are left out may have any value, and a regular expression matches text. */
type Expected = unknown;

/** @throws AssertionError naming the place where the value differs */
export function expectFit(actual: unknown, expected: Expected, what = 'it'): void {
  const problem = misfit(actual, expected, what);
  if (problem !== undefined) throw new AssertionError({ message: problem, actual, expected, stackStartFn: expectFit });
}

/** Reads until the value matches; fails with the last value. */
export async function eventually(
  read: () => Promise<unknown>,
  expected: Expected,
  { interval, timeout }: { interval: number; timeout: number },
  what = 'it',
): Promise<void> {
  const end = performance.now() + timeout;
  for (;;) {
    const actual = await read();
    if (misfit(actual, expected, what) === undefined) return;
    if (performance.now() > end) return expectFit(actual, expected, what);
    await pause(interval);
  }
}

/** Where and how a value differs from the expected one; undefined if it matches. */
function misfit(actual: unknown, expected: Expected, at: string): string | undefined {
  if (expected instanceof RegExp)
    return typeof actual === 'string' && expected.test(actual)
      ? undefined
      : `${at} is ${quoted(actual)}, not like ${String(expected)}`;
  if (Array.isArray(expected)) return misfitList(actual, expected, at);
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null) return `${at} is ${quoted(actual)}, not an object`;
    for (const [name, value] of Object.entries(expected)) {
      const problem = misfit((actual as Record<string, unknown>)[name], value, `${at}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  return Object.is(actual, expected) ? undefined : `${at} is ${quoted(actual)}, not ${quoted(expected)}`;
}

function misfitList(actual: unknown, expected: readonly unknown[], at: string): string | undefined {
  if (!Array.isArray(actual)) return `${at} is ${quoted(actual)}, not a list`;
  if (actual.length !== expected.length) return `${at} has ${actual.length} items, not ${expected.length}`;
  for (const [index, value] of expected.entries()) {
    const problem = misfit(actual[index], value, `${at}[${index}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function quoted(value: unknown): string {
  return value === undefined ? 'undefined' : (JSON.stringify(value) ?? `a ${typeof value}`).slice(0, 200);
}
