import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { applyMissingDefinitions } from '../../../src/cli/discover.ts';
import { readCustomFields } from '../../../src/operator/write-ids.ts';
import { everyStream } from '../../../src/streams/streams.ts';
import type { Tenant } from '../../../src/tenants/schema.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { openSandbox } from '../../sandbox/open-sandbox.ts';

const MAPPING = `fields:
  department: { from: "job.customFields[Division]", lookup: { Kitchen: KIT, Service: SRV } }
  birthDate: { from: "candidate.customFields[Born on]" }
  startDate: { from: "candidate.customFields[Start date]", transform: [date] }
`;

test('what the mappings name and the partner lacks is created there once; nothing else is touched', async () => {
  const sandbox = await openSandbox({ jobs: 1, candidates: 1 });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const file = join(await scratchFolder(), 'acme-mapping.yaml');
  await writeFile(file, MAPPING);
  const { partner } = sandbox;
  await partner.customFields.create({
    body: { entityType: 'candidate', fieldLabel: 'Start date', fieldType: 'date' },
  });
  const hris = { kind: 'sql', connection: 'acme-hr', options: { url: 'sqlite:none.db' } };
  const streams = everyStream(() => ({}));
  const tenant = { tenant: 'acme', mapping: file, files: {}, hris, streams, writeBack: { values: [] } };
  const apply = () => applyMissingDefinitions(tenant as unknown as Tenant, partner, undefined);
  expect((await apply()).map(({ what }) => what)).toEqual(['field', 'field']);
  const own = (await readCustomFields(partner)).filter(({ label }) =>
    ['Division', 'Born on', 'Start date'].includes(label),
  );
  expect(own.map(({ entity, label, type, options }) => [entity, label, type, options])).toEqual([
    ['candidate', 'Start date', 'date', null],
    ['job', 'Division', 'select', ['Kitchen', 'Service']],
    ['candidate', 'Born on', 'date', null],
  ]);
  expect(await apply()).toEqual([]);
  const division = own.find(({ label }) => label === 'Division')?.id ?? '';
  await partner.customFields.update({ params: { customFieldId: division }, body: { options: ['Kitchen', 'Bar'] } });
  expect(await apply()).toMatchObject([{ what: 'options', options: ['Kitchen', 'Bar', 'Service'] }]);
});
