import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sql } from '../../src/hris/sql/sql.ts';
import { loadMapping } from '../../src/mapping/load-mapping.ts';
import { candidates } from '../../src/streams/index.ts';
import { decodeKnown, encodeKnown, fingerprintOf, isRow, recognitionOf } from '../../src/streams/known-records.ts';
import { factsOf, mapRecord } from '../../src/streams/land-page.ts';
import { readRecords } from '../../src/streams/read-page.ts';
import { landings } from '../../src/streams/streams.ts';

const options = sql.optionsSchema(landings).parse({ url: 'sqlite::memory:' });
const mapping = await loadMapping({
  kind: 'sql',
  of: { name: 'candidates', reads: { candidate: candidates.record } },
  fields: sql.landingFields?.(options, 'candidates') ?? [],
});
const recognition = recognitionOf('candidates', mapping) ?? { version: '', reads: new Set<string>() };

const link = fc.tuple(fc.webUrl(), fc.string()).map(([url, query]) => `${url}?${query}`);
const text = fc.oneof(fc.string(), link, fc.constant(null));
const record = fc.record(
  {
    id: fc.oneof(fc.nat(), fc.nat().map(String), fc.string()),
    firstName: text,
    email: text,
    skills: fc.oneof(fc.string(), fc.array(fc.string())),
    resume: fc.oneof(link, fc.nat()),
    linkedin: text,
    summary: text,
    updatedAt: fc.oneof(fc.string(), fc.nat()),
    educations: fc.array(fc.record({ degree: text })),
    extra: fc.jsonValue(),
  },
  { requiredKeys: ['id'] },
);

function asSent(raw: unknown): Buffer {
  return Buffer.from(JSON.stringify(raw));
}

/** What becomes of a record that is read and mapped. */
function landed(raw: unknown): unknown {
  const { items, unreadable } = readRecords(candidates, { page: 0, raw: [asSent(raw)] });
  return [items.map((item) => mapRecord(mapping, 'candidates', item)), unreadable];
}

test('records of one fingerprint land the same', () => {
  fc.assert(
    fc.property(record, fc.dictionary(fc.constantFrom('resume', 'linkedin', 'firstName'), link), (one, more) => {
      const other = { ...one, ...more };
      if (fingerprintOf(asSent(one), recognition) !== fingerprintOf(asSent(other), recognition)) return;
      expect(landed(other)).toEqual(landed(one));
    }),
  );
});

test('the signature of a link that no rule reads changes no fingerprint; any other text does', () => {
  const one = { id: 1, firstName: 'Ada', resume: 'https://files/1.pdf?sig=a', linkedin: 'https://l/ada?x=1' };
  const print = (more: object): string => fingerprintOf(asSent({ ...one, ...more }), recognition);
  expect(print({ resume: 'https://files/1.pdf?sig=b' })).toBe(print({}));
  expect(print({ resume: 'https://files/2.pdf?sig=a' })).not.toBe(print({}));
  expect(print({ resume: 7 })).not.toBe(print({}));
  expect(print({ firstName: 'Ida' })).not.toBe(print({}));
});

test('the query of a link that a rule reads counts', () => {
  const reads = new Set(['resume']);
  const print = (resume: string): string => fingerprintOf(asSent({ id: 1, resume }), { version: '', reads });
  expect(print('https://files/1.pdf?sig=a')).not.toBe(print('https://files/1.pdf?sig=b'));
});

test('what is kept of a page is read as it was, and under another version not at all', () => {
  const rows = [
    { id: '1', hash: 'a'.repeat(43), fields: { email: 'a@example.org', city: '', skills: [] } },
    { id: '2', hash: 'b'.repeat(43), fields: { email: 'b@example.org', city: null } },
  ];
  const known = new Map(rows.map((row) => [`print of ${row.id}`, factsOf(row)]));
  const text = encodeKnown(recognition, known);
  const read = decodeKnown(recognition, text);
  expect([...read.values()].map(({ id, filled }) => ({ id, filled }))).toEqual([
    { id: '1', filled: ['email'] },
    { id: '2', filled: ['email'] },
  ]);
  for (const { id, hash } of rows) {
    const facts = read.get(`print of ${id}`);
    expect(facts && isRow(facts, hash)).toBe(true);
    for (const other of ['c'.repeat(43), '', undefined]) expect(facts && isRow(facts, other)).toBe(false);
  }
  expect(decodeKnown({ ...recognition, version: 'another' }, text).size).toBe(0);
  expect(decodeKnown(recognition, null).size).toBe(0);
});

test('a mapping that reads custom fields knows no record again: their definitions stand in none', async () => {
  const [field] = mapping.fields;
  const path = { source: 'candidate', text: 'candidate.customFields[Start]', customField: 'Start' };
  const own = field === undefined ? [] : [{ ...field, from: [path] }];
  expect(recognitionOf('candidates', { ...mapping, fields: own })).toBeUndefined();
});
