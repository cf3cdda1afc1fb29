import { AssertionError } from 'node:assert';
import { isConnectorError } from '../../errors.ts';
import {
  create,
  emailOf,
  employ,
  eventually,
  expectFit,
  expectFound,
  type HrisCase,
  type HrisUnderTest,
  keptOf,
  offers,
  power,
  referenceOf,
  refusal,
  settled,
  shown,
  signal,
  write,
} from '../hris-under-test.ts';

/** What is written, and what is refused before anything is written. */
export const writing: readonly HrisCase[] = [
  { name: 'create: an id, a number of the HRIS, and every field as it was sent', run: creates },
  { name: 'create again with the same key', needs: ['reference'], run: createsAgain },
  { name: 'a second person with the same address takes nobody over', run: createsNamesake },
  { name: 'two connections create 20 people at once', run: createsAtOnce },
  { name: 'two concurrent creates of one key', needs: ['reference', 'uniqueReference'], run: createsOnce },
  { name: 'hostile strings come back unchanged, or are refused', run: keepsHostileTexts },
  { name: 'a payload of 400 fields', needs: ['wide'], run: writesManyFields },
  { name: 'bad values are refused by field, without the value', needs: ['required'], run: refusesBadValues },
  { name: 'an update writes only the fields given, twice as well as once', run: updates },
  { name: 'a field that is emptied is empty', needs: ['empties'], run: empties },
  { name: 'an update of nobody is refused', run: refusesNobody },
  { name: 'when beforeSend throws, nothing is written', run: stopsBeforeSend },
  { name: 'an aborted create is a retry when nothing was sent', run: retriesAborted },
  { name: 'custom fields are discovered, written and read back', needs: ['describe', 'custom'], run: findsCustomField },
  { name: 'stale version: an edit between read and write is not overwritten', needs: ['staleUpdate'], run: isStale },
];

async function creates(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'readback');
  if (hris.profile.number !== undefined) expectFit(ref.number, hris.profile.number, 'the number');
  const fields = hris.profile.employee('readback');
  await eventually(() => hris.adapter.employees.read(ref.id, signal), { ref, fields }, shown(hris), 'the employee');
}

async function createsAgain(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'again');
  const before = await hris.count();
  const again = await refusal(create(hris, 'again', { on: hris.second }));
  expectFit(again, { code: 'ALREADY_EXISTS', action: 'ignore', details: { ...ref } }, 'the second create');
  expectFit(await hris.count(), before, 'the number of employees');
}

/** Some systems take a create for an update of whoever has the address: that employee would be lost. */
async function createsNamesake(hris: HrisUnderTest): Promise<void> {
  const { adapter, profile } = hris;
  const ref = await employ(hris, 'shared');
  const second = adapter.employees
    .create(profile.employee('shared'), referenceOf(hris, 'shared-too'), write)
    .then((result) => settled(hris, adapter, result));
  // Whoever refuses a second one has lost nobody.
  const other = await second.catch((error: unknown) => {
    if (isConnectorError(error) && error.action !== 'unknown') return undefined;
    throw error;
  });
  if (other !== undefined) expectFit(other.id === ref.id, false, 'that the id of the second one is that of the first');
  const expected = keptOf(hris, 'shared');
  await eventually(() => adapter.employees.read(ref.id, signal), expected, shown(hris), 'the employee');
}

async function createsAtOnce(hris: HrisUnderTest): Promise<void> {
  const before = await hris.count();
  const refs = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const on = i % 2 === 0 ? hris.second : hris.adapter;
      return settled(hris, on, await create(hris, `burst-${i}`, { on }));
    }),
  );
  expectFit(new Set(refs.map((ref) => ref.id)).size, 20, 'the number of ids');
  if (offers(hris, 'numbers')) expectFit(new Set(refs.map((ref) => ref.number)).size, 20, 'the number of numbers');
  expectFit(await hris.count(), before + 20, 'the number of employees');
}

