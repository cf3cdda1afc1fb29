// Reconciles one tenant until the reconcile is over, attempt after attempt, as Temporal would have a worker do it.
import { setTimeout as pause } from 'node:timers/promises';
import { reconcile } from '../../activities/reconcile/reconcile.ts';
import { isConnectorError } from '../../src/errors.ts';
import { createPartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { openStore } from '../../src/store/open-store.ts';
import { reconcileDeps } from '../activities/reconcile/reconcile-deps.ts';

// Whoever started it is gone, and with them the partner that it would ask for ever.
process.on('disconnect', () => process.exit(1));

const [storeUrl = '', baseUrl = '', apiKey = ''] = process.argv.slice(2);
const store = await openStore(storeUrl);
const partner = createPartnerClient({ baseUrl, apiKey, environment: 'sandbox', allowPrivate: true });
const deps = reconcileDeps({ store, partner: () => partner, started: [] });

for (let isOver = false; !isOver; ) {
  try {
    await reconcile(deps, { tenantId: 'acme' });
    isOver = true;
  } catch (error) {
    if (!isConnectorError(error) || error.action === 'reject') throw error;
    await pause(error.retryAfterMs ?? 100);
  }
}
await partner.close();
await store.close();
process.exit();
