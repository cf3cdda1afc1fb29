import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isConnectorError } from '../../src/errors.ts';
import type { EmployeeFields, EmployeeRef } from '../../src/hire/employee.ts';
import type { CreateResult, HrisConnection, WriteOptions } from '../../src/hris/port.ts';

/** One real HRIS with two connections of its own, as two workers have. */
export interface HrisUnderTest {
  adapter: HrisConnection;
  second: HrisConnection;
  /** Employees in the HRIS's own table, whatever its reads show. */
  count(): Promise<number>;
  stop(): Promise<void>;
}

export const signal = AbortSignal.timeout(600_000);
export const write: WriteOptions = { signal, beforeSend: () => undefined, remainingMs: () => 5_000 };

/** A complete employee; the e-mail and name are the tag's own, so that tests share a table without meeting. */
export function employee(tag: string, changes: EmployeeFields = {}): EmployeeFields {
  return {
    givenName: 'Ana',
    familyName: `Reyes ${tag}`,
    email: `${tag}@example.org`,
    title: 'Cook',
    startDate: '2026-02-01',
    birthDate: '1990-05-17',
    ...changes,
  };
}

/** The new employee; a pending create would fail the test. */
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

/** What every adapter owes, whatever stands behind it. `start` gives a fresh HRIS. */
export function describeHris(name: string, start: () => Promise<HrisUnderTest>): void {
  describe(`${name} keeps the port's promises`, () => {
    let hris: HrisUnderTest;
    beforeAll(async () => {
      hris = await start();
    });
    afterAll(() => hris.stop());

    /** Reads show a write no later than the adapter says. */
    const shown = (): { interval: number; timeout: number } => ({
      interval: 20,
      timeout: hris.adapter.capabilities.readLagMs + 2_000,
    });

    test('the probe finds table, columns and the right to insert', async () => {
      expect(await hris.adapter.probe(signal)).toMatchObject({ ok: true });
    });

    test('a created employee has an id and a number of the HRIS, and reads back as it was sent', async () => {
      const sent = employee('readback');
      const ref = created(await hris.adapter.employees.create(sent, '17:1', write));
      expect(ref.number).toMatch(/^0\d{5}$/);
      await expect
        .poll(() => hris.adapter.employees.read(ref.id, signal), shown())
        .toMatchObject({ ref, fields: sent });
    });

    test('a created employee is found by number, e-mail and person', async () => {
      const sent = employee('found');
      const ref = created(await hris.adapter.employees.create(sent, '17:2', write));
      await expect
        .poll(() => hris.adapter.employees.find({ by: 'number', value: ref.number ?? '' }, signal), shown())
        .toEqual({
          kind: 'one',
          ref,
          by: 'number',
        });
      expect(await hris.adapter.employees.find({ by: 'email', value: 'found@example.org' }, signal)).toEqual({
        kind: 'one',
        ref,
        by: 'email',
      });
      const person = { by: 'person', givenName: 'ANA', familyName: ' reyes  FOUND ', birthDate: '1990-05-17' } as const;
      expect(await hris.adapter.employees.find(person, signal)).toEqual({ kind: 'one', ref, by: 'person' });
    });

    test('an e-mail in other case is the same e-mail', async () => {
      const ref = created(await hris.adapter.employees.create(employee('Mixed.Case'), '17:3', write));
      await expect
        .poll(() => hris.adapter.employees.find({ by: 'email', value: 'mixed.CASE@Example.org' }, signal), shown())
        .toEqual({
          kind: 'one',
          ref,
          by: 'email',
        });
    });

    test('who is not there is "none", trusted where the filter can prove it', async () => {
      const { storesReference } = hris.adapter.capabilities;
      for (const key of [
        { by: 'reference', value: '17:404' },
        { by: 'number', value: '999999' },
        { by: 'email', value: 'nobody@example.org' },
        { by: 'person', givenName: 'No', familyName: 'Body', birthDate: '1990-05-17' },
      ] as const) {
        expect(await hris.adapter.employees.find(key, signal)).toEqual({
          kind: 'none',
          trusted: key.by !== 'reference' || storesReference,
        });
      }
      expect(await hris.adapter.employees.read('999999', signal)).toBeUndefined();
      expect(await hris.adapter.employees.read("x' or '1'='1", signal)).toBeUndefined();
    });

    test('an e-mail beyond ASCII that is not found proves nothing', async () => {
      expect(await hris.adapter.employees.find({ by: 'email', value: 'żółć@example.org' }, signal)).toEqual({
        kind: 'none',
        trusted: false,
      });
    });

    test.each([
      ['quotes', `O'Brien "Bob" \\ \`tick\``],
      ['SQL', `'); drop table employees; --`],
      ['places of parameters', `$1 \\' $2`],
      ['line breaks', 'first\r\nsecond\tthird'],
      ['a formula', '=1+1'],
      ['right to left', 'مرحبا \u202Eabc'],
      ['emoji and combining marks', '👩🏽‍🍳 e\u0301'],
      ['placeholders', '$1 ? :name %s'],
    ])('%s in a name come back unchanged', async (what, text) => {
      const sent = employee(what.replaceAll(' ', '-'), { familyName: text });
      const ref = created(await hris.adapter.employees.create(sent, `17:hostile:${what}`, write));
      await expect
        .poll(async () => (await hris.adapter.employees.read(ref.id, signal))?.fields['familyName'], shown())
        .toBe(text);
      const person = { by: 'person', givenName: 'Ana', familyName: text, birthDate: '1990-05-17' } as const;
      expect(await hris.adapter.employees.find(person, signal)).toEqual({ kind: 'one', ref, by: 'person' });
    });

    test('bad values are refused by field, without the value, and nothing is written', async () => {
      const before = await hris.count();
      const missing = await refusal(
        hris.adapter.employees.create(employee('missing', { startDate: null }), '17:4', write),
      );
      expect(missing).toMatchObject({
        code: 'MISSING_FIELD',
        action: 'reject',
        details: { startDate: expect.any(String) },
      });
      const zero = await refusal(hris.adapter.employees.create(employee('zero', { title: 'a\0b' }), '17:4', write));
      expect(zero).toMatchObject({ code: 'INVALID_VALUE', action: 'reject', details: { title: expect.any(String) } });
      const unknown = await refusal(
        hris.adapter.employees.create(employee('unknown', { shoeSize: '44' }), '17:4', write),
      );
      expect(unknown).toMatchObject({ action: 'reject', details: { shoeSize: expect.any(String) } });
      for (const one of [missing, zero, unknown])
        expect(JSON.stringify(one)).not.toMatch(/Reyes|example\.org|44|a.{1,6}b"/);
      expect(await hris.count()).toBe(before);
    });

    test('an update writes only the fields given, twice as well as once', async () => {
      const sent = employee('update');
      const ref = created(await hris.adapter.employees.create(sent, '17:5', write));
      await hris.adapter.employees.update(ref.id, { title: 'Chef' }, write);
      await hris.adapter.employees.update(ref.id, { title: 'Chef' }, write);
      await expect
        .poll(() => hris.adapter.employees.read(ref.id, signal), shown())
        .toMatchObject({ ref, fields: { ...sent, title: 'Chef' } });
    });

    test('an update of nobody is refused', async () => {
      expect(await refusal(hris.adapter.employees.update('999999', { title: 'Chef' }, write))).toMatchObject({
        code: 'EMPLOYEE_NOT_FOUND',
        action: 'reject',
      });
    });

    test('when beforeSend throws, its own error comes out and nothing is written', async () => {
      const before = await hris.count();
      const late = new Error('the deadline has passed');
      const stopped = hris.adapter.employees.create(employee('stopped'), '17:6', {
        ...write,
        beforeSend: () => {
          throw late;
        },
      });
      await expect(stopped).rejects.toBe(late);
      expect(await hris.count()).toBe(before);
    });

    test('an aborted create is a retry when nothing was sent', async () => {
      const before = await hris.count();
      const aborted = hris.adapter.employees.create(employee('aborted'), '17:7', {
        ...write,
        signal: AbortSignal.abort(),
      });
      expect(await refusal(aborted)).toMatchObject({ code: 'STOPPED', action: 'retry' });
      expect(await hris.count()).toBe(before);
    });

    test('two connections create at once without losing either', async () => {
      const before = await hris.count();
      const refs = await Promise.all(
        Array.from({ length: 20 }, async (_, i) =>
          created(
            await (i % 2 ? hris.adapter : hris.second).employees.create(employee(`burst-${i}`), `17:burst:${i}`, write),
          ),
        ),
      );
      expect(new Set(refs.map((ref) => ref.number)).size).toBe(20);
      expect(await hris.count()).toBe(before + 20);
    });
  });
}
