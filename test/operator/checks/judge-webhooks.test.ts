import { expect, test } from 'vitest';
import { judgeWebhooks } from '../../../src/operator/deliveries.ts';
import { addWebhookRefusals, readWebhookFacts, type WebhookFacts } from '../../../src/store/webhook-refusals.ts';
import { freshStore, kinds } from '../../store/stores.ts';

const DAY = 86_400_000;
const refused = (lastAt: number) => [{ reason: 'WEBHOOK_KEY_WRONG', count: 3, lastAt }];

const ofHris = (reason: string) => [{ reason, count: 1, lastAt: DAY }];

test.each<[string, Partial<WebhookFacts> | undefined, string, RegExp]>([
  ['none arrived', undefined, 'warn', /No webhook of the last 90 days is known.*webhooks\/acme.*under partner/],
  ['all were refused', { refused: refused(DAY) }, 'fail', /WEBHOOK_KEY_WRONG; 3 refused.*partner\.webhookKeys/],
  ['refused for a day', { acceptedAt: 0, refused: refused(DAY) }, 'fail', /are refused/],
  ['one refused right after a good one', { acceptedAt: DAY - 1, refused: refused(DAY) }, 'warn', /are refused/],
  ['accepted after a refusal', { acceptedAt: DAY, refused: refused(DAY - 1) }, 'ok', /accepted 0 s ago/],
  [
    'the HR system sent a form',
    { refused: ofHris('HRIS_WEBHOOK_TYPE_WRONG') },
    'warn',
    /Webhooks of the HR system.*TYPE/,
  ],
  ['the store took none of HR', { refused: ofHris('HRIS_STORE_UNAVAILABLE') }, 'warn', /database runs/],
  ['another company', { otherCompanyAt: DAY, refused: [] }, 'fail', /partner\.company/],
])('webhooks of which %s', (_what, facts, state, message) => {
  const known = facts === undefined ? undefined : { tenantId: 'acme', refused: [], ...facts };
  expect(judgeWebhooks('acme', known, DAY)).toEqual({ state, message: expect.stringMatching(message) as string });
});

test.each(kinds)('refusals on %s are one row for each tenant and reason, however many there are', async (kind) => {
  const { store } = await freshStore(kind);
  for (const count of [2, 3])
    await addWebhookRefusals(store, [{ tenantId: 'acme', reason: 'WEBHOOK_KEY_WRONG', count }]);
  const facts = (await readWebhookFacts(store)).get('acme');
  expect(facts?.refused).toEqual([{ reason: 'WEBHOOK_KEY_WRONG', count: 5, lastAt: expect.any(Number) as number }]);
});
