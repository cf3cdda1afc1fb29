import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { employ } from '../../../activities/hire/go-on.ts';
import { applyLinks, planLinks } from '../../../src/cli/link.ts';
import { employeeIn } from '../../../src/hire/hire.ts';
import { startHire } from '../../../src/operator/hires.ts';
import { readAppliedTenant } from '../../../src/operator/tenants.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { listAudit } from '../../../src/store/listings.ts';
import { importLinks } from '../../../src/store/people.ts';
import { markPerson, type PersonId } from '../../../src/store/person-marks.ts';
import { fleetAtSandbox } from '../../activities/hire/fleet-at-sandbox.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { employedAs } from '../../store/known-people.ts';

/** A tenant with three candidates who are employees already, under other ids. */
async function withEmployees(options: { hris?: string } = {}) {
  const fleet = await fleetAtSandbox(options);
  const { apply, store, deps, sandbox } = fleet;
  await apply('acme');
  const { hris } = await deps.connections.of('acme');
  const { items } = await sandbox.partner.readAll(contract.candidates.list);
  const people = items.slice(0, 3).map(({ id, firstName, lastName }) => ({
    candidateId: String(id),
    fields: {
      givenName: firstName ?? '',
      familyName: lastName ?? '',
      email: `${id}@old.example`,
      title: 'Clerk',
      startDate: '2020-01-01',
    },
  }));
  const employees: string[] = [];
  for (const { fields } of options.hris === undefined ? people : []) {
    const options = { signal: AbortSignal.timeout(120_000), beforeSend: () => undefined };
    const familyName = fields.familyName.toUpperCase();
    const made = await hris.employees.create({ ...fields, familyName }, `old:${employees.length}`, options);
    if (made.kind === 'created') employees.push(made.ref.id);
  }
  const plan = async (...lines: string[]) => {
    const file = join(await mkdtemp(join(tmpdir(), 'hirebridge-links-')), 'links.csv');
    await writeFile(file, ['candidateId,employeeId', ...lines].join('\n'));
    return planLinks(store, await readAppliedTenant(store, 'acme'), file);
  };
  return { ...fleet, candidates: people.map(({ candidateId }) => candidateId), employees, plan };
}

const act = { tenantId: 'acme', by: 'ada' };

test('employees that exist are linked after a preview without names, once, and by whom is kept', async () => {
  const { plan, candidates, employees, store } = await withEmployees();
  const lines = candidates.slice(0, 2).map((id, index) => `${id},${employees[index]}`);
  const planned = await plan(...lines);
  expect(planned.fresh.map(({ employeeId }) => employeeId)).toEqual(employees.slice(0, 2));
  for (const { name } of planned.fresh) expect(name).toMatch(/^(\S\*\*\* ?)+$/u);
  expect(await store.kysely.selectFrom('person_keys').selectAll().execute()).toEqual([]);
  await applyLinks(store, act, planned);
  expect(await plan(...lines)).toMatchObject({ fresh: [], known: candidates.slice(0, 2) });
  const [entry] = await listAudit(store, { tenantIds: ['acme'], limit: 1 });
  expect(entry).toMatchObject({ act: 'linked', by: 'ada' });
  expect(entry?.details).toContain('2 employees linked from links.csv');
});

test('after a merge at the partner the employee moves to the candidate who is left, if the names agree', async () => {
  const { plan, candidates, employees, store, sandbox } = await withEmployees();
  const [gone = '', left = '', other = ''] = candidates;
  const [employeeId = ''] = employees;
  await applyLinks(store, act, await plan(`${gone},${employeeId}`));
  const { data } = await sandbox.partner.candidates.get({ params: { candidateId: gone } });
  const body = { firstName: data.firstName ?? '', lastName: data.lastName ?? '' };
  await sandbox.partner.candidates.update({ params: { candidateId: left }, body });
  await expect(plan(`${left},${employeeId}`)).rejects.toThrow(`Is already linked to candidate ${gone}.`);
  await sandbox.control.act('deleteCandidate', { candidateIds: [Number(gone)] });
  await expect(plan(`${other},${employeeId}`)).rejects.toThrow('in the HR system, and the candidate is');
  const planned = await plan(`${left},${employeeId}`);
  expect(planned.fresh).toMatchObject([{ candidateId: left, employeeId, insteadOf: gone }]);
  await applyLinks(store, act, planned);
  expect(await employedAs(store, 'acme-hr', employeeId)).toMatchObject({ candidate: { candidateId: left } });
  expect(await plan(`${left},${employeeId}`)).toMatchObject({ fresh: [], known: [left] });
});

