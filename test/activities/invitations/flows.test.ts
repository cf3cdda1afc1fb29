import { expect, onTestFinished, test, vi } from 'vitest';
import { listHolds } from '../../../src/store/holds.ts';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { REQUEST_FAULTS } from '../killable.ts';
import { GIVE_UP_MS } from '../push-deps.ts';
import { invitationWorld, type WorldOptions } from './invitation-world.ts';

const key = { tenantId: 'acme', stream: 'invitations' };

const flowWorld = (options: WorldOptions = {}) => invitationWorld({ candidates: 60, ...options, inFlow: true });

test.each(['sqlite', 'postgres'] as const)(
  'whoever stands in the stage is assigned to the flow once, and who is in it is left alone, on %s',
  async (store) => {
    const { run, applied, assigned, rows, sandbox, flow } = await flowWorld({ store });
    const people = await applied();
    const [first] = people.map(({ jobCandidateDetails: { id } }) => Number(id));
    await sandbox.partner.assessmentFlows.assign({ params: { id: flow }, body: { jobCandidateId: first } });
    expect(await run('one')).toMatchObject({ state: 'done', counts: { created: people.length - 1 } });
    expect(await run('two')).toMatchObject({ state: 'done', counts: { created: 0, unchanged: people.length } });
    expect(await assigned()).toEqual({ people: people.length, requests: people.length });
    const codes = (await rows()).map(({ code, job_candidate_id: id }) => [Number(id) === first, code]);
    expect(codes.filter(([isFirst]) => isFirst)).toEqual([[true, 'ALREADY_INVITED']]);
    expect(codes.filter(([isFirst]) => !isFirst)).toEqual(people.slice(1).map(() => [false, null]));
  },
);

test.each(REQUEST_FAULTS)('each person once, although a request meets %s', async (kind) => {
  const { run, applied, assigned, rows, sandbox } = await flowWorld();
  const people = await applied();
  await sandbox.control.act('setFaults', { faults: [{ kind, on: 'assessmentFlows.assign', nth: 2 }] });
  await run('one');
  await run('two');
  expect((await assigned()).people).toBe(people.length);
  expect((await rows()).map(({ state }) => state)).toEqual(people.map(() => 'invited'));
});

test('a request without an answer is found in the list of the flow, and not sent again', async () => {
  const { once, run, applied, assigned, rows, clock, sandbox } = await flowWorld();
  const people = await applied();
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'assessmentFlows.assign', nth: 1 }] });
  await expect(once('one')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  clock.now += 600_000;
  await run('one');
  expect(await assigned()).toEqual({ people: people.length, requests: people.length });
  expect(new Set((await rows()).map(({ state }) => state))).toEqual(new Set(['invited']));
});

/** Deletes these fields of each entry. */
const without = (hidden: readonly string[]) => (data: Record<string, unknown>[]) => {
  for (const entry of data) for (const field of hidden) delete entry[field];
};

test.each([
  ['names no application', without(['jobCandidateId'])],
  ['cannot be read', without(['flowCandidateId', 'jobCandidateId'])],
  ['is counted and not shown', (data: Record<string, unknown>[]) => void data.splice(0)],
])('where an entry %s, nobody is asked for twice: a person decides about who had no answer', async (_what, hide) => {
  const { once, run, applied, assigned, store, clock, partnerSays, sandbox } = await flowWorld();
  const people = await applied();
  partnerSays.change = (operation, answer) => {
    if (operation !== 'assessmentFlows.listCandidates') return;
    hide((answer as { body: { data: Record<string, unknown>[] } }).body.data);
  };
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'assessmentFlows.assign', nth: 1 }] });
  await expect(once('one')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  clock.now += 600_000;
  await run('one');
  await run('two');
  expect(await assigned()).toEqual({ people: people.length, requests: people.length });
  const told = await readQuarantine(store, key);
  expect(told.map(({ reason }) => reason)).toEqual(['the hiring platform reports no outcome of their invitation']);
});

test('two workers at once assign each person by one request', async () => {
  const { once, applied, assigned } = await flowWorld();
  const people = (await applied()).length;
  await Promise.allSettled([once('same'), once('same')]);
  await once('after');
  expect(await assigned()).toEqual({ people, requests: people });
});

test('webhooks that come twice and in any order have each person assigned once', async () => {
  const { run, applied, assigned, hint } = await flowWorld();
  const ids = (await applied()).map(({ jobCandidateDetails: { id } }) => id);
  for (const [n, told] of [ids.toReversed(), [...ids, ...ids], ids.slice(1)].entries()) {
    await hint(told);
    await run(`told-${n}`, { hinted: true });
  }
  expect(await assigned()).toEqual({ people: ids.length, requests: ids.length });
});

