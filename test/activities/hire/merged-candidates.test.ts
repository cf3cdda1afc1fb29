import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { cancelHire } from '../../../activities/hire/cancel-hire.ts';
import type { OwnHris } from '../../../activities/own-hris.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { steerTenant } from '../../../src/operator/tenants.ts';
import { noteRestored } from '../../../src/store/backups.ts';
import { compareAnew } from '../../../src/store/tenant-states.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { serve } from '../../http/servers.ts';
import { forgetPeople } from '../../store/known-people.ts';
import { kinds } from '../../store/stores.ts';
import { readTable, stepsIn } from './employed-person.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

/** Two candidates who are one human; once they are merged, the partner shows the first one as the second. */
async function twoCandidates(database: (typeof kinds)[number], hiredBefore = false) {
  let renamed: readonly [number, number] | undefined;
  const between = async (sandboxUrl: string): Promise<string> => {
    const origin = await serve(async (request, response) => {
      const url = new URL(request.url ?? '', sandboxUrl);
      const answer = await fetch(url, await sentOn(request));
      const text = await answer.text();
      const [from, to] = renamed ?? [];
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(from === undefined ? text : text.replaceAll(new RegExp(`\\b${from}\\b`, 'g'), String(to)));
    });
    return `${origin}${new URL(sandboxUrl).pathname}`;
  };
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  const hris = `kind: sql, connection: hr, url: "${url}", createTable: true`;
  const fleet = await fleetAtSandbox({ jobs: 3, hris, database, between });
  const [one, other] = await listApplicants(fleet.sandbox.partner);
  if (one === undefined || other === undefined) throw new Error('too few applicants');
  await fleet.apply('acme');
  const steps = stepsIn(fleet);
  if (hiredBefore) await fleet.hire(one.jobCandidateId);
  await fleet.reconcile('acme');
  const first = hiredBefore ? String(one.jobCandidateId) : await steps.begin(one.jobCandidateId);
  return {
    ...steps,
    fleet,
    first,
    merge() {
      renamed = [one.candidateId, other.candidateId];
    },
    /** As once a day. */
    async listAll() {
      await compareAnew(fleet.store, 'acme');
      await fleet.reconcile('acme');
    },
    /** The candidate who is left is hired, too. */
    async hireOther() {
      const second = await fleet.hire(other.jobCandidateId);
      return { second, opened: await fleet.open('acme', second) };
    },
    employees: () => readTable(url),
    /** The first one, whose hire is done, moves out of the stage. */
    leave: () => fleet.sandbox.control.act('move', { jobCandidateIds: [one.jobCandidateId], stageType: 'SCREEN' }),
    /** The store is built anew. */
    async lose() {
      await forgetPeople(fleet.store);
      await fleet.store.kysely.deleteFrom('hires').execute();
      await fleet.store.kysely.deleteFrom('intents').execute();
      await fleet.store.kysely
        .updateTable('tenants')
        .set({ baseline_started_at: null, baseline_done_at: null, fully_reconciled_at: null })
        .execute();
    },
    /** The store is one from before the employee was made. */
    async restore() {
      await forgetPeople(fleet.store);
      await fleet.store.kysely.deleteFrom('intents').where('verb', 'not like', 'enrol:%').execute();
      await fleet.store.kysely
        .updateTable('hires')
        .set({ state: 'open', step: 'onboard', ended_at: null, employee_id: null, employee_number: null })
        .execute();
      await noteRestored(fleet.store, 'ada');
    },
    cancel: async () => cancelHire(fleet.deps, await steps.refOf(first)),
    /** Nobody is known in the new one. */
    async replaceHris() {
      const by = { tenantId: 'acme', by: 'ada' };
      await steerTenant(fleet.store, 'pause', by);
      const anew = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
      await fleet.apply('acme', '', {
        hris: `kind: sql, connection: anew, url: "${anew}", createTable: true`,
        way: 'new',
      });
      await steerTenant(fleet.store, 'resume', by);
      return () => readTable(anew);
    },
  };
}

async function sentOn(request: IncomingMessage): Promise<RequestInit> {
  const { method = 'GET', headers } = request;
  const body = method === 'GET' ? {} : { body: new Uint8Array(await buffer(request)) };
  const { authorization = '', 'content-type': type = 'application/json' } = headers;
  return { method, headers: { authorization, 'content-type': type }, ...body };
}

/** The create happens, and its answer is lost. */
function withoutAnswer(hris: OwnHris): OwnHris {
  const create: OwnHris['employees']['create'] = async (...given) => {
    await hris.employees.create(...given);
    throw new ConnectorError({ code: 'NO_ANSWER', action: 'unknown', message: 'no answer' });
  };
  return { ...hris, employees: { ...hris.employees, create } };
}

const asked = (code: string) => ({ enrolled: { verdict: 'hold', hold: { code } } });

