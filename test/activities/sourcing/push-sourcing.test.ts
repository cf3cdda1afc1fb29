import { expect, onTestFinished, test, vi } from 'vitest';
import { ConnectorError } from '../../../src/errors.ts';
import { saveConsents } from '../../../src/store/consents.ts';
import { listWrites } from '../../../src/store/foreign-writes.ts';
import { listHolds } from '../../../src/store/holds.ts';
import { markPerson } from '../../../src/store/person-marks.ts';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { resumeStream } from '../../../src/store/streams.ts';
import { REQUEST_FAULTS } from '../killable.ts';
import { answered, CONSENT, key, sourcingWorld } from './sourcing-world.ts';

/** The partner answers the first look at candidates with an error. */
function failFirstLook(): (operation: string) => void {
  let looks = 0;
  return (operation) => {
    if (operation !== 'candidates.list') return;
    looks += 1;
    const failed = { code: 'SERVER_ERROR', action: 'retry', message: 'failed', status: 500 } as const;
    if (looks === 1) throw new ConnectorError(failed);
  };
}

test('a lead about whom the partner answers with an error keeps no other from the job', async () => {
  const { once, run, lead, made, partnerSays, rows } = await sourcingWorld();
  await lead({ email: 'ada@example.com', consentAt: CONSENT }, { email: 'eve@example.com', consentAt: CONSENT });
  partnerSays.change = failFirstLook();
  await expect(once('one')).rejects.toMatchObject({ code: 'SERVER_ERROR' });
  expect(await made()).toMatchObject({ people: 1, requests: 1 });
  expect(await run('one')).toMatchObject({ state: 'done', counts: { created: 1, unchanged: 1 } });
  expect((await rows()).map(({ state }) => state)).toEqual(['done', 'done']);
});

test.each([
  ['candidates.list', 400],
  ['customFieldValues.list', 404],
])('a lead about whom %s is refused with %i keeps no other from the job, and is told', async (refused, status) => {
  const { run, lead, made, store, partnerSays, people } = await sourcingWorld();
  const start = await made();
  const [known] = await people();
  const emails = [String(known?.email), 'fine@example.com'];
  const ids = await lead(...emails.map((email) => ({ email, consentAt: CONSENT })));
  partnerSays.refuses = (operation, input) => {
    const { query = {} } = input as { query?: Record<string, unknown> };
    const isAbout = query['candidateEmail'] === emails[0]?.toLowerCase() || query['entityId'] === String(known?.id);
    return operation === refused && isAbout ? [status, 'REFUSED'] : undefined;
  };
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { created: 1, quarantined: 1 } });
  expect((await made()).applications).toBe(start.applications + 1);
  const [told, ...others] = await readQuarantine(store, key);
  expect([told?.record_key.split(' ')[0], others]).toEqual([ids[0], []]);
  partnerSays.refuses = () => undefined;
  expect(await run('two')).toMatchObject({ state: 'done', counts: { unchanged: 2 } });
});

test('a lead becomes a candidate of the job with the day of their consent, once', async () => {
  const { run, lead, rows, made, consentOf } = await sourcingWorld();
  const start = await made();
  await lead({ email: ' Ada@Example.COM ', lastName: 'Lovelace', consentAt: CONSENT }, { email: 'eve@example.com' });
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { created: 1, skipped: 1 } });
  expect(await run('two')).toMatchObject({ counts: { created: 0, unchanged: 1, skipped: 1 } });
  expect(await made()).toEqual({ people: 1, applications: start.applications + 1, requests: 1 });
  const [row] = await rows();
  expect(row).toMatchObject({ state: 'done', code: null, job_candidate_id: expect.stringMatching(/^\d+$/) });
  expect(await consentOf(row?.candidate_id ?? '')).toBe('2026-11-01');
});

