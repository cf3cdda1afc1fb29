import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../src/free-port.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { scaled, unlessStalled } from '../harness/pace.ts';
import { createDatabase, type TestDatabase } from '../harness/postgres.ts';
import { created, employee, refusal, signal, write } from './profile.ts';
import { countEmployees } from './start-sql-hris.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

let database: TestDatabase;
let proxy: TcpProxy;
let adapter: HrisConnection;

beforeEach(async () => {
  database = await createDatabase();
  await ensureHrisSchema(database.url);
  proxy = await startTcpProxy(database.url);
  adapter = await openHris('sql', 'test-hr', { url: proxy.url });
});

afterEach(async () => {
  await adapter.close();
  await proxy.close();
  await database.drop();
});

/** Runs while another session holds the table, as a careless migration over there would. */
async function whileTableIsLocked(run: (admin: pg.Client) => Promise<void>): Promise<void> {
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  try {
    await admin.query('begin; lock table employees in access exclusive mode');
    await run(admin);
  } finally {
    await admin.end();
  }
}

/** The session of ours that waits for the table. */
async function waitingSession(admin: pg.Client): Promise<number> {
  const look = async () => {
    // Inside its transaction a session sees its first look for ever.
    await admin.query('select pg_stat_clear_snapshot()');
    return admin.query<{ pid: number }>(
      "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
  };
  await expect.poll(async () => (await look()).rows.length, { interval: 10 }).toBe(1);
  return (await look()).rows[0]!.pid;
}

const insert = { holding: ['insert into'] };

describe('a create whose answer is lost', () => {
  test('after the commit: unknown, then found by the reference, and never made twice', async () => {
    const struck = proxy.strike({ kind: 'answer-lost', ...insert });
    const lost = await refusal(adapter.employees.create(employee('lost'), '17:1', write));
    expect(lost).toMatchObject({ code: 'OUTCOME_UNKNOWN', action: 'unknown' });
    expect(await struck).toBe('INSERT 0 1');
    expect(await countEmployees(database.url)).toBe(1);

    const direct = await openHris('sql', 'test-hr', { url: database.url });
    const found = await direct.employees.find({ by: 'reference', value: '17:1' }, signal);
    expect(found).toMatchObject({ kind: 'one', by: 'reference', ref: { number: '000123' } });
    expect(await refusal(direct.employees.create(employee('lost'), '17:1', write))).toMatchObject({
      code: 'ALREADY_EXISTS',
      details: { number: '000123' },
    });
    expect(await countEmployees(database.url)).toBe(1);
    await direct.close();
  });

  test('before it arrived: unknown, and nothing is there', async () => {
    const struck = proxy.strike({ kind: 'reset-before', ...insert });
    const lost = await refusal(adapter.employees.create(employee('gone'), '17:2', write));
    expect(lost).toMatchObject({ code: 'OUTCOME_UNKNOWN', action: 'unknown' });
    expect(await struck).toBe('nothing');
    expect(await countEmployees(database.url)).toBe(0);
  });

  // In the extended protocol the last five bytes are Sync, and the commit waits for them without any timeout.
  test.each([
    ['executed late', {}],
    ['its last five bytes late', { lastBytes: 5 }],
  ])('%s: the statement itself refuses to start after its time', async (_what, late) => {
    const struck = proxy.strike({ kind: 'executed-late', ms: 400, ...late, ...insert });
    expect(
      await refusal(adapter.employees.create(employee('late'), '17:3', { ...write, signal, remainingMs: () => 200 })),
    ).toMatchObject({ code: 'OUTCOME_UNKNOWN', action: 'unknown' });
    expect(await struck).toBe('INSERT 0 0');
    expect(await countEmployees(database.url)).toBe(0);
  });

  test('the session is ended over there: unknown', async () => {
    await whileTableIsLocked(async (admin) => {
      const create = refusal(adapter.employees.create(employee('ended'), '17:4', write));
      await admin.query('select pg_terminate_backend($1)', [await waitingSession(admin)]);
      expect(await create).toMatchObject({ code: 'OUTCOME_UNKNOWN', action: 'unknown' });
    });
    expect(await countEmployees(database.url)).toBe(0);
  });

  test('stopped by the caller after it was sent: unknown', async () => {
    await whileTableIsLocked(async (admin) => {
      const stop = new AbortController();
      const create = refusal(
        adapter.employees.create(employee('abandoned'), '17:5', { ...write, signal: stop.signal }),
      );
      await waitingSession(admin);
      stop.abort();
      expect(await create).toMatchObject({ code: 'OUTCOME_UNKNOWN', action: 'unknown' });
    });
  });
});

describe('a create that cannot happen', () => {
  test(
    'a lock held over there ends the statement before the deadline does, and the pool still works',
    unlessStalled,
    async () => {
      await whileTableIsLocked(async () => {
        const started = performance.now();
        const blocked = await refusal(
          adapter.employees.create(employee('blocked'), '17:6', { ...write, remainingMs: () => scaled(3_000) }),
        );
        expect(blocked).toMatchObject({ code: 'HRIS_BUSY', action: 'retry' });
        expect(performance.now() - started).toBeLessThan(scaled(3_000));
      });
      expect(await countEmployees(database.url)).toBe(0);
      expect(created(await adapter.employees.create(employee('blocked'), '17:6', write))).toMatchObject({
        id: expect.any(String),
      });
      expect(await adapter.employees.find({ by: 'reference', value: '17:6' }, signal)).toMatchObject({ kind: 'one' });
    },
  );

  test('a time that is already over sends nothing', async () => {
    const over = adapter.employees.create(employee('over'), '17:7', { ...write, remainingMs: () => 0 });
    expect(await refusal(over)).toMatchObject({ code: 'DEADLINE_PASSED', action: 'retry' });
    expect(await countEmployees(database.url)).toBe(0);
  });

  test('a refused connection is a retry, for reads and writes alike', async () => {
    const nobody = await openHris('sql', 'test-hr', { url: `postgres://postgres@127.0.0.1:${await freePort()}/hr` });
    const calls = [
      nobody.employees.find({ by: 'number', value: '1' }, signal),
      nobody.employees.create(employee('x'), '17:8', write),
    ];
    for (const error of await Promise.all(calls.map(refusal)))
      expect(error).toMatchObject({ code: 'HRIS_UNREACHABLE', action: 'retry' });
    expect(await nobody.probe(signal)).toMatchObject({ ok: false, error: { code: 'HRIS_UNREACHABLE' } });
    await nobody.close();
  });
});

describe('the probe names what is wrong', () => {
  const probe = async (options: Record<string, unknown>) => {
    const one = await openHris('sql', 'test-hr', { url: database.url, ...options });
    const result = await one.probe(signal);
    await one.close();
    return result.ok ? 'ok' : { code: result.error.code, action: result.error.action };
  };

  test('a missing table, view or column', async () => {
    const misconfigured = { code: 'HRIS_MISCONFIGURED', action: 'reject' };
    expect(await probe({})).toBe('ok');
    expect(await probe({ table: 'staff' })).toEqual(misconfigured);
    expect(await probe({ readFrom: 'staff_view' })).toEqual(misconfigured);
    expect(await probe({ referenceColumn: 'our_ref' })).toEqual(misconfigured);
    expect(await probe({ fields: { costCentre: { column: 'cost_centre' } } })).toEqual(misconfigured);
  });

  test('a user who is unknown, or may read and not insert', async () => {
    const admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    const reader = `reader_${process.pid}_${Date.now()}`;
    await admin.query(`create role ${reader} login; grant select on employees to ${reader}`);
    const as = (user: string) => Object.assign(new URL(database.url), { username: user }).href;
    expect(await probe({ url: as('nobody_here') })).toEqual({ code: 'HRIS_AUTH', action: 'reauthorize' });
    expect(await probe({ url: as(reader) })).toEqual({ code: 'HRIS_FORBIDDEN', action: 'reauthorize' });
    await admin.query(`drop owned by ${reader}; drop role ${reader}`);
    await admin.end();
  });
});

describe('what the database itself decides', () => {
  test.each([
    [
      'a trigger’s exception is a refusal',
      "create function no() returns trigger language plpgsql as $$ begin raise exception 'not Reyes'; end $$; " +
        'create trigger no before insert on employees for each row execute function no()',
      { code: 'INVALID_VALUE', action: 'reject' },
    ],
    [
      'a check is a refusal',
      "alter table employees add check (title <> 'Cook') not valid",
      { code: 'INVALID_VALUE', action: 'reject' },
    ],
    [
      'another unique column is a refusal by field',
      'alter table employees add unique (title)',
      { code: 'DUPLICATE_VALUE', action: 'reject', details: { title: expect.any(String) } },
    ],
    [
      'a read-only database is a retry',
      'alter database current set default_transaction_read_only = on',
      { code: 'HRIS_BUSY', action: 'retry' },
    ],
  ])('%s', async (_what, statement, expected) => {
    await adapter.employees.create(employee('first'), '17:1', write);
    const admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    await admin.query(statement.replace('database current', `database ${new URL(database.url).pathname.slice(1)}`));
    await admin.end();
    // A new connection, because a session keeps the settings it began with.
    const later = await openHris('sql', 'test-hr', { url: database.url });
    const refused = await refusal(later.employees.create(employee('second'), '17:2', write));
    await later.close();
    expect(refused).toMatchObject(expected);
    expect(JSON.stringify(refused)).not.toMatch(/Reyes|Cook|example\.org/);
    expect(await countEmployees(database.url)).toBe(1);
  });

  test('a value the column cannot hold is refused without being repeated', async () => {
    const refused = await refusal(
      adapter.employees.create(employee('date', { startDate: '2026-13-45' }), '17:3', write),
    );
    expect(refused).toMatchObject({ code: 'INVALID_VALUE', action: 'reject' });
    expect(JSON.stringify(refused)).not.toContain('2026-13-45');
  });

  test('columns of other types keep their values', async () => {
    const admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    await admin.query('alter table employees add fte numeric, add remote boolean, add tags jsonb, add team_lead text');
    await admin.end();
    const fields = {
      fte: { column: 'fte', type: 'number' },
      remote: { column: 'remote', type: 'boolean' },
      tags: { column: 'tags', type: 'list' },
    };
    const wide = await openHris('sql', 'test-hr', { url: database.url, fields });
    const sent = employee('wide', { fte: 0.8, remote: false, tags: ['a', 'b, c'] });
    const ref = created(await wide.employees.create(sent, '17:4', write));
    expect((await wide.employees.read(ref.id, signal))?.fields).toMatchObject(sent);
    await wide.close();
  });
});
