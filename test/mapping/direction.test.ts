import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { customFieldsMapped, customFieldsRead } from '../../src/mapping/custom-fields.ts';
import { evaluateBack, evaluateMapping } from '../../src/mapping/evaluate.ts';
import { loadMapping, type Mapping } from '../../src/mapping/load-mapping.ts';
import { partnerTargets, sourceRecords } from '../../src/mapping/source-fields.ts';
import { CandidateUpdate } from '../../src/partner/contract/candidates.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { textField } from './text-field.ts';

const FIELDS = [
  textField('code'),
  textField('site', { options: ['BER', 'NYC'] }),
  textField('team', { options: ['Red Team', 'red team'] }),
  textField('start', { type: 'date' }),
  textField('tags', { type: 'list' }),
  textField('number', { writable: false }),
];

/** Everything that a stream could carry one day, and every owner. */
const WAY = {
  carrier: 'The stream',
  writes: partnerTargets,
  owners: ['partner', 'hris', 'either'] as const,
};

async function load(rule: string, of = { name: 'none', reads: sourceRecords, way: WAY }): Promise<Mapping | string[]> {
  const folder = await scratchFolder();
  await writeFile(join(folder, 'sites.csv'), 'partner,hris\nBerlin,BER\nBonn,BER\nNew York,NYC\n');
  await writeFile(join(folder, 'a.yaml'), `fields:\n  ${rule}\n`);
  try {
    return await loadMapping({ kind: 'test', of, fields: FIELDS, file: join(folder, 'a.yaml') });
  } catch (error) {
    return (error as Error).message.replaceAll(`${folder}/`, '').split('\n');
  }
}

async function loaded(rule: string): Promise<Mapping> {
  const mapping = await load(rule);
  if (Array.isArray(mapping)) throw new Error(mapping.join('\n'));
  return mapping;
}

const BOTH = 'direction: both, owner: hris';

describe('a rule that goes to the partner is refused', () => {
  test.each([
    [`code: { constant: x, ${BOTH} }`, '2:21 "code" flows both ways, and a constant is read from no place'],
    [`code: { template: "{job.title}", ${BOTH} }`, '2:21 "code" flows both ways, and a template cannot be taken apart'],
    [`code: { from: [candidate.city, candidate.phone], transform: [first], ${BOTH} }`, '2:17 "code" flows both ways'],
    [`code: { from: candidate.city, default: x, ${BOTH} }`, '2:42 "code" flows both ways, and a default stands for'],
    [
      `code: { from: candidate.city, transform: [trim, join], ${BOTH} }`,
      '2:51 "code" flows both ways, and "join" makes one text of values',
    ],
    [
      'code: { from: candidate.city, when: [{ path: job.city, present: true }], direction: toPartner }',
      '2:39 "code" flows to the partner, and its conditions ask the partner',
    ],
    [
      `site: { from: candidate.city, lookup: { Berlin: BER, Bonn: BER, New York: NYC }, ${BOTH} }`,
      '2:56 "site" flows both ways, and "Berlin" and "Bonn" both become "BER"',
    ],
    [
      `site: { from: candidate.city, lookup: sites.csv, ${BOTH} }`,
      'sites.csv:3:1 "site" flows both ways, and "Berlin"',
    ],
    [`site: { from: candidate.city, lookup: { Berlin: BER }, ${BOTH} }`, '2:33 "site" flows both ways, and no value'],
    [
      `site: { from: candidate.city, transform: [upper], lookup: { Berlin: BER, NEW YORK: NYC }, ${BOTH} }`,
      '2:63 "site" flows both ways, and the transforms never give "Berlin"',
    ],
    [
      `team: { from: candidate.city, transform: [option], ${BOTH} }`,
      '2:45 "team" flows both ways, and "Red Team" and another value of the field differ only in capitals',
    ],
    [
      `start: { from: "candidate.customFields[S]", transform: [date: { formats: [dd.MM.yy] }], ${BOTH} }`,
      '2:59 "start" flows both ways, and the format dd.MM.yy cannot tell 1907-02-03 from another day',
    ],
    [`code: { from: candidate.id, ${BOTH} }`, '2:17 candidate.id cannot be changed at the partner. Known here: email'],
    [`code: { from: job.title, ${BOTH} }`, '2:17 job.title cannot be changed at the partner'],
    ['code: { from: candidate.city, direction: both }', '2:44 "code" flows both ways. Say whose edits count'],
    ['code: { from: candidate.city, direction: both, owner: either }', '2:57 both sides may edit "code"'],
    ['code: { from: candidate.city, owner: partner }', '2:40 "code" flows one way, from the side that owns it'],
    [`code: { from: candidate.city, ${BOTH}, conflict: hold }`, '2:73 "code" has one owner, so there is no conflict'],
    ['code: { from: candidate.city, direction: toPartner, required: true }', '2:65 "code" is not written to the HR'],
    ['code: { from: candidate.city, direction: forth }', '2:44 "fields.code.direction" is not right: expected toHris'],
    [
      `code: { from: candidate.city, ${BOTH} }\n  number: { from: candidate.city, direction: toPartner }`,
      '3:19 "code" writes candidate.city at the partner too',
    ],
  ])('%s', async (rule, why) => {
    expect(await load(rule)).toEqual(expect.arrayContaining([expect.stringContaining(why)]));
  });

  test('where nothing carries it there, whatever it says', async () => {
    const stream = { name: 'none', reads: sourceRecords } as Parameters<typeof load>[1];
    expect(await load(`code: { from: candidate.city, ${BOTH} }`, stream)).toEqual([
      expect.stringContaining('a.yaml:2:44 nothing carries "code" to the partner yet. Remove direction.'),
    ]);
  });

  test('in the mapping of a hire, where its write-back could not write it or would carry no later edit', async () => {
    const folder = await scratchFolder();
    const file = join(folder, 'a.yaml');
    await writeFile(
      file,
      'fields:\n  code: { from: candidate.city, direction: toPartner }\n' +
        '  site: { from: "candidate.customFields[Site]", direction: both, owner: partner }\n',
    );
    await expect(loadMapping({ kind: 'test', file, fields: FIELDS })).rejects.toMatchObject({
      message: expect.stringMatching(
        /:2:17 The write-back of a hire cannot change candidate\.city .*\n.*:3:73 .* Write owner: hris\./,
      ),
    });
  });
});