test('a candidate is found by e-mail or phone however it is written, and not made again', async () => {
  const { run, lead, rows, made, sandbox, store, jobId, consentOf } = await sourcingWorld();
  const add = async (email: string, phone: string, job?: number) => {
    const known = { candidate: { email, phone, firstName: 'Known' }, ...(job === undefined ? {} : { jobId: job }) };
    return (await sandbox.control.act('addCandidate', known)) as { candidateId: number };
  };
  const byEmail = await add('known@example.com', '+442079460201');
  const byPhone = await add('phone@example.com', '+442079460202');
  const inJob = await add('there@example.com', '+442079460203', jobId);
  await add('other@example.com', '+442079460204');
  const start = await made();
  const ids = await lead(
    { email: 'KNOWN@example.com', consentAt: CONSENT },
    { phone: '020 7946 0202', consentAt: CONSENT },
    { email: 'there@example.com', consentAt: CONSENT },
    { email: 'another@example.com', phone: '020 7946 0204', consentAt: CONSENT },
    { phone: '020 7946 0999', consentAt: CONSENT },
  );
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { created: 2, unchanged: 1, quarantined: 2 } });
  const { requests } = await made();
  expect(await made()).toEqual({ people: start.people, applications: start.applications + 2, requests: 2 });
  expect((await rows()).map((row) => [row.lead_id, row.candidate_id, row.state, row.code])).toEqual([
    [ids[0], String(byEmail.candidateId), 'done', null],
    [ids[1], String(byPhone.candidateId), 'done', null],
    [ids[2], String(inJob.candidateId), 'done', 'ALREADY_THERE'],
    [ids[3], null, 'refused', 'PHONE_OF_ANOTHER'],
    [ids[4], null, 'refused', 'NO_EMAIL'],
  ]);
  expect(await consentOf(String(inJob.candidateId))).toBe('2026-11-01');
  expect((await readQuarantine(store, key)).map(({ reason }) => reason).join(' ')).toContain('may be the same person');
  expect(await run('two')).toMatchObject({ counts: { created: 0, quarantined: 2 } });
  expect((await made()).requests).toBe(requests);
});

test.each(REQUEST_FAULTS)('each lead once, although the request meets %s', async (kind) => {
  const { run, lead, rows, made, sandbox } = await sourcingWorld();
  const start = await made();
  await lead({ email: 'ada@example.com', consentAt: CONSENT }, { email: 'bob@example.com', consentAt: CONSENT });
  await sandbox.control.act('setFaults', { faults: [{ kind, on: 'candidates.add', nth: 1 }] });
  await run('one');
  await run('two');
  const { people, applications } = await made();
  expect({ people, applications }).toEqual({ people: 2, applications: start.applications + 2 });
  expect((await rows()).map(({ state, code }) => [state, code])).toEqual([
    ['done', null],
    ['done', null],
  ]);
});

test('a lost answer is looked up after its deadline, and nothing is sent again', async () => {
  const { once, lead, rows, made, sandbox, clock } = await sourcingWorld();
  await lead({ email: 'ada@example.com', consentAt: CONSENT });
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'candidates.add', nth: 1 }] });
  const looked = async () => (await sandbox.control.counts({ kind: 'request' })).request?.['candidates.list'] ?? 0;
  await expect(once('one')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  const before = await looked();
  await expect(once('one')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  expect(await looked()).toBe(before);
  clock.now += 600_000;
  expect(await once('one')).toMatchObject({ state: 'done', counts: { created: 1 } });
  expect((await made()).requests).toBe(1);
  expect(await rows()).toMatchObject([{ state: 'done', code: null, attempt: 1 }]);
});

test('each lead once and with consent, wherever the process is killed', async () => {
  const { run, lead, rows, made, points, consentOf } = await sourcingWorld();
  const start = await made();
  await lead({ email: 'first@example.com', consentAt: CONSENT });
  points.arm(0);
  await run('recorded');
  const passed = points.arm(0);
  expect(passed).toContain('candidates.add/after');
  for (let nth = 1; nth <= passed.length; nth += 1) {
    await lead({ email: `lead${nth}@example.com`, phone: `+44207946${3000 + nth}`, consentAt: CONSENT });
    points.arm(nth);
    await run(`killed-${nth}`);
    points.arm(0);
    await run(`after-${nth}`);
  }
  const { people, applications } = await made();
  expect({ people, applications }).toEqual({
    people: passed.length + 1,
    applications: start.applications + passed.length + 1,
  });
  for (const { candidate_id: id } of await rows()) expect(await consentOf(id ?? '')).toBe('2026-11-01');
});

