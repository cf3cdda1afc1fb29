import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { employ } from '../../../activities/hire/employ.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import { ConnectorError } from '../../../src/errors.ts';
import type { CreateResult, HrisConnection } from '../../../src/hris/port.ts';
import { endHire } from '../../../src/store/hire-states.ts';
import { latestHire } from '../../../src/store/hires.ts';
import { answerHold } from '../../../src/store/holds.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const HOUR_MS = 3_600_000;

test('a create that is finished days later becomes the employee, once', async () => {
  const { hr, employOnce, employee } = await hireInto();
  expect(await employOnce()).toEqual({ verdict: 'pending', nextCheckMs: 900_000 });
  expect(await employOnce()).toEqual({ verdict: 'pending', nextCheckMs: 900_000 });
  await hr.approve();
  expect(await employOnce()).toMatchObject({ verdict: 'employee' });
  expect(hr.asked).toHaveLength(1);
  expect(await employee()).toMatchObject({ employee_id: expect.any(String), employee_number: expect.any(String) });
});

test('a create that is rejected later is a hold with the reason, and a corrected one follows', async () => {
  const { hr, employOnce, answer, employee } = await hireInto();
  await employOnce();
  hr.reject('cost centre unknown');
  const rejected = await employOnce();
  expect(rejected).toMatchObject({ verdict: 'hold', hold: { code: 'HIRE_REJECTED', answers: ['retry', 'cancel'] } });
  await answer(rejected, 'retry');
  expect(await employOnce()).toMatchObject({ verdict: 'pending' });
  expect(hr.asked).toHaveLength(2);
  await hr.approve();
  expect(await employOnce()).toMatchObject({ verdict: 'employee' });
  expect((await employee())?.employee_id).not.toBeNull();
});

test('a create that nobody finishes is a question after the deadline, and may wait as long again', async () => {
  const { employOnce, answer, letPass, hr } = await hireInto();
  await employOnce();
  await letPass(47 * HOUR_MS);
  expect(await employOnce()).toMatchObject({ verdict: 'pending' });
  await letPass(2 * HOUR_MS);
  const overdue = await employOnce();
  expect(overdue).toMatchObject({
    verdict: 'hold',
    hold: { code: 'EMPLOYEE_PENDING', details: { ticket: 'ticket-1', days: 2 } },
  });
  await answer(overdue, 'retry');
  expect(await employOnce()).toMatchObject({ verdict: 'pending' });
  expect(hr.asked).toHaveLength(1);
});

test('whoever knows the employee of a pending create may name it', async () => {
  const { employOnce, answer, letPass, hr, employee } = await hireInto();
  await employOnce();
  await letPass(49 * HOUR_MS);
  const overdue = await employOnce();
  const ref = await hr.makeByHand();
  await answer(overdue, 'link', ref.id);
  expect(await employOnce()).toMatchObject({ verdict: 'employee' });
  expect(await employee()).toMatchObject({ employee_id: ref.id });
  expect(hr.asked).toHaveLength(1);
});

test('one human as two candidates is created once, however long the first create is pending', async () => {
  const { hr, employOnce, employSecond, letPassLeases, names } = await hireTwice();
  expect(await employOnce()).toMatchObject({ verdict: 'pending' });
  for (let hours = 0; hours < 2; hours += 1) {
    expect(await employSecond()).toMatchObject(names);
    await letPassLeases(HOUR_MS);
  }
  expect(hr.asked).toHaveLength(1);
  await hr.approve();
  expect(await employOnce()).toMatchObject({ verdict: 'employee' });
  expect(await employSecond()).toMatchObject({ hold: { code: expect.not.stringMatching('PERSON_BEING_HIRED') } });
  expect(hr.asked).toHaveLength(1);
});

test('a pending create that was sent by a version without leases keeps the other candidate waiting, too', async () => {
  const { hr, store, employOnce, employSecond, names } = await hireTwice();
  expect(await employOnce()).toMatchObject({ verdict: 'pending' });
  await store.kysely.deleteFrom('identity_leases').execute();
  expect(await employOnce()).toMatchObject({ verdict: 'pending' });
  expect(await employSecond()).toMatchObject(names);
  expect(hr.asked).toHaveLength(1);
});

test('once a pending create is refused, the other candidate of the same human is created', async () => {
  const { hr, employOnce, employSecond, names } = await hireTwice();
  await employOnce();
  expect(await employSecond()).toMatchObject(names);
  hr.reject('cost centre unknown');
  expect(await employOnce()).toMatchObject({ hold: { code: 'HIRE_REJECTED' } });
  expect(await employSecond()).toMatchObject({ verdict: 'pending' });
  expect(hr.asked).toHaveLength(2);
});

test('once the hire of a pending create is cancelled, the other candidate of the same human is created', async () => {
  const { hr, employOnce, employSecond, letPassLeases, cancel, names } = await hireTwice();
  await employOnce();
  expect(await employSecond()).toMatchObject(names);
  await cancel();
  await letPassLeases(HOUR_MS);
  expect(await employSecond()).toMatchObject({ verdict: 'pending' });
  expect(hr.asked).toHaveLength(2);
});

