import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inScope, patient } from '../../../activities/activity-scope.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import type { RateLimitKeeper } from '../../../src/rate-limit/rate-limit.ts';
import { listWrites } from '../../../src/store/foreign-writes.ts';
import { readHints } from '../../../src/store/hints.ts';
import { listHolds } from '../../../src/store/holds.ts';
import { sendInvitations } from '../../../src/store/invitations.ts';
import { markPerson } from '../../../src/store/person-marks.ts';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { readStreamState, resumeStream } from '../../../src/store/streams.ts';
import { REQUEST_FAULTS } from '../killable.ts';
import { GIVE_UP_MS } from '../push-deps.ts';
import { invitationWorld } from './invitation-world.ts';

const key = { tenantId: 'acme', stream: 'invitations' };
const LAG_MS = 60_000;

test('one person whose invitation always fails keeps no other uninvited for good', async () => {
  const { once, invited, applied, clock, sandbox } = await invitationWorld();
  const people = await applied();
  const holding = `hirebridge-invite:${people[0]?.jobCandidateDetails.candidateId}`;
  const fault = { kind: 'server-error', on: 'assessments.inviteBulk', holding } as const;
  await sandbox.control.act('setFaults', { faults: [fault] });
  for (let tries = 1; tries <= 4; tries += 1) {
    await expect(once('one')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    clock.now += 2 * GIVE_UP_MS;
    await sandbox.later();
  }
  expect(await invited()).toMatchObject({ people: people.length - 1 });
});

test('a stage list whose page number the partner ignores invites nobody: people would be left out', async () => {
  const { once, invited, partnerSays } = await invitationWorld({ candidates: 700, atOnce: 1000 });
  let first: string | undefined;
  partnerSays.change = (name, answer) => {
    if (name !== 'jobCandidates.listByStageType') return;
    const { body } = answer as { body: { data: unknown } };
    first ??= JSON.stringify(body.data);
    body.data = JSON.parse(first);
  };
  expect(await once('one')).toMatchObject({ state: 'refused', code: 'PAGE_REPEATED' });
  expect(await invited()).toMatchObject({ people: 0 });
});

test('whoever stands in the stage is invited by one request with our reference, once', async () => {
  const { run, applied, invited, rows, sandbox, assessmentId } = await invitationWorld();
  const people = await applied();
  expect(people.length).toBeGreaterThan(1);
  expect(await run('one')).toMatchObject({ state: 'done', counts: { created: people.length } });
  await sandbox.later();
  expect(await run('two')).toMatchObject({ state: 'done', counts: { created: 0, unchanged: people.length } });
  expect(await invited()).toEqual({ people: people.length, requests: 1 });
  expect(await rows()).toEqual(
    people
      .map(({ jobCandidateDetails: { id, candidateId } }) =>
        expect.objectContaining({ job_candidate_id: id, candidate_id: candidateId, state: 'invited', code: null }),
      )
      .toSorted((one, other) => (one.sample.candidate_id < other.sample.candidate_id ? -1 : 1)),
  );
  await sandbox.control.act('takeInterview', {
    assessmentId,
    jobCandidateId: Number(people[0]?.jobCandidateDetails.id),
  });
  const { data } = (await sandbox.partner.assessments.listCandidates({ params: { assessmentId } })) as {
    data: object[];
  };
  expect(data).toMatchObject([
    { externalRef: `hirebridge-invite:${people[0]?.jobCandidateDetails.candidateId ?? ''}` },
  ]);
});

/** Two permits a second. */
function slowKeeper(): RateLimitKeeper {
  let nextAt = 0;
  const waitMs = (): number => Math.max(0, nextAt - performance.now());
  return {
    async acquire() {
      const ms = waitMs();
      nextAt = performance.now() + ms + 500;
      await pause(ms);
    },
    waitMs,
    answered: () => undefined,
    perSecond: () => 2,
  };
}

test('people of many jobs are looked at little by little, so that a low rate limit is no end of waits', async () => {
  const rateLimit = patient(slowKeeper());
  const { once, applied, invited, hint, sandbox } = await invitationWorld({ jobs: 16, candidates: 200, rateLimit });
  const ofJobs = Map.groupBy(await applied(), ({ jobCandidateDetails: { jobId } }) => jobId);
  expect(ofJobs.size).toBeGreaterThan(12);
  await hint([...ofJobs.values()].map(([one]) => String(one?.jobCandidateDetails.id)));
  const stop = new AbortController();
  const step = await inScope(stop.signal, 'acme', () => once('hinted', { hinted: true }));
  expect(step).toMatchObject({ state: 'done', counts: { created: ofJobs.size } });
  await sandbox.later();
  expect(await invited()).toMatchObject({ people: ofJobs.size, requests: 1 });
});

test('a hint has only the people it names looked at, and what was hinted at again costs no request', async () => {
  const { run, applied, invited, hint, sandbox } = await invitationWorld();
  const [one] = await applied();
  const id = String(one?.jobCandidateDetails.id);
  await hint([id]);
  expect(await run('hinted', { hinted: true })).toMatchObject({ state: 'done', counts: { created: 1 } });
  await sandbox.later();
  await hint([id]);
  expect(await run('again', { hinted: true })).toMatchObject({ state: 'done', counts: { created: 0, unchanged: 1 } });
  expect(await invited()).toEqual({ people: 1, requests: 1 });
});

test('a person whom the partner shows in the stage some time after the webhook is invited soon after', async () => {
  const { once, applied, invited, hint, sandbox, store, clock, lag } = await invitationWorld();
  const [one] = await applied();
  const jobCandidateId = Number(one?.jobCandidateDetails.id);
  await sandbox.control.act('move', { jobCandidateIds: [jobCandidateId], stageType: 'SCREEN' });
  lag(LAG_MS);
  await hint([String(jobCandidateId)]);
  clock.now += 1_000;
  expect(await once('told', { hinted: true })).toMatchObject({ counts: { created: 0 }, againInMs: LAG_MS });
  // Only now does the partner show what the webhook told of.
  await sandbox.control.act('move', { jobCandidateIds: [jobCandidateId], stageType: 'APPLIED' });
  clock.now += LAG_MS;
  const step = await once('told/1', { hinted: true });
  expect(step).toMatchObject({ state: 'done', counts: { created: 1 } });
  expect(step).not.toHaveProperty('againInMs');
  await sandbox.later();
  expect(await invited()).toMatchObject({ people: 1 });
  expect(await readHints(store, 'acme', 'invitations')).toEqual([]);
});

test.each(REQUEST_FAULTS)('each person once, although the request meets %s', async (kind) => {
  const { run, applied, invited, rows, sandbox } = await invitationWorld();
  const people = await applied();
  await sandbox.control.act('setFaults', { faults: [{ kind, on: 'assessments.inviteBulk', nth: 1 }] });
  await run('one');
  await sandbox.later();
  await run('two');
  expect((await invited()).people).toBe(people.length);
  // A duplicate after a request without an answer is ours.
  expect((await rows()).map(({ state, code }) => [state, code])).toEqual(people.map(() => ['invited', null]));
});

test('a lost answer is settled by the event of its batch, before anything is sent again', async () => {
  const { once, run, invited, hint, sandbox, clock } = await invitationWorld();
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'assessments.inviteBulk' }] });
  await expect(once('one')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await sandbox.later();
  const [batch] = await sandbox.control.ledger({ kind: 'effect', name: 'invite-batch' });
  await hint([String(batch?.subject)]);
  expect(await once('one', { hinted: true })).toMatchObject({ state: 'done' });
  clock.now += 600_000;
  await run('two');
  expect((await invited()).requests).toBe(1);
});

