import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutList } from '../../../src/partner/client/pages.ts';

const read = (text: string | Buffer): unknown => JSON.parse(text.toString());

/** JSON as other servers write it: with blanks, and with escapes for what needs none. */
function written(value: unknown, indent: number, escaped: boolean): Buffer {
  const text = JSON.stringify(value, null, indent);
  return Buffer.from(escaped ? text.replaceAll(/[^\0-\x7e]/g, escapeOf) : text);
}

function escapeOf(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const list = fc.array(fc.jsonValue(), { maxLength: 5 });
const others = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 });
const form = [fc.constantFrom(0, 1, 4), fc.boolean()] as const;

test('the records cut out are those that the whole text holds', () => {
  fc.assert(
    fc.property(list, others, others, ...form, (records, before, behind, indent, escaped) => {
      const bodies = [
        { at: 'data', body: { ...before, data: records, ...behind } },
        { at: 'data.users', body: { ...before, data: { ...behind, users: records, ...before } } },
      ];
      for (const { at, body } of bodies) {
        const whole = at.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], body);
        const cut = cutList(written(body, indent, escaped), at);
        if (!Array.isArray(whole)) continue;
        expect(cut?.records.map(read)).toEqual(read(JSON.stringify(whole)));
        const short = JSON.stringify(body, (_key, value: unknown) => (value === whole ? whole.slice(0, 2) : value));
        expect(read(cut?.short ?? '')).toEqual(read(short));
      }
    }),
  );
});

test('a record is the same text wherever it stands', () => {
  const cut = cutList(Buffer.from('{"data" : [\n  {"a": 1},\n  {"a": 1}\n] }'), 'data');
  expect(cut?.records.map(String)).toEqual(['{"a": 1}', '{"a": 1}']);
});

test.each([
  '',
  '<html>',
  '[{"id":1}]',
  '{}',
  '{"other":[]}',
  '{"data":{}}',
  '{"data":null}',
  '{"data":[{"id":1}',
  '{"data":[{"id":1}}',
  '{"data":[1],"data":[2]}',
  '{"data":[1],"d\\u0061ta":[2]}',
  '{"data":[1]} and more',
  '{"data":["unended]}',
])('what is not such a list is left whole: %s', (text) => {
  expect(cutList(Buffer.from(text), 'data')).toBeUndefined();
});

test('no broken text is taken for JSON', () => {
  const text = written({ status: 'success', data: [{ id: 1, name: 'é"\\' }, [1], { id: 3 }], total: 3 }, 0, false);
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.nat(255), fc.boolean(), (at, byte, isLost) => {
      const broken = isLost ? Buffer.concat([text.subarray(0, at), text.subarray(at + 1)]) : Buffer.from(text);
      if (!isLost) broken[at] = byte;
      const cut = cutList(broken, 'data');
      if (cut === undefined) return;
      const isRead = (one: () => unknown): boolean => {
        try {
          return one() !== undefined;
        } catch {
          return false;
        }
      };
      const isWhole = isRead(() => read(broken));
      expect([cut.short, ...cut.records].every((one) => isRead(() => read(one)))).toBe(isWhole);
      if (isWhole) expect(cut.records.map(read)).toEqual((read(broken) as { data: unknown }).data);
    }),
    { numRuns: 2_000 },
  );
});
