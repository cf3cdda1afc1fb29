import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { applyDefinitions } from '../../src/store/applied-tenants.ts';
import { insertHires } from '../../src/store/hires.ts';
import { planApplication } from '../../src/tenants/plan-application.ts';
import { startWorld } from '../harness/world.ts';
import { type OpenConsole, openConsole, type Visitor } from './open-console.ts';

const MAPPING = `fields:
  department: { constant: People }
  email: { from: candidate.email, transform: [trim, lower], required: true, sensitive: true }
`;
const EDITED = MAPPING.replace('People', 'Research').replace('lower', 'upper');
const PAGE = '/changes/acme/mappings/employee';

/** A tenant with one open hire on a sandbox, applied from a folder; only Temporal is not there. */
async function openTenant(): Promise<OpenConsole & { visitor: Visitor; file: string; id: string }> {
  const world = await startWorld({ temporalAddress: '127.0.0.1:1' });
  onTestFinished(() => world.close());
  const [applicant] = await world.applicants();
  const id = String(applicant?.jobCandidateId);
  const file = join(world.tenantsDir, 'acme-mapping.yaml');
  await appendFile(join(world.tenantsDir, 'acme.yaml'), 'mapping: acme-mapping.yaml\n');
  await writeFile(file, MAPPING);
  const open = await openConsole(world);
  const { applications } = await planApplication(open.store, world.tenantsDir, { secrets: 'skip' });
  await applyDefinitions(open.store, applications, 'ada');
  await insertHires(open.store, [{ tenantId: 'acme', jobCandidateId: id, period: 1, state: 'open' }]);
  return { ...open, visitor: await open.signIn(), file, id };
}

async function textOf(answer: Promise<Response>): Promise<string> {
  return (await answer).text();
}

test('a mapping is compared with real records, applied, and its file in the folder says the same', async () => {
  const { store, visitor, file } = await openTenant();
  expect((await visitor.get('/changes/acme')).text).toContain(`href="${PAGE}"`);
  const { text: before } = await visitor.get(PAGE);
  expect(before).toContain('department: { constant: People }');
  const compared = await textOf(visitor.post(`${PAGE}/compare`, { text: EDITED }));
  expect(compared).toMatch(/<b>1<\/b> of 1 record would change/);
  expect(compared).toContain('<th scope="row">department</th><td>1</td>');
  expect(compared).not.toContain('>People &rarr;');
  expect(compared).not.toMatch(/\w@\w/);
  const revealed = await textOf(visitor.post(`${PAGE}/compare`, { text: EDITED, reveal: 'yes' }));
  expect(revealed).toMatch(/People &rarr;\s+Research/);
  expect(await readFile(file, 'utf8')).toBe(MAPPING);

  const answer = await visitor.post(`${PAGE}/apply`, { text: EDITED, before: MAPPING });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/changes/acme?did=written']);
  expect(await readFile(file, 'utf8')).toBe(EDITED);
  expect((await visitor.get(PAGE)).text).toContain('constant: Research');
  const rows = await store.kysely
    .selectFrom('audit')
    .select(['by', 'act', 'details'])
    .where('act', '<>', 'signed-in')
    .orderBy('at')
    .execute();
  expect(rows.map(({ by, act }) => `${by} ${act}`)).toEqual(['ada applied', 'ann revealed', 'ann applied']);
  expect(rows[2]?.details).toContain('~ acme-mapping.yaml.fields.department.constant: People -> Research');

  const late = await visitor.post(`${PAGE}/apply`, { text: MAPPING, before: MAPPING });
  expect([late.status, await late.text()]).toEqual([422, expect.stringContaining('Somebody else applied acme')]);
});

test('a file that somebody changed in the folder is left alone, and that is said', async () => {
  const { visitor, file } = await openTenant();
  await writeFile(file, `# mine\n${MAPPING}`);
  const answer = await visitor.post(`${PAGE}/apply`, { text: EDITED, before: MAPPING });
  const { text } = await visitor.get(answer.headers.get('location') ?? '');
  expect(text).toContain('left alone, because it says something else');
  expect(await readFile(file, 'utf8')).toContain('# mine');
});

test('a mapping with a mistake is refused with its line, keeps what was typed, and is not applied either', async () => {
  const { store, visitor } = await openTenant();
  const broken = MAPPING.replace('candidate.email', 'candidate.emial');
  const text = await textOf(visitor.post(`${PAGE}/compare`, { text: broken }));
  expect(text).toMatch(/role="alert">\S*acme-mapping\.yaml:3:\d+/);
  expect(text).toContain('candidate.emial');
  const answer = await visitor.post(`${PAGE}/apply`, { text: broken, before: MAPPING });
  expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining('acme-mapping.yaml:3:')]);
  const acts = await store.kysely.selectFrom('audit').select('by').where('act', '<>', 'signed-in').execute();
  expect(acts).toEqual([{ by: 'ada' }]);
});

test('a plan of a hire is shown masked before it is written, and another tenant’s plan is none', async () => {
  const { visitor, id } = await openTenant();
  const text = await textOf(visitor.post('/changes/acme/plans', { subject: `hire:${id}` }));
  expect(text).toContain('nothing was written');
  expect(text).toMatch(/department: .*•••/);
  expect(text).not.toMatch(/\w@\w/);
  const hash = /action="\/changes\/acme\/plans\/(\w+)\/apply"/.exec(text)?.[1];
  expect(hash).toMatch(/^[0-9a-f]{12}$/);
  expect((await visitor.get(`/changes/acme/plans/${hash}`)).text).toMatch(/\d planned/);
  expect((await visitor.get('/changes/acme/plans/000000000000')).status).toBe(404);
});