test('somebody without an answer who has taken the interview is known by our reference', async () => {
  const { once, run, applied, invited, rows, sandbox, assessmentId } = await invitationWorld();
  const people = await applied();
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'assessments.inviteBulk', nth: 1 }] });
  await expect(once('one')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await sandbox.later();
  for (const { jobCandidateDetails } of people)
    await sandbox.control.act('takeInterview', { assessmentId, jobCandidateId: Number(jobCandidateDetails.id) });
  await run('one', { tries: 2 });
  expect(await invited()).toEqual({ people: people.length, requests: 1 });
  expect(new Set((await rows()).map(({ state }) => state))).toEqual(new Set(['invited']));
});

test('each person once, wherever the process is killed', async () => {
  const { run, invited, applied, points, hint, sandbox, store } = await invitationWorld({ candidates: 240 });
  const people = (await applied()).map(({ jobCandidateDetails }) => jobCandidateDetails.id);
  points.arm(0);
  await hint([people[0] ?? '']);
  await run('recorded', { hinted: true });
  const passed = points.arm(0);
  expect(passed).toContain('assessments.inviteBulk/after');
  expect(people.length).toBeGreaterThan(10);
  for (let nth = 1; nth <= passed.length; nth += 1) {
    await store.kysely.deleteFrom('hints').execute();
    await hint([people[nth % people.length] ?? '']);
    points.arm(nth);
    await run(`killed-${nth}`, { hinted: true });
    await sandbox.later();
    points.arm(0);
    await run(`after-${nth}`, { hinted: true });
  }
  const asked = Math.min(people.length, passed.length + 1);
  expect((await invited()).people).toBe(asked);
});

