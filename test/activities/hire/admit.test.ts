import pino from 'pino';
import { expect, test } from 'vitest';
import type { Connection } from '../../../activities/connections.ts';
import { enrol } from '../../../activities/hire/enrol.ts';
import { employ, readOnboarding } from '../../../activities/hire/go-on.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import { openHire } from '../../../activities/hire/open-hire.ts';
import { personOf } from '../../../activities/hire/with-hire.ts';
import { employeeIn } from '../../../src/hire/hire.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { insertHires, latestHire } from '../../../src/store/hires.ts';
import { answerHold } from '../../../src/store/holds.ts';
import { listObserved, requestStarts } from '../../../src/store/observed-hires.ts';
import { employedRows } from '../../../src/store/people.ts';
import { markPerson } from '../../../src/store/person-marks.ts';
import { changePerson } from '../../../src/store/persons.ts';
import { latestPlan } from '../../../src/store/plans.ts';
import { startRequested } from '../../../src/worker/chores.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { recorder } from '../../store/recording-store.ts';
import { kinds } from '../../store/stores.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const OBSERVE = 'mode: observe\n';

test('a tenant that only observes plans a hire, records it, and writes nothing on either side', async () => {
  const { apply, hire, open, reconcile, store, deps, enrolments } = await fleetAtSandbox({ hired: 1 });
  await apply('acme', OBSERVE);
  await reconcile('acme');
  const before = await enrolments();
  const id = await hire();
  expect(await open('acme', id)).toMatchObject({ verdict: 'closed', state: 'before-go-live' });
  const row = await latestHire(store, 'acme', id);
  expect(JSON.parse(row?.observed ?? '')).toEqual({ would: 'create', credits: 1 });
  const ref = { tenantId: 'acme', jobCandidateId: id, period: 1 };
  expect((await latestPlan(store, ref))?.change).toMatchObject({ kind: 'create' });
  const { hris } = await deps.connections.of('acme');
  await expect(
    hris.employees.create({ givenName: 'A' }, 'r', {
      signal: AbortSignal.timeout(120_000),
      beforeSend: () => undefined,
    }),
  ).rejects.toMatchObject({ code: 'TENANT_OBSERVES', action: 'throttle' });
  expect(await enrolments()).toBe(before);
  // Those of the baseline are no news.
  expect((await listObserved(store, 'acme', 0)).map((one) => one.job_candidate_id)).toEqual([id]);
});

test('what a person would be asked about an observed hire is recorded with it', async () => {
  const { apply, hire, open, reconcile, store } = await fleetAtSandbox({ startDates: false });
  await apply('acme', OBSERVE);
  await reconcile('acme');
  const id = await hire();
  await open('acme', id);
  const observed: unknown = JSON.parse((await latestHire(store, 'acme', id))?.observed ?? '');
  expect(observed).toMatchObject({ would: 'ask', code: 'MAPPING_INCOMPLETE', credits: 1 });
});

test('what was observed starts on a person’s word once the tenant is live, and only then', async () => {
  const { apply, hire, open, reconcile, store, deps, signalled, enrolments } = await fleetAtSandbox();
  await apply('acme', OBSERVE);
  await reconcile('acme');
  const id = await hire();
  await open('acme', id);
  expect(await open('acme', id, true)).toMatchObject({ verdict: 'closed' });
  await apply('acme');
  expect(await open('acme', id)).toMatchObject({ verdict: 'closed', state: 'before-go-live' });
  const before = await enrolments();
  await requestStarts(store, { tenantId: 'acme', by: 'ada' }, [id]);
  signalled.length = 0;
  await startRequested(deps, { tenant: 'acme' }, new AbortController().signal);
  await startRequested(deps, { tenant: 'acme' }, new AbortController().signal);
  expect(signalled).toEqual([{ tenantId: 'acme', jobCandidateId: id, adopt: true }]);
  expect(await open('acme', id, true)).toMatchObject({ verdict: 'open', enrolled: { verdict: 'enrolled' } });
  expect(await enrolments()).toBe(before + 1);
});

