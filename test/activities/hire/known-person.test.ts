import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contract } from '../../../src/partner/contract/index.ts';
import { hiresInState, latestHire } from '../../../src/store/hires.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { finishOnboardings, listApplicants } from '../../harness/world-people.ts';
import { kinds } from '../../store/stores.ts';
import { employPerson, partnerSide, readTable, stepsIn } from './employed-person.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const ASKED = { verdict: 'open', enrolled: { verdict: 'hold', hold: { code: 'PERSON_RECORDED' } } };
const SCOPE = 'scope: { countries: [Atlantis] }\n';

describe.each(kinds)('with the store in %s', (database) => {
  test('who was hired before go-live and is hired for another job is asked about before the credit', async () => {
    const { fleet, id, applyFor, enrolled } = await hiredBefore({ database });
    const second = await fleet.hire(await applyFor(0));
    expect(await fleet.open('acme', second)).toMatchObject({
      ...ASKED,
      enrolled: { hold: { details: { other: { tenantId: 'acme', jobCandidateId: id, period: 1 } } } },
    });
    expect(await enrolled()).toBe(0);
  });

  test('the same holds for somebody who was observed, and for somebody who was passed over', async () => {
    for (const settings of ['mode: observe\n', SCOPE]) {
      const { fleet, enrolled } = await hiredBefore({ database, settings });
      const seen = await fleet.hire();
      expect(await fleet.open('acme', seen)).toMatchObject({ state: 'before-go-live' });
      await fleet.apply('acme');
      const second = await fleet.hire(await partnerSide(fleet, seen).applyFor(0));
      expect(await fleet.open('acme', second)).toMatchObject(ASKED);
      expect(await enrolled()).toBe(0);
    }
  });

  test('a person links the employee who was made by hand, and nobody is made', async () => {
    const { fleet, applyFor, steps, employees, byHand, onboard } = await hiredBefore({ database });
    const employeeId = await byHand();
    const second = await fleet.hire(await applyFor(0));
    const asked = await openAndAsk(fleet, second);
    const ref = await steps.refOf(second);
    expect(await steps.answerAs(ref, asked, 'link', employeeId)).toMatchObject({ next: 'same' });
    expect(await fleet.open('acme', second)).toMatchObject({ enrolled: { verdict: 'enrolled' } });
    await onboard();
    const differs = await steps.employOnce(second);
    expect(differs).toMatchObject({ hold: { code: 'LINK_OTHER_NAME', details: { employeeId } } });
    expect(JSON.stringify(differs)).not.toMatch(/Ada|Byron/);
    await steps.answerAs(ref, differs, 'link', employeeId);
    expect(await steps.employOnce(second)).toMatchObject({ hold: { code: 'LINK_OTHER_NAME' } });
    await steps.answerAs(ref, differs, 'link-anyway');
    expect(await steps.employOnce(second)).toMatchObject({ verdict: 'employee' });
    expect(await latestHire(fleet.store, 'acme', second)).toMatchObject({ employee_id: employeeId });
    expect(await employees()).toHaveLength(1);
  });

  test('a person who says that it is a new employment has one made', async () => {
    const { fleet, applyFor, steps, employees, byHand, onboard } = await hiredBefore({ database });
    await byHand();
    const second = await fleet.hire(await applyFor(0));
    const asked = await openAndAsk(fleet, second);
    await steps.answerAs(await steps.refOf(second), asked, 'new-employment');
    expect(await fleet.open('acme', second)).toMatchObject({ enrolled: { verdict: 'enrolled' } });
    await onboard();
    expect(await steps.employOnce(second)).toMatchObject({ verdict: 'employee' });
    expect(await employees()).toHaveLength(2);
  });

  test('who was hired before go-live and is moved out for a short while starts nothing', async () => {
    const { fleet, id, moveTo, enrolled } = await hiredBefore({ database });
    await moveTo('SCREEN', id);
    await fleet.reconcile('acme');
    await fleet.reconcile('acme');
    await moveTo('HIRED', id);
    await fleet.reconcile('acme');
    expect(await fleet.open('acme', id)).toEqual({ verdict: 'closed', period: 1, state: 'before-go-live' });
    expect(await enrolled()).toBe(0);
  });

  test('after a long absence the same person is asked about, too', async () => {
    const { fleet, id, moveTo, enrolled } = await hiredBefore({ database });
    await moveTo('SCREEN', id);
    await fleet.reconcile('acme');
    await fleet.store.kysely.updateTable('hints').set({ hinted_at: 0 }).execute();
    await fleet.reconcile('acme');
    await moveTo('HIRED', id);
    expect(await fleet.open('acme', id)).toMatchObject({ ...ASKED, period: 2 });
    expect(await enrolled()).toBe(0);
  });

  test('who was hired before a sister tenant went live, and was away when it did, is asked about there', async () => {
    const { fleet, hris, id, moveTo, enrolled } = await hiredBefore({ database });
    const row = await latestHire(fleet.store, 'acme', id);
    const jobs = (await fleet.sandbox.partner.readAll(contract.jobs.list)).items.map((job) => String(job.id));
    const scope = (own: string[]) => `scope: { jobs: ${JSON.stringify(own)} }\n`;
    await fleet.apply('acme', scope(jobs.filter((job) => job !== row?.job_id)));
    await moveTo('SCREEN', id);
    await fleet.apply('beta', scope([row?.job_id ?? '']), { hris });
    await fleet.reconcile('beta');
    await moveTo('HIRED', id);
    expect(await fleet.open('beta', id)).toMatchObject({ ...ASKED, period: 1 });
    expect(await enrolled()).toBe(0);
  });

  test('a hire that a sister tenant passed over, or found at its go-live, is made without a question', async () => {
    const { fleet, hris, id } = await hiredBefore({ database });
    const row = await latestHire(fleet.store, 'acme', id);
    const jobs = (await fleet.sandbox.partner.readAll(contract.jobs.list)).items.map((job) => String(job.id));
    const scope = (own: string[]) => `scope: { jobs: ${JSON.stringify(own)} }\n`;
    await fleet.apply('acme', scope([row?.job_id ?? '']));
    await fleet.apply('beta', scope(jobs.filter((job) => job !== row?.job_id)), { hris });
    await fleet.reconcile('beta');
    const own = (await listApplicants(fleet.sandbox.partner)).filter(({ jobId }) => String(jobId) !== row?.job_id);
    const passedOver = await fleet.hire(own.shift()?.jobCandidateId);
    expect(await fleet.open('acme', passedOver)).toMatchObject({ state: 'before-go-live' });
    expect(await fleet.open('beta', passedOver)).toMatchObject({ enrolled: { verdict: 'enrolled' } });
    const found = await fleet.hire(own.shift()?.jobCandidateId);
    await fleet.apply('gamma', scope(['999999']), { hris });
    await fleet.reconcile('gamma');
    expect(await latestHire(fleet.store, 'gamma', found)).toMatchObject({ state: 'before-go-live' });
    expect(await fleet.open('beta', found)).toMatchObject({ enrolled: { verdict: 'enrolled' } });
  });

  test.each(['cancel', 'keep'])('what a person answered (%s) holds when the person is moved about', async (word) => {
    const { fleet, id, ref, moveTo, answer } = await employPerson({ database });
    const state = word === 'keep' ? 'kept' : 'cancelled';
    await fleet.store.kysely.updateTable('hires').set({ state: 'open' }).execute();
    if (word === 'keep') await answer(held('WRITE_BACK_NOT_VERIFIED', ['keep']), 'keep');
    else await fleet.store.kysely.updateTable('hires').set({ state }).execute();
    await moveTo('SCREEN', id);
    await fleet.reconcile('acme');
    await moveTo('HIRED', id);
    await fleet.reconcile('acme');
    expect(await fleet.open('acme', id)).toEqual({ verdict: 'closed', period: ref.period, state });
  });

  test('a second job is asked about before its credit, and so is a transfer', async () => {
    const { fleet, applyFor, employees } = await employPerson({ database });
    const before = await fleet.enrolments();
    const second = await fleet.hire(await applyFor(0));
    expect(await fleet.open('acme', second)).toMatchObject({
      enrolled: { verdict: 'hold', hold: { code: 'PERSON_HIRED_BEFORE' } },
    });
    expect(await fleet.enrolments()).toBe(before);
    expect(await employees()).toHaveLength(1);
  });

  test('who left after the employee was made and is back is asked about before the credit', async () => {
    const { fleet, id, move, judge, update } = await employPerson({ database });
    await move('SCREEN');
    await update({ startDate: '2020-01-01' });
    expect(await judge()).toEqual({ verdict: 'over' });
    const before = await fleet.enrolments();
    await move('HIRED');
    expect(await fleet.open('acme', id)).toMatchObject({
      period: 2,
      enrolled: { verdict: 'hold', hold: { code: 'PERSON_HIRED_BEFORE' } },
    });
    expect(await fleet.enrolments()).toBe(before);
  });
});