test('two workers at once invite each person once, by one request', async () => {
  const { once, invited, applied, sandbox } = await invitationWorld();
  const people = await applied();
  const both = await Promise.allSettled([once('same'), once('same')]);
  expect(both.some(({ status }) => status === 'fulfilled')).toBe(true);
  await sandbox.later();
  expect(await invited()).toEqual({ people: people.length, requests: 1 });
});

test('who was invited by a recruiter before is left as they are', async () => {
  const { run, applied, invited, rows, sandbox, assessmentId } = await invitationWorld();
  const [one, ...others] = await applied();
  const jobCandidateId = Number(one?.jobCandidateDetails.id);
  await sandbox.control.act('inviteToInterview', { assessmentId, jobCandidateId });
  await run('one');
  await sandbox.later();
  expect(await run('two')).toMatchObject({ state: 'done' });
  expect((await invited()).people).toBe(others.length + 1);
  const first = (await rows()).find((row) => row.candidate_id === one?.jobCandidateDetails.candidateId);
  expect(first).toMatchObject({ state: 'invited', code: 'ALREADY_INVITED' });
});

test('a person with two applications in the stage is one person', async () => {
  const { run, applied, invited, rows, sandbox } = await invitationWorld({ jobs: 2 });
  const before = await applied();
  const { candidate_details: person, jobCandidateDetails: first } = before[0] ?? {};
  const { items } = await sandbox.partner.readAll(contract.jobs.list, {});
  const other = items.find(({ id }) => String(id) !== first?.jobId);
  const candidate = { email: String(person?.email), firstName: 'Ada', lastName: 'Lovelace' };
  await sandbox.control.act('addCandidate', { candidate, jobId: Number(other?.id), stageType: 'APPLIED' });
  expect(await applied()).toHaveLength(before.length + 1);
  await run('one');
  await sandbox.later();
  await run('two');
  expect(await invited()).toEqual({ people: before.length, requests: 1 });
  expect(await rows()).toHaveLength(before.length);
});

test('a rule that would invite many asks first, and invites them once a person allowed it', async () => {
  const { run, invited, applied, store } = await invitationWorld({ atOnce: 1 });
  const people = await applied();
  expect(await run('one')).toMatchObject({ state: 'refused', code: 'MASS_INVITE' });
  expect(await invited()).toEqual({ people: 0, requests: 0 });
  await resumeStream(store, key, 'somebody');
  expect(await run('two')).toMatchObject({ state: 'done', counts: { created: people.length } });
});

