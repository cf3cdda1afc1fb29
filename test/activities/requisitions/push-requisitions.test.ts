import { expect, onTestFinished, test, vi } from 'vitest';
import { ConnectorError } from '../../../src/errors.ts';
import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import type { Job } from '../../../src/partner/contract/jobs.ts';
import { listWrites } from '../../../src/store/foreign-writes.ts';
import { answerHold, closeHold, listHolds } from '../../../src/store/holds.ts';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { resumeStream } from '../../../src/store/streams.ts';
import { REQUEST_FAULTS, refusing } from '../killable.ts';
import { GIVE_UP_MS } from '../push-deps.ts';
import { requisition, requisitionWorld } from './requisition-world.ts';

const key = { tenantId: 'acme', stream: 'requisitions' };

test('a requisition becomes one draft job that carries its id; the next run writes nothing', async () => {
  const { open, run, jobsOf, sandbox } = await requisitionWorld();
  open.push(requisition('R-1'));
  expect(await run('one')).toMatchObject({ state: 'done', counts: { read: 1, created: 1, unchanged: 0 } });
  const [job, ...others] = await jobsOf('R-1');
  expect([job?.title, job?.status, others.length]).toEqual(['Sous chef', 'DRAFT', 0]);
  const before = (await sandbox.control.ledger({ kind: 'effect' })).length;
  expect(await run('two')).toMatchObject({ state: 'done', counts: { read: 1, created: 0, unchanged: 1 } });
  expect((await sandbox.control.ledger({ kind: 'effect' })).length).toBe(before);
});

test('afterwards custom fields are kept equal; what the API cannot edit is named as not writable', async () => {
  const { open, run, jobsOf, store, costCentreId } = await requisitionWorld();
  open.push(requisition('R-1'), requisition('R-2'));
  await run('one');
  open.splice(0, 2, requisition('R-1', { costCentre: 'K-2' }), requisition('R-2', { title: 'Head chef' }));
  expect(await run('two')).toMatchObject({ state: 'partial', counts: { updated: 1, unchanged: 0, created: 0 } });
  expect((await jobsOf('R-1'))[0]?.customFields?.[costCentreId]?.value).toBe('K-2');
  const [left] = await readQuarantine(store, key);
  expect(left).toMatchObject({ record_key: 'R-2', reason: expect.stringMatching(/^not writable in job \d+: title$/) });
});

/** A partner whose list of jobs shows every value of a custom field in this spelling. */
function spelling(partner: PartnerClient, spell: (value: unknown) => unknown): PartnerClient {
  const readAll = async (...[endpoint, ...rest]: Parameters<PartnerClient['readAll']>) => {
    const read = await partner.readAll(endpoint, ...rest);
    for (const { customFields } of (endpoint.id === 'jobs.list' ? read.items : []) as Job[])
      for (const field of Object.values(customFields ?? {})) field.value = spell(field.value);
    return read;
  };
  return { ...partner, readAll } as PartnerClient;
}

// Section 2.5: a number is kept as a decimal, a multi-select as a JSON-stringified array.
test.each([
  ['a decimal with zeros', { fieldType: 'number' as const }, 1200.5, '1200.50'],
  ['JSON with blanks', { fieldType: 'multi-select' as const, options: ['A', 'B'] }, ['A', 'B'], '["A", "B"]'],
])('a job that shows a value as %s is not written again', async (_what, form, costCentre, shown) => {
  const { open, run, sandbox } = await requisitionWorld(
    (partner) => spelling(partner, (value) => (String(value).startsWith('R-') ? value : shown)),
    form,
  );
  open.push(requisition('R-1', { costCentre }));
  expect(await run('one')).toMatchObject({ state: 'done', counts: { created: 1 } });
  const before = (await sandbox.control.ledger({ kind: 'effect' })).length;
  expect(await run('two')).toMatchObject({ state: 'done', counts: { unchanged: 1 } });
  expect((await sandbox.control.ledger({ kind: 'effect' })).length).toBe(before);
});

