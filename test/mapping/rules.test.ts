import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { evaluateMapping } from '../../src/mapping/evaluate.ts';
import { loadMapping } from '../../src/mapping/load-mapping.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { textField } from './text-field.ts';

const FIELDS = [
  textField('name'),
  textField('site', { options: ['Berlin', 'New York'] }),
  textField('code', { maxLength: 4 }),
  textField('salary'),
  textField('must', { required: true }),
];
const PERSON = {
  candidate: { firstName: 'Ana', lastName: 'Li', city: 'Berlin', phone: '', skills: ['a', 'b'] },
  job: { title: 'Cook', country: 'DE', salaryRangeFrom: '1200.5', description: 'Œuvre 😀' },
};
const MUST = '  must: { constant: x }\n';

/** The fields that these files give for PERSON, or `field CODE` for each problem. The first file is the tenant's. */
async function evaluated(
  files: Record<string, string | Buffer>,
  person = PERSON,
): Promise<Record<string, unknown> | string[]> {
  const folder = await scratchFolder();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  const [first = ''] = Object.keys(files);
  try {
    const mapping = await loadMapping({
      kind: 'test',
      of: { name: 'none', reads: { candidate: CANDIDATE, job: JOB } },
      fields: FIELDS,
      file: join(folder, first),
    });
    const { fields, problems } = evaluateMapping(mapping, person);
    return problems.length > 0 ? problems.map(({ field, code }) => `${field} ${code}`) : fields;
  } catch (error) {
    return (error as Error).message.replaceAll(`${folder}/`, '').split('\n');
  }
}

const CANDIDATE = {
  fields: ['firstName', 'lastName', 'city', 'phone', 'skills', 'currentCompany'],
  hasCustomFields: true,
};
const JOB = { fields: ['title', 'country', 'salaryRangeFrom', 'description'] };
const rule = (line: string): Record<string, string> => ({ 'a.yaml': `fields:\n${MUST}  ${line}\n` });

describe('a template', () => {
  test('fills its paths in order', async () => {
    expect(
      await evaluated(rule('name: { template: "{candidate.lastName}, {candidate.firstName} ({job.country})" }')),
    ).toEqual({
      must: 'x',
      name: 'Li, Ana (DE)',
    });
  });

  test('is empty when one of its paths is', async () => {
    expect(await evaluated(rule('name: { template: "{candidate.firstName} {candidate.phone}" }'))).toEqual({
      must: 'x',
    });
  });

  test.each([
    ['"{candidate.firstName"', 'the template of "name" has a brace that opens or closes alone'],
    ['"Cook"', 'the template of "name" names no path'],
    ['"{candidate.fistName}"', '"fistName" is not a field of candidate. Did you mean "firstName"?'],
    ['"{candidate.currentCompany}"', 'candidate.currentCompany is the company the person is leaving'],
  ])('%s is refused', async (template, why) => {
    expect(await evaluated(rule(`name: { template: ${template} }`))).toEqual([
      expect.stringMatching(new RegExp(`^a.yaml:3:21 ${why.replaceAll(/[()?.]/g, '\\$&')}`)),
    ]);
  });
});

describe('a rule with conditions counts', () => {
  const when = (conditions: string) => rule(`name: { constant: y, when: [${conditions}] }`);
  test.each([
    ['{ path: job.country, equals: DE }', true],
    ['{ path: job.country, equals: AT }', false],
    ['{ path: job.country, in: [AT, DE] }', true],
    ['{ path: candidate.skills, equals: b }', true],
    ['{ path: candidate.phone, present: true }', false],
    ['{ path: candidate.phone, present: false }', true],
    ['{ path: job.country, equals: DE }, { path: candidate.city, equals: Bonn }', false],
  ])('where %s holds: %s', async (conditions, counts) => {
    expect(await evaluated(when(conditions))).toEqual(counts ? { must: 'x', name: 'y' } : { must: 'x' });
  });

  test('and never leaves a field empty that the HR system requires', async () => {
    const files = { 'a.yaml': 'fields:\n  must: { constant: x, when: [{ path: job.country, equals: AT }] }\n' };
    expect(await evaluated(files)).toEqual(['must MISSING']);
  });

  test.each([
    ['{ path: job.country }', 'expected path with one of equals, in or present'],
    ['{ path: job.county, equals: DE }', '"county" is not a field of job. Did you mean "country"?'],
  ])('and %s is refused', async (conditions, why) => {
    expect(await evaluated(when(conditions))).toEqual([expect.stringContaining(why)]);
  });
});

