import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readMappings } from '../../../src/cli/mapping.ts';
import { diffMapping } from '../../../src/operator/diff-mapping.ts';
import { withTenant } from '../../../src/operator/open-tenant.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { insertHires } from '../../../src/store/hires.ts';
import { openPullWorld } from '../../activities/streams/pull-world.ts';
import { linkPerson, who } from '../../store/known-people.ts';

const rule = (from: string): string =>
  `fields:\n  phone: { from: ${from}, direction: both, owner: either, conflict: hris, sensitive: true }\n`;
const EMPLOYEE = { givenName: 'Ada', familyName: 'King', email: 'ada@acme.example', phone: '0301', title: 'Cook' };

test('the mapping of linked pairs is shown, and a new one compared both ways before it is live', async () => {
  const { world, store } = await openPullWorld('{ employees: { every: 1h, mapping: pairs.yaml } }');
  const { tenantsDir, dataDir, partner } = world;
  await writeFile(join(tenantsDir, 'pairs.yaml'), rule('candidate.phone'));
  const shown = (await readMappings(tenantsDir, 'acme')).find(({ name }) => name === 'employees');
  expect(shown?.rules).toMatchObject([{ field: 'phone', rule: expect.stringContaining('direction: both') as string }]);

  const query = { stageType: 'APPLIED' } as const;
  const { items } = await partner.readAll(contract.jobCandidates.listByStageType, { query });
  const [one] = items;
  await writeFile(join(tenantsDir, 'new.yaml'), rule('candidate.city'));
  const diff = await withTenant({ store, places: { tenantsDir, dataDir }, tenantId: 'acme' }, async (open) => {
    const { employees } = open.connection.hris;
    const options = { signal: AbortSignal.timeout(120_000), beforeSend: () => undefined };
    const fields = { ...EMPLOYEE, startDate: '2026-03-01' };
    const created = await employees.create(fields, `1:${one?.candidate_details.id}`, options);
    const ref = { tenantId: 'acme', jobCandidateId: one?.jobCandidateDetails.id ?? '', period: 1 };
    const { connection } = open.tenant.hris;
    const id = created.kind === 'created' ? created.ref.id : '';
    await insertHires(store, [{ ...ref, state: 'open' }]);
    await linkPerson(store, who(one?.candidate_details.id ?? '', connection, '1'), ref, { id });
    return diffMapping(open, 'employees', join(tenantsDir, 'new.yaml'));
  });
  expect(diff).toMatchObject({ subject: 'employees', compared: 1, changed: 1 });
  expect(diff.fields.every(({ sensitive }) => sensitive)).toBe(true);
  expect(Object.fromEntries(diff.fields.map(({ field, samples }) => [field, samples[0]?.new]))).toEqual({
    phone: one?.candidate_details.city,
    'phone -> candidate.city': '0301',
    'phone -> candidate.phone': null,
  });
});
