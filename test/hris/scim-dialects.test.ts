import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { startKestrel } from './open-kestrel.ts';
import { created, signal, write } from './profile.ts';

type Json = Record<string, unknown>;

const ANA = {
  id: 'u1',
  externalId: '17:1',
  userName: 'areyes',
  active: true,
  name: { givenName: 'Ana', familyName: 'Reyes' },
};
const FIELDS = { givenName: 'Ana', familyName: 'Reyes', userName: 'areyes', email: 'ana@example.org' };

/** One user at a server that gives its version in a header alone, and requires it of every change (RFC 7644, 3.14). */
async function open(
  user: Json | undefined,
  shown: (version: number) => Json = () => ({}),
  id = 'u1',
): Promise<{ hris: HrisConnection; user: () => Json }> {
  let held = user;
  let version = 1;
  const kept = (): Json => held ?? {};
  const origin = await startKestrel(async (asked: IncomingMessage, say) => {
    const given = asked.method === 'GET' ? {} : ((await json(asked)) as Json);
    const tag = { etag: `W/"${version}"` };
    if (asked.url?.startsWith('/Users?') === true)
      return say(200, held === undefined ? { totalResults: 0 } : { totalResults: 1, Resources: [held] });
    if (asked.method === 'POST') {
      held = { ...given, id };
      return say(201, undefined, { location: `/Users/${encodeURIComponent(id)}` });
    }
    if (asked.method === 'GET') return say(200, { ...held, ...shown(version) }, tag);
    if (asked.headers['if-match'] === undefined) return say(428, {});
    if (asked.headers['if-match'] !== tag.etag) return say(412, {});
    version += 1;
    for (const { path, value } of given['Operations'] as { path: string; value: unknown }[])
      held = { ...held, [path]: value };
    return say(200, held, { etag: `W/"${version}"` });
  });
  const hris = await openHris('scim', 'test-hr', { url: origin, token: 'x', allowPrivateAddress: true });
  onTestFinished(() => hris.close());
  return { hris, user: kept };
}

test('a version that only the header has is named by every change', async () => {
  const { hris, user } = await open({ ...ANA });
  await hris.employees.update('u1', { title: 'Chef' }, write);
  expect(user()).toMatchObject({ title: 'Chef' });
  await hris.employees.terminate?.('u1', '2020-01-31', write);
  expect(await hris.employees.read('u1', signal)).toMatchObject({ former: true });
  await hris.employees.rehire?.('u1', { title: 'Cook' }, write);
  expect(user()).toMatchObject({ active: true, title: 'Cook' });
});

test('a version without quotes is named as the header has it', async () => {
  const { hris, user } = await open({ ...ANA }, (version) => ({ meta: { version: String(version) } }));
  await hris.employees.update('u1', { title: 'Chef' }, write);
  expect(user()).toMatchObject({ title: 'Chef' });
});

test('a header that a web server makes by itself is no version where the record has its own', async () => {
  const { hris, user } = await open({ ...ANA }, (version) => ({ meta: { version: `W/"${version}"` } }));
  await hris.employees.update('u1', { title: 'Chef' }, write);
  expect(user()).toMatchObject({ title: 'Chef' });
});

test.for(['u1', 'ana@example.org', 'VXNlcjox=='])(
  'a create answered with an address alone has its id %s',
  async (id) => {
    const { hris } = await open(undefined, undefined, id);
    expect(created(await hris.employees.create(FIELDS, '17:1', write))).toMatchObject({ id });
  },
);

test('who is inactive has left, also where the server writes that as text', async () => {
  const { hris } = await open({ ...ANA, active: 'False' });
  expect(await hris.employees.read('u1', signal)).toMatchObject({ former: true });
});

test('the capitals of a type say nothing', async () => {
  const { hris, user } = await open({ ...ANA, emails: [{ type: 'Home', value: 'ana@example.org' }] });
  expect(await hris.employees.read('u1', signal)).toMatchObject({ fields: { email: 'ana@example.org' } });
  await hris.employees.update('u1', { email: 'ana@kestrel.example' }, write);
  expect(user()['emails']).toEqual([{ type: 'Home', value: 'ana@kestrel.example' }]);
});

test.each([
  ['of no type', [{ value: 'Ana@example.org', primary: true }]],
  ['of another type', [{ value: 'ana@example.org', type: 'other' }]],
  [
    'that is the second of its type',
    [
      { value: 'areyes@example.org', type: 'home' },
      { value: 'ana@example.org', type: 'home' },
    ],
  ],
])('a person is found by an address %s', async (_what, emails) => {
  const { hris } = await open({ ...ANA, emails });
  const find = (value: string) => hris.employees.find({ by: 'email', value }, signal);
  expect(await find('ana@example.org')).toMatchObject({ kind: 'one', ref: { id: 'u1' } });
  expect(await find('eve@example.org')).toEqual({ kind: 'none', trusted: true });
});
