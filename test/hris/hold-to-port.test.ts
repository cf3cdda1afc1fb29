import { expect, test, vi } from 'vitest';
import { ConnectorError } from '../../src/errors.ts';
import type { Employees, HrisConnection } from '../../src/hris/port.ts';
import { holdToPort } from '../../src/hris/registry.ts';
import { refusal, signal, write } from './profile.ts';

/** A connection whose adapter does as a stranger's may. */
function connection(employees: Partial<Employees>): HrisConnection {
  const nothing = async () => undefined as never;
  return holdToPort('strange', {
    capabilities: { storesReference: true, readLagMs: 0 },
    employees: { find: nothing, create: nothing, update: nothing, read: nothing, ...employees },
    probe: async () => ({ ok: true }),
    close: async () => undefined,
  });
}

const person = { by: 'email', value: 'ana@example.org' } as const;

test('a plain error before anything left is a retry that names the call and not what it says', async () => {
  const error = Object.assign(new TypeError('ana@example.org is no user'), { code: 'ERR_USER' });
  const { employees } = connection({ find: () => Promise.reject(error) });
  const refused = await refusal(employees.find(person, signal));
  expect(refused).toMatchObject({ code: 'HRIS_ADAPTER_FAULT', action: 'retry' });
  expect(refused.message).toMatch(/strange: employees\.find threw TypeError ERR_USER.*tried again/);
  expect(refused.message).not.toContain('ana@');
  const thrown = await employees.find(person, signal).catch((one: Error) => one.cause as Error);
  const { message, stack } = thrown as Error;
  expect(message).toBe('TypeError ERR_USER');
  expect(stack).not.toContain('ana@');
  expect(stack).toContain('hold-to-port.test.ts');
});

test('what an adapter forgot to wait for does not leave once its call was answered for', async () => {
  const permit = Promise.withResolvers<undefined>();
  const left: string[] = [];
  let forgotten: Promise<void> | undefined;
  const { employees } = connection({
    create: async (_fields, _reference, { beforeSend }) => {
      forgotten = permit.promise.then(() => {
        beforeSend();
        left.push('create');
      });
      return undefined as never;
    },
  });
  expect(await refusal(employees.create({}, '1:1', write))).toMatchObject({ action: 'retry' });
  permit.resolve(undefined);
  await expect(forgotten).rejects.toMatchObject({ code: 'HRIS_ADAPTER_FAULT' });
  expect(left).toEqual([]);
});

test('an error thrown at once, by no promise, is the same', async () => {
  const { employees } = connection({
    find: () => {
      throw 'no';
    },
  });
  expect(await refusal(employees.find(person, signal))).toMatchObject({ code: 'HRIS_ADAPTER_FAULT', action: 'retry' });
});

test('a plain error after a write left says that nothing is known of it', async () => {
  const { employees } = connection({
    async create(_fields, _reference, { beforeSend }) {
      beforeSend();
      throw new Error('boom');
    },
  });
  const refused = await refusal(employees.create({}, '17:1', write));
  expect(refused).toMatchObject({ code: 'HRIS_ADAPTER_FAULT', action: 'unknown' });
  expect(refused.message).toMatch(/employees\.create threw Error.*may have arrived/);
});

test('no answer where one is due is a fault, and where none is due it is the answer', async () => {
  const { employees } = connection({});
  expect((await refusal(employees.find(person, signal))).message).toContain('employees.find gave no answer');
  expect(await employees.read('1', signal)).toBeUndefined();
  await expect(employees.update('1', {}, write)).resolves.toBeUndefined();
});

test('a call that goes on after it was stopped is given up, by what may have left', async () => {
  vi.useFakeTimers();
  try {
    const never = new Promise<never>(() => undefined);
    const { employees } = connection({
      find: () => never,
      async create(_fields, _reference, { beforeSend }) {
        beforeSend();
        return never;
      },
    });
    const stop = new AbortController();
    const refused = Promise.all([
      refusal(employees.find(person, stop.signal)),
      refusal(employees.create({}, '17:1', { ...write, signal: stop.signal })),
    ]);
    stop.abort();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await refused).toMatchObject([
      { code: 'HRIS_ADAPTER_FAULT', action: 'retry' },
      { code: 'HRIS_ADAPTER_FAULT', action: 'unknown' },
    ]);
  } finally {
    vi.useRealTimers();
  }
});

test('what beforeSend throws, and what the adapter knows, come out unchanged', async () => {
  const late = new Error('the deadline has passed');
  const known = new ConnectorError({ code: 'STALE', action: 'retry', message: 'Somebody was faster.' });
  const { employees } = connection({
    create: async (_fields, _reference, { beforeSend }) => beforeSend() as never,
    update: () => Promise.reject(known),
  });
  const beforeSend = () => {
    throw late;
  };
  await expect(employees.create({}, '17:1', { ...write, beforeSend })).rejects.toBe(late);
  await expect(employees.update('1', {}, write)).rejects.toBe(known);
});

test('members of a class keep their object, and what is not offered stays away', async () => {
  class Kept implements Pick<Employees, 'find'> {
    readonly found = { kind: 'none', trusted: true } as const;
    async find() {
      return this.found;
    }
  }
  const hris = holdToPort('strange', { ...connection({}), employees: new Kept() as unknown as Employees });
  expect(await hris.employees.find(person, signal)).toEqual({ kind: 'none', trusted: true });
  expect([hris.employees.rehire, hris.changes, hris.describe]).toEqual([undefined, undefined, undefined]);
});