test('a hire on a job outside the scope is recorded, and stays so when the job comes into it', async () => {
  const { apply, hire, open, reconcile, store } = await fleetAtSandbox();
  await apply('acme', 'scope: { countries: [Atlantis] }\n');
  await reconcile('acme');
  const id = await hire();
  expect(await open('acme', id)).toMatchObject({ verdict: 'closed', state: 'before-go-live' });
  expect((await latestHire(store, 'acme', id))?.passed_over).toContain("outside this tenant's scope");
  await apply('acme');
  expect(await open('acme', id)).toMatchObject({ verdict: 'closed', state: 'before-go-live' });
  expect(await open('acme', id, true)).toMatchObject({ verdict: 'open' });
});

test.each([
  ['the id', (job: Job) => `jobs: ["${job.id}"]`],
  ['the country', (job: Job) => `countries: [" ${String(job.country).toUpperCase()}"]`],
])('a job is in the scope by %s', async (_, criterion) => {
  const { apply, hire, open, reconcile, sandbox } = await fleetAtSandbox();
  const [job] = (await sandbox.partner.jobs.list()).jobs as Job[];
  await apply('acme', `scope: { ${criterion(job ?? { id: 0, country: '' })} }\n`);
  await reconcile('acme');
  expect(await open('acme', await hire())).toMatchObject({ verdict: 'open' });
});

interface Job {
  id: number;
  country: string;
}

test('a team’s jobs are asked for, because a job’s record does not show its team', async () => {
  const { apply, hire, open, reconcile, sandbox } = await fleetAtSandbox();
  const [team] = (await sandbox.partner.readAll(contract.teams.list)).items;
  const place = { city: 'Oslo', state: '', country: 'Norway' };
  const job = await sandbox.partner.jobs.create({ body: { title: 'Clerk', ...place, teamId: String(team?.id) } });
  const email = 'new@people.example';
  await sandbox.partner.candidates.add({ body: { email, firstName: 'A', lastName: 'B', jobId: Number(job.id) } });
  await apply('acme', `scope: { teams: ["${team?.id}"] }\n`);
  await reconcile('acme');
  expect(await open('acme', await hire())).toMatchObject({ verdict: 'closed' });
  const [own] = (await listApplicants(sandbox.partner)).filter(({ jobId }) => jobId === Number(job.id));
  expect(await open('acme', await hire(own?.jobCandidateId))).toMatchObject({ verdict: 'open' });
});

test.each([
  ['started', 'in', ''],
  ['passed over', 'outside', ''],
  ['observed', 'in', OBSERVE],
])('whoever is erased while a hire that would be %s is judged gets no row', async (_, where, mode) => {
  const { apply, hire, reconcile, sandbox, store, deps } = await fleetAtSandbox();
  const [team] = (await sandbox.partner.readAll(contract.teams.list)).items;
  const place = { city: 'Oslo', state: '', country: 'Norway' };
  const job = await sandbox.partner.jobs.create({ body: { title: 'Clerk', ...place, teamId: String(team?.id) } });
  const email = 'new@people.example';
  await sandbox.partner.candidates.add({ body: { email, firstName: 'A', lastName: 'B', jobId: Number(job.id) } });
  await apply('acme', `${mode}scope: { teams: ["${team?.id}"] }\n`);
  await reconcile('acme');
  const isInside = (one: { jobId: number }): boolean => one.jobId === Number(job.id);
  const own = (await listApplicants(sandbox.partner)).find((one) => isInside(one) === (where === 'in'));
  const jobCandidateId = await hire(own?.jobCandidateId);
  const real = await deps.connections.of('acme');
  // The jobs of the team are read after the person, who was found in no mark.
  const readAll = async (...given: Parameters<typeof real.partner.readAll>) => {
    const whom = { kind: 'candidate', id: String(own?.candidateId) } as const;
    if (given[0].id === contract.jobs.list.id)
      await markPerson(store, { tenantId: 'acme', mark: 'erased', by: 'ann', about: 'e' }, [whom]);
    return real.partner.readAll(...given);
  };
  const connection = { ...real, partner: { ...real.partner, readAll } } as Connection;
  const connections = { ...deps.connections, of: async () => connection };
  const input = { tenantId: 'acme', jobCandidateId, adopt: false, watch: false };
  expect(await openHire({ ...deps, connections }, input)).toMatchObject({ verdict: 'closed' });
  for (const table of ['hires', 'plans', 'persons', 'person_keys'] as const)
    expect(await store.kysely.selectFrom(table).selectAll().execute(), table).toEqual([]);
});