test('two workers at once make each lead a candidate once', async () => {
  const { once, run, lead, made } = await sourcingWorld();
  const start = await made();
  await lead({ email: 'ada@example.com', consentAt: CONSENT }, { email: 'bob@example.com', consentAt: CONSENT });
  await Promise.allSettled([once('same'), once('same')]);
  await run('after');
  const { people, applications } = await made();
  expect({ people, applications }).toEqual({ people: 2, applications: start.applications + 2 });
});

test('many leads at once are asked about first; without credits one is tried and the others follow', async () => {
  const { run, lead, made, store, sandbox, clock } = await sourcingWorld({ atOnce: 1 });
  await lead(...['ada', 'bob', 'eve'].map((name) => ({ email: `${name}@example.com`, consentAt: CONSENT })));
  expect(await run('one')).toMatchObject({ state: 'refused', code: 'MASS_SOURCING' });
  expect((await made()).requests).toBe(0);
  await resumeStream(store, key, 'somebody');
  await sandbox.control.act('setCredits', { credits: 0 });
  expect(await run('two')).toMatchObject({ counts: { held: 3 } });
  expect((await made()).requests).toBe(1);
  expect((await listHolds(store)).map(({ code }) => code)).toEqual(['LEAD_CREDITS']);
  expect(await run('three')).toMatchObject({ counts: { held: 3 } });
  expect((await made()).requests).toBe(1);
  await sandbox.control.act('setCredits', { credits: 100 });
  clock.now += 900_000;
  expect(await run('four')).toMatchObject({ state: 'done', counts: { created: 3, held: 0 } });
  expect(await made()).toMatchObject({ people: 3, requests: 4 });
  expect(await listHolds(store)).toEqual([]);
  const writes = await listWrites(store, { tenantId: 'acme', target: 'lead' });
  expect(writes.map(({ outcome }) => outcome).toSorted()).toEqual(['done', 'done', 'done', 'refused']);
});

test('a lead that fails while credits are asked about keeps no other from the next try', async () => {
  const { once, run, lead, made, sandbox, clock, partnerSays } = await sourcingWorld();
  await lead(...['ada', 'bob', 'eve'].map((name) => ({ email: `${name}@example.com`, consentAt: CONSENT })));
  await sandbox.control.act('setCredits', { credits: 0 });
  expect(await run('one')).toMatchObject({ counts: { held: 3 } });
  await sandbox.control.act('setCredits', { credits: 100 });
  clock.now += 900_000;
  partnerSays.change = failFirstLook();
  await expect(once('two')).rejects.toMatchObject({ code: 'SERVER_ERROR' });
  expect(await made()).toMatchObject({ people: 2, requests: 3 });
});

