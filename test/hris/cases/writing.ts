import { expect } from 'vitest';
import { employ, type HrisCase, type HrisUnderTest, offers, power, settled, shown } from '../hris-case.ts';
import { refusal, signal, write } from '../profile.ts';

/** What is written, and what is refused before anything is. */
export const writing: readonly HrisCase[] = [
  { name: 'create: an id, a number of the HRIS, and every field as it was sent', run: creates },
  { name: 'create again with the same key', needs: ['reference'], run: createsAgain },
  { name: 'two connections create 20 people at once', run: createsAtOnce },
  { name: 'two concurrent creates of one key', needs: ['reference', 'uniqueReference'], run: createsOnce },
  { name: 'hostile strings come back unchanged, or are refused', run: keepsHostileTexts },
  { name: 'a payload of 400 fields', needs: ['wide'], run: writesManyFields },
  { name: 'bad values are refused by field, without the value', run: refusesBadValues },
  { name: 'an update writes only the fields given, twice as well as once', run: updates },
  { name: 'an update of nobody is refused', run: refusesNobody },
  { name: 'when beforeSend throws, nothing is written', run: stopsBeforeSend },
  { name: 'an aborted create is a retry when nothing was sent', run: retriesAborted },
  { name: 'custom fields are discovered, written and read back', needs: ['describe', 'custom'], run: findsCustomField },
  { name: 'stale version: an edit between read and write is not overwritten', needs: ['staleUpdate'], run: isStale },
];

async function creates(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'readback');
  expect(ref.number).toMatch(hris.profile.number);
  await expect
    .poll(() => hris.adapter.employees.read(ref.id, signal), shown(hris))
    .toMatchObject({ ref, fields: hris.profile.employee('readback') });
}

async function createsAgain(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'again');
  const before = await hris.count();
  const again = hris.second.employees.create(hris.profile.employee('again'), '27:again', write);
  expect(await refusal(again)).toMatchObject({ code: 'ALREADY_EXISTS', action: 'ignore', details: { ...ref } });
  expect(await hris.count()).toBe(before);
}

async function createsAtOnce(hris: HrisUnderTest): Promise<void> {
  const before = await hris.count();
  const refs = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const connection = i % 2 === 0 ? hris.second : hris.adapter;
      const fields = hris.profile.employee(`burst-${i}`);
      return settled(hris, connection, await connection.employees.create(fields, `27:burst-${i}`, write));
    }),
  );
  expect(new Set(refs.map((ref) => ref.number)).size).toBe(20);
  expect(await hris.count()).toBe(before + 20);
}

async function createsOnce(hris: HrisUnderTest): Promise<void> {
  const before = await hris.count();
  const fields = hris.profile.employee('race');
  const all = await Promise.allSettled(
    [hris.adapter, hris.second, hris.adapter, hris.second].map((one) => one.employees.create(fields, '27:race', write)),
  );
  const made = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refused = all.flatMap((one) => (one.status === 'rejected' ? [(one.reason as { code: string }).code] : []));
  const [first] = made;
  // Whoever asks again for what is pending is given the same request, or told that it is there.
  expect(made).toEqual(Array(first?.kind === 'pending' ? made.length : 1).fill(first));
  expect(refused).toEqual(Array(4 - made.length).fill('ALREADY_EXISTS'));
  if (first?.kind === 'pending') await settled(hris, hris.adapter, first);
  expect(await hris.count()).toBe(before + 1);
}

const HOSTILE: Readonly<Record<string, string>> = {
  quotes: `O'Brien "Bob" \\ \`tick\``,
  SQL: `'); drop table employees; --`,
  'places of parameters': `$1 \\' $2`,
  'line breaks': 'first\r\nsecond\tthird',
  'a formula': '=1+1',
  'right to left': 'مرحبا \u202Eabc',
  'emoji and combining marks': '👩🏽‍🍳 e\u0301',
  placeholders: '$1 ? :name %s',
};

async function keepsHostileTexts(hris: HrisUnderTest): Promise<void> {
  for (const [what, text] of Object.entries(HOSTILE)) await keepsHostileText(hris, what, text);
}

async function keepsHostileText(hris: HrisUnderTest, what: string, text: string): Promise<void> {
  const { nameField, refuses } = hris.profile;
  const { employees } = hris.adapter;
  const creating = employ(hris, what.replaceAll(' ', '-'), { [nameField]: text });
  if (refuses.includes(what)) {
    const details = { [nameField]: expect.any(String) };
    expect(await refusal(creating)).toMatchObject({ code: 'INVALID_VALUE', details });
    return;
  }
  const ref = await creating;
  const readName = async () => (await employees.read(ref.id, signal))?.fields[nameField];
  await expect.poll(readName, { ...shown(hris), message: what }).toBe(text);
  if (!offers(hris, 'persons')) return;
  const person = { by: 'person', givenName: 'Ana', familyName: text, birthDate: '1990-05-17' } as const;
  expect(await employees.find(person, signal), what).toEqual({ kind: 'one', ref, by: 'person' });
}

