import { afterEach, describe, expect, test } from 'vitest';
import { readFailed, retryFailed } from '../../src/operator/failed.ts';
import { startApiServer } from '../../src/sandbox/server.ts';
import { CALM } from '../convergence/calm.ts';
import type { TwoWayField } from '../convergence/fields.ts';
import type { Asked } from '../convergence/process.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, exchanged, type World } from '../convergence/world.ts';
import { type RawHr, sqliteHr } from './raw-hr.ts';

// An address that one person gives up and another takes: both sides refuse to have it twice.

let world: World;
let hr: RawHr;
let server: Awaited<ReturnType<typeof startApiServer>>;
let runs = 0;
/** E-mails sent to the partner. */
let patches = 0;
afterEach(async () => {
  await server.close();
  await world.close();
});

const ofProfile = (name: string, property: string): TwoWayField => {
  return { name, column: name, type: 'text', owner: 'either', at: { property }, value: () => null };
};
const mail = ofProfile('mail', 'email');
const store = () => world.store.connect(async () => undefined);

async function begin(people: number, rules = 'owner: either, conflict: hold'): Promise<Person[]> {
  hr = await sqliteHr();
  const text = `fields:\n  mail: { from: candidate.email, direction: both, ${rules} }\n`;
  world = await createWorld(text, { ...exchanged, fields: [mail] }, { url: hr.url });
  server = await startApiServer(world.state, {
    port: 0,
    onRequest: ({ method }) => void (patches += method === 'PATCH' ? 1 : 0),
  });
  const hired: Person[] = [];
  for (let n = 0; n < people; n += 1) hired.push(await world.hire());
  await hr.run('update employees set mail = email', 'create unique index one_mail on employees (mail)');
  expect(await exchange()).toMatchObject({ state: 'done', counts: { unchanged: people } });
  patches = 0;
  world.writes.hris = 0;
  return hired;
}

function exchange(asked: Asked = {}) {
  world.clock.advance(120_000);
  runs += 1;
  return world.exchange(`run ${runs}`, { ...CALM, partnerAt: `http://127.0.0.1:${server.port}` }, asked);
}

async function mailsOf(person: Person): Promise<unknown[]> {
  const held = await world.read(person);
  return [held?.partner['mail'], held?.hris['mail']];
}

const sides = {
  partner: {
    async edit(person: Person, address: string) {
      world.editPartner(person, mail, address);
    },
    sent: () => world.writes.hris,
    code: 'DUPLICATE_VALUE',
  },
  hris: {
    edit: (person: Person, address: string) => world.editHris(person, mail, address),
    sent: () => patches,
    code: 'EMAIL_CONFLICT',
  },
};

const both = (address: string): string[] => [address, address];