describe('a lookup in a CSV file', () => {
  const files = (csv: string | undefined): Record<string, string> => ({
    'tenant/a.yaml': `fields:\n${MUST}  site: { from: candidate.city, lookup: ../sites.csv }\n`,
    ...(csv === undefined ? {} : { 'sites.csv': csv }),
  });

  test('gives what the HR system calls it, quotes and byte order mark or not', async () => {
    expect(await evaluated(files('\ufeffpartner,hris\n"Berlin","New York"\n'))).toEqual({
      must: 'x',
      site: 'New York',
    });
  });

  test('is refused where it is not text in UTF-8, as Excel saves it', async () => {
    const saved = { 'sites.csv': Buffer.from('partner,hris\nBerlin,Küche\n', 'latin1') };
    expect(await evaluated({ ...files(undefined), ...saved })).toEqual([
      expect.stringContaining('sites.csv:1:1 is not text in UTF-8'),
    ]);
  });

  test('changes the hash with its content', async () => {
    const hashes = await Promise.all(
      ['Berlin,Berlin', 'Berlin,New York'].map(async (row) => {
        const folder = await scratchFolder();
        await writeFile(join(folder, 'sites.csv'), `a,b\n${row}\n`);
        await writeFile(
          join(folder, 'a.yaml'),
          `fields:\n${MUST}  site: { from: candidate.city, lookup: sites.csv }\n`,
        );
        return (await loadMapping({ kind: 'test', fields: FIELDS, file: join(folder, 'a.yaml') })).hash;
      }),
    );
    expect(new Set(hashes).size).toBe(2);
  });

  test.each([
    [undefined, 'tenant/a.yaml:3:41 "../sites.csv" does not exist'],
    ['a,b\nBerlin,Berlin\nBerlin,New York\n', 'sites.csv:3:1 gives "Berlin" a second time; it stands in line 2 too'],
    ['a,b\nBerlin\n', 'sites.csv:2:1 needs two cells'],
    ['a,b\n', 'sites.csv:1:1 holds no row below its header line'],
    ['a,b\n"Berlin,Berlin\n', 'sites.csv:2:1 is not valid CSV (CSV_QUOTE_NOT_CLOSED)'],
    ['a,b\nBerlin,Bonn\n', 'tenant/a.yaml:3:41 "Bonn" is not one of the values of "site"'],
  ])('%j is refused', async (csv, why) => {
    expect(await evaluated(files(csv))).toEqual(expect.arrayContaining([expect.stringContaining(why)]));
  });
});

describe('a file that extends another', () => {
  test('lies over it, and that one over the next', async () => {
    const files = {
      'a.yaml': 'extends: group/b.yaml\nfields:\n  name: { constant: a }\n',
      'group/b.yaml': 'extends: c.yaml\nfields:\n  name: { constant: b }\n  salary: { constant: b }\n',
      'group/c.yaml': `fields:\n${MUST}  salary: { constant: c }\n  code: { constant: c }\n`,
    };
    expect(await evaluated(files)).toEqual({ must: 'x', name: 'a', salary: 'b', code: 'c' });
  });

  test('is refused when the circle closes, however far around', async () => {
    const files = { 'a.yaml': `extends: b.yaml\nfields:\n${MUST}`, 'b.yaml': 'extends: a.yaml\nfields: {}\n' };
    expect(await evaluated(files)).toEqual([expect.stringContaining('b.yaml:1:10 "a.yaml" leads back to this file')]);
  });

  test('is refused when the other is not there', async () => {
    expect(await evaluated({ 'a.yaml': `extends: b.yaml\nfields:\n${MUST}` })).toEqual([
      expect.stringContaining('a.yaml:1:10 "b.yaml" does not exist'),
    ]);
  });
});