test('years of open positions do not become jobs at once: a person is asked first', async () => {
  const { open, run, jobsOf, store } = await requisitionWorld(undefined, undefined, 2);
  open.push(requisition('R-1'), requisition('R-2'), requisition('R-3'), requisition('R-4', { title: null }));
  expect(await run('one')).toMatchObject({ state: 'refused', code: 'MASS_REQUISITIONS' });
  expect(await jobsOf('R-1')).toEqual([]);
  await resumeStream(store, key, 'somebody');
  const made = { created: 3, quarantined: 1 };
  expect(await run('two')).toMatchObject({ state: 'partial', counts: made });
  // Jobs that are there, and positions that can be none, are not counted again.
  open.push(requisition('R-5'), requisition('R-6'));
  expect(await run('three')).toMatchObject({ state: 'partial', counts: { created: 2 } });
  open.push(...['R-7', 'R-8', 'R-9'].map((id) => requisition(id)));
  expect(await run('four')).toMatchObject({ state: 'refused', code: 'MASS_REQUISITIONS' });
});

test('one that misses what a job needs is left out with its reason, and the others are made', async () => {
  const { open, run, store, jobsOf } = await requisitionWorld();
  open.push(requisition('R-1', { city: null }), requisition('R-2'));
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { created: 1, quarantined: 1 } });
  expect(await jobsOf('R-2')).toHaveLength(1);
  expect((await readQuarantine(store, key))[0]).toMatchObject({
    record_key: 'R-1',
    reason: '"city" is required and requisition.city is empty. Fill it in the HR system.',
  });
});

test.each([
  ['empty', ''],
  ['not given', null],
])('a job needs no state where there are none: %s', async (_what, state) => {
  const { open, run, jobsOf } = await requisitionWorld();
  open.push(requisition('R-1', { country: 'Singapore', state }));
  expect(await run('one')).toMatchObject({ state: 'done', counts: { created: 1 } });
  expect(await jobsOf('R-1')).toMatchObject([{ country: 'Singapore', state: '' }]);
  expect(await run('two')).toMatchObject({ state: 'done', counts: { unchanged: 1 } });
});

/** A partner that refuses the second request of values, once. */
function refusingOnce(partner: PartnerClient): PartnerClient {
  let asked = 0;
  return refusing(partner, (operation) =>
    operation === 'customFieldValues.upsertBulk' && (asked += 1) === 2 ? [400, 'VALIDATION_ERROR'] : undefined,
  );
}

test.each([
  ['refused', refusingOnce, undefined],
  ['open', undefined, { kind: 'server-error', on: 'customFieldValues.upsertBulk', nth: 2 } as const],
] as const)('where one request of several is %s, only its jobs are noted so', async (outcome, wrap, fault) => {
  const { open, run, store, sandbox } = await requisitionWorld(wrap);
  const ids = Array.from({ length: 102 }, (_, at) => `R-${at}`);
  open.push(...ids.map((id) => requisition(id)));
  await run('one');
  open.splice(0, open.length, ...ids.map((id) => requisition(id, { costCentre: 'K-2' })));
  if (fault !== undefined) await sandbox.control.act('setFaults', { faults: [fault] });
  await run('two');
  expect(await run('three')).toMatchObject({ state: 'done' });
  const updates = (await listWrites(store, { tenantId: 'acme', target: 'job' })).filter(
    ({ kind }) => kind === 'update',
  );
  const noted = Map.groupBy(updates, (one) => one.outcome);
  expect([noted.get(outcome)?.length, noted.get('done')?.length, noted.size]).toEqual([2, 102, 2]);
});

/** A partner that refuses every request with a value of this job. */
function refusingJob(isRefused: (entityId: string) => boolean) {
  return (partner: PartnerClient): PartnerClient =>
    refusing(partner, (operation, input) => {
      const { body = [] } = input as { body?: { entityId: string }[] };
      const isOfJob = operation === 'customFieldValues.upsertBulk' && body.some(({ entityId }) => isRefused(entityId));
      return isOfJob ? [400, 'INVALID_REQUEST'] : undefined;
    });
}

