import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { LooseNumber } from '../../src/partner/contract/shapes.ts';
import { openSandbox } from './open-sandbox.ts';

async function sandboxOf(options: Parameters<typeof openSandbox>[0] = {}) {
  const sandbox = await openSandbox(options);
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  return sandbox;
}

test('a custom field may be put back as it was answered (section 2.5, G25)', async () => {
  const { partner } = await sandboxOf();
  const body = { entityType: 'job' as const, fieldLabel: 'Cost centre', fieldType: 'text' as const };
  const { data: made } = await partner.customFields.create({ body });
  const { options, description } = made;
  expect([options, description]).toEqual([null, null]);
  const { data: put } = await partner.customFields.update({
    params: { customFieldId: String(made.id) },
    body: { fieldLabel: 'Cost center', options: null, description: null },
  });
  expect(put).toMatchObject({ fieldLabel: 'Cost center', options: null });
});

test('options given as null leave those of a select field (G25)', async () => {
  const { partner } = await sandboxOf();
  const body = { entityType: 'job' as const, fieldLabel: 'Site', fieldType: 'select' as const, options: ['A', 'B'] };
  const { data: made } = await partner.customFields.create({ body });
  const { data: put } = await partner.customFields.update({
    params: { customFieldId: String(made.id) },
    body: { fieldLabel: 'Office', options: null },
  });
  expect(put).toMatchObject({ fieldLabel: 'Office', options: ['A', 'B'] });
});

test('both bounds of appliedAt are of one application (section 4.3)', async () => {
  const { partner, control } = await sandboxOf({ jobs: 2, candidates: 0 });
  const { items: jobs } = await partner.readAll(contract.jobs.list);
  const candidate = { firstName: 'Eva', lastName: 'Lind', email: 'eva@example.com' };
  const at = async (): Promise<string> => {
    await pause(20);
    return new Date().toISOString();
  };
  const before = await at();
  await control.act('apply', { jobId: Number(jobs[0]?.id), candidate });
  const [appliedAtMin, appliedAtMax] = [await at(), await at()];
  await control.act('apply', { jobId: Number(jobs[1]?.id), candidate });
  const found = async (query: object) => (await partner.readAll(contract.candidates.list, { query })).items.length;
  expect(await found({ appliedAtMin: before, appliedAtMax })).toBe(1);
  expect(await found({ appliedAtMin })).toBe(1);
  expect(await found({ appliedAtMin, appliedAtMax })).toBe(0);
});

test('a sentinel for an unlimited capacity may be of any size (section 2.8, B13)', () => {
  for (const text of ['9223372036854775807', '1000000000000000000']) expect(LooseNumber.parse(text)).toBe(Number(text));
  expect(LooseNumber.safeParse('many').success).toBe(false);
});
