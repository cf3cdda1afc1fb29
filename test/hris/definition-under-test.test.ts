import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { loadDefinition } from '../../src/hris/http/load-definition.ts';
import { definitionUnderTest } from '../../src/hris-kit/definition-under-test.ts';
import { hrisCells } from '../../src/hris-kit/suite.ts';
import { startKestrel } from './open-kestrel.ts';

const READ_LAG_MS = 300;
const DEFINITION = `hrisDefinition: 1
name: Kestrel
readLag: ${READ_LAG_MS}ms
options: { token: { secret: true } }
auth: { bearer: "{options.token}" }
record: { id: id, reference: reference, former: left }
fields:
  givenName: { at: first, required: true }
  familyName: { at: last, required: true }
  email: { at: email }
  title: { at: title }
  birthDate: { at: born, type: date }
find:
  reference: { post: /search, body: { reference: "{value}" }, trusted: true }
  email: { post: /search, body: { email: "{value}" }, trusted: true }
  all: { post: /search, body: {} }
read: { get: "/staff/{id}" }
create: { post: /staff }
update: { patch: "/staff/{id}" }
terminate: { patch: "/staff/{id}", set: { left: true } }
rehire: { patch: "/staff/{id}", set: { left: false } }
remove: { delete: "/staff/{id}" }
errors: [{ status: 409, means: exists }]
probe: { get: /me }
`;

type Staff = Record<string, unknown> & { id: number; email?: string; shownAt: number };

/**
 * Searches show what was written two thirds of `readLag` ago; whose e-mail is taken is refused at once. A search that
 * finds somebody takes `slowMs`.
 */
async function startLagging(slowMs = 0) {
  const staff = new Map<string, Staff>();
  const folded = (value: unknown): string => String(value).toLowerCase();
  const url = await startKestrel(async (asked, say) => {
    const sent = await text(asked);
    const body = sent === '' ? {} : (JSON.parse(sent) as Record<string, unknown>);
    const known = staff.get(asked.url?.split('/')[2] ?? '');
    const shownAt = performance.now() + READ_LAG_MS * (2 / 3);
    if (asked.url === '/me') return say(200, {});
    if (asked.url === '/search') {
      const fits = (one: Staff) => Object.entries(body).every(([key, value]) => folded(one[key]) === folded(value));
      const found = [...staff.values()].filter((one) => one.shownAt <= performance.now() && fits(one));
      if (found.length > 0) await pause(slowMs);
      return say(200, found);
    }
    if (asked.url === '/staff') {
      if ([...staff.values()].some(({ email }) => folded(email) === folded(body['email']))) return say(409, {});
      const id = 4_000 + staff.size;
      staff.set(String(id), { ...body, id, left: false, shownAt });
      return say(201, { id });
    }
    if (known === undefined) return say(404, {});
    if (asked.method === 'DELETE') staff.delete(String(known.id));
    if (asked.method === 'PATCH') Object.assign(known, body, { shownAt });
    return say(200, known);
  });
  return { url, staff };
}

test('fields of thirty characters are enough for the suite', async () => {
  const short = DEFINITION.replace(/(?<=at: (last|title))/g, ', maxLength: 30');
  const { definition, problems } = loadDefinition('kestrel.yaml', short);
  if (definition === undefined) throw new Error(JSON.stringify(problems));
  const options = { url: 'http://127.0.0.1:9', allowPrivateAddress: true, token: 'x' };
  const { profile, stop } = definitionUnderTest({ definition, options, values: {} });
  onTestFinished(stop);
  const { familyName } = profile.employee('executed-late');
  expect(familyName).toMatch(/^Test [0-9a-f]{8} executed-late$/);
  expect(profile.edit).toEqual({ title: 'Changed' });
});

test('the suite waits as long as "readLag" says, before it counts who is there', async () => {
  const { url, staff } = await startLagging();
  const { definition, problems } = loadDefinition('kestrel.yaml', DEFINITION);
  if (definition === undefined) throw new Error(JSON.stringify(problems));
  const options = { url, allowPrivateAddress: true, token: 'x' };
  const hris = definitionUnderTest({ definition, options, values: {} });
  const failed: string[] = [];
  for (const { name, impossible, run } of hrisCells(hris)) {
    hris.begin();
    if (impossible === undefined) await run().catch((error: unknown) => failed.push(`${name}: ${String(error)}`));
  }
  expect(failed).toEqual([]);
  expect(await hris.clear()).toMatchObject({ ended: [], left: [] });
  expect([...staff.keys()]).toEqual([]);
  await hris.stop();
});