test('a mapping is made again from the files it was made of, without the disk', async () => {
  const folder = await scratchFolder();
  const file = join(folder, 'a.yaml');
  await writeFile(file, 'extends: b.yaml\nfields:\n  site: { from: candidate.city, lookup: sites.csv }\n');
  await writeFile(join(folder, 'b.yaml'), `fields:\n${MUST}`);
  await writeFile(join(folder, 'sites.csv'), 'a,b\nBerlin,New York\n');
  const { files, hash } = await loadMapping({ kind: 'test', fields: FIELDS, file });
  expect(
    Object.keys(files)
      .map((path) => relative(folder, path))
      .toSorted(),
  ).toEqual(['a.yaml', 'b.yaml', 'sites.csv']);
  await rm(folder, { recursive: true });
  expect((await loadMapping({ kind: 'test', fields: FIELDS, file, texts: files })).hash).toBe(hash);
});

describe('nothing is cut', () => {
  test.each([
    ['Koch', { must: 'x', code: 'Koch' }],
    ['😀😀😀😀', { must: 'x', code: '😀😀😀😀' }],
    ['Köche', ['code TOO_LONG']],
  ])('%s in a field of four characters', async (title, expected) => {
    expect(await evaluated(rule('code: { from: job.title }'), { ...PERSON, job: { ...PERSON.job, title } })).toEqual(
      expected,
    );
  });

  test('and a constant that is too long is refused with its place', async () => {
    expect(await evaluated(rule('code: { constant: Köche }'))).toEqual([
      expect.stringContaining('a.yaml:3:21 is 5 characters long, and "code" holds 4'),
    ]);
  });
});

describe('transforms', () => {
  test.each([
    ['site: { from: candidate.city, transform: [option] }', 'berlin ', 'Berlin'],
    ['site: { from: candidate.city, transform: [option] }', 'new  york', 'New York'],
    ['name: { from: candidate.city, transform: [name] }', '  Jose\u0301   da\u00a0Silva\u200b ', 'José da Silva'],
    ['salary: { from: candidate.city, transform: [money: { currency: EUR }] }', '1200.5', '1200.50'],
    ['salary: { from: candidate.city, transform: [money: { currency: JPY }] }', '1200', '1200'],
    [
      'salary: { from: candidate.city, transform: [money: { currency: EUR }] }',
      '90071992547409931.10',
      '90071992547409931.10',
    ],
  ])('%s of %j', async (line, city, expected) => {
    const fields = await evaluated(rule(line), { ...PERSON, candidate: { ...PERSON.candidate, city } });
    expect(Object.values(fields)).toEqual(['x', expected]);
  });

  test.each([
    ['site: { from: candidate.city, transform: [option] }', 'Bonn', 'site NOT_AN_OPTION'],
    ['salary: { from: candidate.city, transform: [money: { currency: EUR }] }', '1.005', 'salary NOT_AN_AMOUNT'],
    ['salary: { from: candidate.city, transform: [money: { currency: EUR }] }', '1e21', 'salary NOT_AN_AMOUNT'],
    ['salary: { from: candidate.city, transform: [number] }', '1234567890123456789', 'salary NOT_EXACT'],
  ])('%s refuses %j', async (line, city, expected) => {
    expect(await evaluated(rule(line), { ...PERSON, candidate: { ...PERSON.candidate, city } })).toEqual([expected]);
  });

  test.each([
    ['name: { from: candidate.city, transform: [option] }', '"name" has no list of values in the HR system'],
    ['salary: { from: candidate.city, transform: [money] }', 'expected one of trim'],
    ['salary: { from: candidate.city, transform: [money: { currency: EURO }] }', 'expected an ISO 4217 currency'],
  ])('%s is refused', async (line, why) => {
    expect(await evaluated(rule(line))).toEqual([expect.stringContaining(why)]);
  });
});