async function createsOnce(hris: HrisUnderTest): Promise<void> {
  const before = await hris.count();
  const all = await Promise.allSettled(
    [hris.adapter, hris.second, hris.adapter, hris.second].map((on) => create(hris, 'race', { on })),
  );
  const made = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refused = all.flatMap((one) => (one.status === 'rejected' ? [(one.reason as { code: string }).code] : []));
  const [first] = made;
  // A repeated create of a pending one returns the same request, or says that it exists.
  expectFit(made, Array(first?.kind === 'pending' ? made.length : 1).fill(first), 'the creates that succeeded');
  expectFit(refused, Array(4 - made.length).fill('ALREADY_EXISTS'), 'the others');
  if (first?.kind === 'pending') await settled(hris, hris.adapter, first);
  expectFit(await hris.count(), before + 1, 'the number of employees');
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
  const tag = what.replaceAll(' ', '-');
  const creating = employ(hris, tag, { [nameField]: text });
  if (refuses.includes(what)) {
    const refused = await refusal(creating);
    expectFit(refused, { code: 'INVALID_VALUE', details: { [nameField]: /./ } }, `the refusal of ${what}`);
    return;
  }
  const ref = await creating;
  const readName = async () => (await employees.read(ref.id, signal))?.fields[nameField];
  await eventually(readName, text, shown(hris), `a name with ${what}`);
  if (!offers(hris, 'persons') || nameField === 'name') return;
  const { givenName, birthDate } = hris.profile.employee(tag);
  const [given, born] = [String(givenName), String(birthDate)];
  const person = { by: 'person', givenName: given, familyName: text, birthDate: born } as const;
  await expectFound(hris, person, ref, `who is found by ${what}`);
}

async function writesManyFields(hris: HrisUnderTest): Promise<void> {
  const { adapter, fields } = await power(hris, 'wide')();
  try {
    const sent = hris.profile.employee('wide', fields);
    if (Object.keys(sent).length < 400) throw new Error('expected 400 fields');
    const ref = await settled(hris, adapter, await create(hris, 'wide', { on: adapter, fields }));
    await eventually(() => adapter.employees.read(ref.id, signal), { ref, fields: sent }, shown(hris), 'the employee');
  } finally {
    await adapter.close();
  }
}

async function refusesBadValues(hris: HrisUnderTest): Promise<void> {
  const { missing, nameField, employee } = hris.profile;
  const before = await hris.count();
  const refused = (tag: string, fields: Parameters<typeof employee>[1] = {}) => refusal(create(hris, tag, { fields }));
  const empty = await refused('missing', missing);
  const details = Object.fromEntries(Object.keys(missing).map((key) => [key, /./]));
  expectFit(empty, { code: 'MISSING_FIELD', action: 'reject', details }, 'the refusal of a missing field');
  const zero = await refused('zero', { [nameField]: 'a\0b' });
  expectFit(
    zero,
    { code: 'INVALID_VALUE', action: 'reject', details: { [nameField]: /./ } },
    'the refusal of a NUL character',
  );
  const unknown = await refused('unknown', { shoeSize: '44' });
  expectFit(unknown, { action: 'reject', details: { shoeSize: /./ } }, 'the refusal of an unknown field');
  const name = String(employee('missing')[nameField]).split(' ')[0] ?? '';
  for (const one of [empty, zero, unknown])
    for (const value of [name, 'example.org', '44', 'a\\u0000b'])
      if (JSON.stringify(one).includes(value)) throw new AssertionError({ message: 'a refusal shows a value' });
  expectFit(await hris.count(), before, 'the number of employees');
}

async function updates(hris: HrisUnderTest): Promise<void> {
  const { edit, employee } = hris.profile;
  const ref = await employ(hris, 'update');
  await hris.adapter.employees.update(ref.id, edit, write);
  await hris.adapter.employees.update(ref.id, edit, write);
  const expected = { ref, fields: { ...employee('update'), ...edit }, ...keptOf(hris, 'update') };
  await eventually(() => hris.adapter.employees.read(ref.id, signal), expected, shown(hris), 'the employee');
}

/** Many take null for "unchanged": what HR empties would stay. */
async function empties(hris: HrisUnderTest): Promise<void> {
  const { employees } = hris.adapter;
  const ref = await employ(hris, 'emptied', hris.profile.edit);
  const [key = ''] = Object.keys(hris.profile.edit);
  const refused = await employees.update(ref.id, { [key]: null }, write).catch((error: unknown) => error);
  // A required field cannot be emptied.
  if (isConnectorError(refused) && refused.action === 'reject') return;
  if (refused !== undefined) throw refused;
  const value = async (): Promise<unknown> => (await employees.read(ref.id, signal))?.fields[key] ?? '';
  await eventually(value, '', shown(hris), `${key} after it was emptied`);
}

async function refusesNobody({ adapter, profile }: HrisUnderTest): Promise<void> {
  const refused = await refusal(adapter.employees.update('999999', profile.edit, write));
  expectFit(refused, { code: 'EMPLOYEE_NOT_FOUND', action: 'reject' }, 'the refusal');
}

async function stopsBeforeSend(hris: HrisUnderTest): Promise<void> {
  const before = await hris.count();
  const late = new Error('the deadline has passed');
  const beforeSend = () => {
    throw late;
  };
  const stopped: unknown = await create(hris, 'stopped', { options: { beforeSend } }).catch((error: unknown) => error);
  expectFit(stopped === late, true, 'that the error came out unchanged');
  expectFit(await hris.count(), before, 'the number of employees');
}

