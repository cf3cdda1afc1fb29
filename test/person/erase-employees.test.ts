import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { Connection } from '../../activities/connections.ts';
import { carryOutErasure } from '../../activities/erase/carry-out.ts';
import { readLanded, withRecords } from '../../activities/erase/landed-rows.ts';
import { type OwnEmployees, ownHris } from '../../activities/own-hris.ts';
import { dayOf } from '../../src/day-of.ts';
import { ConnectorError } from '../../src/errors.ts';
import { sqlOptions } from '../../src/hris/sql/options.ts';
import { sql } from '../../src/hris/sql/sql.ts';
import { createRootLogger } from '../../src/log.ts';
import { askErasure } from '../../src/store/erasures.ts';
import { freeze, thaw } from '../../src/store/freezes.ts';
import type { PersonIds } from '../../src/store/person-marks.ts';
import { landings } from '../../src/streams/streams.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { withoutRandom } from '../harness/without-random.ts';
import { freshStore } from '../store/stores.ts';

const DAY_MS = 86_400_000;
const NOBODY: PersonIds = { candidates: ['501'], jobCandidates: [], enrolments: [], employees: [] };

type Terminate = NonNullable<OwnEmployees['terminate']>;

/** An HR system with the employees 31, 32 and 33, and the erasure of somebody who is some of them. */
async function asked(
  ids: string[],
  terminate: (real: Terminate) => Terminate = (real) => real,
  isMade = false,
  timezone = 'UTC',
) {
  const dir = await scratchFolder();
  const url = `sqlite:${join(dir, 'hr.db')}`;
  await ensureHrisSchema(url, { endColumn: 'last_day' }, landings);
  const table = new DatabaseSync(join(dir, 'hr.db'));
  for (const id of [31, 32, 33])
    table.exec(`insert into employees (id, given_name, family_name, email, start_date) values (${id}, '', '', '', '')`);
  const options = sqlOptions(landings).parse({ url, endColumn: 'last_day' });
  const hris = ownHris('hr', await sql.open(options, {} as Parameters<typeof sql.open>[1]));
  onTestFinished(async () => {
    await hris.close();
    table.close();
  });
  const { store } = await freshStore('sqlite');
  const employees = ids.map((id) => ({ connection: 'hr', id, made: isMade }));
  const subject = { tenantId: 'acme', companies: ['acme'], ...NOBODY, employees };
  const asking = { subject, by: 'ann', reason: 'request', employee: 'terminate' } as const;
  const { erasure_id: erasure } = await askErasure(store, asking);
  await store.kysely
    .updateTable('erasures')
    .set({ asked_at: Date.now() - DAY_MS })
    .execute();
  const own = { ...hris.employees, terminate: terminate(hris.employees.terminate as Terminate) };
  const tenant = { tenant: 'acme', hris: { connection: 'hr' }, policies: { timezone } };
  const connection = { tenant, landings: {}, hris: { ...hris, employees: own } } as unknown as Connection;
  const carryOut = (isOpen = true) =>
    carryOutErasure(
      {
        store,
        dataDir: dir,
        log: createRootLogger(undefined, 'silent'),
        limits: { giveUpMs: 400, partnerLagMs: 1, pausedMs: 1 },
        connect: async () => (isOpen ? connection : undefined),
        forgetHire: async () => 0,
        forgetTenant: async () => 0,
      },
      erasure,
    );
  const lastDays = () => table.prepare('select id, last_day from employees where last_day is not null').all();
  const setReference = (id: number, reference: string | null) =>
    void table.prepare('update employees set external_ref = ? where id = ?').run(reference, id);
  return { store, carryOut, lastDays, setReference };
}

const YESTERDAY = dayOf(Date.now() - DAY_MS);

test('an employment that was to be ended without an open HR system is not told as kept', async () => {
  const { carryOut, lastDays } = await asked(['31']);
  const receipt = await carryOut(false);
  expect(receipt?.employee).toBe(
    `0 of 1 employments ended as of ${YESTERDAY}, as asked; the record stays in the HR system`,
  );
  expect(receipt?.left).toEqual(
    expect.arrayContaining([
      'An employment should have been ended but was not: no connection to the HR system was open; end it there.',
    ]),
  );
  expect(lastDays()).toEqual([]);
});

test.each(['Pacific/Kiritimati', 'Pacific/Niue'])('an employment ends on the tenant’s day, in %s', async (timezone) => {
  const { carryOut, lastDays } = await asked(['31'], undefined, false, timezone);
  const lastDay = dayOf(Date.now() - DAY_MS, timezone);
  expect((await carryOut())?.employee).toContain(`employment ended as of ${lastDay}`);
  expect(lastDays()).toEqual([{ id: 31, last_day: lastDay }]);
});

