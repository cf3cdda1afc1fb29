import { describe, expect, test } from 'vitest';
import { followPrivacy } from '../../../activities/erase/by-policy.ts';
import { pullPages } from '../../../activities/streams/pull-pages.ts';
import type { Places } from '../../../src/config.ts';
import { withTenant } from '../../../src/operator/open-tenant.ts';
import { listDue } from '../../../src/operator/person.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { openErasures } from '../../../src/store/erasures.ts';
import { addHints } from '../../../src/store/hints.ts';
import { withoutErased } from '../../../src/store/invitations.ts';
import { type Store, writeFailpoints } from '../../../src/store/open-store.ts';
import type { Subject } from '../../../src/store/person-data.ts';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { readTenantState } from '../../../src/store/tenant-states.ts';
import { until } from '../../harness/until.ts';
import { freshStore, kinds } from '../../store/stores.ts';
import { countWrites } from '../../stream/count-writes.ts';
import { failpoints, Killed } from '../killable.ts';
import { openPullWorld } from '../streams/pull-world.ts';

const DAY_MS = 86_400_000;
/** `EVERY_POINT=1` kills at each, which takes a minute. */
const EVERY = process.env['EVERY_POINT'] === undefined ? 9 : 1;
const READ = 'jobCandidates.getConsentDocument';

interface Applied {
  application: string;
  candidate: string;
}

/** Three people who applied by the hosted page with their consent, and one without; they and theirs have landed. */
async function consenting(policy = '{ withdrawn: erase, expired: ask }') {
  const played = await openPullWorld(
    '{ candidates: { every: 1h }, applications: { every: 1h }, consents: { every: 1h } }',
    { candidates: 1, jobs: 1 },
  );
  const { world, pull } = played;
  await played.edit((text) => text.replace('policies:\n', `policies:\n  privacy: ${policy}\n`));
  const [job] = (await world.partner.readAll(contract.jobs.list)).items;
  const people: Applied[] = [];
  for (const name of ['eva', 'ben', 'kim', 'ole']) {
    const candidate = { firstName: name, lastName: 'Lind', email: `${name}@example.com` };
    const applied = await world.control.act('apply', { jobId: Number(job?.id), candidate, consent: name !== 'ole' });
    const { jobCandidateId, candidateId } = applied as { jobCandidateId: number; candidateId: number };
    people.push({ application: String(jobCandidateId), candidate: String(candidateId) });
  }
  const jobCandidateIds = people.map(({ application }) => application);
  // Either changes what landed, a moment after they applied.
  await until('their resumes are read and their scores told', async () => {
    const { items: profiles } = await world.partner.readAll(contract.candidates.list);
    const own = profiles.filter(({ id }) => people.some(({ candidate }) => candidate === String(id)));
    const { items } = await world.partner.readAll(contract.jobCandidates.bulkFetch, { body: { jobCandidateIds } });
    const isScored = items.every((one) => typeof one['profileMatchScore'] === 'number');
    return isScored && own.every(({ createdAt, updatedAt }) => createdAt !== updatedAt);
  });
  for (const stream of ['candidates', 'applications'] as const) await pull('full', { stream });
  const [eva, ben, kim, ole] = people;
  if (eva === undefined || ben === undefined || kim === undefined || ole === undefined) throw new Error('four applied');
  const places = { tenantsDir: world.tenantsDir, dataDir: world.dataDir } as Places;
  const goneAt = (stream: 'candidates' | 'applications', id: string) => played.rows(stream).get(id)?.['gone_at'];
  return {
    ...played,
    eva,
    ben,
    kim,
    ole,
    places,
    change: ({ application }: Applied, expiresAt?: number) =>
      world.control.act('changeConsent', { jobCandidateId: Number(application), ...(expiresAt && { expiresAt }) }),
    /** Where their own rows are marked. */
    isMarked: ({ candidate, application }: Applied) =>
      [goneAt('candidates', candidate), goneAt('applications', application)].map((at) => at !== null),
    round: (store: Store) =>
      withTenant({ store, places, tenantId: 'acme' }, ({ deps }) =>
        followPrivacy(deps, 'acme', new AbortController().signal),
      ),
  };
}

/** A day passes. */
async function passDay({ kysely }: Store): Promise<void> {
  await kysely.updateTable('privacy_cases').set({ since: 1, due_at: 1 }).execute();
}