test('without credits nobody else is asked for; one is tried from time to time, and the others follow', async () => {
  const { run, invited, applied, store, sandbox, clock, hint } = await invitationWorld();
  const people = (await applied()).map(({ jobCandidateDetails }) => jobCandidateDetails.id);
  await sandbox.control.act('setQuirks', { quirks: ['invitations-cost'] });
  await sandbox.control.act('setCredits', { credits: 1 });
  await hint(people.slice(0, 1));
  await run('first', { hinted: true });
  expect(await run('one')).toMatchObject({ counts: { held: people.length - 1 } });
  expect((await listHolds(store)).map(({ code }) => code)).toEqual(['INVITATION_CREDITS']);
  const { requests } = await invited();
  await run('two');
  expect((await invited()).requests).toBe(requests);
  await sandbox.control.act('setCredits', { credits: 100 });
  clock.now += 900_000;
  expect(await run('three')).toMatchObject({ state: 'done', counts: { created: people.length - 1, held: 0 } });
  await sandbox.later();
  expect(await listHolds(store)).toEqual([]);
  // One tried alone, the rest together.
  expect(await invited()).toEqual({ people: people.length, requests: requests + 2 });
  const credits = await sandbox.control.ledger({ kind: 'effect', name: 'credit' });
  expect(credits.filter(({ detail }) => detail['for'] === 'an invitation')).toHaveLength(people.length);
});

test('those whom an assessment refuses are in quarantine until a person has them asked for again', async () => {
  const { run, invited, applied, store, sandbox, assessmentId } = await invitationWorld();
  const people = await applied();
  await sandbox.control.act('setAssessmentStatus', { assessmentId, status: 'INACTIVE' });
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { quarantined: people.length } });
  const { requests } = await invited();
  expect(await run('two')).toMatchObject({ counts: { quarantined: people.length } });
  expect((await invited()).requests).toBe(requests);
  expect((await readQuarantine(store, key))[0]?.reason).toContain('INVALID_REQUEST');
  await sandbox.control.act('setAssessmentStatus', { assessmentId, status: 'ACTIVE' });
  expect(await run('three', { full: true })).toMatchObject({ state: 'done', counts: { created: people.length } });
  await sandbox.later();
  expect((await invited()).people).toBe(people.length);
});

test('what a person allowed lasts until those who waited for credits are invited', async () => {
  const { run, invited, applied, store, sandbox, clock } = await invitationWorld({ atOnce: 1 });
  const people = await applied();
  await sandbox.control.act('setQuirks', { quirks: ['invitations-cost'] });
  await sandbox.control.act('setCredits', { credits: 0 });
  expect(await run('one')).toMatchObject({ state: 'refused', code: 'MASS_INVITE' });
  await resumeStream(store, key, 'somebody');
  expect(await run('two')).toMatchObject({ counts: { held: people.length } });
  expect(await run('three')).toMatchObject({ counts: { held: people.length } });
  await sandbox.control.act('setCredits', { credits: 100 });
  clock.now += 900_000;
  expect(await run('four')).toMatchObject({ state: 'done', counts: { created: people.length, held: 0 } });
  expect((await readStreamState(store, key))?.allowed_code).toBeNull();
  await sandbox.later();
  expect((await invited()).people).toBe(people.length);
});

test('somebody whose record cannot be read is in quarantine, and the others are invited', async () => {
  const { run, invited, applied, hint, store, sandbox, partnerSays } = await invitationWorld();
  const [garbled = '', ...people] = (await applied()).map(({ jobCandidateDetails }) => jobCandidateDetails.id);
  partnerSays.change = (operation, answer) => {
    if (!operation.startsWith('jobCandidates.')) return;
    const { data = [] } = (answer as { body: { data?: Record<string, unknown>[] } }).body;
    const records = data.map((item) => (item['jobCandidateDetails'] ?? item) as Record<string, unknown>);
    for (const record of records) if (String(record['id']) === garbled) record['jobId'] = { broken: true };
  };
  const left = async () => (await readQuarantine(store, key)).map(({ record_key: id }) => id);
  const seen = await run('whole');
  expect(seen).toMatchObject({ state: 'partial', counts: { created: people.length, quarantined: 1 } });
  await sandbox.later();
  expect(await left()).toEqual([garbled]);
  await hint(people.slice(0, 1));
  expect(await run('other', { hinted: true })).toMatchObject({ counts: { unchanged: 1, quarantined: 1 } });
  expect(await left()).toEqual([garbled]);
  await hint([garbled, ...people.slice(1, 2)]);
  expect(await run('hinted', { hinted: true })).toMatchObject({ counts: { unchanged: 1, quarantined: 1 } });
  expect(await left()).toEqual([garbled]);
  expect((await invited()).people).toBe(people.length);
});

