import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { created, type HrisProfile, type HrisUnderTest, refusal, signal, write } from './profile.ts';

/** What every adapter owes, whatever stands behind it. `start` gives a fresh HRIS. */
export function describeHris(name: string, start: () => Promise<HrisUnderTest>): void {
  describe(`${name} keeps the port's promises`, () => {
    let hris: HrisUnderTest;
    let employee: HrisProfile['employee'];
    beforeAll(async () => {
      hris = await start();
      ({ employee } = hris.profile);
    });
    afterAll(() => hris.stop());

    /** Reads show a write no later than the adapter says. */
    const shown = (): { interval: number; timeout: number } => ({
      interval: 20,
      timeout: hris.adapter.capabilities.readLagMs + 2_000,
    });

    test('the probe finds that it works', async () => {
      expect(await hris.adapter.probe(signal)).toMatchObject({ ok: true });
    });

    test('a created employee has an id and a number of the HRIS, and reads back as it was sent', async () => {
      const sent = employee('readback');
      const ref = created(await hris.adapter.employees.create(sent, '17:1', write));
      expect(ref.number).toMatch(hris.profile.number);
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
      if (!hris.profile.findsPersons) return;
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
      const proves = { reference: storesReference, number: true, email: true, person: hris.profile.findsPersons };
      for (const key of [
        { by: 'reference', value: '17:404' },
        { by: 'number', value: '999999' },
        { by: 'email', value: 'nobody@example.org' },
        { by: 'person', givenName: 'No', familyName: 'Body', birthDate: '1990-05-17' },
      ] as const) {
        expect(await hris.adapter.employees.find(key, signal)).toEqual({
          kind: 'none',
          trusted: proves[key.by],
        });
      }
      expect(await hris.adapter.employees.read('999999', signal)).toBeUndefined();
      expect(await hris.adapter.employees.read("x' or '1'='1", signal)).toBeUndefined();
    });

    test('an e-mail beyond ASCII that is not found proves nothing, unless every letter is compared here', async () => {
      expect(await hris.adapter.employees.find({ by: 'email', value: 'żółć@example.org' }, signal)).toEqual({
        kind: 'none',
        trusted: hris.profile.foldsEveryLetter,
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
    ])('%s in a name come back unchanged, or are refused', async (what, text) => {
      const sent = employee(what.replaceAll(' ', '-'), { [hris.profile.nameField]: text });
      const creating = hris.adapter.employees.create(sent, `17:hostile:${what}`, write);
      if (hris.profile.refuses.includes(what)) {
        const details = { [hris.profile.nameField]: expect.any(String) };
        expect(await refusal(creating)).toMatchObject({ code: 'INVALID_VALUE', details });
        return;
      }
      const ref = created(await creating);
      await expect
        .poll(async () => (await hris.adapter.employees.read(ref.id, signal))?.fields[hris.profile.nameField], shown())
        .toBe(text);
      if (!hris.profile.findsPersons) return;
      const person = { by: 'person', givenName: 'Ana', familyName: text, birthDate: '1990-05-17' } as const;
      expect(await hris.adapter.employees.find(person, signal)).toEqual({ kind: 'one', ref, by: 'person' });
    });

    test('bad values are refused by field, without the value, and nothing is written', async () => {
      const before = await hris.count();
      const missing = await refusal(
        hris.adapter.employees.create(employee('missing', hris.profile.missing), '17:4', write),
      );
      expect(missing).toMatchObject({
        code: 'MISSING_FIELD',
        action: 'reject',
        details: Object.fromEntries(Object.keys(hris.profile.missing).map((key) => [key, expect.any(String)])),
      });
      const zero = await refusal(
        hris.adapter.employees.create(employee('zero', { [hris.profile.nameField]: 'a\0b' }), '17:4', write),
      );
      expect(zero).toMatchObject({
        code: 'INVALID_VALUE',
        action: 'reject',
        details: { [hris.profile.nameField]: expect.any(String) },
      });
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
      await hris.adapter.employees.update(ref.id, hris.profile.edit, write);
      await hris.adapter.employees.update(ref.id, hris.profile.edit, write);
      await expect
        .poll(() => hris.adapter.employees.read(ref.id, signal), shown())
        .toMatchObject({ ref, fields: { ...sent, ...hris.profile.edit } });
    });

    test('an update of nobody is refused', async () => {
      expect(await refusal(hris.adapter.employees.update('999999', hris.profile.edit, write))).toMatchObject({
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
