import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { loadDefinition } from '../../src/hris/http/load-definition.ts';
import { definitionUnderTest } from '../../src/hris-kit/definition-under-test.ts';
import { hrisCells } from '../../src/hris-kit/suite.ts';
import { startKestrel } from './open-kestrel.ts';

/** Habits of HR systems by which somebody is lost or made twice, though each request by itself is answered well. */
type Habit =
  | 'hides who is yet to begin'
  | 'replaces an object as a whole'
  | 'takes a create of a known address for an update'
  | 'ignores null';

const DEFINITION = `hrisDefinition: 1
name: Kestrel
options: { token: { secret: true } }
auth: { bearer: "{options.token}" }
record: { id: id, reference: own.reference, former: status = "left" }
fields:
  givenName: { at: first, required: true }
  familyName: { at: last, required: true }
  email: { at: email }
  startDate: { at: begins, type: date }
  costCenter: { at: own.costCenter }
find:
  reference: { get: /staff, query: { reference: "{value}" }, trusted: true }
  email: { get: /staff, query: { email: "{value | lower}" }, trusted: true }
read: { get: "/staff/{id}" }
create: { post: /staff }
update: { patch: "/staff/{id}" }
terminate: { patch: "/staff/{id}", set: { status: left } }
rehire: { patch: "/staff/{id}", set: { status: active } }
remove: { delete: "/staff/{id}" }
probe: { get: /me }
`;

type Staff = Record<string, unknown> & { own: Record<string, unknown>; begins?: string };

async function startWith(habit?: Habit): Promise<string> {
  const staff = new Map<string, Staff>();
  const folded = (value: unknown): string => String(value).toLowerCase();
  const today = new Date().toISOString().slice(0, 10);
  return startKestrel(async (asked, say) => {
    const sent = await text(asked);
    const body = (sent === '' ? {} : JSON.parse(sent)) as Staff;
    const { pathname, searchParams: query } = new URL(asked.url ?? '/', 'http://kestrel');
    if (pathname === '/me') return say(200, {});
    if (pathname === '/staff' && asked.method === 'GET') {
      const wanted = (one: Staff) =>
        [...query].every(([key, value]) => folded(key === 'reference' ? one.own[key] : one[key]) === folded(value));
      const isShown = (one: Staff) => habit !== 'hides who is yet to begin' || (one.begins ?? '') <= today;
      const found = [...staff.values()].filter((one) => wanted(one) && isShown(one));
      return say(200, found);
    }
    if (pathname === '/staff') {
      const known = [...staff.values()].find((one) => folded(one['email']) === folded(body['email']));
      if (habit === 'takes a create of a known address for an update' && known !== undefined)
        return say(200, Object.assign(known, body));
      const id = String(4_000 + staff.size);
      const made = { ...body, id, status: 'active' };
      staff.set(id, made);
      return say(201, made);
    }
    const one = staff.get(pathname.split('/')[2] ?? '');
    if (one === undefined) return say(404, {});
    if (asked.method === 'DELETE') staff.delete(String(one['id']));
    if (asked.method === 'PATCH')
      for (const [key, value] of Object.entries(body))
        if (key === 'own' && habit !== 'replaces an object as a whole') {
          const given = Object.entries(value as object).filter(([, own]) => habit !== 'ignores null' || own !== null);
          Object.assign(one.own, Object.fromEntries(given));
        } else one[key] = value;
    return say(200, one);
  });
}

async function play(name: string, habit?: Habit): Promise<void> {
  const { definition, problems } = loadDefinition('kestrel.yaml', DEFINITION);
  if (definition === undefined) throw new Error(JSON.stringify(problems));
  const options = { url: await startWith(habit), allowPrivateAddress: true, token: 'x' };
  const hris = definitionUnderTest({ definition, options, values: {} });
  onTestFinished(hris.stop);
  hris.begin();
  const cell = hrisCells(hris).find((one) => one.name === name);
  if (cell === undefined) throw new Error(`there is no case "${name}"`);
  await cell.run();
}

const HABITS: readonly (readonly [habit: Habit, cell: string, told: RegExp])[] = [
  [
    'hides who is yet to begin',
    'who is yet to begin is found, and is no former employee',
    /who is found before the first day/,
  ],
  [
    'replaces an object as a whole',
    'an update writes only the fields given, twice as well as once',
    /the employee\.reference is undefined/,
  ],
  [
    'takes a create of a known address for an update',
    'a second person with the same address takes nobody over',
    /the id of the second one/,
  ],
  ['ignores null', 'a field that is emptied is empty', /costCenter after it was emptied is "Changed"/],
];

test('each habit by which somebody is lost or made twice is found', async () => {
  const played = HABITS.map(async ([habit, cell, told]) => {
    await expect(play(cell)).resolves.toBeUndefined();
    await expect(play(cell, habit)).rejects.toThrow(told);
  });
  await Promise.all(played);
});
