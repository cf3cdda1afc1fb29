import { expect, test } from 'vitest';
import { contract } from '../../../src/partner/contract/index.ts';
import { markPerson } from '../../../src/store/person-marks.ts';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { resumeStream } from '../../../src/store/streams.ts';
import { finishStep } from '../../sandbox/open-flow.ts';
import { REQUEST_FAULTS } from '../killable.ts';
import { invitationWorld, type WorldOptions } from './invitation-world.ts';

const key = { tenantId: 'acme', stream: 'invitations' };

/** Everybody who applied is in the flow; whoever completes it goes on. */
async function moveWorld({ people = 3, ...options }: WorldOptions & { people?: number } = {}) {
  const world = await invitationWorld({ candidates: 60, moveTo: 'SHORTLISTED', ...options, inFlow: true });
  const { sandbox, flow } = world;
  const { control, partner } = sandbox;
  const ids = (await world.applied()).map(({ jobCandidateDetails }) => String(jobCandidateDetails.id));
  expect(ids.length).toBeGreaterThan(people);
  await world.run('invited');
  if (options.atOnce !== undefined) {
    await resumeStream(world.store, key, 'somebody');
    await world.run('invited after all');
  }
  const listed = await partner.readAll(contract.assessmentFlows.listCandidates, { params: { id: flow } });
  const entries = new Map(listed.items.map((one) => [String(one['jobCandidateId']), Number(one.flowCandidateId)]));
  return {
    ...world,
    ids,
    async finish(some: readonly string[], score = 80): Promise<void> {
      for (const id of some) await finishStep(control, entries.get(id) ?? 0, score);
    },
    /** By application, the types of stages that it was moved to whoever asked, by the partner's ledger. */
    async moves(): Promise<Record<string, unknown[]>> {
      const effects = await control.ledger({ kind: 'effect', name: 'stage-move' });
      const byPerson = Map.groupBy(effects, ({ subject }) => String(subject));
      return Object.fromEntries([...byPerson].map(([id, all]) => [id, all.map(({ detail }) => detail['type'])]));
    },
    async requests(): Promise<number> {
      const { request = {} } = await control.counts({ kind: 'request' });
      return request['jobCandidates.move'] ?? 0;
    },
    moved: (some: readonly string[]) => Object.fromEntries(some.map((id) => [id, ['SHORTLISTED']])),
  };
}

test('whoever completes the flow goes on to the next stage once, and whoever fails or waits does not', async () => {
  const { run, ids, finish, moves, moved, requests, sandbox, store } = await moveWorld();
  const [one = '', other = '', failed = ''] = ids;
  await finish([one, other]);
  await finish([failed], 20);
  expect(await run('one')).toMatchObject({ state: 'done', counts: { updated: 2 } });
  expect(await moves()).toEqual(moved([one, other]));
  // Whom a recruiter takes back stays there.
  await sandbox.control.act('move', { jobCandidateIds: [Number(one)], stageType: 'APPLIED' });
  expect(await run('two')).toMatchObject({ state: 'done', counts: { updated: 0 } });
  expect((await moves())[one]).toEqual(['SHORTLISTED', 'APPLIED']);
  expect(await requests()).toBe(2);
  const writes = await store.kysely.selectFrom('foreign_writes').selectAll().where('target', '=', 'stage').execute();
  expect(writes.map(({ record_id, outcome }) => [record_id, outcome]).toSorted()).toEqual(
    [one, other].toSorted().map((id) => [id, 'done']),
  );
});

test('who has two applications in the stage goes on with that of the flow, in whatever order they are', async () => {
  const { run, ids, finish, moves, moved, applied, partnerSays, sandbox } = await moveWorld({ jobs: 2 });
  const [one = ''] = ids;
  const { candidate_details: person, jobCandidateDetails: first } =
    (await applied()).find(({ jobCandidateDetails: { id } }) => String(id) === one) ?? {};
  const { items } = await sandbox.partner.readAll(contract.jobs.list, {});
  const other = items.find(({ id }) => String(id) !== String(first?.jobId));
  const candidate = { email: String(person?.email), firstName: 'Ada', lastName: 'Lovelace' };
  await sandbox.control.act('addCandidate', { candidate, jobId: Number(other?.id), stageType: 'APPLIED' });
  partnerSays.change = (operation, answer) => {
    if (operation === 'jobCandidates.listByStageType')
      (answer as { body: { data: { jobCandidateDetails: { id: unknown } }[] } }).body.data.sort(
        (a, b) => Number(b.jobCandidateDetails.id) - Number(a.jobCandidateDetails.id),
      );
  };
  await finish([one]);
  await run('one');
  expect(await moves()).toEqual(moved([one]));
});

test('each person goes on once, whatever becomes of a request', async () => {
  const { run, ids, finish, moves, moved, sandbox } = await moveWorld({ people: REQUEST_FAULTS.length });
  for (const [n, kind] of REQUEST_FAULTS.entries()) {
    await finish([ids[n] ?? '']);
    await sandbox.control.act('setFaults', { faults: [{ kind, on: 'jobCandidates.move', nth: 1 }] });
    await run(`meets ${kind}`);
    await run(`after ${kind}`);
  }
  expect(await moves()).toEqual(moved(ids.slice(0, REQUEST_FAULTS.length)));
});

