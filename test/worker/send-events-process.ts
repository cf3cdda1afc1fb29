import { armFailpoints, passFailpoint } from '../../src/failpoint.ts';
import { createRootLogger } from '../../src/log.ts';
import { openStore, writeFailpoints } from '../../src/store/open-store.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { createEventSender } from '../../src/worker/outgoing.ts';

/** One round of telling events, in a process that may be killed at a failpoint: STORE URL SECRET-FILE. */
const [storeUrl = '', url = '', secretFile = ''] = process.argv.slice(2);
armFailpoints({ killAt: process.env['KILL_AT'], listFile: process.env['LIST_FILE'] });
const store = await openStore(storeUrl, { plugins: [writeFailpoints(passFailpoint)] });
const tenant = {
  tenant: 'acme',
  partner: { allowPrivateAddress: true },
  events: { url, secret: `file:${secretFile}` },
} as unknown as Tenant;
const send = createEventSender({ store, log: createRootLogger(undefined, 'silent') });
process.stdout.write(await send(tenant, new AbortController().signal));
await store.close();
process.exit(0);
