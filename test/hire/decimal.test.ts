import { expect, test } from 'vitest';
import { decimalValue } from '../../src/values/transforms.ts';

test.each([
  ['1200.50', 1200.5],
  ['-0', 0],
  ['007', 7],
  ['1e3', 1000],
  ['2.5e-3', 0.0025],
  ['+4', 4],
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740993', '9007199254740993'],
  ['1234567890123456789', '1234567890123456789'],
  ['1e21', '1000000000000000000000'],
  ['0.10000000000000000555', '0.10000000000000000555'],
  ['-12345678901234567.890', '-12345678901234567.89'],
])('the decimal %s is passed on as %j, and nothing of it is lost', (text, value) => {
  expect(decimalValue(text)).toBe(value);
});

test.each(['', 'NaN', 'Infinity', '1,5', '1.2.3', '0x10', '1e999', '١٢', ' 1', '1'.repeat(500)])(
  '%j is no decimal',
  (text) => {
    expect(decimalValue(text)).toBeUndefined();
  },
);
