import { expect, test } from 'vitest';
import { createPartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { createControlClient } from '../../../src/sandbox/control/client.ts';
import { errorOf } from '../../http/servers.ts';
import { hostSandbox } from '../../sandbox/hosted-sandbox.ts';

test('a client that may not write reads on, and none of its writes leaves', async () => {
  const sandbox = await hostSandbox({ seed: 5, jobs: 1, candidates: 3 });
  const control = createControlClient(sandbox.controlUrl);
  let frozen = true;
  const partner = createPartnerClient({
    baseUrl: sandbox.url,
    apiKey: sandbox.key,
    environment: 'sandbox',
    allowPrivate: true,
    beforeWrite: async () => {
      if (frozen) throw new Error('frozen');
    },
  });
  const write = () =>
    partner.customFields.create({
      body: { entityType: 'candidate', fieldLabel: 'Size', fieldType: 'text', parentSection: 'Miscellaneous' },
    });
  const people = await partner.readAll(contract.candidates.list);
  expect(people.items.length).toBeGreaterThan(0);
  expect(await errorOf(write())).toMatchObject({ message: 'frozen' });
  expect(await control.ledger({ kind: 'request', name: 'customFields.create' })).toHaveLength(0);
  frozen = false;
  await write();
  expect(await control.ledger({ kind: 'request', name: 'customFields.create' })).toHaveLength(1);
  await partner.close();
  await sandbox.close();
});
