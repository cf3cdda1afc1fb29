import { once } from 'node:events';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, onTestFinished, test, vi } from 'vitest';
import { isConnectorError } from '../../src/errors.ts';
import { openSqlDatabase } from '../../src/hris/sql/open-database.ts';
import { openStore } from '../../src/store/open-store.ts';

/** An address of this machine that is not loopback: for the product it is another machine. */
const [other] = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .filter(({ family, internal }) => family === 'IPv4' && !internal)
  .map(({ address }) => address);

/** A database that only writes down what it is sent, and hangs up. */
async function listener(host: string) {
  const heard: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      heard.push(chunk);
      socket.destroy();
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return { heard: () => Buffer.concat(heard), at: `${host}:${port}/people` };
}

async function openAsStore(url: string): Promise<unknown> {
  return openStore(url).then(
    (store) => store.close(),
    (error: unknown) => error,
  );
}

async function openAsHris(url: string): Promise<unknown> {
  try {
    const database = openSqlDatabase(url);
    onTestFinished(() => database.close());
    await database.kysely
      .selectFrom('people' as never)
      .selectAll()
      .execute();
    return undefined;
  } catch (error) {
    return error;
  }
}

const ways = [
  ['the store', 'postgres', openAsStore, 'DATABASE_URL'],
  ['an HR system', 'postgres', openAsHris, 'HRIS_OPTIONS_INVALID'],
  ['an HR system', 'mariadb', openAsHris, 'HRIS_OPTIONS_INVALID'],
] as const;

test.runIf(other !== undefined).each(ways)('%s on another machine is not spoken to in clear (%s)', async (...way) => {
  const [, dialect, open, code] = way;
  const { heard, at } = await listener(other ?? '');
  const url = `${dialect}://hr:hunter2@${at}`;
  const refused = await open(url);
  expect(heard().toString('latin1')).toBe('');
  if (!isConnectorError(refused)) throw new Error('expected a refusal');
  expect(refused).toMatchObject({ code, action: 'reject' });
  expect(refused.message).toMatch(/another machine.*sslmode=verify-full.*sslmode=disable/);
  expect(refused.message).not.toContain('hunter2');
});

test.runIf(other !== undefined).each(ways.slice(0, 2))(
  '%s is asked for TLS first, where the address says so',
  async (...way) => {
    const [, , open] = way;
    const { heard, at } = await listener(other ?? '');
    await open(`postgres://hr:hunter2@${at}?sslmode=verify-full&connect_timeout=2`);
    // An SSLRequest, and nothing else.
    expect(heard().subarray(0, 8).toString('hex')).toBe('0000000804d2162f');
    expect(heard().toString('latin1')).not.toContain('people');
  },
);

test.runIf(other !== undefined)('who says that the network between is trusted is believed', async () => {
  const { heard, at } = await listener(other ?? '');
  await openAsStore(`postgres://hr:hunter2@${at}?sslmode=disable&connect_timeout=2`);
  expect(heard().toString('latin1')).toContain('people');
});

test.each([
  ['postgres://hr@127.0.0.1:1/x'],
  ['postgres://hr@localhost:1/x'],
  ['postgres://hr@[::1]:1/x'],
  ['postgres:///x?host=/nowhere/run'],
  ['postgres://hr@%2Fnowhere%2Frun/x'],
])('%s is this machine, and needs no TLS', async (url) => {
  expect(await openAsHris(url)).not.toMatchObject({ code: 'HRIS_OPTIONS_INVALID' });
});

test.each([
  ['postgres://hr@db.example/x'],
  ['postgres://hr@localhost/x?host=db.example'],
  ['postgres://hr@db.example/x?ssl=false'],
  ['postgres://hr@db.example/x?sslmode='],
  ['postgres://hr@[2001:db8::1]/x'],
])('%s is another machine', async (url) => {
  expect(await openAsHris(url)).toMatchObject({ code: 'HRIS_OPTIONS_INVALID' });
});

test('what the environment asks of every Postgres connection counts', async () => {
  vi.stubEnv('PGSSLMODE', 'require');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await openAsHris('postgres://hr@192.0.2.1:1/x?connect_timeout=1')).not.toMatchObject({
    code: 'HRIS_OPTIONS_INVALID',
  });
});
