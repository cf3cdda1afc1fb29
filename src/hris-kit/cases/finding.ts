import type { EmployeeFields } from '../../hire/hire.ts';
import {
  emailOf,
  employ,
  eventually,
  expectFit,
  expectFound,
  type HrisCase,
  type HrisUnderTest,
  keyOf,
  offers,
  power,
  referenceOf,
  shown,
  signal,
  write,
} from '../hris-under-test.ts';

/** How people are looked up, and what an empty result proves. */
export const finding: readonly HrisCase[] = [
  { name: 'the probe finds that it works', run: probes },
  { name: 'find by reference', needs: ['reference'], run: findsByReference },
  { name: 'find by number', needs: ['numbers', 'byNumber'], run: findsByNumber },
  { name: 'find by e-mail', needs: ['emails'], run: findsByEmail },
  { name: 'find by name and birth date', needs: ['persons'], run: findsPerson },
  { name: 'find by name where one side has no birth date', needs: ['names'], run: findsNamesakes },
  { name: 'who is yet to begin is found, and is no former employee', run: findsBeginners },
  { name: 'an e-mail in other case is the same e-mail', needs: ['emails'], run: foldsEmail },
  { name: 'who is not there is "none", trusted where the filter can prove it', run: findsNobody },
  { name: 'an e-mail beyond ASCII that is not found proves nothing', needs: ['emails'], run: doubtsLetters },
];

async function probes({ adapter }: HrisUnderTest): Promise<void> {
  const probed = await adapter.probe(signal);
  if (!probed.ok) throw probed.error;
}

async function findsByReference(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'by-reference');
  const key = { by: 'reference', value: referenceOf(hris, 'by-reference') } as const;
  await expectFound(hris, key, ref);
  // Without it, a record behind the same id is taken for somebody else's, and nothing is written there.
  if (hris.adapter.capabilities.mayHideReference === true) return;
  const told = async (): Promise<unknown> => (await hris.adapter.employees.read(ref.id, signal))?.reference;
  await eventually(told, key.value, shown(hris), 'the reference that a read shows');
}

/** Most people are hired before their first day, and many systems show only who is at work today. */
async function findsBeginners(hris: HrisUnderTest): Promise<void> {
  // Some systems have no first day.
  if (hris.profile.employee('beginner')['startDate'] === undefined) return;
  const startDate = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const ref = await employ(hris, 'beginner', { startDate });
  const key = keyOf(hris, 'beginner');
  if (key !== undefined) await expectFound(hris, key, ref, 'who is found before the first day');
  const told = async (): Promise<unknown> => (await hris.adapter.employees.read(ref.id, signal))?.former ?? false;
  await eventually(told, false, shown(hris), 'whether somebody yet to begin is a former employee');
}

async function findsByNumber(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'by-number');
  await expectFound(hris, { by: 'number', value: ref.number ?? '' }, ref);
}

async function findsByEmail(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'by-email');
  await expectFound(hris, { by: 'email', value: emailOf(hris, 'by-email') }, ref);
}

async function findsPerson(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'person');
  const { birthDate, ...named } = hris.profile.employee('person');
  const { givenName, familyName } = partsOf(named);
  const person = {
    by: 'person',
    givenName: String(givenName).toUpperCase(),
    familyName: ` ${String(familyName).toLowerCase().replace(' ', '  ')} `,
    birthDate: String(birthDate),
  } as const;
  await expectFound(hris, person, ref);
}

async function findsNamesakes(hris: HrisUnderTest): Promise<void> {
  const { profile, adapter } = hris;
  const fields = profile.employee('namesake', profile.findsPersons ? { birthDate: null } : {});
  const ref = await employ(hris, 'namesake', fields);
  const [givenName, familyName] = [String(fields['givenName']), String(fields['familyName'])];
  const { name = `${givenName} ${familyName}` } = fields;
  const key = {
    by: 'name',
    fullName: String(name).toUpperCase(),
    ...(fields['name'] === undefined && { parts: { givenName: givenName.toUpperCase(), familyName } }),
  } as const;
  for (const born of [{}, { birthDate: '1990-05-17' }]) await expectFound(hris, { ...key, ...born }, ref);
  await adapter.employees.update(ref.id, profile.findsPersons ? { birthDate: '1990-05-17' } : {}, write);
  if (!profile.findsPersons) return;
  const other = { ...key, birthDate: '1980-01-01' };
  const nobody = { kind: 'none', trusted: false };
  await eventually(() => adapter.employees.find(other, signal), nobody, shown(hris), 'who is found');
}

