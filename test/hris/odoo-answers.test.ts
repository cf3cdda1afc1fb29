import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openHris } from '../../src/hris/registry.ts';
import { type Answer, startKestrel } from './open-kestrel.ts';
import { refusal, signal, write } from './profile.ts';

interface Asked {
  cookie: string | undefined;
  call: string;
  params: { args: unknown[]; kwargs?: object };
}

/** What Odoo may answer, for what its counterpart cannot be made to. */
async function openOdoo(said: (asked: Asked) => object, cookies = ['session_id=s1; Path=/']) {
  const asked: Asked[] = [];
  const answer: Answer = async (request, say) => {
    const { params } = (await json(request)) as Asked;
    if (request.url === '/web/session/authenticate') return say(200, { result: { uid: 2 } }, { 'set-cookie': cookies });
    const call = request.url?.replace('/web/dataset/call_kw/', '') ?? '';
    asked.push({ cookie: request.headers.cookie, call, params });
    return say(200, said({ cookie: request.headers.cookie, call, params }));
  };
  const account = { database: 'acme', user: 'hr', password: 'secret', allowPrivateAddress: true };
  return { asked, hris: await openHris('odoo', 'odoo', { url: await startKestrel(answer), ...account }) };
}

test('a load balancer that sets a cookie of its own before Odoo’s is no obstacle', async () => {
  const { hris, asked } = await openOdoo(() => ({ result: true }), ['AWSALB=x1; Path=/', 'session_id=s1; Path=/']);
  expect(await hris.probe(signal)).toMatchObject({ ok: true });
  expect(asked).toMatchObject([{ cookie: 'session_id=s1' }]);
  await hris.close();
});

// psycopg2 since 2.8 has a class for each code (psycopg2/errors.rst); Odoo names it after five tries of its own.
test.for([
  ['psycopg2.errors.SerializationFailure', { code: 'HRIS_BUSY', action: 'retry' }],
  ['psycopg2.errors.DeadlockDetected', { code: 'HRIS_BUSY', action: 'retry' }],
  ['psycopg2.errors.LockNotAvailable', { code: 'HRIS_BUSY', action: 'retry' }],
  ['psycopg2.extensions.TransactionRollbackError', { code: 'HRIS_BUSY', action: 'retry' }],
  ['psycopg2.OperationalError', { code: 'HRIS_BUSY', action: 'retry' }],
  ['psycopg2.errors.InvalidDatetimeFormat', { code: 'INVALID_VALUE', action: 'reject' }],
] as const)('%s of its database is the refusal of a write: %j', async ([name, expected]) => {
  const { hris } = await openOdoo(({ call }) =>
    call.endsWith('/write') ? { error: { code: 200, data: { name, message: 'x' } } } : { result: [] },
  );
  expect(await refusal(hris.employees.update('7', { title: 'Cook' }, write))).toMatchObject(expected);
  await hris.close();
});

test('who is edited while the list of changes is read pushes nobody else out of it', async () => {
  const stamp = (seconds: number) => `2026-01-01 ${String(seconds).padStart(4, '0')}`;
  const people = Array.from({ length: 401 }, (_, at) => ({ id: at + 1, name: 'Ana', write_date: stamp(at) }));
  let edits = 0;
  const { hris } = await openOdoo(({ params }) => {
    const { offset, limit, order } = params.kwargs as { offset: number; limit: number; order: string };
    const keys = order.split(', ') as ('id' | 'write_date')[];
    const placeOf = (one: (typeof people)[number]) => keys.map((key) => String(one[key]).padStart(20, '0')).join(' ');
    const listed = people.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
    const result = structuredClone(listed.slice(offset, offset + limit));
    const edited = people[edits];
    if (offset === 0 && edited !== undefined) edited.write_date = stamp(1_000 + edits++);
    return { result };
  });
  const seen = new Set<string>();
  for (let page = await hris.changes?.since(undefined, signal); page !== undefined; ) {
    for (const { ref } of page.employees) seen.add(ref.id);
    page = page.more ? await hris.changes?.since(page.next, signal) : undefined;
  }
  expect(people.filter(({ id }) => !seen.has(String(id)))).toEqual([]);
  await hris.close();
});