test('a requisition whose request never gets an answer keeps no other job’s values from being equal', async () => {
  const { open, run, jobsOf, costCentreId, sandbox } = await requisitionWorld();
  open.push(requisition('R-1'));
  await run('one');
  open.splice(0, 1, requisition('R-0'), requisition('R-1', { costCentre: 'K-2' }));
  await sandbox.control.act('setFaults', { faults: [{ kind: 'server-error', on: 'jobs.create' }] });
  await expect(run('two')).rejects.toThrow('came to no end');
  expect((await jobsOf('R-1'))[0]?.customFields?.[costCentreId]?.value).toBe('K-2');
});

test('a job whose values are answered with an error keeps no other job’s values from being equal', async () => {
  const { open, run, jobsOf, costCentreId, sandbox } = await requisitionWorld();
  const ids = ['R-1', 'R-2', 'R-3'];
  open.push(...ids.map((id) => requisition(id)));
  await run('one');
  const shown = async () =>
    (await Promise.all(ids.map(jobsOf))).map(([job]) => job?.customFields?.[costCentreId]?.value);
  const holding = `"${(await jobsOf('R-1'))[0]?.id}"`;
  open.splice(0, open.length, ...ids.map((id) => requisition(id, { costCentre: 'K-2' })));
  const bad = { kind: 'server-error', on: 'customFieldValues.upsertBulk', holding } as const;
  await sandbox.control.act('setFaults', { faults: [bad] });
  await expect(run('two')).rejects.toThrow('came to no end');
  expect(await shown()).toEqual(['K-1', 'K-2', 'K-2']);
  await sandbox.control.act('setFaults', { faults: [] });
  expect(await run('two')).toMatchObject({ state: 'done' });
  expect(await shown()).toEqual(['K-2', 'K-2', 'K-2']);
});

test('a run that stood still while another one worked writes nothing of what it had read', async () => {
  const meanwhile = { act: async (): Promise<unknown> => undefined };
  const { open, run, jobsOf, costCentreId, clock } = await requisitionWorld((partner) => {
    const create = async (...given: Parameters<PartnerClient['jobs']['create']>) => {
      const job = await partner.jobs.create(...given);
      await meanwhile.act();
      return job;
    };
    return { ...partner, jobs: { ...partner.jobs, create } };
  });
  open.push(requisition('R-1'));
  await run('one');
  open.splice(0, 1, requisition('R-1', { costCentre: 'K-old' }), requisition('R-2'));
  meanwhile.act = async () => {
    clock.now += 200_000;
    open.splice(0, 1, requisition('R-1', { costCentre: 'K-new' }));
    await run('other');
  };
  expect(await run('still')).toEqual({ state: 'superseded' });
  expect((await jobsOf('R-1'))[0]?.customFields?.[costCentreId]?.value).toBe('K-new');
});

test('a run that wakes after its deadline leaves alone what another run asked for meanwhile', async () => {
  const meanwhile = { isBehind: false, act: async (): Promise<unknown> => undefined };
  const { open, once, run, jobsOf, rows, clock, sandbox } = await requisitionWorld((partner) => {
    const create: typeof partner.jobs.create = async (...given) => {
      await meanwhile.act();
      return partner.jobs.create(...given);
    };
    const readAll = async (...args: Parameters<PartnerClient['readAll']>) => {
      const read = await partner.readAll(...args);
      const items = (read.items as { title?: string }[]).filter(({ title }) => title !== 'Sous chef');
      return meanwhile.isBehind ? { ...read, items } : read;
    };
    const slow = { ...partner, jobs: { ...partner.jobs, create } };
    return { ...slow, readAll: readAll as unknown as PartnerClient['readAll'] };
  });
  open.push(requisition('R-1'));
  const now = Date.now.bind(Date);
  onTestFinished(() => void vi.restoreAllMocks());
  meanwhile.act = async () => {
    meanwhile.act = async () => undefined;
    meanwhile.isBehind = true;
    clock.now += 200_000;
    await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'jobs.create', nth: 1 }] });
    await expect(once('other')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 3 * GIVE_UP_MS);
  };
  await expect(once('stalled')).rejects.toMatchObject({ code: 'DEADLINE_PASSED' });
  vi.restoreAllMocks();
  expect(await rows()).toMatchObject([{ state: 'sent', attempt: 2 }]);
  await expect(once('other')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  expect(await jobsOf('R-1')).toHaveLength(1);
  meanwhile.isBehind = false;
  expect(await run('other')).toMatchObject({ state: 'done', counts: { created: 1 } });
  expect(await jobsOf('R-1')).toHaveLength(1);
});