function held(code: string, answers: string[]) {
  return { verdict: 'hold', hold: { code, message: code, answers } };
}

/** A tenant with one person whom it hired before go-live, and whom nobody but HR knows in its HR system. */
async function hiredBefore({ database, settings }: { database: (typeof kinds)[number]; settings?: string }) {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  const hris = `kind: sql, connection: hr, url: "${url}", createTable: true`;
  const fleet = await fleetAtSandbox({ database, jobs: 3, hired: 1, hris });
  await fleet.apply('acme', settings);
  await fleet.reconcile('acme');
  const [row] = await hiresInState(fleet.store, 'acme', 'before-go-live');
  const id = row?.job_candidate_id ?? '';
  const before = await fleet.enrolments();
  const steps = stepsIn(fleet);
  return {
    fleet,
    hris,
    id,
    steps,
    ...partnerSide(fleet, id),
    enrolled: async () => (await fleet.enrolments()) - before,
    employees: () => readTable(url),
    onboard: () => finishOnboardings(fleet.sandbox.control, fleet.sandbox.partner),
    /** HR made the employee in its own way; gives the id. */
    async byHand() {
      const fields = { givenName: 'Ada', familyName: 'Byron', email: 'ada@work.example', startDate: '2024-01-01' };
      const { hris: hr } = await fleet.deps.connections.of('acme');
      const made = await hr.employees.create(fields, '', {
        signal: AbortSignal.timeout(120_000),
        beforeSend: () => undefined,
      });
      return made.kind === 'created' ? made.ref.id : '';
    },
  };
}

/** What a person is asked before the enrolment. */
async function openAndAsk(fleet: Awaited<ReturnType<typeof fleetAtSandbox>>, id: string): Promise<{ verdict: string }> {
  const opened = await fleet.open('acme', id);
  return (opened.verdict === 'open' && opened.enrolled) || { verdict: 'none' };
}
