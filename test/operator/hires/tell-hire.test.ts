import { expect, test } from 'vitest';
import { readHire } from '../../../src/operator/hires.ts';
import { clearTrouble, noteTrouble } from '../../../src/store/alarms.ts';
import { freeze } from '../../../src/store/freezes.ts';
import { insertHires, updateHire } from '../../../src/store/hires.ts';
import { answerHold, closeHold, openHold } from '../../../src/store/holds.ts';
import { insertDelivery } from '../../../src/store/inbox.ts';
import { decideIntent, openIntent } from '../../../src/store/intents.ts';
import { insertPlan } from '../../../src/store/plans.ts';
import { pauseTenant } from '../../../src/store/tenant-states.ts';
import { sqliteStore } from '../../store/stores.ts';

const KEY = { tenantId: 'acme', jobCandidateId: '12', period: 1 };
const DELIVERY = { tenantId: 'acme', event: 'candidate.hired', state: 'waiting' } as const;

test('a hire tells its events, calls, plans, holds and answers in their order, and no personal data', async () => {
  const clock = { at: 0 };
  // Each statement a second after the one before.
  const store = await sqliteStore({ now: () => (clock.at += 1_000) });
  const body = '{"email":"jane@example.com"}';
  await insertDelivery(store, { ...DELIVERY, bodyHash: 'a', ids: { jobCandidateId: ['12'] }, body });
  await insertDelivery(store, { ...DELIVERY, bodyHash: 'b', ids: { jobCandidateId: ['512'] }, body });
  await insertHires(store, [{ ...KEY, state: 'open' }]);
  await updateHire(store, KEY, { onboarding_status: 'completed' });
  const pinned = { email: 'jane@example.com' };
  const intent = await openIntent(store, { ...KEY, verb: 'enrol:1', attempt: 1, pinned, budgetMs: 1 });
  if (intent !== undefined)
    await decideIntent(store, intent, 'done', { id: 'enrolment-7', ref: { connection: 'hr', number: 7 } });
  const code = 'MAPPING_INCOMPLETE';
  const { holdId } = await openHold(store, { ...KEY, code, message: 'Fill it in.', answers: ['retry'] });
  await answerHold(store, holdId, { answer: 'retry', arguments: [], by: 'ann' });
  await closeHold(store, holdId);
  const change = { kind: 'create', fields: pinned };
  await insertPlan(store, KEY, { mappingHash: '0123456789abcdef', change });
  const { story } = await readHire(store, 'acme', '12');
  expect(story.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    'event candidate.hired, not read yet',
    expect.stringMatching(/^hire read as hired; opened, period 1/),
    'read onboarding is completed',
    'call enrol:1, attempt 1: about to be sent',
    'call enrol:1, attempt 1: done, id enrolment-7, ref: connection hr, number 7',
    'hold MAPPING_INCOMPLETE: Fill it in.',
    'answer MAPPING_INCOMPLETE: retry, by ann',
    'hold MAPPING_INCOMPLETE closed',
    expect.stringMatching(/^plan person and HR system read; \S+ saved, by mapping 0123456789ab$/),
  ]);
  const times = story.map(({ at }) => at);
  expect(times).toEqual([...times].sort());
  expect(JSON.stringify(story)).not.toContain('jane@example.com');
});

test.each([
  ['open', {}, 'The onboarding of job candidate 12 is about to begin; nothing to do.', 'Both sides are read'],
  ['open', { step: 'onboard' }, 'Waiting for job candidate 12 to finish the onboarding; nothing to do.', 'Once it is'],
  ['before-go-live', {}, 'recorded as hired before go-live; nothing to do.', 'hirebridge hire start acme 12 --adopt'],
  [
    'done',
    { ended_at: 0, employee_number: '000126' },
    'is done since 1 January 1970: employee 000126, written back and verified; nothing to do.',
    'Nothing more',
  ],
  ['open', { period: 21 }, 'job candidate 12, hired for the 21st time, is about to begin', 'Both sides are read'],
  ['open', { period: 12 }, 'job candidate 12, hired for the 12th time, is about to begin', 'Both sides are read'],
  ['kept', { ended_at: 0 }, 'ended on 1 January 1970 as kept; nothing to do.', 'Somebody ended it'],
] as const)('a hire that is %s says how it stands and what comes next: %o', async (state, row, stands, next) => {
  const store = await sqliteStore();
  await insertHires(store, [{ ...KEY, state: 'open' }]);
  await store.kysely
    .updateTable('hires')
    .set({ state, ...row })
    .execute();
  const hire = await readHire(store, 'acme', '12');
  expect([hire.stands, hire.next]).toEqual([expect.stringContaining(stands), expect.stringContaining(next)]);
});

test('a hire that waits for a person names the hold, and once it is answered the answer', async () => {
  const store = await sqliteStore({ now: () => 1_000 });
  await insertHires(store, [{ ...KEY, state: 'open' }]);
  const hold = { ...KEY, code: 'MAPPING_INCOMPLETE', message: 'Fill it in.', answers: ['retry'] };
  const { holdId } = await openHold(store, hold);
  expect(await readHire(store, 'acme', '12')).toMatchObject({
    stands: 'The hire of job candidate 12 waits for an answer since 1 January 1970.',
    next: `Fill it in. [MAPPING_INCOMPLETE] To answer: hirebridge hold show ${holdId}`,
    needsPerson: true,
  });
  await answerHold(store, holdId, { answer: 'retry', arguments: [], by: 'ann' });
  expect((await readHire(store, 'acme', '12')).stands).toMatch(/was answered with retry; nothing to do\.$/);
});