test('a job whose values are refused keeps no other job’s values from being equal, and is told', async () => {
  let bad = '';
  const { open, run, store, jobsOf, costCentreId } = await requisitionWorld(refusingJob((id) => id === bad));
  const ids = ['R-1', 'R-2', 'R-3'];
  open.push(...ids.map((id) => requisition(id)));
  await run('one');
  bad = String((await jobsOf('R-2'))[0]?.id);
  open.splice(0, open.length, ...ids.map((id) => requisition(id, { costCentre: 'K-2' })));
  expect(await run('two')).toMatchObject({ state: 'partial', counts: { updated: 2, quarantined: 1 } });
  const jobs = await Promise.all(ids.map(jobsOf));
  expect(jobs.map(([job]) => job?.customFields?.[costCentreId]?.value)).toEqual(['K-2', 'K-1', 'K-2']);
  expect(await readQuarantine(store, key)).toMatchObject([
    { record_key: 'R-2', reason: expect.stringContaining('INVALID_REQUEST') },
  ]);
  bad = '';
  expect(await run('three')).toMatchObject({ state: 'done', counts: { updated: 1, unchanged: 2 } });
});

test.each(REQUEST_FAULTS)('one job, although its creation meets %s', async (kind) => {
  const { open, run, jobsOf, sandbox } = await requisitionWorld();
  open.push(requisition('R-1'), requisition('R-2'));
  await sandbox.control.act('setFaults', { faults: [{ kind, on: 'jobs.create', nth: 1 }] });
  expect(await run('one')).toMatchObject({ state: 'done', counts: { created: 2 } });
  expect([(await jobsOf('R-1')).length, (await jobsOf('R-2')).length]).toEqual([1, 1]);
});

test('one job, although one reading of the list misses it after its answer was lost', async () => {
  const lists = { shown: 0 };
  const missing = (partner: PartnerClient): PartnerClient => {
    const readAll = async (...args: Parameters<PartnerClient['readAll']>) => {
      const read = await partner.readAll(...args);
      const ours = (read.items as { title?: string }[]).some(({ title }) => title === 'Sous chef');
      lists.shown += ours ? 1 : 0;
      const isMissed = ours && lists.shown === 1;
      return isMissed
        ? { ...read, items: (read.items as { title?: string }[]).filter((one) => one.title !== 'Sous chef') }
        : read;
    };
    return { ...partner, readAll: readAll as unknown as PartnerClient['readAll'] };
  };
  const { open, run, jobsOf, sandbox } = await requisitionWorld(missing);
  open.push(requisition('R-1'));
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'jobs.create', nth: 1 }] });
  await run('one');
  expect(await jobsOf('R-1')).toHaveLength(1);
});

test('a list that shows fewer jobs than it counts does not prove that none was made: a person is asked', async () => {
  const tied = (partner: PartnerClient): PartnerClient => {
    const readAll = async (...args: Parameters<PartnerClient['readAll']>) => {
      const read = await partner.readAll(...args);
      const items = (read.items as { title?: string }[]).filter(({ title }) => title !== 'Sous chef');
      return { ...read, items, unshown: read.items.length - items.length };
    };
    return { ...partner, readAll: readAll as unknown as PartnerClient['readAll'] };
  };
  const { open, run, jobsOf, sandbox, store } = await requisitionWorld(tied);
  open.push(requisition('R-1'));
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'jobs.create', nth: 1 }] });
  for (const runId of ['one', 'two']) expect(await run(runId)).toMatchObject({ counts: { held: 1 } });
  expect(await jobsOf('R-1')).toHaveLength(1);
  expect(await listHolds(store, { tenantId: 'acme' })).toMatchObject([{ code: 'REQUISITION_UNKNOWN' }]);
});

