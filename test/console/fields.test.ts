import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { insertHires } from '../../src/store/hires.ts';
import { startWorld } from '../harness/world.ts';
import { addTenant, openConsole } from './open-console.ts';

const MAPPING = `fields:
  department: { constant: People }
  email: { from: candidate.email, transform: [trim, lower], required: true, sensitive: true }
`;

test('each field says why its value is there, read from the partner now, and sensitive ones are masked', async () => {
  const world = await startWorld({ temporalAddress: '127.0.0.1:1' });
  onTestFinished(() => world.close());
  const [applicant] = await world.applicants();
  const id = String(applicant?.jobCandidateId);
  await appendFile(join(world.tenantsDir, 'acme.yaml'), 'mapping: acme-mapping.yaml\n');
  await writeFile(join(world.tenantsDir, 'acme-mapping.yaml'), MAPPING);
  const { store, signIn } = await openConsole(world);
  await addTenant(store, 'acme', null);
  await insertHires(store, [{ tenantId: 'acme', jobCandidateId: id, period: 1, state: 'open' }]);
  const visitor = await signIn();
  const { status, text } = await visitor.get(`/hires/acme/${id}/fields`);
  expect(status).toBe(200);
  const part = (field: string): string =>
    new RegExp(`<details class="entry" id="field-${field}">[^]*?</details>`).exec(text)?.[0] ?? '';
  expect(part('department')).toMatch(/file and line<\/dt><dd>\S*acme-mapping\.yaml:2<.*gives<\/dt><dd>People</s);
  expect(part('email')).toMatch(/gives<\/dt><dd><span class="masked"[^>]*>•••</);
  expect(text).not.toMatch(/\w@\w/);
  const revealed = await (await visitor.post(`/hires/acme/${id}/fields`, {})).text();
  expect(revealed).toMatch(/\w@\w/);
  const unknown = await visitor.get('/hires/acme/999999999/fields');
  expect([unknown.status, unknown.text]).toEqual([404, expect.stringContaining('the partner shows none')]);
});