async function writesManyFields(hris: HrisUnderTest): Promise<void> {
  const { adapter, fields } = await power(hris, 'wide')();
  try {
    const sent = hris.profile.employee('wide', fields);
    expect(Object.keys(sent).length).toBeGreaterThanOrEqual(400);
    const ref = await settled(hris, adapter, await adapter.employees.create(sent, '27:wide', write));
    await expect.poll(() => adapter.employees.read(ref.id, signal), shown(hris)).toMatchObject({ ref, fields: sent });
  } finally {
    await adapter.close();
  }
}

async function refusesBadValues(hris: HrisUnderTest): Promise<void> {
  const { employee, missing, nameField } = hris.profile;
  const before = await hris.count();
  const refused = (tag: string, changes: Parameters<typeof employee>[1]) =>
    refusal(hris.adapter.employees.create(employee(tag, changes), `27:${tag}`, write));
  const empty = await refused('missing', missing);
  const details = Object.fromEntries(Object.keys(missing).map((key) => [key, expect.any(String)]));
  expect(empty).toMatchObject({ code: 'MISSING_FIELD', action: 'reject', details });
  const zero = await refused('zero', { [nameField]: 'a\0b' });
  const ofName = { [nameField]: expect.any(String) };
  expect(zero).toMatchObject({ code: 'INVALID_VALUE', action: 'reject', details: ofName });
  const unknown = await refused('unknown', { shoeSize: '44' });
  expect(unknown).toMatchObject({ action: 'reject', details: { shoeSize: expect.any(String) } });
  for (const one of [empty, zero, unknown]) expect(JSON.stringify(one)).not.toMatch(/Reyes|example\.org|44|a.{1,6}b"/);
  expect(await hris.count()).toBe(before);
}

async function updates(hris: HrisUnderTest): Promise<void> {
  const { edit, employee } = hris.profile;
  const ref = await employ(hris, 'update');
  await hris.adapter.employees.update(ref.id, edit, write);
  await hris.adapter.employees.update(ref.id, edit, write);
  await expect
    .poll(() => hris.adapter.employees.read(ref.id, signal), shown(hris))
    .toMatchObject({ ref, fields: { ...employee('update'), ...edit } });
}

async function refusesNobody({ adapter, profile }: HrisUnderTest): Promise<void> {
  const refused = await refusal(adapter.employees.update('999999', profile.edit, write));
  expect(refused).toMatchObject({ code: 'EMPLOYEE_NOT_FOUND', action: 'reject' });
}

async function stopsBeforeSend({ adapter, profile, count }: HrisUnderTest): Promise<void> {
  const before = await count();
  const late = new Error('the deadline has passed');
  const beforeSend = () => {
    throw late;
  };
  const stopped = adapter.employees.create(profile.employee('stopped'), '27:stopped', { ...write, beforeSend });
  await expect(stopped).rejects.toBe(late);
  expect(await count()).toBe(before);
}

async function retriesAborted({ adapter, profile, count }: HrisUnderTest): Promise<void> {
  const before = await count();
  const stopped = { ...write, signal: AbortSignal.abort() };
  const aborted = adapter.employees.create(profile.employee('aborted'), '27:aborted', stopped);
  expect(await refusal(aborted)).toMatchObject({ code: 'STOPPED', action: 'retry' });
  expect(await count()).toBe(before);
}

async function findsCustomField(hris: HrisUnderTest): Promise<void> {
  const { key, label, value } = power(hris, 'custom');
  const described = await hris.adapter.describe?.('employee', signal);
  expect(described?.find((field) => field.key === key)).toMatchObject({ label, isField: true });
  const ref = await employ(hris, 'custom', { [key]: value });
  const readValue = async () => (await hris.adapter.employees.read(ref.id, signal))?.fields[key];
  await expect.poll(readValue, shown(hris)).toEqual(value);
}

async function isStale(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'stale');
  const refused = await refusal(power(hris, 'staleUpdate')(ref.id));
  expect(refused).toMatchObject({ code: 'STALE', action: 'retry' });
  await hris.adapter.employees.update(ref.id, hris.profile.edit, write);
  expect(await hris.adapter.employees.read(ref.id, signal)).toMatchObject({ fields: hris.profile.edit });
}