/** The same human, hired as two candidates. */
async function hireTwice() {
  const world = await hireInto({ samePerson: true });
  const { store, ref } = world;
  return {
    ...world,
    names: { hold: { code: 'PERSON_BEING_HIRED', details: { other: ref } } },
    /** The leases were taken so much earlier. */
    letPassLeases: (ms: number) =>
      store.kysely
        .updateTable('identity_leases')
        .set((eb) => ({ leased_until: eb('leased_until', '-', ms) }))
        .execute(),
    cancel: () => endHire(store, ref, 'cancelled'),
  };
}

/** One hire into an HR system whose people finish what was asked for. */
async function hireInto({ samePerson = false } = {}) {
  const fleet = await fleetAtSandbox({ policies: 'pendingDeadline: 2d' });
  await fleet.apply('acme');
  await fleet.reconcile('acme');
  if (samePerson) await makeSame(fleet);
  const id = await fleet.hire();
  await fleet.open('acme', id);
  const secondId = await fleet.hire();
  await fleet.open('acme', secondId);
  const ref = { tenantId: 'acme', jobCandidateId: id, period: 1 };
  const { hris } = await fleet.deps.connections.of('acme');
  const hr = peopleBehind(hris);
  const connections: ActivityDeps['connections'] = {
    ...fleet.deps.connections,
    of: async (tenantId) => ({ ...(await fleet.deps.connections.of(tenantId)), hris: hr.connection }),
  };
  const { store } = fleet;
  return {
    hr,
    store,
    ref,
    employOnce: () => employ({ ...fleet.deps, connections }, ref),
    employSecond: () => employ({ ...fleet.deps, connections }, { ...ref, jobCandidateId: secondId }),
    employee: () => latestHire(store, 'acme', id),
    async answer(held: Awaited<ReturnType<typeof employ>>, answer: string, ...given: string[]) {
      if (held.verdict !== 'hold') throw new Error('not held');
      const { holdId } = await openHold(fleet.deps, { ...ref, hold: held.hold });
      await answerHold(store, holdId, { answer, arguments: given, by: 'ada' });
      expect(await takeAnswer(fleet.deps, { ...ref, holdId })).toMatchObject({ verdict: 'answered' });
    },
    /** The create was taken so much earlier. */
    letPass: (ms: number) =>
      store.kysely
        .updateTable('intents')
        .set((eb) => ({ decided_at: eb('decided_at', '-', ms), sent_at: eb('sent_at', '-', ms) }))
        .execute(),
  };
}

/** The next two candidates are of one name and birth date, which the HR system is told. */
async function makeSame({ sandbox, apply }: Awaited<ReturnType<typeof fleetAtSandbox>>): Promise<void> {
  const mapping = join(await scratchFolder(), 'employee.yaml');
  await writeFile(mapping, 'fields:\n  birthDate: { from: candidate.dateOfBirth }\n');
  await apply('acme', `mapping: ${mapping}\n`);
  const fields = { firstName: 'Ada', lastName: 'Byron', dateOfBirth: '1990-12-10' };
  for (const { candidateId } of (await listApplicants(sandbox.partner)).slice(0, 2))
    await sandbox.control.act('editCandidate', { candidateId, fields });
}

/** Takes every create; its people approve or reject the last one. */
function peopleBehind(hris: HrisConnection) {
  const asked: Parameters<HrisConnection['employees']['create']>[] = [];
  const answers = new Map<string, CreateResult | ConnectorError>();
  const ticket = () => `ticket-${asked.length}`;
  const make = () => {
    const [fields, reference, write] = asked.at(-1) ?? [];
    if (fields === undefined || reference === undefined || write === undefined) throw new Error('nothing was asked');
    return hris.employees.create(fields, reference, { ...write, signal: AbortSignal.timeout(10_000) });
  };
  const create: HrisConnection['employees']['create'] = async (...args) => {
    args[2].beforeSend();
    asked.push(args);
    return { kind: 'pending', ticket: ticket(), nextCheckMs: 900_000 };
  };
  const resolve = async (of: string): Promise<CreateResult> => {
    const answer = answers.get(of) ?? { kind: 'pending', ticket: of, nextCheckMs: 900_000 };
    if (answer instanceof ConnectorError) throw answer;
    return answer;
  };
  return {
    asked,
    connection: { ...hris, employees: { ...hris.employees, create }, pending: { resolve } },
    approve: async () => void answers.set(ticket(), await make()),
    reject: (reason: string) =>
      answers.set(ticket(), new ConnectorError({ code: 'HIRE_REJECTED', action: 'reject', message: reason })),
    async makeByHand() {
      const made = await make();
      if (made.kind === 'pending') throw new Error('not made');
      return made.ref;
    },
  };
}
