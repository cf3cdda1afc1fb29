import { readSigned } from '../../http/signed-delivery.ts';
import { expectFit } from '../expect.ts';
import { type HrisCase, type HrisUnderTest, power } from '../hris-under-test.ts';

/** What the HRIS sends on its own. */
export const webhooks: readonly HrisCase[] = [
  { name: 'a webhook names who changed', needs: ['webhooks'], run: namesWhoChanged },
  { name: 'forged webhook', needs: ['webhooks'], run: refusesForged },
];

const KEY = 'webhook-test-0123456789';
const NOW = Date.parse('2026-11-22T12:00:00Z');
const MINUTE = 60_000;

async function namesWhoChanged(hris: HrisUnderTest): Promise<void> {
  const { sign, payloads, signing } = power(hris, 'webhooks');
  for (const body of payloads(['40500'])) {
    for (const skew of [0, -14 * MINUTE, 14 * MINUTE]) {
      const delivery = { headers: sign(body, KEY, NOW + skew), body, at: NOW };
      expectFit(readSigned(signing, delivery, KEY), { ids: ['40500'] }, 'what was read');
    }
  }
  for (const body of [Buffer.from('{}'), Buffer.from('not JSON'), Buffer.from([0xff, 0xfe])])
    expectFit(readSigned(signing, { headers: sign(body, KEY, NOW), body, at: NOW }, KEY), { ids: [] }, 'what was read');
}

async function refusesForged(hris: HrisUnderTest): Promise<void> {
  const { sign, payloads, signing } = power(hris, 'webhooks');
  const [body = Buffer.alloc(0)] = payloads(['40500']);
  const [other = Buffer.alloc(0)] = payloads(['40501']);
  const right = sign(body, KEY, NOW);
  const refused = (headers: typeof right, { sent = body, at = NOW } = {}) =>
    expectFit(readSigned(signing, { headers, body: sent, at }, KEY), undefined, 'what was read of a forged webhook');
  expectFit(readSigned(signing, { headers: right, body, at: NOW }, KEY), {}, 'what was read');
  refused(sign(body, 'another key', NOW));
  refused(sign(body, '', NOW));
  refused(right, { sent: other });
  // A signature without a time stays valid; that is harmless, because the named records are read again.
  if (JSON.stringify(sign(body, KEY, NOW)) !== JSON.stringify(sign(body, KEY, NOW + MINUTE))) {
    refused(right, { at: NOW + 20 * MINUTE });
    refused(right, { at: NOW - 20 * MINUTE });
  }
  for (const name of Object.keys(right)) {
    refused({ ...right, [name]: undefined });
    refused({ ...right, [name]: '' });
    refused({ ...right, [name]: [String(right[name]), String(right[name])] });
    refused({ ...right, [name]: `${String(right[name])}0` });
    refused({ ...right, [name]: sign(other, KEY, NOW + MINUTE)[name] });
  }
}