describe.each(Object.entries(sides))('edited on the side %s', (_side, { edit, sent, code }) => {
  test.each([
    ['read before', 0],
    ['read after', 1],
  ])('an address goes from the giver to a taker who is %s them, in one run and one write each', async (_what, at) => {
    const people = await begin(2);
    const [taker, giver] = at === 0 ? people : people.toReversed();
    await edit(giver!, 'new@example.com');
    await edit(taker!, `ada${at === 0 ? 2 : 1}@example.com`);
    expect(await exchange()).toMatchObject({ state: 'done', counts: { updated: 2, quarantined: 0 } });
    expect(await mailsOf(giver!)).toEqual(both('new@example.com'));
    expect(await mailsOf(taker!)).toEqual(both(`ada${at === 0 ? 2 : 1}@example.com`));
    expect(sent()).toBe(2);
  });

  test('a chain of thirty who each take the address of the next is written from its end', async () => {
    const people = await begin(30);
    for (let n = 29; n >= 0; n -= 1) await edit(people[n]!, n === 29 ? 'new@example.com' : `ada${n + 2}@example.com`);
    world.allowMany();
    expect(await exchange()).toMatchObject({ state: 'done', counts: { updated: 30 } });
    expect(await mailsOf(people[0]!)).toEqual(both('ada2@example.com'));
    expect(await mailsOf(people[28]!)).toEqual(both('ada30@example.com'));
  });

  test('a taker of whom only the hint came is refused, and written once the giver was', async () => {
    const [taker, giver] = await begin(2);
    await edit(giver!, 'new@example.com');
    await edit(taker!, 'ada2@example.com');
    expect(await exchange({ mode: 'one', recordId: taker!.employeeId })).toMatchObject({ counts: { quarantined: 1 } });
    expect(await readFailed(store(), 'acme')).toMatchObject([{ reason: expect.stringContaining(code) as string }]);
    expect(await exchange({ mode: 'one', recordId: giver!.employeeId })).toMatchObject({ counts: { updated: 1 } });
    // The giver's write left a hint of everybody who waits for an address.
    expect(await exchange({ mode: 'incremental' })).toMatchObject({ state: 'done', counts: { read: 1, updated: 1 } });
    expect(await mailsOf(taker!)).toEqual(both('ada2@example.com'));
    expect(await readFailed(store(), 'acme')).toEqual([]);
  });

  test('an address that people free by hand on the other side arrives with the next pass', async () => {
    const [taker, giver] = await begin(2);
    await edit(giver!, 'new@example.com');
    await edit(taker!, 'ada2@example.com');
    await exchange({ mode: 'one', recordId: taker!.employeeId });
    await sides[code === 'DUPLICATE_VALUE' ? 'hris' : 'partner'].edit(giver!, 'new@example.com');
    expect(await exchange()).toMatchObject({ state: 'done', counts: { updated: 1, unchanged: 1 } });
    expect(await mailsOf(taker!)).toEqual(both('ada2@example.com'));
  });

  test('two that swap are left as they are and said, until one of them is freed by hand', async () => {
    const [one, other] = await begin(2);
    await edit(one!, 'between@example.com');
    await edit(other!, 'ada1@example.com');
    await edit(one!, 'ada2@example.com');
    expect(await exchange()).toMatchObject({ state: 'partial', counts: { quarantined: 2 } });
    const [failed] = await readFailed(store(), 'acme');
    expect(failed).toMatchObject({ what: '(2 pairs)' });
    expect(failed?.reason).toMatch(/mail: .*has this value.*tries again.*swap/);
    expect(failed?.reason).not.toContain('@');
    await edit(one!, 'between@example.com');
    expect(await exchange()).toMatchObject({ state: 'done', counts: { updated: 2 } });
    await edit(one!, 'ada2@example.com');
    expect(await exchange()).toMatchObject({ state: 'done', counts: { updated: 1 } });
    expect(await mailsOf(one!)).toEqual(both('ada2@example.com'));
    expect(await mailsOf(other!)).toEqual(both('ada1@example.com'));
  });
});

test('what somebody else keeps is tried once a pass, and nothing else of the pair with it', async () => {
  const [taker, holder] = await begin(2, 'owner: partner');
  // Nobody of ours: an employee whom no link names has the address in the HR system.
  world.store.all("delete from person_keys where kind = 'employee' and value = ?", holder!.employeeId);
  world.editPartner(holder!, mail, 'new@example.com');
  world.editPartner(taker!, mail, 'ada2@example.com');
  for (let n = 1; n <= 3; n += 1) {
    expect(await exchange()).toMatchObject({ state: 'partial', counts: { read: 1, quarantined: 1 } });
    expect(world.writes.hris).toBe(n);
    expect(await exchange({ mode: 'incremental' })).toMatchObject({ counts: { read: 0 } });
  }
  await world.editHris(holder!, mail, 'gone@example.com');
  expect(await exchange()).toMatchObject({ state: 'done', counts: { updated: 1 } });
  expect(await mailsOf(taker!)).toEqual(both('ada2@example.com'));
});

test('what hirebridge failed advises has a value that was refused written once its cause is removed', async () => {
  const [person] = await begin(1);
  await hr.run(`create trigger none before update of mail on employees when new.mail like '%.org'
    begin select raise(abort, 'not here'); end`);
  world.editPartner(person!, mail, 'ada@example.org');
  await exchange();
  await hr.run('drop trigger none');
  await exchange();
  expect(await readFailed(store(), 'acme')).toMatchObject([
    { reason: expect.stringContaining('INVALID_VALUE') as string },
  ]);
  const signalled: string[] = [];
  const client = {
    workflow: {
      signalWithStart: async (_: string, { args }: { args: { stream: string }[] }) => signalled.push(args[0]!.stream),
    },
  };
  const parts = { store: store(), tenants: [{ tenantId: 'acme' }], hires: { client, installationId: 'i', timing: {} } };
  const asked = { tenantId: 'acme', stream: undefined, by: 'ann' };
  expect(await retryFailed(parts as never, asked)).toEqual({ records: { employees: 1 }, deliveries: 0 });
  expect(signalled).toEqual(['employees']);
  expect(await exchange({ mode: 'incremental' })).toMatchObject({ state: 'done', counts: { read: 1, updated: 1 } });
  expect(await mailsOf(person!)).toEqual(both('ada@example.org'));
  expect(await readFailed(store(), 'acme')).toEqual([]);
  expect(await retryFailed(parts as never, asked)).toEqual({ records: {}, deliveries: 0 });
});