test('a job that was made while the store failed is not made again, although the list hides whose it is', async () => {
  let fail = (): void => undefined;
  const { open, run, points, sandbox } = await requisitionWorld((partner) => {
    const create: typeof partner.jobs.create = (...asked) => partner.jobs.create(...asked).finally(() => fail());
    return hiding({ ...partner, jobs: { ...partner.jobs, create } });
  });
  const silent = new ConnectorError({ code: 'DATABASE_SILENT', action: 'retry', message: 'The connection broke.' });
  fail = () => points.die('store.insert.requisitions/before', silent);
  open.push(requisition('R-1'));
  expect(await run('one')).toMatchObject({ counts: { held: 1 } });
  const { items } = await sandbox.partner.readAll(contract.jobs.list, {});
  expect(items.filter(({ title }) => title === 'Sous chef')).toHaveLength(1);
});

test('one job, wherever its process is killed', async () => {
  const { open, run, jobsOf, points } = await requisitionWorld();
  open.push(requisition('R-0'));
  points.arm(0);
  await run('recorded');
  const passed = points.arm(0);
  expect(passed).toContain('jobs.create/after');
  for (let nth = 1; nth <= passed.length; nth += 1) {
    open.splice(0, 1, requisition(`R-${nth}`));
    points.arm(nth);
    await run(`killed-${nth}`);
    expect(await jobsOf(`R-${nth}`), `killed at ${passed[nth - 1] ?? ''}`).toHaveLength(1);
  }
});

/** A partner whose list does not show the custom fields of the jobs made here. */
function hiding(partner: PartnerClient): PartnerClient {
  const hide = (item: object) => ('title' in item && item.title === 'Sous chef' ? { ...item, customFields: {} } : item);
  const readAll = async (...args: Parameters<PartnerClient['readAll']>) => {
    const read = await partner.readAll(...args);
    return { ...read, items: (read.items as object[]).map(hide) };
  };
  return { ...partner, readAll: readAll as unknown as PartnerClient['readAll'] };
}

test.each([
  ['link-job', 1],
  ['create-job', 2],
  ['dismiss', 1],
] as const)('where the list does not show whose a job is, a person says: %s', async (answer, jobs) => {
  const { open, run, jobsOf, sandbox, store } = await requisitionWorld(hiding);
  open.push(requisition('R-1'));
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'jobs.create', nth: 1 }] });
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { created: 0 } });
  expect(await run('two')).toMatchObject({ state: 'partial', counts: { created: 0 } });
  expect(await jobsOf('R-1')).toHaveLength(1);
  const [hold, ...others] = await listHolds(store, { tenantId: 'acme' });
  expect([hold?.code, others.length]).toEqual(['REQUISITION_UNKNOWN', 0]);
  const id = String((await jobsOf('R-1'))[0]?.id);
  await answerHold(store, hold?.hold_id ?? '', { answer, arguments: answer === 'link-job' ? [id] : [], by: 'ada' });
  await run('three');
  await run('four');
  expect(await jobsOf('R-1')).toHaveLength(jobs);
});

test('a job that was asked for without an answer is linked, although its position has closed', async () => {
  const { open, once, rows, jobsOf, sandbox, store } = await requisitionWorld();
  open.push(requisition('R-1'));
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'jobs.create', nth: 1 }] });
  await expect(once('one')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  open.splice(0);
  expect(await once('one')).toMatchObject({ state: 'done', counts: { unchanged: 1 } });
  const [job] = await jobsOf('R-1');
  expect(await rows()).toMatchObject([{ state: 'created', job_id: String(job?.id) }]);
  expect(await listWrites(store, { tenantId: 'acme', target: 'job' })).toMatchObject([{ outcome: 'done' }]);
});