/** What the batch of a request answers, changed in place. */
function inBatch(change: (results: Record<string, unknown>[]) => void) {
  return (operation: string, answer: unknown): void => {
    if (operation !== 'assessments.getInviteBatch') return;
    change((answer as { body: { data: { results: Record<string, unknown>[] } } }).body.data.results);
  };
}

test('the audit has the outcome of each person of a request', async () => {
  const { run, sandbox, store, partnerSays, rows } = await invitationWorld();
  partnerSays.change = inBatch(([first]) => Object.assign(first ?? {}, { status: 'failed', reason: 'BOUNCED' }));
  await run('one');
  await sandbox.later();
  expect(await run('two')).toMatchObject({ counts: { quarantined: 1 } });
  const refused = (await rows()).filter(({ state }) => state === 'refused').map((row) => row.job_candidate_id);
  const writes = await listWrites(store, { tenantId: 'acme', target: 'invitation' });
  expect(refused).toHaveLength(1);
  expect(writes.filter(({ outcome }) => outcome === 'refused').map((write) => write.record_id)).toEqual(refused);
  expect(writes.filter(({ outcome }) => outcome === 'done')).toHaveLength(writes.length - 1);
});

test('outcomes without our reference are known by application, and without any name by their order', async () => {
  const { run, applied, rows, invited, sandbox, partnerSays } = await invitationWorld();
  const people = await applied();
  partnerSays.change = inBatch((results) => {
    for (const [n, entry] of results.entries()) {
      Object.assign(entry, { externalRef: null, emailAddress: null, jobCandidateId: null });
      if (n === 1) Object.assign(entry, { status: 'failed', reason: 'BOUNCED' });
    }
  });
  await run('one');
  await sandbox.later();
  await run('two');
  const states = (await rows()).toSorted((one, other) => (one.candidate_id < other.candidate_id ? -1 : 1));
  expect(states.map(({ state }) => state)).toEqual(people.map((_, n) => (n === 1 ? 'refused' : 'invited')));
  expect((await invited()).requests).toBe(1);
});

test('whom a batch that is over does not name is in quarantine, and asked for again by a person alone', async () => {
  const { run, applied, rows, invited, sandbox, partnerSays, store } = await invitationWorld();
  const people = await applied();
  partnerSays.change = inBatch((results) => void results.pop());
  await run('one');
  await sandbox.later();
  expect(await run('two')).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect((await readQuarantine(store, key))[0]?.reason).toContain('reports no outcome');
  partnerSays.change = () => undefined;
  await run('three', { full: true });
  await sandbox.later();
  await run('four');
  expect((await rows()).map(({ state, code }) => [state, code])).toEqual(people.map(() => ['invited', null]));
  expect((await invited()).people).toBe(people.length);
});

test('whose batch ends in words of its own is in quarantine after an hour, and invited once', async () => {
  const { run, applied, invited, rows, clock, sandbox, partnerSays, store } = await invitationWorld();
  const people = await applied();
  partnerSays.change = (operation, answer) => {
    if (operation !== 'assessments.getInviteBatch') return;
    const { body } = answer as { body: { data: { status: string; results: { status: string }[] } } };
    body.data.status = 'FINISHED';
    for (const entry of body.data.results) entry.status = 'SENT';
  };
  await run('one');
  await sandbox.later();
  expect(await run('two')).toMatchObject({ state: 'done', counts: { quarantined: 0 } });
  clock.now += 3_700_000;
  expect(await run('three')).toMatchObject({ state: 'partial', counts: { quarantined: people.length } });
  expect((await readQuarantine(store, key))[0]?.reason).toContain('reports no outcome');
  partnerSays.change = () => undefined;
  expect(await run('four')).toMatchObject({ state: 'done', counts: { quarantined: 0 } });
  expect((await rows()).map(({ state }) => state)).toEqual(people.map(() => 'invited'));
  expect(await invited()).toEqual({ people: people.length, requests: 1 });
});

