import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTryton, type TrytonServer } from '../../../src/counterparts/start-tryton.ts';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { describeHris } from '../conformance.ts';
import { created, refusal, signal, write } from '../profile.ts';
import { openTryton, trytonProfile, trytonUnderTest } from '../tryton-under-test.ts';

const { employee } = trytonProfile;

let server: TrytonServer;
beforeAll(async () => {
  server = await startTryton();
});
afterAll(() => server?.stop());

const count = () => server.call<number>('model.company.employee.search_count', []);

describeHris('tryton', () => trytonUnderTest(server));

test('a server forked from it begins with its company and nobody else', async () => {
  const fork = await server.fork();
  try {
    const adapter = await openTryton(fork);
    created(await adapter.employees.create(employee('forked'), '18:forked', write));
    await adapter.close();
    expect(await fork.sql('select 1 from company_employee')).toHaveLength(1);
    expect(await server.sql("select 1 from party_identifier where code = '18:forked'")).toEqual([]);
  } finally {
    await fork.stop();
  }
});

describe('Tryton', () => {
  let adapter: HrisConnection;
  beforeAll(async () => {
    adapter = await openTryton(server);
  });
  afterAll(() => adapter.close());

  test('a second create of one reference gives back the first employee', async () => {
    const ref = created(await adapter.employees.create(employee('once'), '18:1', write));
    expect(await adapter.employees.find({ by: 'reference', value: '18:1' }, signal)).toEqual({
      kind: 'one',
      ref,
      by: 'reference',
    });
    const before = await count();
    expect(await refusal(adapter.employees.create(employee('once'), '18:1', write))).toMatchObject({
      code: 'ALREADY_EXISTS',
      action: 'ignore',
      details: { ...ref },
    });
    expect(await count()).toBe(before);
  });

  test('a party that was made without its employee is taken up, with the values of now', async () => {
    await server.call('model.party.party.create', [
      { name: 'Half Made', identifiers: [['create', [{ type: null, code: '18:2' }]]] },
    ]);
    expect(await adapter.employees.find({ by: 'reference', value: '18:2' }, signal)).toMatchObject({ kind: 'none' });
    const ref = created(await adapter.employees.create(employee('taken-up'), '18:2', write));
    expect(await adapter.employees.read(ref.id, signal)).toMatchObject({ fields: employee('taken-up') });
    expect(await server.call('model.party.identifier.search_count', [['code', '=', '18:2']])).toBe(1);
  });

  test('two people with one e-mail are several', async () => {
    await adapter.employees.create(employee('twofold', { name: 'One' }), '18:3', write);
    await adapter.employees.create(employee('twofold', { name: 'Two' }), '18:4', write);
    expect(await adapter.employees.find({ by: 'email', value: 'twofold@example.org' }, signal)).toMatchObject({
      kind: 'many',
      refs: [{}, {}],
    });
  });

  test('a former employee whose party is inactive is found', async () => {
    const ref = created(await adapter.employees.create(employee('former'), '18:5', write));
    await adapter.employees.update(ref.id, { endDate: '2026-03-01' }, write);
    const [row] = await server.call<{ party: number }[]>('model.company.employee.read', [Number(ref.id)], ['party']);
    await server.call('model.party.party.write', [row?.party], { active: false });
    expect(await adapter.employees.find({ by: 'email', value: 'FORMER@example.org' }, signal)).toMatchObject({
      kind: 'one',
      ref,
    });
  });

  test('an e-mail with signs of a pattern finds only itself', async () => {
    const ref = created(await adapter.employees.create(employee('a_b%c'), '18:6', write));
    await adapter.employees.create(employee('axbyc'), '18:7', write);
    expect(await adapter.employees.find({ by: 'email', value: 'A_B%C@example.org' }, signal)).toEqual({
      kind: 'one',
      ref,
      by: 'email',
    });
  });

  test('a phone is what was written, though Tryton writes it with spaces', async () => {
    const ref = created(await adapter.employees.create(employee('phone'), '18:11', write));
    const stored = await server.sql("select value from party_contact_mechanism where value_compact = '+61491570006'");
    expect(stored).toContainEqual({ value: '+61 491 570 006' });
    expect(await adapter.employees.read(ref.id, signal)).toMatchObject({ fields: { mobile: '+61491570006' } });
    const amendment = { fields: { mobile: '+61491570156' }, over: { mobile: '+61491570006' }, from: '2026-11-29' };
    await adapter.employees.amend?.(ref.id, amendment, write);
    expect(await adapter.employees.isTaken?.('mobile', '+61491570156', signal)).toBe(true);
  });

  test('an e-mail and an address that people in Tryton see are read and changed, not archived ones', async () => {
    const ref = created(await adapter.employees.create(employee('archived'), '18:12', write));
    const [row] = await server.call<{ party: number }[]>('model.company.employee.read', [Number(ref.id)], ['party']);
    const party = Number(row?.party);
    await server.sql(`update party_contact_mechanism set active = false where party = ${party} and type = 'email'`);
    await server.sql(`update party_address set active = false where party = ${party}`);
    const fieldsNow = async () => (await adapter.employees.read(ref.id, signal))?.fields;
    expect(await fieldsNow()).toMatchObject({ email: null, city: null });
    await adapter.employees.update(ref.id, { email: 'new@example.org', city: 'Hobart' }, write);
    expect(await server.call('model.party.party.read', [party], ['email'])).toMatchObject([
      { email: 'new@example.org' },
    ]);
    expect(await fieldsNow()).toMatchObject({ email: 'new@example.org', city: 'Hobart' });
    const first = { party, type: 'email', value: 'first@example.org', sequence: 1 };
    await server.call('model.party.contact_mechanism.create', [first]);
    await server.sql(`update party_contact_mechanism set sequence = 9 where value = 'new@example.org'`);
    expect(await fieldsNow()).toMatchObject({ email: 'first@example.org' });
  });

  test('what Tryton itself refuses is told without the values', async () => {
    const refused = await refusal(
      adapter.employees.create(employee('order', { startDate: '2026-02-02', endDate: '2026-02-01' }), '18:8', write),
    );
    expect(refused).toMatchObject({ code: 'INVALID_VALUE', action: 'reject' });
    expect(refused.message).toMatch(/It said: /);
    expect(refused.message).not.toMatch(/Reyes|example\.org/);
  });

  test('a session that has ended is begun again', async () => {
    const ref = created(await adapter.employees.create(employee('session'), '18:9', write));
    await server.sql('delete from ir_session');
    expect(await adapter.employees.read(ref.id, signal)).toMatchObject({ ref });
  });

  test('a wrong password is a hold of the HR system, and is not tried again and again', async () => {
    const wrong = await openTryton(server, { user: 'nobody', password: 'wrong' });
    for (let n = 0; n < 8; n += 1)
      expect(await wrong.probe(signal)).toMatchObject({
        ok: false,
        error: { code: 'HRIS_AUTH', action: 'reauthorize' },
      });
    const attempts = await server.sql("select count(*)::int as n from res_user_login_attempt where login = 'nobody'");
    expect(attempts).toEqual([{ n: 1 }]);
    await wrong.close();
  });

  test('a company that is not there is told by the probe', async () => {
    const other = await openTryton(server, { company: 99 });
    expect(await other.probe(signal)).toMatchObject({ ok: false, error: { code: 'HRIS_MISCONFIGURED' } });
    await other.close();
  });

  test('a server that is killed and comes back loses nothing that it had answered', async () => {
    const ref = created(await adapter.employees.create(employee('restart'), '18:10', write));
    await server.restart();
    expect(await adapter.employees.read(ref.id, signal)).toMatchObject({ ref, fields: employee('restart') });
  });
});