test('a move without an answer is looked up, not sent again, also where a person moved them on by then', async () => {
  const { once, run, ids, finish, moves, requests, sandbox, clock, store } = await moveWorld();
  const [one = '', other = ''] = ids;
  await finish([one, other]);
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'jobCandidates.move', times: 2 }] });
  await expect(once('one')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await sandbox.control.act('move', { jobCandidateIds: [Number(other)], stageType: 'SCREEN' });
  clock.now += 600_000;
  await run('one');
  const sent = await requests();
  await run('two');
  expect(await requests()).toBe(sent);
  expect(await moves()).toEqual({ [one]: ['SHORTLISTED'], [other]: ['SHORTLISTED', 'SCREEN'] });
  const rows = await store.kysely.selectFrom('stage_moves').selectAll().execute();
  expect(new Map(rows.map((row) => [row.job_candidate_id, row.state]))).toEqual(
    new Map([
      [one, 'done'],
      [other, 'left'],
    ]),
  );
});

test('who was moved on by a recruiter while the list of the flow was read is not moved back', async () => {
  const { run, ids, finish, moves, requests, partnerSays, sandbox } = await moveWorld();
  const [one = ''] = ids;
  await finish([one]);
  partnerSays.change = async (operation) => {
    if (operation !== 'assessmentFlows.listCandidates') return;
    await sandbox.control.act('move', { jobCandidateIds: [Number(one)], stageType: 'HIRED' });
  };
  await run('one');
  expect(await moves()).toEqual({ [one]: ['HIRED'] });
  expect(await requests()).toBe(0);
});

test('who is erased once the flow was read is moved nowhere, and no row of theirs is made', async () => {
  const { run, ids, finish, moves, moved, partnerSays, store } = await moveWorld();
  const [one = '', other = ''] = ids;
  await finish([one, other]);
  partnerSays.change = async (operation) => {
    if (operation !== 'pipelines.list') return;
    const who = { tenantId: 'acme', mark: 'erased', by: 'ada', about: 'request' } as const;
    await markPerson(store, who, [{ kind: 'job-candidate', id: one }]);
  };
  await run('one');
  expect(await moves()).toEqual(moved([other]));
  for (const table of ['stage_moves', 'foreign_writes'] as const) {
    const rows = await store.kysely.selectFrom(table).selectAll().execute();
    expect(JSON.stringify(rows.filter((row) => !('target' in row) || row.target === 'stage'))).not.toContain(
      `"${one}"`,
    );
  }
});

test.each([
  ['comes after', 'ONBOARDING', 'no stage ONBOARDING comes after APPLIED in their pipeline'],
  ['is one of hiring', 'HIRED', 'HIRED is a hiring stage, and only a person hires'],
])(
  'where no stage is right (%s), nobody is moved, and each is named with the reason',
  async (_what, moveTo, reason) => {
    const { run, ids, finish, requests, store } = await moveWorld({ moveTo });
    await finish(ids.slice(0, 1));
    expect(await run('one')).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
    expect((await readQuarantine(store, key)).map((one) => one.reason)).toEqual([reason]);
    expect(await requests()).toBe(0);
  },
);

test('where the list of the flow names no application, who may have completed it is told', async () => {
  const { run, ids, finish, moves, moved, requests, store, partnerSays } = await moveWorld();
  const [one = ''] = ids;
  await finish([one]);
  partnerSays.change = (operation, answer) => {
    if (operation !== 'assessmentFlows.listCandidates') return;
    const { data } = (answer as { body: { data: Record<string, unknown>[] } }).body;
    for (const entry of data) delete entry['jobCandidateId'];
  };
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { quarantined: ids.length } });
  const reason = expect.stringMatching(/does not name the application of everybody who completed it/);
  expect(await readQuarantine(store, key)).toEqual(ids.map(() => expect.objectContaining({ reason })));
  expect(await requests()).toBe(0);
  partnerSays.change = () => undefined;
  expect(await run('two')).toMatchObject({ state: 'done', counts: { updated: 1 } });
  expect([await moves(), await readQuarantine(store, key)]).toEqual([moved([one]), []]);
});

test('where a run would move many, a person is asked first', async () => {
  const { run, ids, finish, moves, moved, store } = await moveWorld({ atOnce: 1 });
  const some = ids.slice(0, 2);
  await finish(some);
  expect(await run('one')).toMatchObject({ state: 'refused', code: 'MASS_MOVE' });
  expect(await moves()).toEqual({});
  await resumeStream(store, key, 'somebody');
  expect(await run('two')).toMatchObject({ state: 'done', counts: { updated: 2 } });
  expect(await moves()).toEqual(moved(some));
});

test('two workers at once move each person by one request', async () => {
  const { once, ids, finish, moves, moved, requests } = await moveWorld();
  const some = ids.slice(0, 3);
  await finish(some);
  await Promise.allSettled([once('same'), once('same')]);
  await once('after');
  expect(await moves()).toEqual(moved(some));
  expect(await requests()).toBe(some.length);
});