describe('a rule that goes to the partner', () => {
  test.each<[string, Record<string, string | string[]>, unknown]>([
    ['number: { from: "candidate.customFields[N]", direction: toPartner }', { number: '007' }, '007'],
    [`site: { from: candidate.city, lookup: { Berlin: BER, New York: NYC }, ${BOTH} }`, { site: 'NYC' }, 'New York'],
    [
      `start: { from: "candidate.customFields[S]", transform: [date: { formats: [dd.MM.yyyy] }], ${BOTH} }`,
      { start: '2027-01-11' },
      '11.01.2027',
    ],
    [`tags: { from: candidate.summary, transform: [split], ${BOTH} }`, { tags: ['a', 'b'] }, 'a,b'],
    [
      'code: { from: candidate.phone, transform: [phone: { country: DE }], direction: toPartner }',
      { code: '030 901820' },
      '+4930901820',
    ],
  ])('is read backwards: %s', async (rule, record, expected) => {
    const { values, problems } = evaluateBack(await loaded(rule), record);
    expect(problems).toEqual([]);
    expect(values.map(({ value }) => value)).toEqual([expected]);
  });

  test.each<[string, Record<string, string | string[]>, string]>([
    [`code: { from: candidate.city, transform: [lower], ${BOTH} }`, { code: 'Berlin' }, 'NOT_CANONICAL'],
    [`code: { from: candidate.city, lookup: { a: b }, ${BOTH} }`, { code: 'a' }, 'NOT_IN_LOOKUP'],
    [`tags: { from: candidate.summary, transform: [split], ${BOTH} }`, { tags: ['a,b'] }, 'NOT_CANONICAL'],
  ])('refuses what it could not give: %s', async (rule, record, code) => {
    const { values, problems } = evaluateBack(await loaded(rule), record);
    expect(values).toEqual([]);
    expect(problems).toEqual([expect.objectContaining({ code })]);
    expect(problems[0]?.text).not.toMatch(/Berlin|a,b/);
  });

  test('leaves the partner’s value where the HR system has none', async () => {
    const mapping = await loaded(`code: { from: candidate.city, ${BOTH} }`);
    expect(evaluateBack(mapping, { code: ' ' })).toEqual({ values: [], problems: [] });
  });

  test('is not written to the HR system, unless it goes both ways', async () => {
    const rules = `code: { from: candidate.city, ${BOTH} }\n  number: { from: candidate.phone, direction: toPartner }`;
    const person = { candidate: { city: 'Bonn', phone: '1' } };
    expect(evaluateMapping(await loaded(rules), person).fields).toEqual({ code: 'Bonn' });
  });
});

test('a custom field that is only written is looked for at the partner, and not read', async () => {
  const mapping = await loaded('number: { from: "candidate.customFields[Number]", direction: toPartner }');
  expect(customFieldsRead([mapping])).toEqual([]);
  expect(customFieldsMapped([mapping])).toMatchObject([{ entity: 'candidate', wanted: 'Number', own: true }]);
});

test('what can be changed at the partner is what PATCH of a candidate takes', () => {
  const objects = ['educations', 'workExperiences', 'projectExperiences', 'certifications', 'resume', 'customFields'];
  const taken = Object.keys(CandidateUpdate.shape ?? {}).filter((key) => !objects.includes(key));
  expect(taken.toSorted()).toEqual([...partnerTargets.candidate.fields].toSorted());
});