async function retriesAborted(hris: HrisUnderTest): Promise<void> {
  const before = await hris.count();
  const aborted = await refusal(create(hris, 'aborted', { options: { signal: AbortSignal.abort() } }));
  expectFit(aborted, { code: 'STOPPED', action: 'retry' }, 'the refusal');
  expectFit(await hris.count(), before, 'the number of employees');
}

async function findsCustomField(hris: HrisUnderTest): Promise<void> {
  const { key, label, value } = power(hris, 'custom');
  const described = await hris.adapter.describe?.('employee', signal);
  const field = described?.find((one) => one.key === key);
  expectFit(field, { label, isField: true }, `the field ${key}`);
  const shut = described?.filter(({ options }) => options?.length === 0).map((one) => one.key);
  expectFit(shut, [], 'fields that would accept nothing');
  const ref = await employ(hris, 'custom', { [key]: value });
  const readValue = async () => (await hris.adapter.employees.read(ref.id, signal))?.fields[key];
  await eventually(readValue, value, shown(hris), key);
}

async function isStale(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'stale');
  const refused = await refusal(power(hris, 'staleUpdate')(ref.id));
  expectFit(refused, { code: 'STALE', action: 'retry' }, 'the refusal');
  await hris.adapter.employees.update(ref.id, hris.profile.edit, write);
  expectFit(await hris.adapter.employees.read(ref.id, signal), { fields: hris.profile.edit }, 'the employee');
}

/** Creates that somebody on the HRIS's side finishes. */
export const pending: readonly HrisCase[] = [
  { name: 'pending, resolved later', needs: ['pending', 'finished'], run: resolves },
  { name: 'pending, rejected later', needs: ['pending', 'job'], run: isRejected },
  {
    name: 'pending, rejected later, and created once corrected',
    needs: ['pending', 'job'],
    run: isCorrected,
  },
  { name: 'pending, never resolved', needs: ['pending', 'job'], run: neverResolves },
];

async function begin(hris: HrisUnderTest, tag: string): Promise<string> {
  const result = await create(hris, tag);
  if (result.kind !== 'pending') throw new Error('expected a pending create');
  if (result.nextCheckMs <= 0) throw new Error('a pending create must say when to ask again');
  return result.ticket;
}

/** Either connection may ask: the pending create is stored in the HRIS, not in our process. */
async function resolves(hris: HrisUnderTest): Promise<void> {
  const ticket = await begin(hris, 'resolved');
  const asked = await hris.adapter.pending?.resolve(ticket, signal);
  if (offers(hris, 'job')) expectFit(asked, { kind: 'pending', ticket }, 'what became of it');
  const ref = await settled(hris, hris.second, { kind: 'pending', ticket, nextCheckMs: 0 });
  if (hris.profile.number !== undefined) expectFit(ref.number, hris.profile.number, 'the number');
}

async function isRejected(hris: HrisUnderTest): Promise<void> {
  await refuse(hris, await begin(hris, 'rejected'));
  if (!offers(hris, 'reference')) return;
  const found = await hris.second.employees.find({ by: 'reference', value: referenceOf(hris, 'rejected') }, signal);
  expectFit(found, { kind: 'none', trusted: true }, 'who is found');
}

async function refuse(hris: HrisUnderTest, ticket: string): Promise<void> {
  await power(hris, 'job').refuse(ticket);
  const refused = await refusal(Promise.resolve(hris.adapter.pending?.resolve(ticket, signal)));
  expectFit(refused, { code: 'HIRE_REJECTED', action: 'reject' }, 'the refusal');
}

async function isCorrected(hris: HrisUnderTest): Promise<void> {
  const { adapter, profile } = hris;
  await refuse(hris, await begin(hris, 'corrected'));
  const fields = profile.employee('corrected', profile.edit);
  const again = await create(hris, 'corrected', { fields: profile.edit });
  const waiting = again.kind === 'pending' ? again.ticket : '';
  expectFit(await hris.second.pending?.resolve(waiting, signal), { kind: 'pending' }, 'what became of it');
  const ref = await settled(hris, adapter, again);
  expectFit(await adapter.employees.read(ref.id, signal), { ref, fields }, 'the employee');
  if (!offers(hris, 'emails')) return;
  const found = await adapter.employees.find({ by: 'email', value: emailOf(hris, 'corrected') }, signal);
  expectFit(found, { kind: 'one', ref, by: 'email' }, 'who is found');
}

async function neverResolves(hris: HrisUnderTest): Promise<void> {
  const ticket = await begin(hris, 'never');
  for (let n = 0; n < 3; n += 1)
    expectFit(await hris.second.pending?.resolve(ticket, signal), { kind: 'pending', ticket }, 'what became of it');
}
