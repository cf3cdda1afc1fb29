import { expect, onTestFinished, test } from 'vitest';
import { openHris } from '../../src/hris/registry.ts';
import { refusal, write } from './profile.ts';

/** Nobody listens there: what is refused here is refused before anything is sent. */
const NOWHERE = { host: '127.0.0.1', port: 1, user: 'hr', hostKey: `SHA256:${'A'.repeat(43)}`, privateKey: 'none' };

test.each([
  ['=cmd|/c calc.pdf', 'is a formula that a spreadsheet would run'],
  ['@SUM(A1).pdf', 'is a formula that a spreadsheet would run'],
  ['a\0b.pdf', 'holds a NUL character'],
  ['\uD800.pdf', 'holds half a character'],
  ['offer\r\nE2,offer.pdf', 'holds a line break or a path'],
  ['../../requests/change-E1.csv', 'holds a line break or a path'],
  [String.raw`..\offer.pdf`, 'holds a line break or a path'],
])('a document of the name %j is refused before anything is sent', async (name, why) => {
  const hris = await openHris('sftp', 'hr', { ...NOWHERE, allowPrivateAddress: true });
  onTestFinished(() => hris.close());
  const file = { name, document: 'offer:8', mediaType: 'application/pdf', bytes: Buffer.from('%PDF') };
  const refused = await refusal(hris.files?.deliver('E1', file, write) ?? Promise.resolve());
  expect(refused).toMatchObject({ code: 'INVALID_VALUE', action: 'reject', details: { name: why } });
});