test('a lead whose request never gets an answer holds up no other once there are credits again', async () => {
  const { once, lead, made, sandbox, clock } = await sourcingWorld();
  await lead(...['ada', 'bob', 'eve'].map((name) => ({ email: `${name}@example.com`, consentAt: CONSENT })));
  await sandbox.control.act('setCredits', { credits: 0 });
  expect(await once('one')).toMatchObject({ counts: { held: 3 } });
  await sandbox.control.act('setCredits', { credits: 100 });
  const fault = { kind: 'server-error', on: 'candidates.add', holding: 'ada@example.com' } as const;
  await sandbox.control.act('setFaults', { faults: [fault] });
  for (const runId of ['two', 'three']) {
    clock.now += 900_000;
    await expect(once(runId)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  }
  expect(await made()).toMatchObject({ people: 2 });
});

test('whoever was erased is not brought into a job, as a candidate or as a lead', async () => {
  const { run, lead, made, store, rows, sandbox } = await sourcingWorld();
  const known = { candidate: { email: 'gone@example.com', firstName: 'Gone' } };
  const { candidateId } = (await sandbox.control.act('addCandidate', known)) as { candidateId: number };
  await markPerson(store, { tenantId: 'acme', mark: 'erased', by: 'ada', about: 'request' }, [
    { kind: 'candidate', id: String(candidateId) },
  ]);
  await lead({ email: 'gone@example.com', consentAt: CONSENT });
  const [shown = ''] = await lead({ email: 'made@example.com', consentAt: CONSENT });
  await markPerson(store, { tenantId: 'acme', mark: 'erased', by: 'ada', about: 'request' }, [
    { kind: 'lead', id: shown },
  ]);
  expect(await run('one')).toMatchObject({ counts: { created: 0, quarantined: 1 } });
  expect((await made()).requests).toBe(0);
  expect(await rows()).toMatchObject([{ state: 'refused', code: 'ERASED', candidate_id: null }]);
});

test('a candidate whose consent is over is not brought into a job until it is given again', async () => {
  const { run, lead, made, store, rows, sandbox } = await sourcingWorld();
  const known = { candidate: { email: 'stopped@example.com', firstName: 'Lea' } };
  const { candidateId } = (await sandbox.control.act('addCandidate', known)) as { candidateId: number };
  const consent = { tenant_id: 'acme', job_candidate_id: '1', candidate_id: String(candidateId), shown: '' };
  await saveConsents(store, 'acme', [{ ...consent, state: 'withdrawn' }]);
  await lead({ email: 'stopped@example.com', consentAt: CONSENT });
  expect(await run('one')).toMatchObject({ counts: { created: 0, skipped: 1 } });
  expect([(await made()).requests, await rows()]).toEqual([0, []]);
  await saveConsents(store, 'acme', [{ ...consent, state: 'given', shown: 'new' }]);
  expect(await run('two')).toMatchObject({ counts: { created: 1 } });
  expect((await made()).requests).toBe(1);
});

const outcomesOf = async (store: Parameters<typeof listWrites>[0]) =>
  (await listWrites(store, { tenantId: 'acme', target: 'lead' }))
    .map(({ kind, outcome }) => `${kind} ${outcome}`)
    .sort();

test.each([
  ['arrived', 'candidates.add/after', 'done', 'created'],
  ['never left', 'candidates.add/before', 'absent', 'skipped'],
] as const)(
  'a request that %s is looked up, although no rule means the lead any more',
  async (_, point, state, kind) => {
    const { once, lead, rows, made, points, clock, partnerSays, store } = await sourcingWorld();
    await lead({ email: 'ada@example.com', consentAt: CONSENT });
    points.arm(0);
    points.die(point);
    await expect(once('one')).rejects.toThrow(point);
    expect([await rows(), await outcomesOf(store)]).toMatchObject([[{ state: 'sent' }], ['create open']]);
    partnerSays.change = answered('campaigns.listLeads', ([one]) => void (one && (one['status'] = 'FAILED')));
    await expect(once('one')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    clock.now += 600_000;
    expect(await once('one')).toMatchObject({ counts: { [kind]: 1 } });
    expect([await rows(), await outcomesOf(store)]).toMatchObject([[{ state }], [`create ${state}`]]);
    expect(await once('two')).toMatchObject({ state: 'done', counts: { created: 0, skipped: 0 } });
    expect((await made()).requests).toBe(state === 'done' ? 1 : 0);
  },
);

test('who was sent without an answer and is shown nowhere is told until they are found', async () => {
  const { once, lead, rows, points, clock, partnerSays, store } = await sourcingWorld();
  const [id = ''] = await lead({ email: 'ada@example.com', consentAt: CONSENT });
  points.die('candidates.add/after');
  await expect(once('one')).rejects.toThrow('candidates.add/after');
  partnerSays.change = answered('campaigns.listLeads', (leads) => void leads.splice(0));
  clock.now += 600_000;
  expect(await once('two')).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect(await readQuarantine(store, key)).toMatchObject([
    { record_key: expect.stringContaining(id), reason: expect.stringContaining('check the job') },
  ]);
  partnerSays.change = () => undefined;
  expect(await once('three')).toMatchObject({ state: 'done', counts: { created: 1 } });
  expect([await rows(), await outcomesOf(store)]).toMatchObject([[{ state: 'done' }], ['create done']]);
});

test('a campaign whose leads are always answered with an error keeps back no lead of another', async () => {
  const { run, lead, made, sandbox } = await sourcingWorld({ gone: ['987654'] });
  const start = await made();
  await lead({ email: 'ada@example.com', consentAt: CONSENT });
  const bad = { kind: 'server-error', on: 'campaigns.listLeads', holding: '/987654/' } as const;
  await sandbox.control.act('setFaults', { faults: [bad] });
  await expect(run('one', { tries: 2 })).rejects.toThrow('came to no end');
  expect((await made()).applications).toBe(start.applications + 1);
});

test('a campaign that is deleted is told, and the leads of the others become candidates', async () => {
  const { run, lead, made, store } = await sourcingWorld({ gone: ['999999'] });
  await lead({ email: 'ada@example.com', consentAt: CONSENT });
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { created: 1, quarantined: 1 } });
  expect((await made()).people).toBe(1);
  expect(await readQuarantine(store, key)).toMatchObject([{ record_key: 'campaign 999999' }]);
});

