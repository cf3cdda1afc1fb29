import { ConnectorError } from '../../src/errors.ts';
import type { EmployeeFields, EmployeeRef, FindKey, Found } from '../../src/hire/employee.ts';
import type { CreateResult, EmployeeRecord, Employees, HrisConnection, WriteOptions } from '../../src/hris/port.ts';
import type { Random } from '../../src/sandbox/random.ts';
import type { Process } from './processes.ts';
import type { Timeline } from './timeline.ts';

/** Strict: a unique reference column; it ends employments. Careless: neither, no unique key, reads two seconds late. */
export type HrisProfile = 'strict' | 'careless';

export interface Employee {
  id: string;
  number: string;
  fields: EmployeeFields;
  /** What the caller gave; shown to nobody by a careless HRIS, but the oracle reads it. */
  reference: string | undefined;
  /** Who really stands behind the record. */
  human: string;
  /** The family name at its creation. */
  madeAs: string;
  createdAt: number;
  /** `YYYY-MM-DD`, once the employment is ended. */
  lastDay?: string;
}

export interface HrisDouble {
  profile: HrisProfile;
  employees: Employee[];
  /** Chance of each fault, zero once it is calm. */
  faults: HrisFaults;
  /** Somebody's record that was there before. */
  add(human: string, fields: EmployeeFields): Employee;
  connect(process: Process): HrisConnection;
}

export interface HrisFaults {
  before: number;
  answerLost: number;
  late: number;
  read: number;
}

export interface HrisWorld {
  timeline: Timeline;
  random: Random;
  pause: (process: Process, point: string) => Promise<void> | undefined;
}

const LAG_MS = 2_000;
const GIVE_UP_MS = 10_000;

export function createHrisDouble(profile: HrisProfile, world: HrisWorld): HrisDouble {
  const hris: HrisDouble = {
    profile,
    employees: [],
    faults: { before: 0, answerLost: 0, late: 0, read: 0 },
    add: (human, fields) => insert(hris, world, human, fields, undefined),
    connect: (process) => createConnection(hris, world, process),
  };
  return hris;
}

function insert(
  hris: HrisDouble,
  { timeline }: HrisWorld,
  human: string,
  fields: EmployeeFields,
  reference: string | undefined,
): Employee {
  const count = hris.employees.length + 1;
  const employee = {
    id: `e${count}`,
    number: String(count + 122).padStart(6, '0'),
    fields: { ...fields },
    reference,
    human,
    madeAs: String(fields['familyName']),
    createdAt: timeline.now(),
  };
  hris.employees.push(employee);
  return employee;
}

function createConnection(hris: HrisDouble, world: HrisWorld, process: Process): HrisConnection {
  const strict = hris.profile === 'strict';
  const visible = (): Employee[] =>
    hris.employees.filter((one) => strict || one.createdAt + LAG_MS <= world.timeline.now());
  const employees: Employees = {
    find: (key, signal) => readFrom(hris, world, process, signal, () => search(visible(), key, strict)),
    read: (id, signal) =>
      readFrom(hris, world, process, signal, () => {
        const found = visible().find((one) => one.id === id);
        return found === undefined ? undefined : shown(found, world.timeline.now());
      }),
    create: (fields, reference, write) =>
      writeTo(hris, world, process, write, (): CreateResult => {
        if (strict && hris.employees.some((one) => one.reference === reference)) throw alreadyExists();
        const human = reference.split(':').slice(0, 2).join(':');
        return { kind: 'created', ref: refOf(insert(hris, world, human, fields, reference)) };
      }),
    update: (id, fields, write) =>
      writeTo(hris, world, process, write, () => {
        Object.assign(hris.employees.find((one) => one.id === id)?.fields ?? {}, fields);
      }),
    ...(strict && {
      rehire: (id, fields, write) =>
        writeTo(hris, world, process, write, () => {
          const found = hris.employees.find((one) => one.id === id);
          if (found === undefined) return;
          delete found.lastDay;
          Object.assign(found.fields, fields);
        }),
      terminate: (id, lastDay, write) =>
        writeTo(hris, world, process, write, () => {
          Object.assign(hris.employees.find((one) => one.id === id) ?? {}, { lastDay });
        }),
    }),
  };
  return {
    capabilities: { storesReference: strict, readLagMs: strict ? 0 : LAG_MS },
    employees,
    probe: async () => ({ ok: true }),
    close: async () => undefined,
  };
}