test('a search that takes long is no lag, because it began in time', async () => {
  const { url } = await startLagging(2_500);
  const { definition } = loadDefinition('kestrel.yaml', DEFINITION);
  if (definition === undefined) throw new Error('the definition is not right');
  const hris = definitionUnderTest({ definition, options: { url, allowPrivateAddress: true, token: 'x' }, values: {} });
  onTestFinished(hris.stop);
  hris.begin();
  const [cell] = hrisCells(hris).filter(({ name }) => name === 'answer lost after create');
  await expect(cell?.run()).resolves.toBeUndefined();
});

/** The cells of the suite for a definition at a server that answers nothing. */
async function cellsOf(change: (text: string) => string, url = 'http://127.0.0.1:9') {
  const { definition, problems } = loadDefinition('kestrel.yaml', change(DEFINITION));
  if (definition === undefined) throw new Error(JSON.stringify(problems));
  const hris = definitionUnderTest({ definition, options: { url, allowPrivateAddress: true, token: 'x' }, values: {} });
  onTestFinished(() => hris.stop());
  const cells = hrisCells(hris);
  return { hris, cell: (name: string) => cells.find((one) => one.name === name) };
}

test('a system that takes a nested object as a whole, and loses what an update leaves out, is found', async () => {
  const { url } = await startLagging();
  const nested = (text: string): string =>
    text.replace('  title: { at: title }', '  street: { at: home.street }\n  city: { at: home.city }');
  const whole = (text: string): string => nested(text).replace('update: {', 'update: { as: put,');
  const name = 'an update writes only the fields given, twice as well as once';
  const merging = await cellsOf(nested, url);
  merging.hris.begin();
  await expect(merging.cell(name)?.run()).rejects.toThrow('city');
  const putting = await cellsOf(whole, url);
  putting.hris.begin();
  await expect(putting.cell(name)?.run()).resolves.toBeUndefined();
});

test('numbers that nobody can be searched by are excused', async () => {
  const numbered = (text: string): string => text.replace('former: left', 'former: left, number: no');
  const { cell } = await cellsOf((text) => numbered(text).replace(/ {2}all: .*\n/, ''));
  expect(cell('find by number')?.impossible).toBe('the definition has no "find.number" and no "find.all"');
  expect((await cellsOf(numbered)).cell('find by number')?.impossible).toBeUndefined();
});

test('a create whose answer is lost is tested without a reference as well, by e-mail', async () => {
  const { url, staff } = await startLagging();
  const bare = (text: string): string => text.replace('reference: reference, ', '').replace(/ {2}reference: .*\n/, '');
  const { hris, cell } = await cellsOf(bare, url);
  for (const name of ['answer lost after create', 'executed late']) {
    hris.begin();
    expect(cell(name)).toMatchObject({ name });
    expect(cell(name)?.impossible).toBeUndefined();
    await cell(name)?.run();
  }
  expect(staff.size).toBe(2);
});

test('a run is not disturbed by the people whom an earlier one left there', async () => {
  const { url } = await startLagging();
  for (const _run of ['first', 'second']) {
    const { hris, cell } = await cellsOf((text) => text, url);
    hris.begin();
    await expect(cell('hostile strings come back unchanged, or are refused')?.run()).resolves.toBeUndefined();
  }
});

test('people are found by their address at work if the definition has no other', async () => {
  const { url } = await startLagging();
  const atWork = (text: string): string => text.replace('  email: { at: email }', '  workEmail: { at: email }');
  const { cell } = await cellsOf(atWork, url);
  await expect(cell('find by e-mail')?.run()).resolves.toBeUndefined();
});

test('a pending employee whom nobody finishes is waited for once, and the reason names "pending.done"', async () => {
  const now = performance.now.bind(performance);
  let [ahead, asked] = [0, 0];
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead);
  onTestFinished(() => void vi.restoreAllMocks());
  const url = await startKestrel((request, say) => {
    if (request.url === '/staff') return say(202, { task: 't1' });
    if (request.url === '/search') return say(200, []);
    asked += 1;
    ahead += 200_000;
    say(200, { state: 'finished', id: 1 });
  });
  const pending = 'pending: { get: "/tasks/{ticket}", done: state = "done", id: id, every: 1ms }';
  const { cell } = await cellsOf(
    (text) => text.replace('create: { post: /staff }', `create: { post: /staff, ticket: body.task }\n${pending}`),
    url,
  );
  const run = async () =>
    expect(cell('pending, resolved later')?.run()).rejects.toThrow(/"pending\.done".*GET \/tasks/);
  await run();
  expect(asked).toBe(3);
  await run();
  expect(asked).toBe(5);
});