test('an employment that the HR system refuses to end keeps no other one from ending', async () => {
  const { carryOut, lastDays } = await asked(['31', '4040', '33']);
  const receipt = await carryOut();
  expect(receipt?.employee).toBe(
    `2 of 3 employments ended as of ${YESTERDAY}, as asked; the record stays in the HR system`,
  );
  expect(receipt?.left).toEqual([
    'An employment should have been ended but was not: the HR system refused it (EMPLOYEE_NOT_FOUND).',
  ]);
  expect(withoutRandom(JSON.stringify(receipt))).not.toContain('4040');
  expect(lastDays()).toEqual([
    { id: 31, last_day: YESTERDAY },
    { id: 33, last_day: YESTERDAY },
  ]);
});

test.each([true, false])('after a lost answer the HR system is looked at first; arrived: %s', async (arrives) => {
  let sent = 0;
  const { carryOut, lastDays, store } = await asked(['32'], (real) => async (...given) => {
    sent += 1;
    if (sent > 1 || arrives) await real(...given);
    if (sent === 1) throw new ConnectorError({ code: 'HRIS_TIMEOUT', action: 'unknown', message: 'no answer' });
  });
  const receipt = await carryOut();
  expect(sent).toBe(arrives ? 1 : 2);
  expect(receipt?.left).toEqual([]);
  expect(receipt?.employee).toMatch(/^employment ended/);
  expect(lastDays()).toEqual([{ id: 32, last_day: YESTERDAY }]);
  expect(await store.kysely.selectFrom('intents').selectAll().execute()).toEqual([]);
});

test("an employee who is another tenant's by now keeps the employment", async () => {
  const { carryOut, lastDays, store } = await asked(['31', '32']);
  const person = { person_id: 'p', company: '17', candidate_id: '501', scope: 'hr', kind: 'employee' } as const;
  const sister = { tenant_id: 'sister', job_candidate_id: '9', period: 1 };
  await store.kysely
    .insertInto('person_keys')
    .values({ ...person, ...sister, value: '32' })
    .execute();
  const receipt = await carryOut();
  expect(receipt?.left).toEqual([
    "An employment should have been ended but was not: the employee is another tenant's.",
  ]);
  expect(lastDays()).toEqual([{ id: 31, last_day: YESTERDAY }]);
});

test('a record that became somebody else keeps the employment, and the receipt says so', async () => {
  const { carryOut, lastDays, setReference } = await asked(['31', '32', '33'], undefined, true);
  setReference(31, 'acme:501:9501:1');
  setReference(32, 'acme:777');
  const receipt = await carryOut();
  expect(lastDays()).toEqual([{ id: 31, last_day: YESTERDAY }]);
  expect(receipt?.employee).toMatch(/^1 of 3 employments ended/);
  expect(receipt?.left).toHaveLength(2);
  for (const left of receipt?.left ?? []) expect(left).toMatch(/may mean somebody else by now.+end it there\.$/);
});

test('while all writes are frozen no employment ends, and it ends once they go on', async () => {
  const { carryOut, lastDays, store } = await asked(['31']);
  await freeze(store, 'ann');
  await expect(carryOut()).rejects.toMatchObject({ code: 'TENANT_FROZEN' });
  expect(lastDays()).toEqual([]);
  await thaw(store, 'ann');
  expect((await carryOut())?.left).toEqual([]);
  expect(lastDays()).toEqual([{ id: 31, last_day: YESTERDAY }]);
});

test('of a landing table that is not there nobody is found, unless a stream of the tenant needs it', async () => {
  const dir = await scratchFolder();
  const url = `sqlite:${join(dir, 'hr.db')}`;
  await ensureHrisSchema(url, {});
  const options = sqlOptions(landings).parse({ url });
  const hris = ownHris('hr', await sql.open(options, {} as Parameters<typeof sql.open>[1]));
  onTestFinished(() => hris.close());
  const streams = { candidates: {}, applications: {} };
  const open = { tenant: { streams }, landings: streams, hris } as unknown as Connection;
  const subject = { tenantId: 'acme', companies: ['acme'], ...NOBODY };
  expect(await withRecords(subject, open)).toMatchObject({ records: {} });
  expect(await readLanded(subject, open)).toEqual([]);
  const needed = { ...open, tenant: { streams: { ...streams, candidates: { every: 1 } } } } as unknown as Connection;
  await expect(withRecords(subject, needed)).rejects.toMatchObject({ code: 'LANDING_UNUSABLE' });
});