test('credits that go in the middle end the requests; one is tried later, and the others follow', async () => {
  const { run, applied, assigned, clock, sandbox, store } = await flowWorld();
  const people = (await applied()).length;
  expect(people).toBeGreaterThan(3);
  await sandbox.control.act('setQuirks', { quirks: ['invitations-cost'] });
  await sandbox.control.act('setCredits', { credits: 2 });
  expect(await run('one')).toMatchObject({ counts: { created: 2, held: people - 2 } });
  // The one that was refused, and nobody after them.
  expect(await assigned()).toEqual({ people: 2, requests: 3 });
  expect((await listHolds(store)).map(({ code }) => code)).toEqual(['INVITATION_CREDITS']);
  await run('two');
  expect(await assigned()).toEqual({ people: 2, requests: 3 });
  await sandbox.control.act('setCredits', { credits: 100 });
  clock.now += 900_000;
  expect(await run('three')).toMatchObject({ state: 'done', counts: { created: people - 2, held: 0 } });
  expect(await assigned()).toEqual({ people, requests: people + 1 });
  expect(await listHolds(store)).toEqual([]);
});

test('one person whom the partner refuses in its own words keeps no other from being assigned', async () => {
  const { run, applied, assigned, store, partnerSays } = await flowWorld();
  const people = (await applied()).map(({ jobCandidateDetails: { id } }) => Number(id));
  partnerSays.refuses = (operation, input) =>
    operation === 'assessmentFlows.assign' && JSON.stringify(input).includes(`${people[0]}`)
      ? [409, 'ALREADY_IN_FLOW']
      : undefined;
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { created: people.length - 1, quarantined: 1 } });
  expect((await assigned()).people).toBe(people.length - 1);
  expect((await readQuarantine(store, key)).map(({ reason }) => reason)).toEqual([
    'the hiring platform refused to invite them: ALREADY_IN_FLOW',
  ]);
});

test('where a flow is not shown, one is asked for, all are told, and all are assigned once it is back', async () => {
  const { run, applied, assigned, store, partnerSays, flow } = await flowWorld();
  const people = (await applied()).length;
  let asked = 0;
  partnerSays.refuses = (operation) => {
    if (!operation.startsWith('assessmentFlows.')) return undefined;
    asked += Number(operation === 'assessmentFlows.assign');
    return [404, 'NOT_FOUND'];
  };
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { quarantined: people } });
  expect(asked).toBe(1);
  const told = (await readQuarantine(store, key)).map(({ record_key: id, reason }) => [id.split(' to ')[1], reason]);
  expect(told[0]).toEqual([`flow:${flow}`, expect.stringContaining('correct the rule in the tenant file')]);
  partnerSays.refuses = () => undefined;
  expect(await run('two')).toMatchObject({ state: 'done', counts: { created: people } });
  expect((await assigned()).people).toBe(people);
});

test('who is in the flow already does not count as new', async () => {
  const { run, applied, assigned, sandbox, flow } = await flowWorld({ atOnce: 1 });
  const ids = (await applied()).map(({ jobCandidateDetails: { id } }) => Number(id));
  for (const jobCandidateId of ids.slice(1))
    await sandbox.partner.assessmentFlows.assign({ params: { id: flow }, body: { jobCandidateId } });
  expect(await run('one')).toMatchObject({ state: 'done', counts: { created: 1 } });
  expect((await assigned()).people).toBe(ids.length);
});

test('who left the stage while the list of the flow was read is not assigned', async () => {
  const { run, applied, assigned, partnerSays, sandbox } = await flowWorld();
  const [gone, ...others] = (await applied()).map(({ jobCandidateDetails: { id } }) => Number(id));
  const now = Date.now.bind(Date);
  onTestFinished(() => void vi.restoreAllMocks());
  partnerSays.change = async (operation) => {
    if (operation !== 'assessmentFlows.listCandidates') return;
    await sandbox.control.act('move', { jobCandidateIds: [gone ?? 0], stageType: 'SCREEN' });
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 3 * GIVE_UP_MS);
  };
  await run('one');
  expect((await assigned()).people).toBe(others.length);
});

test('each person is asked for by one request, wherever the process is killed', async () => {
  const { run, applied, assigned, hint, points, store } = await flowWorld({ candidates: 240 });
  const people = (await applied()).map(({ jobCandidateDetails }) => jobCandidateDetails.id);
  points.arm(0);
  await hint([people[0] ?? '']);
  await run('recorded', { hinted: true });
  const passed = points.arm(0);
  expect(passed).toContain('assessmentFlows.assign/after');
  expect(people.length).toBeGreaterThan(passed.length);
  for (let nth = 1; nth <= passed.length; nth += 1) {
    await store.kysely.deleteFrom('hints').execute();
    await hint([people[nth] ?? '']);
    points.arm(nth);
    await run(`killed-${nth}`, { hinted: true });
    points.arm(0);
    await run(`after-${nth}`, { hinted: true });
  }
  const asked = passed.length + 1;
  expect(await assigned()).toEqual({ people: asked, requests: asked });
});
