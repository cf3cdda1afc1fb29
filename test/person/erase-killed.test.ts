import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ErasureReceipt } from '../../src/store/erasures.ts';
import { assertSigned, openSigner } from '../../src/store/signing-key.ts';
import { openGround } from '../erasure/ground.ts';
import { walkPersonKills, walkTenantKills } from '../erasure/kills.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { freshStore, freshStoreUrl } from '../store/stores.ts';

/** A part of the points: `npm run test:erasure -- --kills` walks all of them, on both databases. */
test.each([
  ['a person', walkPersonKills, /terminate.after|update.intents.before/, 90],
  ['a tenant', walkTenantKills, /update.tenants.after/, 130],
] as const)(
  'an erasure of %s that is killed ends complete, once, with the receipt of one that was not, and touches nobody else',
  async (_, walk, always, points) => {
    const urls = { store: await freshStoreUrl('sqlite'), hris: `sqlite:${join(await scratchFolder(), 'hr.db')}` };
    const walked = await walk(urls, (point, nth) => nth % 120 === 44 || always.test(point));
    expect(walked).toMatchObject({ faults: [] });
    expect(walked.points).toBeGreaterThan(points);
    expect(walked.killed).toBeGreaterThan(1);
    expect(walked.rows).toBeGreaterThan(300);
  },
);

test('a receipt that was changed is no longer valid, and neither is one of another key', async () => {
  const { store } = await freshStore('sqlite');
  const ground = await openGround(store, `sqlite:${join(await scratchFolder(), 'hr.db')}`);
  onTestFinished(ground.close);
  const receipt = await ground.erase({ tenant: 'acme', candidate: '501' });
  const { keyId } = openSigner(ground.dataDir);
  expect(() => assertSigned(receipt, keyId)).not.toThrow();
  expect(() => assertSigned({ ...receipt, erased: {}, by: 'x' } as ErasureReceipt)).toThrow(
    /does not fit the document/,
  );
  const other = openSigner(await scratchFolder()).keyId;
  expect(() => assertSigned(receipt, other)).toThrow(/not the one of this data directory/);
});