test('after a merge that was undone the employee goes back to the first candidate, if the names agree', async () => {
  const { plan, candidates, employees, store } = await withEmployees();
  const [candidateId = '', merged = ''] = candidates;
  const [employeeId = '', second] = employees;
  const line = `${candidateId},${employeeId}`;
  await applyLinks(store, act, await plan(line));
  const to = (id: string) => ({ company: '17', candidateId: id });
  const is = { employee: employeeIn('acme-hr', employeeId), number: null };
  const moved = { connection: 'acme-hr', candidate: to(merged), is, instead: to(candidateId) };
  expect(await importLinks(store, { ...act, details: 'after the merge' }, [moved])).toBe(true);
  expect(await plan(`${merged},${employeeId}`)).toMatchObject({ fresh: [], known: [merged] });
  const planned = await plan(line, `${candidates[2]},${employees[2]}`);
  expect(planned.fresh).toMatchObject([{ candidateId, employeeId, insteadOf: merged }, { insteadOf: null }]);
  await applyLinks(store, act, planned);
  expect(await employedAs(store, 'acme-hr', employeeId)).toMatchObject({ candidate: { candidateId } });
  expect(await plan(line)).toMatchObject({ fresh: [], known: [candidateId] });
  await expect(plan(`${merged},${second}`)).rejects.toThrow(`Is already linked to employee ${employeeId}.`);
});

test('the partner is read within the rate limit that all processes share', async () => {
  const { plan, candidates, employees, store } = await withEmployees();
  const limits = () => store.kysely.selectFrom('rate_limits').select(['tenant_id', 'upstream']).execute();
  expect(await limits()).toEqual([]);
  await plan(`${candidates[0]},${employees[0]}`);
  expect(await limits()).toEqual([{ tenant_id: 'acme', upstream: 'partner' }]);
});

test('every line that does not fit is told with its place, and then none is linked', async () => {
  const { plan, candidates, employees } = await withEmployees();
  const [one = '', two = '', three = ''] = candidates;
  const [first, second] = employees;
  const refused: unknown = await plan(`${one},${first}`, `${two},nobody`, `999999,x`, `${three},${second}`).catch(
    (error: unknown) => error,
  );
  if (!(refused instanceof Error)) throw new Error('not refused');
  const lines = refused.message.split('\n').map((line) => line.replace(/^.*links\.csv/, ''));
  const at = (line: number, cell: string) => `:${line}:${cell.length + 2}`;
  expect(lines).toEqual([
    `${at(3, two)} The HR system shows no such employee.`,
    ':4:1 The partner shows no such candidate.',
    expect.stringMatching(
      new RegExp(`^${at(5, three)} Is .\\*\\*\\* .* in the HR system, and the candidate is .\\*\\*\\*`),
    ),
  ]);
});

test('an employee or a candidate named twice, and a line of one cell, are told before anybody is asked', async () => {
  const { plan } = await withEmployees();
  await expect(plan('1,a', '1,b', '2,a', '3')).rejects.toThrow(
    /:5:1 needs two cells[\s\S]*:3:1 names candidateId 1 a second time[\s\S]*:4:3 names employeeId a a second time/,
  );
});

test('an employee is linked by the id that the HR system writes, once, however it is typed', async () => {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  const { kysely, close } = openDatabase<{ employees: Record<string, string | null> }>(url);
  onTestFinished(close);
  const columns = `given_name family_name email phone title department location city country employment_type start_date
    birth_date employee_number external_ref`.split(/\s+/);
  const table = `create table employees (id text collate nocase primary key, ${columns.join(' text, ')} text)`;
  await kysely.executeQuery(CompiledQuery.raw(table));
  const { plan, candidates, store, sandbox } = await withEmployees({
    hris: `kind: sql, connection: acme-hr, url: "${url}"`,
  });
  const [candidateId = '', other = ''] = candidates;
  const { data } = await sandbox.partner.candidates.get({ params: { candidateId } });
  const names = { firstName: data.firstName ?? '', lastName: data.lastName ?? '' };
  await sandbox.partner.candidates.update({ params: { candidateId: other }, body: names });
  const row = { given_name: names.firstName, family_name: names.lastName, start_date: '2020-01-01' };
  await kysely
    .insertInto('employees')
    .values({ id: 'a-7', ...row })
    .execute();
  await expect(plan(`${candidateId},A-7`, `${other},a-7`)).rejects.toThrow('names employeeId a-7 a second time');
  await applyLinks(store, act, await plan(`${candidateId},A-7`));
  expect(await employedAs(store, 'acme-hr', 'a-7')).toMatchObject({ candidate: { candidateId } });
  await expect(plan(`${other},a-7`)).rejects.toThrow(`Is already linked to candidate ${candidateId}.`);
});