test('a partner that needs minutes to show the leads gets them all the same', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { once, lead, made, partnerSays } = await sourcingWorld();
  await lead({ email: 'ada@example.com', consentAt: CONSENT });
  partnerSays.change = answered('campaigns.listLeads', () => void vi.setSystemTime(Date.now() + 180_000));
  expect(await once('one')).toMatchObject({ state: 'done', counts: { created: 1 } });
  expect((await made()).requests).toBe(1);
});

test('whom the partner adds and whose consent it refuses is in the job, and is named', async () => {
  const { run, lead, made, sandbox, store, rows, customField, partnerSays } = await sourcingWorld();
  const known = { candidate: { email: 'known@example.com', firstName: 'Known' } };
  await sandbox.control.act('addCandidate', known);
  await sandbox.control.act('addCandidate', { candidate: { email: 'raced@example.com', firstName: 'Raced' } });
  await lead({ email: 'known@example.com', consentAt: CONSENT }, { email: 'raced@example.com', consentAt: CONSENT });
  const start = await made();
  await sandbox.control.act('deleteCustomField', { customFieldId: customField });
  // Somebody makes the second one after the look.
  partnerSays.change = answered('candidates.list', (people) => {
    if (people.some(({ email }) => email === 'raced@example.com')) people.splice(0);
  });
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { quarantined: 2 } });
  expect(await made()).toMatchObject({ applications: start.applications + 1, requests: 1 });
  expect((await rows()).map(({ state, code }) => [state, code])).toEqual([
    ['refused', 'CONSENT_REFUSED'],
    ['done', 'CONSENT_REFUSED'],
  ]);
  expect(await outcomesOf(store)).toEqual(['create done', 'update refused', 'update refused']);
  expect(await run('two')).toMatchObject({ state: 'partial', counts: { quarantined: 2 } });
});

test('an answer that names no application counts only where the partner shows them in the job', async () => {
  const { run, lead, made, rows, store, partnerSays } = await sourcingWorld();
  await lead({ email: 'ada@example.com', consentAt: CONSENT });
  let isShown = false;
  partnerSays.change = (name, answer) => {
    answered('candidates.add', ([one]) => void (one && (one['jobCandidateId'] = null)))(name, answer);
    if (!isShown) answered('candidates.list', (people) => void people.splice(0))(name, answer);
  };
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect((await made()).requests).toBe(1);
  expect([await rows(), await outcomesOf(store)]).toMatchObject([
    [{ state: 'refused', code: 'NO_APPLICATION' }],
    ['create absent'],
  ]);
  isShown = true;
  await lead({ email: 'bob@example.com', phone: '+442079460300', consentAt: CONSENT });
  expect(await run('two')).toMatchObject({ counts: { created: 1, quarantined: 1 } });
  expect((await rows()).map(({ state }) => state)).toEqual(['refused', 'done']);
});
