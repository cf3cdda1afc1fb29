import type { EmployeeFields, EmployeeRef } from '../../src/hire/employee.ts';
import type { HrisAdapter, HrisConnection } from '../../src/hris/port.ts';
import type { SignedDelivery } from '../../src/hris/signed-delivery.ts';
import { created, type HrisProfile, signal, write } from './profile.ts';

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
  /** Its clock is not the clock of our machine. */
  ownClock: true;
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
  /** Whoever finishes a pending create over there. */
  job: { finish(ticket: string): Promise<void>; refuse(ticket: string): Promise<void> };
  /** Webhooks as the kind signs them, and as it reads them. */
  webhooks: {
    sign(payload: Buffer, key: string, at: number): SignedDelivery['headers'];
    /** A payload about these employees, in each form there is. */
    payloads(ids: readonly string[]): Buffer[];
    read: NonNullable<HrisAdapter['webhooks']>['read'];
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

type IsRequest = (asked: { method: string; path: string; body: string }) => boolean;

export type Need = keyof Powers | 'reference' | 'persons' | Optional | OfEmployees;

const OF_EMPLOYEES = ['rehire', 'terminate', 'amend'] as const;
type OfEmployees = (typeof OF_EMPLOYEES)[number];

const OPTIONAL = ['pending', 'describe', 'changes', 'files'] as const;
type Optional = (typeof OPTIONAL)[number];

/** One promise of the port, shown on a counterpart. */
export interface HrisCase {
  name: string;
  needs?: readonly Need[];
  run(hris: HrisUnderTest): Promise<void>;
}

/** Whether the kind and its counterpart offer what a case needs. */
export function offers({ adapter, profile, powers = {} }: HrisUnderTest, need: Need): boolean {
  if (need === 'reference') return adapter.capabilities.storesReference;
  if (need === 'persons') return profile.findsPersons;
  const ofEmployees = OF_EMPLOYEES.find((one) => one === need);
  if (ofEmployees !== undefined) return adapter.employees[ofEmployees] !== undefined;
  const optional = OPTIONAL.find((one) => one === need);
  if (optional !== undefined) return adapter[optional] !== undefined;
  return need in powers;
}

/** Where a newcomer adds it. */
export function placeOf(need: Need): string {
  if (need === 'reference') return 'capabilities.storesReference of the connection';
  if (need === 'persons') return 'profile.findsPersons of the test';
  if (OF_EMPLOYEES.some((one) => one === need)) return `employees.${need} of the connection`;
  return OPTIONAL.some((one) => one === need) ? `${need} of the connection` : `powers.${need} of the test`;
}

/** A power of a case that named it under `needs`. */
export function power<Name extends keyof Powers>({ powers = {} }: HrisUnderTest, name: Name): Powers[Name] {
  const found = powers[name];
  if (found === undefined) throw new Error(`The case does not say that it needs "${name}".`);
  return found as Powers[Name];
}

/** A new employee, finished by whoever finishes it over there. */
export async function employ(hris: HrisUnderTest, tag: string, fields: EmployeeFields = {}): Promise<EmployeeRef> {
  const { adapter, profile } = hris;
  return settled(hris, adapter, await adapter.employees.create(profile.employee(tag, fields), `27:${tag}`, write));
}

/** The employee of a create, at once or after the job over there has run. */
export async function settled(
  { powers }: HrisUnderTest,
  connection: HrisConnection,
  result: Awaited<ReturnType<HrisConnection['employees']['create']>>,
): Promise<EmployeeRef> {
  if (result.kind === 'created') return result.ref;
  await powers?.job?.finish(result.ticket);
  if (connection.pending === undefined) throw new Error('A create is pending, and nobody can be asked about it.');
  return created(await connection.pending.resolve(result.ticket, signal));
}

/** Reads show a write no later than the adapter says. */
export function shown({ adapter }: Pick<HrisUnderTest, 'adapter'>): { interval: number; timeout: number } {
  return { interval: 20, timeout: adapter.capabilities.readLagMs + 10_000 };
}