test('a person who was imported and is hired is asked about, and no second employee is made', async () => {
  const { plan, candidates, employees, store, hire, open, reconcile, deps } = await withEmployees();
  await reconcile('acme');
  await applyLinks(store, act, await plan(...candidates.map((id, index) => `${id},${employees[index]}`)));
  const id = await hire();
  expect(await open('acme', id)).toMatchObject({
    enrolled: {
      verdict: 'hold',
      hold: { code: 'PERSON_HIRED_BEFORE', message: expect.stringContaining('an employee linked by import') },
    },
  });
  const row = await store.kysely.selectFrom('hires').selectAll().where('job_candidate_id', '=', id).executeTakeFirst();
  expect(candidates).toContain(row?.candidate_id);
  const employed = await employ(deps, { tenantId: 'acme', jobCandidateId: id, period: 1 });
  expect(employed).toMatchObject({ verdict: 'hold', hold: { code: 'PERSON_HIRED_BEFORE' } });
});

test('whoever was erased is not linked again, by line and reason; nor one erased between preview and yes', async () => {
  const { plan, candidates, employees, store, deps } = await withEmployees();
  const { tenant } = await deps.connections.of('acme');
  const erase = (id: PersonId) =>
    markPerson(store, { tenantId: 'acme', mark: 'erased', by: 'ada', about: 'request' }, [id]);
  const [one = '', two = '', three = ''] = candidates.map((id, index) => `${id},${employees[index]}`);
  const seenBefore = await plan(three);
  await erase({ kind: 'candidate', id: candidates[0] ?? '' });
  await erase({ kind: 'employee', id: `${tenant.hris.connection}/${employees[1]}` });
  const refused: unknown = await plan(one, two, three).catch((error: unknown) => error);
  expect(String(refused)).toMatch(
    new RegExp(`:2:1 Was erased from hirebridge[^]*:3:${two.indexOf(',') + 2} Was erased from hirebridge`),
  );
  expect(String(refused)).not.toContain('links.csv:4');
  await erase({ kind: 'candidate', id: candidates[2] ?? '' });
  await expect(applyLinks(store, act, seenBefore)).rejects.toMatchObject({ code: 'LINKS_CHANGED' });
  expect(await store.kysely.selectFrom('person_keys').selectAll().execute()).toEqual([]);
});

test('no application of somebody erased is opened as a hire, not even by adopting it', async () => {
  const { store, hire, open, reconcile, apply, sandbox } = await fleetAtSandbox();
  await apply('acme');
  await reconcile('acme');
  const id = await hire();
  const { items } = await sandbox.partner.readAll(contract.jobCandidates.listByStageType, {
    query: { stageType: 'HIRED' },
  });
  const hired = items.find(({ jobCandidateDetails }) => jobCandidateDetails.id === id);
  await markPerson(store, { tenantId: 'acme', mark: 'erased', by: 'ada', about: 'request' }, [
    { kind: 'candidate', id: String(hired?.jobCandidateDetails.candidateId) },
  ]);
  for (const adopt of [false, true])
    expect(await open('acme', id, adopt)).toMatchObject({ verdict: 'closed', state: 'not-hired' });
  expect(await store.kysely.selectFrom('hires').selectAll().where('job_candidate_id', '=', id).execute()).toEqual([]);
  const parts = { store, hires: undefined as never, tenants: [{ tenantId: 'acme' }] };
  const start = startHire(parts, { tenantId: 'acme', jobCandidateId: id, adopt: true, by: 'ada' });
  await expect(start).rejects.toMatchObject({ code: 'PERSON_ERASED' });
});
