import { expect, onTestFinished, test, vi } from 'vitest';
import { saveConsents } from '../../../src/store/consents.ts';
import { markPerson } from '../../../src/store/person-marks.ts';
import { GIVE_UP_MS } from '../push-deps.ts';
import { answered, CONSENT, sourcingWorld } from './sourcing-world.ts';

test('a candidate who cannot be read may be the lead: nobody is sent until they can', async () => {
  const { run, lead, made, rows, sandbox, partnerSays } = await sourcingWorld();
  await sandbox.control.act('addCandidate', { candidate: { email: 'known@example.com', firstName: 'Known' } });
  await lead({ email: 'known@example.com', consentAt: CONSENT });
  const start = await made();
  partnerSays.change = answered('candidates.list', (people) => {
    for (const one of people) if (one['email'] === 'known@example.com') one['id'] = null;
  });
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { skipped: 1 } });
  expect([await made(), await rows()]).toEqual([start, []]);
  partnerSays.change = () => undefined;
  expect(await run('two')).toMatchObject({ state: 'done', counts: { created: 1 } });
});

test('a request without an answer stays open while the candidate cannot be read', async () => {
  const { once, lead, made, rows, clock, sandbox, partnerSays } = await sourcingWorld();
  await lead({ email: 'ada@example.com', consentAt: CONSENT });
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'candidates.add', nth: 1 }] });
  await expect(once('one')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  clock.now += 600_000;
  partnerSays.change = answered('candidates.list', (people) => {
    for (const one of people) one['id'] = null;
  });
  expect(await once('one')).toMatchObject({ counts: { skipped: 1 } });
  expect(await rows()).toMatchObject([{ state: 'sent', attempt: 1 }]);
  partnerSays.change = () => undefined;
  expect(await once('two')).toMatchObject({ state: 'done', counts: { created: 1 } });
  expect((await made()).requests).toBe(1);
});

test.each([
  ['was erased', 'refused', 'ERASED', { quarantined: 1 }],
  ['has withdrawn their consent', 'absent', null, { skipped: 1 }],
])(
  'who is found to be known by the request alone, and %s, gets no consent and no link',
  async (what, state, code, counts) => {
    const { run, lead, rows, store, sandbox, partnerSays, consentOf } = await sourcingWorld();
    const raced = { candidate: { email: 'raced@example.com', firstName: 'Raced' } };
    const { candidateId } = (await sandbox.control.act('addCandidate', raced)) as { candidateId: number };
    const id = String(candidateId);
    if (what === 'was erased')
      await markPerson(store, { tenantId: 'acme', mark: 'erased', by: 'ada', about: 'request' }, [
        { kind: 'candidate', id },
      ]);
    else
      await saveConsents(store, 'acme', [
        { tenant_id: 'acme', job_candidate_id: '1', candidate_id: id, shown: '', state: 'withdrawn' },
      ]);
    await lead({ email: 'raced@example.com', consentAt: CONSENT });
    partnerSays.change = answered('candidates.list', (people) => void people.splice(0));
    expect(await run('one')).toMatchObject({ state: 'partial', counts });
    expect(await rows()).toMatchObject([{ state, code, candidate_id: null, job_candidate_id: null }]);
    expect(await consentOf(id)).toBeUndefined();
    partnerSays.change = () => undefined;
    expect(await run('two')).toMatchObject({ counts });
    expect(await consentOf(id)).toBeUndefined();
  },
);

/** The leads' campaign shows no consent any more. */
const withoutConsent = answered('campaigns.listLeads', (leads) => {
  for (const one of leads) delete one['consentAt'];
});

test('a lead who withdraws while a slow pass takes others is not sent', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { once, lead, made, partnerSays } = await sourcingWorld();
  await lead({ email: 'ada@example.com', consentAt: CONSENT }, { email: 'bob@example.com', consentAt: CONSENT });
  partnerSays.change = (operation) => {
    if (operation !== 'candidates.add') return;
    vi.setSystemTime(Date.now() + 3 * GIVE_UP_MS);
    partnerSays.change = withoutConsent;
  };
  expect(await once('one')).toMatchObject({ state: 'partial', counts: { created: 1, skipped: 1 } });
  expect(await made()).toMatchObject({ people: 1, requests: 1 });
});

test('a run that stood still while another one worked sends nobody more', async () => {
  const { once, lead, made, partnerSays, clock } = await sourcingWorld();
  await lead({ email: 'ada@example.com', consentAt: CONSENT }, { email: 'bob@example.com', consentAt: CONSENT });
  partnerSays.change = async (operation) => {
    if (operation !== 'candidates.add') return;
    partnerSays.change = withoutConsent;
    clock.now += 200_000;
    await once('other');
  };
  expect(await once('still')).toEqual({ state: 'superseded' });
  expect(await made()).toMatchObject({ people: 1, requests: 1 });
});

test('a day of consent that was read too long ago is not written', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { once, run, lead, made, partnerSays, sandbox, consentOf } = await sourcingWorld();
  const known = { candidate: { email: 'known@example.com', firstName: 'Known' } };
  const { candidateId } = (await sandbox.control.act('addCandidate', known)) as { candidateId: number };
  await lead({ email: 'known@example.com', consentAt: CONSENT });
  partnerSays.change = (operation) => {
    if (operation === 'customFieldValues.list') vi.setSystemTime(Date.now() + 3 * GIVE_UP_MS);
  };
  await expect(once('one')).rejects.toMatchObject({ code: 'DEADLINE_PASSED' });
  partnerSays.change = () => undefined;
  expect([await consentOf(String(candidateId)), (await made()).requests]).toEqual([undefined, 0]);
  expect(await run('one')).toMatchObject({ state: 'done', counts: { created: 1 } });
});

test('whose day of consent a bulk answer passes over is not brought into the job, and is told', async () => {
  const { run, lead, made, partnerSays, sandbox, rows } = await sourcingWorld();
  const known = { candidate: { email: 'known@example.com', firstName: 'Known' } };
  const { candidateId } = (await sandbox.control.act('addCandidate', known)) as { candidateId: number };
  await lead({ email: 'known@example.com', consentAt: CONSENT });
  const params = { entityType: 'candidate' as const, entityId: String(candidateId) };
  partnerSays.change = async (operation, answer) => {
    if (operation !== 'customFieldValues.upsertBulk') return;
    await sandbox.partner.customFieldValues.removeByEntity({ params });
    Object.assign((answer as { body: object }).body, { data: [], errors: [{ index: 0 }] });
  };
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { created: 0, quarantined: 1 } });
  expect((await made()).requests).toBe(0);
  expect(await rows()).toMatchObject([{ state: 'refused', code: 'CONSENT_REFUSED' }]);
});