test('a request that never left is settled after its deadline, although its position has closed', async () => {
  const { open, once, run, rows, jobsOf, points, clock, store } = await requisitionWorld();
  open.push(requisition('R-1'));
  points.die('jobs.create/before');
  await expect(once('one')).rejects.toThrow('jobs.create/before');
  open.splice(0);
  await expect(once('one')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  clock.now += 2 * GIVE_UP_MS;
  expect(await once('one')).toMatchObject({ state: 'done', counts: { unchanged: 1 } });
  expect([(await rows())[0]?.state, await jobsOf('R-1')]).toEqual(['absent', []]);
  expect(await listWrites(store, { tenantId: 'acme', target: 'job' })).toMatchObject([{ outcome: 'absent' }]);
  open.push(requisition('R-1'));
  expect(await run('two')).toMatchObject({ state: 'done', counts: { created: 1 } });
});

test.each([
  ['nothing', 'held', { state: 'partial', counts: { quarantined: 1 } }],
  ['link-job', 'created', { state: 'done', counts: { unchanged: 1 } }],
  ['create-job', 'absent', { state: 'done', counts: { unchanged: 1 } }],
  ['dismiss', 'dismissed', { state: 'done', counts: { unchanged: 1 } }],
])('a question about a position that closes is closed, whose answer was: %s', async (answer, state, ended) => {
  const { open, run, rows, jobsOf, sandbox, store } = await requisitionWorld(hiding);
  open.push(requisition('R-1'));
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'jobs.create', nth: 1 }] });
  await run('one');
  const [hold] = await listHolds(store, { tenantId: 'acme' });
  const given = answer === 'link-job' ? [String((await jobsOf('R-1'))[0]?.id)] : [];
  if (answer !== 'nothing') await answerHold(store, hold?.hold_id ?? '', { answer, arguments: given, by: 'ada' });
  open.splice(0);
  expect(await run('two')).toMatchObject(ended);
  expect(await rows()).toMatchObject([{ state, hold_id: null }]);
  expect(await listHolds(store, { tenantId: 'acme' })).toEqual([]);
  expect(await jobsOf('R-1')).toHaveLength(1);
});

test('a job that shows an empty requisition may be ours if it has its title: a person is asked', async () => {
  const { open, run, sandbox, store } = await requisitionWorld((partner) =>
    spelling(partner, (value) => (String(value).startsWith('R-') ? '' : value)),
  );
  open.push(requisition('R-1'));
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'jobs.create', nth: 1 }] });
  expect(await run('one')).toMatchObject({ counts: { held: 1 } });
  const { items } = await sandbox.partner.readAll(contract.jobs.list, {});
  expect(items.filter(({ title }) => title === 'Sous chef')).toHaveLength(1);
  expect(await listHolds(store, { tenantId: 'acme' })).toMatchObject([{ code: 'REQUISITION_UNKNOWN' }]);
});

test('a person says so too where the times of jobs are seconds', async () => {
  const { open, run, jobsOf, sandbox, store, clock } = await requisitionWorld(hiding);
  // Near the partner's own, so that a moment in seconds is not later than one in milliseconds.
  clock.now = Date.now();
  open.push(requisition('R-1'));
  await sandbox.control.act('setQuirks', { quirks: ['seconds-created-at'] });
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'jobs.create', nth: 1 }] });
  await run('one');
  expect(await jobsOf('R-1')).toHaveLength(1);
  expect(await listHolds(store, { tenantId: 'acme' })).toMatchObject([{ code: 'REQUISITION_UNKNOWN' }]);
});

test('a person who names the job of another requisition is asked again, and that job stays as it is', async () => {
  const { open, run, jobsOf, sandbox, store, costCentreId } = await requisitionWorld(hiding);
  open.push(requisition('R-2', { title: 'Head chef', costCentre: 'K-2' }));
  await run('zero');
  open.push(requisition('R-1'));
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'jobs.create', nth: 1 }] });
  await run('one');
  await run('two');
  const [hold] = await listHolds(store, { tenantId: 'acme' });
  const others = async () => (await jobsOf('R-2')).map((job) => [job.id, job.customFields?.[costCentreId]?.value]);
  const [[id] = []] = await others();
  await answerHold(store, hold?.hold_id ?? '', { answer: 'link-job', arguments: [String(id)], by: 'ada' });
  await closeHold(store, hold?.hold_id ?? '');
  await run('three');
  expect(await others()).toEqual([[id, 'K-2']]);
  expect(await readQuarantine(store, key)).toContainEqual(
    expect.objectContaining({ record_key: 'R-1', reason: expect.stringContaining('another requisition') as string }),
  );
  await run('four');
  const again = (await listHolds(store, { tenantId: 'acme' })).filter((one) => one.answered_at === null);
  expect(again).toMatchObject([{ code: 'REQUISITION_UNKNOWN', details: hold?.details }]);
});