test('an open hire whose call fails says which, before that is an alarm; one of another id does not', async () => {
  const store = await sqliteStore();
  await insertHires(store, [
    { ...KEY, state: 'open' },
    { ...KEY, jobCandidateId: '2', state: 'open' },
  ]);
  const key = { tenantId: 'acme', kind: 'activity-failing', subject: 'openHire of job candidate 12' } as const;
  await noteTrouble(store, { ...key, reason: 'SERVER_ERROR', message: 'GET /jobs was answered 500.' }, 900_000);
  expect((await readHire(store, 'acme', '12')).next).toMatch(
    /repeated until it works: GET \/jobs was.*SERVER_ERROR\]$/,
  );
  expect((await readHire(store, 'acme', '2')).next).not.toContain('failed');
  await clearTrouble(store, key);
  expect((await readHire(store, 'acme', '12')).next).not.toContain('failed');
});

const TENANT = `
tenant: acme
partner:
  baseUrl: https://api.partner.example/v1/partner
  environment: production
  apiKey: env:KEY
  webhookKeys: [env:WHK]
hris: { kind: sql, connection: acme-hr, url: 'env:HR_URL' }
policies: { onboarding: { flow: f1, deadline: 30d } }
`;

test('a hire that waits for the onboarding says until when, by the day of the enrolment', async () => {
  const day = 86_400_000;
  const store = await sqliteStore({ now: () => 10 * day });
  await insertHires(store, [{ ...KEY, state: 'open' }]);
  await updateHire(store, KEY, { step: 'onboard' });
  const intent = await openIntent(store, { ...KEY, verb: 'enrol:1', attempt: 1, pinned: {}, budgetMs: 1 });
  if (intent !== undefined) await decideIntent(store, intent, 'done', { id: 'enrolment-7' });
  const file = '/tenants/acme.yaml';
  const applied = {
    state: 'active',
    version: 1,
    receives: '{}',
    file,
    files: JSON.stringify({ [file]: TENANT }),
  } as const;
  await store.kysely
    .insertInto('tenants')
    .values({ tenant_id: 'acme', ...applied })
    .execute();
  expect((await readHire(store, 'acme', '12')).stands).toBe(
    'Waiting for job candidate 12 to finish the onboarding, until 10 February 1970; nothing to do.',
  );
});

test('a hire whose employee the HR system has yet to confirm says since when it waits for that', async () => {
  const day = 86_400_000;
  const store = await sqliteStore({ now: () => 10 * day });
  await insertHires(store, [{ ...KEY, state: 'open' }]);
  await updateHire(store, KEY, { step: 'employ' });
  const intent = await openIntent(store, { ...KEY, verb: 'create-employee', attempt: 1, pinned: {}, budgetMs: 1 });
  if (intent === undefined) throw new Error('the intent is there already');
  expect((await readHire(store, 'acme', '12')).stands).toMatch(/is being created in the HR system/);
  await decideIntent(store, intent, 'done', { kind: 'pending', ticket: 'T-7', nextCheckMs: 60_000 });
  expect(await readHire(store, 'acme', '12')).toMatchObject({
    stands: 'Waiting since 11 January 1970 for the HR system to confirm the employee for job candidate 12.',
    next: expect.stringContaining('If people approve new employees there, ask them.'),
  });
});

test('a hire that stands still says what keeps it, and what to do', async () => {
  const store = await sqliteStore();
  await insertHires(store, [{ ...KEY, state: 'open' }]);
  await updateHire(store, KEY, { step: 'employ' });
  expect(await readHire(store, 'acme', '12')).toMatchObject({ stands: expect.stringContaining('nothing to do') });
  const told = async () => {
    const { stands, next, needsPerson } = await readHire(store, 'acme', '12');
    expect(stands).not.toContain('nothing to do');
    return [next, needsPerson];
  };
  const code = 'HRIS_AUTH_FAILED';
  const { holdId } = await openHold(store, { tenantId: 'acme', code, message: 'The key is refused.', answers: [] });
  expect(await told()).toEqual([expect.stringContaining(`hirebridge hold show ${holdId}`), false]);
  await freeze(store, 'ann', 'acme');
  expect(await told()).toEqual([expect.stringContaining('hirebridge thaw acme'), true]);
  await pauseTenant(store, 'acme', 'UNAUTHORIZED', 'The key was revoked.');
  expect(await told()).toEqual([expect.stringMatching(/The key was revoked.*hirebridge resume acme/), true]);
  await store.kysely.updateTable('tenants').set({ state: 'removed' }).execute();
  expect(await readHire(store, 'acme', '12')).toMatchObject({
    stands: 'The hire of job candidate 12 stands still: tenant acme was removed.',
    next: 'It continues once the file of the tenant is applied again.',
    needsPerson: true,
  });
});