describe.each(kinds)('once the partner merged two candidates, with the store in %s', (database) => {
  test.each(['the HR system that knew the first one', 'one that knew neither'])(
    'the employee who was made after that in %s is known of both, and a transfer moves them',
    async (where) => {
      const world = await twoCandidates(database);
      const { first, merge, employOnce, finish, hireOther, answerAs, refOf, row } = world;
      const employees = where === 'one that knew neither' ? await world.replaceHris() : world.employees;
      merge();
      expect(await employOnce(first)).toMatchObject({ verdict: 'employee' });
      await finish(first);
      const { second, opened } = await hireOther();
      expect(opened).toMatchObject(asked('PERSON_HIRED_BEFORE'));
      const { enrolled } = opened as unknown as { enrolled: { verdict: string } };
      await answerAs(await refOf(second), enrolled, 'transfer');
      expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
      expect(await row(second)).toMatchObject({ employee_id: '1' });
      expect(await employees()).toHaveLength(1);
    },
  );

  test.each(['before', 'after'])(
    'whom a create without an answer made is known of both, if it was found %s',
    async (when) => {
      const { first, merge, employOnce, letPass, listAll, hireOther, employees } = await twoCandidates(database);
      await expect(employOnce(first, withoutAnswer)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
      await letPass(600_000);
      if (when === 'after') merge();
      expect(await employOnce(first)).toMatchObject({ verdict: 'employee' });
      merge();
      await listAll();
      expect((await hireOther()).opened).toMatchObject(asked('PERSON_HIRED_BEFORE'));
      expect(await employees()).toHaveLength(1);
    },
  );

  test('of two hires under way one makes the employee, and the other asks', async () => {
    const { first, merge, employOnce, hireOther, answerAs, enrolAnswered, refOf, employees, row } =
      await twoCandidates(database);
    const { second } = await hireOther();
    await enrolAnswered(await refOf(second));
    merge();
    expect(await employOnce(first)).toMatchObject({ hold: { code: 'PERSON_HIRED_BEFORE' } });
    expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
    await answerAs(await refOf(first), await employOnce(first), 'same-employee');
    expect(await employOnce(first)).toMatchObject({ verdict: 'employee' });
    expect(await row(first)).toMatchObject({ employee_id: '1' });
    expect(await employees()).toHaveLength(1);
  });

  test('the employee of a create without an answer comes before the question about the other hire', async () => {
    const { first, merge, employOnce, letPass, listAll, hireOther, enrolAnswered, refOf, employees, row } =
      await twoCandidates(database);
    const { second } = await hireOther();
    await enrolAnswered(await refOf(second));
    await expect(employOnce(first, withoutAnswer)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    merge();
    await listAll();
    expect(await employOnce(second)).toMatchObject({ verdict: 'hold' });
    await letPass(600_000);
    expect(await employOnce(first)).toMatchObject({ verdict: 'employee' });
    expect(await row(first)).toMatchObject({ employee_id: '1' });
    expect(await employOnce(second)).toMatchObject({ hold: { code: 'PERSON_HIRED_BEFORE' } });
    expect(await employees()).toHaveLength(1);
  });

  test('so is who was hired before go-live', async () => {
    const { merge, listAll, hireOther } = await twoCandidates(database, true);
    merge();
    await listAll();
    expect((await hireOther()).opened).toMatchObject(asked('PERSON_RECORDED'));
  });

  test('the employee whom only the Employee ID tells a new store of is asked about once the person left', async () => {
    const { first, merge, employOnce, finish, leave, lose, listAll, cancel, row, answerAs, refOf, hireOther } =
      await twoCandidates(database);
    await employOnce(first);
    await finish(first);
    const { employee_number: told } = (await row(first)) ?? {};
    await leave();
    await lose();
    merge();
    await listAll();
    expect(await row(first)).toMatchObject({ state: 'open', period: 1, employee_id: null });
    const left = await cancel();
    expect(left).toMatchObject({ hold: { code: 'LEFT_AFTER_EMPLOYEE', details: { employeeId: told } } });
    await answerAs(await refOf(first), left, 'keep');
    expect(await row(first)).toMatchObject({ state: 'kept' });
    expect((await hireOther()).opened).toMatchObject(asked('PERSON_RECORDED'));
  });

  test('so is the one whom a restored store does not know', async () => {
    const { first, merge, employOnce, finish, leave, restore, listAll, cancel } = await twoCandidates(database);
    await employOnce(first);
    await finish(first);
    await restore();
    merge();
    await listAll();
    await leave();
    expect(await cancel()).toMatchObject({ hold: { code: 'LEFT_AFTER_EMPLOYEE' } });
  });

  test('whom nobody told the partner of is over without a question', async () => {
    const { merge, leave, restore, cancel } = await twoCandidates(database);
    await restore();
    merge();
    await leave();
    expect(await cancel()).toEqual({ verdict: 'cancelled', state: 'left' });
  });
});