test('whether a person was erased is asked before they are read, and again as their hire is written', async () => {
  const { plugin, asked } = recorder();
  const { apply, hire, open, reconcile, sandbox, store, deps } = await fleetAtSandbox({ store: { plugins: [plugin] } });
  await apply('acme');
  await reconcile('acme');
  const erasedAsked = async (id: string) => {
    asked.length = 0;
    const opened = await open('acme', id);
    return { opened, times: asked.filter(({ node }) => JSON.stringify(node).includes('"person_mark_keys"')).length };
  };
  const [first, second] = await listApplicants(sandbox.partner);
  expect(await erasedAsked(await hire(first?.jobCandidateId))).toMatchObject({ opened: { verdict: 'open' }, times: 2 });
  const whom = { kind: 'candidate', id: String(second?.candidateId) } as const;
  await markPerson(store, { tenantId: 'acme', mark: 'erased', by: 'ann', about: 'e' }, [whom]);
  const again = await hire(second?.jobCandidateId);
  expect(await erasedAsked(again)).toMatchObject({ opened: { verdict: 'closed' } });
  // Somebody may ask why a person who is hired again has no employee.
  const lines: string[] = [];
  const log = pino({}, { write: (line) => lines.push(line) });
  await openHire({ ...deps, log }, { tenantId: 'acme', jobCandidateId: again, adopt: false, watch: false });
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { tenantId: 'acme', jobCandidateId: again, msg: expect.stringContaining('was erased') },
  ]);
  expect((await store.kysely.selectFrom('hires').select('job_candidate_id').execute()).length).toBe(1);
});

test('a job that leaves the scope while its hire is under way is a hold, which a person may overrule', async () => {
  const { apply, hire, open, reconcile, store, deps, signalled } = await fleetAtSandbox();
  await apply('acme');
  await reconcile('acme');
  const id = await hire();
  await open('acme', id);
  await apply('acme', 'scope: { countries: [Atlantis] }\n');
  signalled.length = 0;
  await reconcile('acme');
  expect(signalled).toContainEqual({ tenantId: 'acme', jobCandidateId: id, adopt: undefined });
  const ref = { tenantId: 'acme', jobCandidateId: id, period: 1 };
  for (const step of [enrol, readOnboarding, employ])
    expect(await step(deps, ref)).toMatchObject({ verdict: 'hold', hold: { code: 'JOB_LEFT_SCOPE' } });
  const held = await readOnboarding(deps, ref);
  if (held.verdict !== 'hold') throw new Error('not held');
  const { holdId } = await openHold(deps, { ...ref, hold: held.hold });
  await answerHold(store, holdId, { answer: 'take-anyway', arguments: [], by: 'ada' });
  expect(await takeAnswer(deps, { ...ref, holdId })).toMatchObject({ verdict: 'answered', next: 'enrol' });
  expect(await readOnboarding(deps, ref)).toEqual({ verdict: 'waiting' });
  signalled.length = 0;
  await reconcile('acme');
  expect(signalled).toEqual([]);
});

