import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { valuesBack } from '../../../activities/hire/finish-hire.ts';
import { loadMapping } from '../../../src/mapping/load-mapping.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { textField } from '../../mapping/text-field.ts';
import { scriptedPartner } from '../../partner/client/scripted-partner.ts';

const definition = (id: string, fieldLabel: string, entityType = 'candidate') => ({
  id,
  fieldLabel,
  entityType,
  fieldType: 'text',
});
const DEFINITIONS = [
  definition('cf_1', 'Cost centre'),
  definition('cf_2', 'Cost centre', 'job'),
  definition('cf_3', 'Site'),
  definition('cf_4', 'site'),
];

async function back(rules: string, fields: Record<string, string>) {
  const file = join(await scratchFolder(), 'a.yaml');
  await writeFile(file, `fields:\n${rules}`);
  const mapping = await loadMapping({ kind: 'test', file, fields: [textField('costCentre'), textField('site')] });
  const { partner, seen } = await scriptedPartner(() => ({ json: { status: 'success', data: DEFINITIONS } }));
  const connection = { mapping, partner } as Parameters<typeof valuesBack>[0];
  return { values: await valuesBack(connection, fields), calls: seen.length };
}

const COST_CENTRE = '  costCentre: { from: "candidate.customFields[cost Centre]", direction: toPartner }\n';

test('what the employee holds goes to the candidate’s custom field of that label', async () => {
  const { values } = await back(COST_CENTRE, { costCentre: '0042' });
  expect(values).toEqual([{ customFieldId: 'cf_1', value: '0042' }]);
});

test('a mapping that sends nothing back costs no call', async () => {
  const oneWay = await back('  costCentre: { from: candidate.city }\n', { costCentre: '0042' });
  const empty = await back(COST_CENTRE, { costCentre: '' });
  expect([oneWay, empty]).toEqual([
    { values: [], calls: 0 },
    { values: [], calls: 0 },
  ]);
});

test.each([
  ['  site: { from: "candidate.customFields[Site]", direction: toPartner }\n', 'CUSTOM_FIELD_UNCLEAR'],
  ['  site: { from: "candidate.customFields[Level]", direction: toPartner }\n', 'CUSTOM_FIELD_UNCLEAR'],
  [
    '  site: { from: "candidate.customFields[cf_3]", lookup: { a: A }, direction: toPartner }\n',
    'VALUE_NOT_REVERSIBLE',
  ],
])('a person is asked, without the value, where it is not clear what to write: %s', async (rules, code) => {
  const asked = back(rules, { site: 'Secret Harbour' });
  await expect(asked).rejects.toMatchObject({ code, action: 'reject' });
  await expect(asked).rejects.not.toMatchObject({ message: expect.stringContaining('Secret') });
});
