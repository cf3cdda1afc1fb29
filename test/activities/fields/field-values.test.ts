import { expect, test } from 'vitest';
import { withFieldValues } from '../../../activities/fields/custom-fields.ts';
import type { Logger } from '../../../src/log.ts';
import { compileMapping } from '../../../src/mapping/load-mapping.ts';
import { parseYaml } from '../../../src/yaml/yaml-file.ts';
import { textField } from '../../mapping/text-field.ts';
import { scriptedPartner } from '../../partner/client/scripted-partner.ts';

const LABELS: Record<string, string> = { '1': 'Start date', '2': 'Desk', '3': 'Gone' };

const mapping = compileMapping(
  'test',
  [textField('start'), textField('desk')],
  [
    parseYaml(
      'employee.yaml',
      'fields:\n  start: { from: "candidate.customFields[Start date]" }\n' +
        '  desk: { from: "candidate.customFields[Desk]" }\n',
    ),
  ],
);

/** A partner that keeps these values of every candidate, by the id of their field, or refuses to show values. */
async function partnerWith(values: Record<string, unknown> | undefined) {
  const warned: unknown[] = [];
  const { partner, seen } = await scriptedPartner(({ path }) => {
    if (path === '/custom-fields') {
      const defined = ['1', '2'].map((id) => ({
        id,
        entityType: 'candidate',
        fieldLabel: LABELS[id],
        fieldType: 'text',
      }));
      return { json: { status: 'success', data: defined } };
    }
    if (values === undefined)
      return {
        status: 403,
        json: { error: { code: 'PERMISSION_DENIED', type: 'authorization_error', message: 'no' } },
      };
    const entries = Object.entries(values);
    const data = entries.map(([customFieldId, value], id) => {
      return { id: id + 1, customFieldId, entityType: 'candidate', entityId: 7, value };
    });
    return { json: { status: 'success', data } };
  });
  const log = { warn: (facts: unknown) => warned.push(facts) } as unknown as Logger;
  /** What the candidate shows once it was completed; `on`: what stands on the record of the job candidate. */
  const look = async (shown: Record<string, unknown> | undefined, on: Record<string, unknown> = {}) => {
    const fields = (of: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(of).map(([id, value]) => [id, { label: LABELS[id], value }]));
    const candidate = shown === undefined ? {} : { customFields: fields(shown) };
    const jobCandidate = { candidateId: '7', customFields: fields(on) };
    const record = await withFieldValues({ partner, log }, [mapping], { candidate, jobCandidate });
    const all = record['customFields'] as Record<string, { value: unknown }> | undefined;
    return all && Object.fromEntries(Object.entries(all).map(([id, { value }]) => [id, value]));
  };
  return { look, warned, asked: () => seen.filter(({ path }) => path === '/custom-field-values').length };
}

test('values are added to the fields that a record shows, which stay as they are', async () => {
  const { look } = await partnerWith({ '1': '2026-02-01', '2': 'D1' });
  expect(await look({ '1': '2026-03-01' })).toEqual({ '1': '2026-03-01', '2': 'D1' });
});

test('a field that is never shown is read from the values of each record, whatever others are shown', async () => {
  const { look, asked } = await partnerWith({ '1': '2026-02-01', '2': 'D1' });
  for (let nth = 1; nth <= 5; nth += 1) {
    expect(await look(undefined, { '1': '2026-02-01' })).toEqual({ '2': 'D1' });
    expect(asked()).toBe(nth);
  }
});

test('shown fields survive a refusal to show values, which is logged', async () => {
  const { look, warned } = await partnerWith(undefined);
  expect(await look({ '1': '2026-03-01' })).toEqual({ '1': '2026-03-01' });
  expect(warned).toMatchObject([{ candidateId: '7', code: 'PERMISSION_DENIED' }]);
});

test('fields that were shown once are asked for no more, with a value or without', async () => {
  const { look, asked } = await partnerWith({});
  expect(await look({ '1': '2026-03-01', '2': '' })).toEqual({ '1': '2026-03-01', '2': '' });
  expect(await look({})).toEqual({});
  expect(asked()).toBe(0);
});

test('records that lack no value three times are believed: a field without any value costs no more calls', async () => {
  // The value of a field that was deleted since is shown by no record.
  const { look, asked } = await partnerWith({ '1': '2026-02-01', '3': 'old' });
  for (let nth = 1; nth <= 5; nth += 1) await look({ '1': '2026-02-01' });
  expect(asked()).toBe(3);
});
