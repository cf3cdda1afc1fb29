import { expect, test } from 'vitest';
import { createCoalesced } from '../../src/worker/dispatch.ts';

/** Requests that are answered by hand. */
function byHand(gapMs: number) {
  const requests: PromiseWithResolvers<void>[] = [];
  const coalesced = createCoalesced(() => {
    const request = Promise.withResolvers<void>();
    requests.push(request);
    return request.promise;
  }, gapMs);
  return { requests, coalesced };
}

test('who asks while a request is under way is made up for, and a debt whose request failed stays', async () => {
  const { requests, coalesced } = byHand(60_000);
  const paid: Promise<void>[] = [];
  const asked = ['first', 'meanwhile'].map(() => coalesced.ask('acme documents', (debt) => paid.push(debt)));
  requests[0]?.resolve();
  await Promise.all(asked);
  expect([paid.length, coalesced.isOwing()]).toEqual([1, true]);

  const failing = coalesced.payOwed(true);
  requests[1]?.reject(new Error('Temporal is away'));
  await expect(failing).rejects.toThrow('Temporal is away');
  await expect(paid[0]).rejects.toThrow('Temporal is away');
  expect(coalesced.isOwing()).toBe(true);

  const paying = coalesced.payOwed(true);
  requests[2]?.resolve();
  await paying;
  expect([requests.length, coalesced.isOwing()]).toEqual([3, false]);
});

test('all who ask in an outage hear of it by one request, and the next who asks makes another at once', async () => {
  const { requests, coalesced } = byHand(60_000);
  const asked = Promise.allSettled([coalesced.ask('acme'), coalesced.ask('acme'), coalesced.ask('acme')]);
  requests[0]?.reject(new Error('Temporal is away'));
  expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  const again = coalesced.ask('acme');
  requests[1]?.resolve();
  await again;
  expect([requests.length, coalesced.isOwing()]).toEqual([2, false]);
});