test('an application that another tenant of the company has under way is not started a second time', async () => {
  const { apply, hire, open, reconcile, store, enrolments } = await fleetAtSandbox();
  await apply('acme');
  await apply('beta', 'scope: { countries: [Atlantis] }\n');
  await reconcile('acme');
  await reconcile('beta');
  const id = await hire();
  await open('acme', id);
  const before = await enrolments();
  const [job] = await store.kysely.selectFrom('jobs').select('job_id').execute();
  await apply('beta', `scope: { jobs: ["${job?.job_id}"] }\n`);
  expect(await open('beta', id)).toMatchObject({ verdict: 'closed', state: 'before-go-live' });
  expect((await latestHire(store, 'beta', id))?.passed_over).toBe('tenant acme of the same company has this hire');
  expect(await enrolments()).toBe(before);
});

test('a person hired by another tenant of the company is asked about before a second HR system has them', async () => {
  const { apply, hire, reconcile, store, deps } = await fleetAtSandbox();
  for (const tenant of ['acme', 'beta']) {
    await apply(tenant);
    await reconcile(tenant);
  }
  const id = await hire();
  const refOf = (tenantId: string) => ({ tenantId, jobCandidateId: id, period: 1 });
  await insertHires(store, [
    { ...refOf('acme'), state: 'open' },
    { ...refOf('beta'), state: 'open' },
  ]);
  expect(await employ(deps, refOf('acme'))).toMatchObject({ verdict: 'employee' });
  const held = await employ(deps, refOf('beta'));
  if (held.verdict !== 'hold') throw new Error('not held');
  expect(held.hold).toMatchObject({ code: 'PERSON_HIRED_ELSEWHERE', details: { other: refOf('acme') } });
  const { holdId } = await openHold(deps, { ...refOf('beta'), hold: held.hold });
  await answerHold(store, holdId, { answer: 'here-too', arguments: [], by: 'ada' });
  expect(await takeAnswer(deps, { ...refOf('beta'), holdId })).toMatchObject({ verdict: 'answered', next: 'same' });
  expect(await employ(deps, refOf('beta'))).toMatchObject({ verdict: 'employee' });
  const known = store.kysely.selectFrom(employedRows(store).as('known'));
  const links = await known.select('connection').orderBy('connection').execute();
  expect(links.map(({ connection }) => connection)).toEqual(['acme-hr', 'beta-hr']);
});

test.each(kinds)(
  'an employee elsewhere whom a restored store had forgotten is asked about, in %s',
  async (database) => {
    const { apply, hire, reconcile, store, deps, sandbox } = await fleetAtSandbox({ database });
    for (const tenant of ['acme', 'beta']) {
      await apply(tenant);
      await reconcile(tenant);
    }
    const applicants = await listApplicants(sandbox.partner);
    const id = await hire();
    const refOf = (tenantId: string) => ({ tenantId, jobCandidateId: id, period: 1 });
    await insertHires(store, [
      { ...refOf('acme'), state: 'open' },
      { ...refOf('beta'), state: 'open' },
    ]);
    const candidateId = String(applicants.find(({ jobCandidateId }) => String(jobCandidateId) === id)?.candidateId);
    const [acme, beta] = await Promise.all(
      ['acme', 'beta'].map(async (name) => (await deps.connections.of(name)).tenant),
    );
    if (acme === undefined || beta === undefined) throw new Error('no tenants');
    const event = { decided: {}, isUnderWay: false, company: undefined } as const;
    // The backup is older than acme's hire, so that beta's is the first of the company.
    await changePerson(store, personOf(beta, candidateId), { kind: 'hold', hire: refOf('beta'), ...event });
    // Then acme's begins anew, and finds its employee by our reference.
    const whose = personOf(acme, candidateId);
    const is = { employee: employeeIn('acme-hr', '7'), number: null };
    const found = { kind: 'link', hire: refOf('acme'), is, how: 'linked', shownAfterMs: 0 } as const;
    await changePerson(store, whose, { ...found, candidate: whose.candidate });
    expect(await employ(deps, refOf('beta'))).toMatchObject({
      hold: { code: 'PERSON_HIRED_ELSEWHERE', details: { other: refOf('acme') } },
    });
  },
);