function shown(employee: Employee, now: number): EmployeeRecord {
  const today = new Date(now).toISOString().slice(0, 10);
  const former = employee.lastDay !== undefined && employee.lastDay < today;
  return { ref: refOf(employee), fields: { ...employee.fields }, former };
}

function search(employees: readonly Employee[], key: FindKey, strict: boolean): Found {
  const fits: Record<FindKey['by'], (one: Employee) => boolean> = {
    reference: (one) => strict && key.by === 'reference' && one.reference === key.value,
    number: (one) => key.by === 'number' && one.number === key.value,
    email: (one) => key.by === 'email' && one.fields['email'] === key.value,
    person: () => false,
  };
  const refs = employees.filter(fits[key.by]).map(refOf);
  const [first, ...others] = refs;
  if (first === undefined) return { kind: 'none', trusted: key.by === 'reference' ? strict : key.by !== 'person' };
  return others.length === 0 ? { kind: 'one', ref: first, by: key.by } : { kind: 'many', refs, by: key.by };
}

function refOf({ id, number }: Employee): EmployeeRef {
  return { id, number };
}

async function readFrom<T>(
  { faults }: HrisDouble,
  { timeline, random, pause }: HrisWorld,
  process: Process,
  signal: AbortSignal,
  read: () => T,
): Promise<T> {
  await pause(process, 'hris.read/before');
  return new Promise((resolve, reject) => {
    timeline.at(timeline.now() + 1 + random() * 30, () => {
      const failed = random() < faults.read || signal.aborted;
      const value = failed ? undefined : read();
      process.later(1 + random() * 30, () => (failed ? reject(unreachable()) : resolve(value as T)));
    });
  });
}

/**
 * From the first byte on the write is the HRIS's. It carries the guard's bound, as the sql adapter's statement does.
 */
async function writeTo<T>(
  { faults }: HrisDouble,
  { timeline, random, pause }: HrisWorld,
  process: Process,
  write: WriteOptions,
  execute: () => T,
): Promise<T> {
  await pause(process, 'hris.write/before');
  write.beforeSend();
  const endsAt = timeline.now() + (write.remainingMs?.() ?? GIVE_UP_MS);
  const drawn = random();
  const notDone = drawn < faults.before;
  const lost = drawn < faults.before + faults.answerLost;
  const late = !lost && drawn < faults.before + faults.answerLost + faults.late;
  return new Promise((resolve, reject) => {
    const givesUp = process.later(GIVE_UP_MS, () => reject(noAnswer()));
    timeline.at(timeline.now() + (late ? GIVE_UP_MS + random() * 10_000 : 1 + random() * 40), () => {
      const outcome = notDone || timeline.now() >= endsAt ? { error: unreachable() } : attempt(execute);
      if (late || (lost && !notDone)) return;
      process.later(1 + random() * 40, () => {
        givesUp();
        if ('error' in outcome) reject(outcome.error as Error);
        else resolve(outcome.value);
      });
    });
  });
}

function attempt<T>(execute: () => T): { value: T } | { error: unknown } {
  try {
    return { value: execute() };
  } catch (error) {
    return { error };
  }
}

function unreachable(): ConnectorError {
  return new ConnectorError({ code: 'HRIS_UNREACHABLE', action: 'retry', message: 'The HRIS is away for a moment.' });
}

function noAnswer(): ConnectorError {
  return new ConnectorError({ code: 'HRIS_NO_ANSWER', action: 'unknown', message: 'No answer came from the HRIS.' });
}

function alreadyExists(): ConnectorError {
  return new ConnectorError({ code: 'ALREADY_EXISTS', action: 'ignore', message: 'The reference is taken.' });
}