/** A system whose search depends on case may miss somebody, so its empty result must not be trusted. */
async function foldsEmail(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'Mixed.Case');
  const value = emailOf(hris, 'Mixed.Case').replaceAll(/[a-z]+|[A-Z]+/g, otherCase);
  const found = await hris.adapter.employees.find({ by: 'email', value }, signal);
  if (hris.profile.foldsCase === false && found.kind === 'none')
    return expectFit(found, { kind: 'none', trusted: false }, 'who is found');
  await expectFound(hris, { by: 'email', value }, ref);
}

/** Some systems have a single name field. */
function partsOf({ name, givenName, familyName }: EmployeeFields): { givenName: unknown; familyName: unknown } {
  if (typeof name !== 'string') return { givenName, familyName };
  const [first = '', ...others] = name.split(' ');
  return { givenName: first, familyName: others.join(' ') };
}

function otherCase(letters: string): string {
  return letters === letters.toLowerCase() ? letters.toUpperCase() : letters.toLowerCase();
}

async function findsNobody(hris: HrisUnderTest): Promise<void> {
  const { employees } = hris.adapter;
  const { provesNothing = [] } = hris.profile;
  const knows = {
    reference: offers(hris, 'reference'),
    number: offers(hris, 'numbers'),
    email: offers(hris, 'emails'),
    person: offers(hris, 'persons'),
  };
  for (const key of [
    { by: 'reference', value: '17:404' },
    { by: 'number', value: '999999' },
    { by: 'email', value: 'nobody@example.org' },
    { by: 'person', givenName: 'No', familyName: 'Body', birthDate: '1990-05-17' },
  ] as const) {
    const trusted = knows[key.by] && !provesNothing.includes(key.by);
    // If the system has no numbers, nobody has this one: either value of `trusted` is right.
    const expected = key.by === 'number' && !knows.number ? {} : { trusted };
    expectFit(await employees.find(key, signal), { kind: 'none', ...expected }, `who is found by ${key.by}`);
  }
  expectFit(await employees.read('999999', signal), undefined, 'the employee of an unknown id');
  expectFit(await employees.read("x' or '1'='1", signal), undefined, 'the employee of a hostile id');
}

/** Not every database folds the case of every letter; an adapter that compares text itself may be sure. */
async function doubtsLetters({ adapter, profile }: HrisUnderTest): Promise<void> {
  const { foldsEveryLetter, provesNothing = [] } = profile;
  const trusted = provesNothing.includes('email') ? false : foldsEveryLetter;
  expectFit(
    await adapter.employees.find({ by: 'email', value: 'żółć@example.org' }, signal),
    { kind: 'none', ...(trusted === undefined ? {} : { trusted }) },
    'who is found',
  );
}

/** Only for definitions with a list of everybody. */
export const listing: readonly HrisCase[] = [
  { name: 'the list of everybody is whole, and stays so when somebody is made', run: listsEverybody },
];

/** A list of the newest, or of a few, would show each test employee and leave out who was made long ago. */
async function listsEverybody(hris: HrisUnderTest): Promise<void> {
  const list = power(hris, 'everybody');
  const before = await list();
  const ref = await employ(hris, 'listed');
  const has = async (): Promise<boolean> => (await list()).includes(ref.id);
  await eventually(has, true, shown(hris), 'whether the list of everybody has who was just made');
  const now = new Set(await list());
  const gone = before.filter((id) => !now.has(id));
  expectFit(gone.length, 0, 'the number of people whom the list of everybody lost when somebody was made');
}