test('who left the stage without an answer is not searched for again, and is ours when they come back', async () => {
  const { once, run, applied, rows, invited, sandbox, partnerSays, clock } = await invitationWorld();
  const people = await applied();
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'assessments.inviteBulk', nth: 1 }] });
  await expect(once('one')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await sandbox.later();
  clock.now += 120_000;
  partnerSays.change = (operation, answer) => {
    if (operation.startsWith('jobCandidates.list')) (answer as { body: { data: unknown[] } }).body.data.length = 0;
  };
  await once('one');
  expect(new Set((await rows()).map(({ state }) => state))).toEqual(new Set(['absent']));
  partnerSays.change = () => undefined;
  await run('back');
  await sandbox.later();
  await run('last');
  expect((await rows()).map(({ state, code }) => [state, code])).toEqual(people.map(() => ['invited', null]));
  expect((await invited()).people).toBe(people.length);
});

test('whoever was erased is never invited again, by pass or hint; others of the same number are', async () => {
  const { run, applied, invited, rows, hint, sandbox, store } = await invitationWorld();
  const people = (await applied()).map(({ jobCandidateDetails }) => jobCandidateDetails);
  const [byPerson, byApplication, other] = people;
  if (byPerson === undefined || byApplication === undefined || other === undefined) throw new Error('too few people');
  await markPerson(store, { tenantId: 'acme', mark: 'erased', by: 'ada', about: 'request' }, [
    { kind: 'candidate', id: byPerson.candidateId },
    { kind: 'job-candidate', id: byApplication.id },
    // Of another kind: these are ids of nobody here.
    { kind: 'candidate', id: other.id },
    { kind: 'job-candidate', id: other.candidateId },
  ]);
  const erased = new Set([byPerson.candidateId, byApplication.candidateId]);
  await hint([byPerson.id, byApplication.id]);
  await run('hinted', { hinted: true });
  expect(await invited()).toEqual({ people: 0, requests: 0 });
  await run('whole', { full: true });
  await sandbox.later();
  await run('again', { full: true });
  const left = people.filter(({ candidateId }) => !erased.has(candidateId)).map(({ candidateId }) => candidateId);
  expect(left).toContain(other.candidateId);
  expect((await invited()).people).toBe(left.length);
  expect((await rows()).map((row) => row.candidate_id)).toEqual(left.toSorted());
  const writes = await store.kysely.selectFrom('foreign_writes').select('record_id').execute();
  expect(writes.map((row) => row.record_id)).not.toContain(byPerson.id);
});

test('one who is erased while a run is at work is left out of the request', async () => {
  const { applied, store } = await invitationWorld();
  const people = (await applied()).slice(0, 2).map(({ jobCandidateDetails: { id, candidateId } }) => ({
    invitee: { assessmentId: 'a', jobCandidateId: id, candidateId },
    before: undefined,
  }));
  const first = people[0]?.invitee.candidateId ?? '';
  await markPerson(store, { tenantId: 'acme', mark: 'erased', by: 'ada', about: 'request' }, [
    { kind: 'candidate', id: first },
  ]);
  const sent = await sendInvitations(store, 'acme', people, { writeId: 'w', budgetMs: 1 });
  expect(sent.map((row) => row.candidate_id)).toEqual([people[1]?.invitee.candidateId]);
});

test('what waits for an answer about an assessment that was deleted does not stop the others', async () => {
  const { once, run, applied, invited, clock, sandbox } = await invitationWorld({
    candidates: 60,
    before: [{ flow: 987_654 }],
  });
  const people = await applied();
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'assessmentFlows.assign', nth: 1 }] });
  await expect(once('one')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  clock.now += 600_000;
  await run('two');
  await sandbox.later();
  expect((await invited()).people).toBe(people.length);
});
