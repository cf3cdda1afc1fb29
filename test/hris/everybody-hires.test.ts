import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { employ } from '../../activities/hire/go-on.ts';
import { fleetAtSandbox } from '../activities/hire/fleet-at-sandbox.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { openKestrel, startKestrel } from './open-kestrel.ts';

/** An HR system that can only list everybody, and keeps no reference. */
const DEFINITION = `hrisDefinition: 1
name: Kestrel
options: { token: { secret: true } }
auth: { bearer: "{options.token}" }
record: { id: id }
fields:
  email: { at: email, required: true }
  givenName: { at: first, required: true }
  familyName: { at: last, required: true }
  birthDate: { at: born, type: date }
find: { all: { get: /staff, items: staff } }
read: { get: "/staff/{id}" }
create: { post: /staff }
update: { patch: "/staff/{id}" }
probe: { get: /me }
`;

test('a hire reads a list of everybody once for its plan, and once more before it creates', async () => {
  const staff: Record<string, unknown>[] = [];
  const asked: string[] = [];
  const url = await startKestrel(async (request, say) => {
    const call = `${request.method} ${request.url}`;
    asked.push(call);
    if (call === 'GET /staff') return say(200, { staff });
    if (call === 'GET /me') return say(200, {});
    let text = '';
    for await (const part of request) text += String(part);
    if (request.method !== 'POST') return say(200, staff.find(({ id }) => call.endsWith(`/${String(id)}`)) ?? {});
    const made = { ...(JSON.parse(text) as object), id: `${staff.length + 1}` };
    staff.push(made);
    say(201, made);
  });
  const definition = join(await scratchFolder(), 'kestrel.yaml');
  await writeFile(definition, DEFINITION);
  vi.stubEnv('TEST_KESTREL_TOKEN', 'x');
  const own = `definition: "${definition}", allowPrivateAddress: true, token: env:TEST_KESTREL_TOKEN`;
  const fleet = await fleetAtSandbox({
    skip: true,
    hris: `kind: http, connection: hr, url: "${url}", ${own}`,
  });
  await fleet.write(
    'acme-mapping.yaml',
    'fields:\n  email: { from: candidate.email }\n  givenName: { from: candidate.firstName }\n' +
      '  familyName: { from: candidate.lastName }\n' +
      '  birthDate: { from: candidate.dateOfBirth, transform: [date] }\n',
  );
  await fleet.apply('acme', 'writeBack: { customField: "1" }\nmapping: acme-mapping.yaml\n');
  await fleet.reconcile('acme');
  const jobCandidateId = await fleet.hire();
  await fleet.open('acme', jobCandidateId);
  asked.length = 0;
  const hire = { tenantId: 'acme', jobCandidateId, period: 1 };
  expect(await employ(fleet.deps, hire)).toMatchObject({ verdict: 'employee' });
  expect(staff).toHaveLength(1);
  expect(asked.filter((call) => call === 'GET /staff')).toHaveLength(2);
});

test('a list that is too long for a search says how far it came, and what helps', async () => {
  const paging = 'query: { page: "{page.number}" }, paging: { by: page, first: 1, size: 2, total: total }';
  const paged = `find: { all: { get: /staff, items: staff, ${paging} } }`;
  const over = new AbortController();
  let pages = 0;
  const hris = await openKestrel(
    DEFINITION.replace(/find:.*/, paged),
    (_request, say) => {
      pages += 1;
      if (pages === 3) return over.abort(new DOMException('over', 'TimeoutError'));
      say(200, { staff: [{ id: `${pages}a` }, { id: `${pages}b` }], total: 40 });
    },
    { token: 'x' },
  );
  await expect(hris.employees.find({ by: 'email', value: 'a@b.example' }, over.signal)).rejects.toMatchObject({
    code: 'HRIS_LIST_SLOW',
    action: 'retry',
    message: expect.stringMatching(/had given 4 people .*"find\.email".*"find\.all\.paging\.size".*GIVE_UP_MS/),
  });
});