test('a consent that cannot be read is in quarantine, and those of others land', async () => {
  const { world, store, pull, rows, change, eva, ben, kim } = await consenting();
  const stream = 'consents' as const;
  await pull('full', { stream });
  await world.control.act('addFault', {
    kind: 'schema-surprise',
    surprise: 'unreadable',
    on: READ,
    holding: `/${eva.application}/`,
  });
  await change(ben);
  await addHints(store, 'acme', stream, [eva.application, ben.application]);
  expect(await pull('incremental', { stream })).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect(await pull('full', { stream })).toMatchObject({ state: 'partial' });
  const state = ({ application }: Applied) => rows(stream).get(application)?.['state'];
  expect([eva, ben, kim].map(state)).toEqual(['given', 'withdrawn', 'given']);
  expect(await readQuarantine(store, { tenantId: 'acme', stream })).toMatchObject([
    { record_key: eva.application, reason: expect.stringContaining('UNREADABLE_ANSWER') },
  ]);
  await world.control.act('clearFaults');
  await change(eva);
  expect(await pull('full', { stream })).toMatchObject({ state: 'done' });
  expect(state(eva)).toBe('withdrawn');
  expect(await readQuarantine(store, { tenantId: 'acme', stream })).toEqual([]);
});

test('a consent lands as it stands; whose is over is stopped, until it is good again or by policy erased', async () => {
  const played = await consenting();
  const { world, store, pull, rows, calls, change, isMarked, round, eva, ben, kim, ole } = played;
  const stream = 'consents' as const;
  const due = async () =>
    (await listDue({ store, tenantId: 'acme' })).map(({ candidate, cause, state }) => [candidate, cause, state]);
  const state = ({ application }: Applied) => rows(stream).get(application)?.['state'];
  expect(await pull('full', { stream })).toMatchObject({ state: 'done', counts: { created: 3 } });
  expect([eva, ben, kim, ole].map(state)).toEqual(['given', 'given', 'given', undefined]);
  expect(rows(stream).get(eva.application)).toMatchObject({
    candidate_id: eva.candidate,
    document: 'Data privacy acknowledgment',
    accepted_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  const reads = await calls(READ);
  const writes = countWrites(world.hrisUrl.slice('sqlite:'.length));
  expect(await pull('full', { stream })).toMatchObject({ state: 'done', counts: { created: 0, updated: 0 } });
  expect(writes.take()).toEqual({});
  // A document for each application, and no second.
  expect(await calls(READ)).toBe(2 * reads);
  expect(reads).toBe(rows('applications').size);

  await change(eva);
  await change(ben, Date.now() - DAY_MS);
  await addHints(store, 'acme', stream, [eva.application, ben.application]);
  expect(await pull('incremental', { stream })).toMatchObject({ state: 'done', counts: { read: 2, updated: 2 } });
  expect(await calls(READ)).toBe(2 * reads + 2);
  expect([eva, ben, kim].map(state)).toEqual(['withdrawn', 'expired', 'given']);
  expect(rows(stream).get(eva.application)?.['accepted_at']).not.toBeNull();
  await round(store);
  expect([eva, ben, kim, ole].map(isMarked)).toEqual([
    [true, true],
    [true, true],
    [false, false],
    [false, false],
  ]);

  // They are shown and edited, and nothing of theirs lands; nobody invites them.
  await world.control.act('editCandidate', { candidateId: Number(eva.candidate), fields: { city: 'Utrecht' } });
  writes.take();
  for (const one of ['candidates', 'applications', stream] as const) await pull('full', { stream: one });
  await round(store);
  expect(writes.take()).toEqual({});
  expect(rows().get(eva.candidate)?.['city']).not.toBe('Utrecht');
  const invitees = [eva, ben, kim, ole].map((one) => ({
    candidateId: one.candidate,
    jobCandidateId: one.application,
    assessmentId: 'a',
  }));
  const invited = await withoutErased(store, 'acme', invitees);
  expect(invited.map(({ candidateId }) => candidateId)).toEqual([kim.candidate, ole.candidate]);

  // Before a day is over nobody is asked and nobody is erased.
  expect(await due()).toEqual(
    expect.arrayContaining([
      [eva.candidate, 'withdrawn', 'due'],
      [ben.candidate, 'expired', 'due'],
    ]),
  );
  expect(await openErasures(store)).toEqual([]);
  await passDay(store);
  await round(store);
  expect(await due()).toEqual([[ben.candidate, 'expired', 'asked']]);
  const asked = await openErasures(store);
  expect(asked).toMatchObject([{ by: 'policy', reason: 'policies.privacy.withdrawn', employee: 'keep' }]);
  expect((JSON.parse(asked[0]?.subject ?? '') as Subject).candidates).toEqual([eva.candidate]);

  // The day is another one: the chore finds it, and they are back.
  await change(ben, Date.now() + DAY_MS);
  await passDay(store);
  await round(store);
  expect(await due()).toEqual([]);
  for (const one of ['candidates', 'applications', stream] as const) await pull('incremental', { stream: one });
  await addHints(store, 'acme', stream, [ben.application]);
  await pull('incremental', { stream });
  expect([isMarked(ben), state(ben)]).toEqual([[false, false], 'given']);
});

test('another good consent keeps a person; what is no word of a withdrawal stops nobody', async () => {
  const played = await consenting('{}');
  const { world, store, pull, rows, change, isMarked, round, eva, ben } = played;
  const stream = 'consents' as const;
  const made = (await world.control.act('createJob', { job: { title: 'Second' } })) as { id: number };
  const jobId = made.id;
  const candidate = { firstName: 'eva', lastName: 'Lind', email: 'eva@example.com' };
  const second = (await world.control.act('apply', { jobId, candidate })) as { jobCandidateId: number };
  await pull('full', { stream });
  await change(eva);
  await pull('full', { stream });
  await round(store);
  expect(rows(stream).get(eva.application)?.['state']).toBe('withdrawn');
  expect(isMarked(eva)).toEqual([false, false]);

  // The application with the good one is deleted: nothing is left that is good.
  await world.partner.jobCandidates.remove({ params: { jobCandidateId: second.jobCandidateId } });
  await addHints(store, 'acme', stream, [String(second.jobCandidateId)], true);
  await pull('incremental', { stream });
  await round(store);
  expect(isMarked(eva)).toEqual([true, true]);
  // Under `mark` nothing more is done about them, and nobody is asked.
  await passDay(store);
  await round(store);
  expect(await listDue({ store, tenantId: 'acme' })).toMatchObject([{ candidate: eva.candidate, state: 'due' }]);
  expect(await openErasures(store)).toEqual([]);

  // A deleted application is gone, which is no withdrawal.
  await world.partner.jobCandidates.remove({ params: { jobCandidateId: Number(ben.application) } });
  await addHints(store, 'acme', stream, [ben.application], true);
  await pull('incremental', { stream });
  expect(rows(stream).get(ben.application)).toMatchObject({ state: 'given', gone_at: expect.anything() });
  await edited(played);
});

/** This partner means something else by it: overridden, neither is the end of a consent. */
async function edited({ edit, pull, rows, change, kim }: Awaited<ReturnType<typeof consenting>>): Promise<void> {
  const overrides = '{ consentWithdrawn: [], consentExpires: false }';
  await edit((text) => text.replace('partner:\n', `partner:\n  overrides: ${overrides}\n`));
  await change(kim, Date.now() - DAY_MS);
  await pull('full', { stream: 'consents' });
  expect(rows('consents').get(kim.application)?.['state']).toBe('given');
  await change(kim);
  await pull('full', { stream: 'consents' });
  expect(rows('consents').get(kim.application)?.['state']).toBe('given');
}

describe.each(kinds)('on %s', (kind) => {
  test('killed at any write, whoever withdrew is stopped all the same, and nobody else', async () => {
    const played = await consenting();
    const { change, isMarked, places, rows, round, eva, ben, kim, ole } = played;
    const points = failpoints();
    const reach = (name: string): void => (/rate_limits|processes/.test(name) ? undefined : points.pass(name));
    const { store, other } = await freshStore(kind, { plugins: [writeFailpoints(reach)] });
    await readTenantState(store, 'acme');
    let run = 1;
    /** A stream's run to its end; who comes after a death goes on with the same run. */
    const pass = (stream: 'consents' | 'candidates' | 'applications') =>
      withTenant({ store, places, tenantId: 'acme' }, async ({ deps }) => {
        const input = { tenantId: 'acme', stream, runId: `run-${run}`, mode: 'full', begun: false } as const;
        expect(await pullPages(deps, input)).toMatchObject({ state: 'done' });
      });
    const stop = async () => {
      await pass('consents');
      await round(store);
      run += 1;
    };
    await stop();
    await change(eva);
    let kills = 0;
    for (let nth = 1; ; nth += EVERY) {
      points.arm(nth);
      const died: unknown = await stop().catch((error: unknown) => error);
      points.arm(0);
      if (died === undefined) break;
      expect(died).toBeInstanceOf(Killed);
      kills += 1;
    }
    expect(kills).toBeGreaterThan(2);
    // What died between a write and its note is looked up before anything else; nothing of theirs lands again.
    for (const stream of ['candidates', 'applications'] as const) await pass(stream);
    expect([eva, ben, kim, ole].map(isMarked)).toEqual([
      [true, true],
      [false, false],
      [false, false],
      [false, false],
    ]);
    expect(rows('consents').get(eva.application)?.['state']).toBe('withdrawn');
    expect(await listDue({ store: other, tenantId: 'acme' })).toMatchObject([
      { candidate: eva.candidate, cause: 'withdrawn', state: 'due' },
    ]);
    const ended = other.kysely.selectFrom('foreign_writes').select('target').where('kind', '=', 'end');
    const targets = (await ended.where('outcome', '=', 'done').execute()).map(({ target }) => target);
    expect(targets.toSorted()).toEqual(['applications', 'candidates']);
  });
});
