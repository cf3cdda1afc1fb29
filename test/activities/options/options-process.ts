import { createPartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { openOptionRun, pushOnce } from './option-run.ts';

/** Passes over the options, one a message, in a process that may be killed at any moment: FACTS as JSON. */
const { url, key, ...facts } = JSON.parse(process.argv[2] ?? '{}') as Record<
  'url' | 'key' | 'storeUrl' | 'hrUrl' | 'fieldId',
  string
>;
const partner = createPartnerClient({ baseUrl: url, apiKey: key, environment: 'sandbox', allowPrivate: true });
const { deps } = await openOptionRun({ ...facts, partner, pass: () => undefined });
process.on('message', (message) => {
  const { runId, full } = message as { runId: string; full: boolean };
  pushOnce(deps, runId, { full }).then(
    () => process.send?.(true),
    () => process.send?.(false),
  );
});
process.send?.('ready');
