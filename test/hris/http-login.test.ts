import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openHris } from '../../src/hris/registry.ts';
import { signal } from './profile.ts';

const DEFINITION = `hrisDefinition: 1
name: Kestrel
options: { secret: { secret: true } }
auth: { oauth2: { tokenPath: /token, clientId: hb, clientSecret: "{options.secret}" } }
record: { id: id, reference: reference }
fields: { familyName: { at: last } }
find: { reference: { get: /staff, query: { reference: "{value}" }, trusted: true } }
read: { get: "/staff/{id}" }
create: { post: /staff }
update: { patch: "/staff/{id}" }
probe: { get: /me }
`;

/** An HR system whose tokens end after so many seconds; counts the logins. */
async function openWithTokensOf(seconds: number) {
  const tokens = new Map<string, number>();
  const server = createServer(async (asked, response) => {
    await buffer(asked);
    const say = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (asked.url === '/token') {
      const token = `t${tokens.size}`;
      tokens.set(token, performance.now() + seconds * 1_000);
      return say(200, { access_token: token, expires_in: seconds });
    }
    const until = tokens.get(asked.headers.authorization?.slice('Bearer '.length) ?? '') ?? 0;
    return until > performance.now() ? say(200, {}) : say(401, {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const definition = { file: '/kestrel.yaml', text: DEFINITION };
  const hris = await openHris('http', 'kestrel', { url, definition, secret: 'x', allowPrivateAddress: true }, {});
  onTestFinished(async () => {
    await hris.close();
    server.closeAllConnections();
    server.close();
  });
  return { hris, logins: () => tokens.size };
}

test('a token of half a minute serves more than one call', async () => {
  const { hris, logins } = await openWithTokensOf(30);
  for (const _call of [1, 2, 3, 4, 5]) expect(await hris.probe(signal)).toMatchObject({ ok: true });
  expect(logins()).toBe(1);
});

test('a token is replaced before it ends', async () => {
  const { hris, logins } = await openWithTokensOf(2);
  expect(await hris.probe(signal)).toMatchObject({ ok: true });
  await pause(1_100);
  expect(await hris.probe(signal)).toMatchObject({ ok: true });
  expect(logins()).toBe(2);
});
