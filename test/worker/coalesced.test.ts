import { expect, test } from 'vitest';
import { createCoalesced } from '../../src/worker/dispatch.ts';

test('who asks while a request is under way is made up for, and a debt whose request failed stays', async () => {
  const requests: PromiseWithResolvers<void>[] = [];
  const coalesced = createCoalesced(() => {
    const request = Promise.withResolvers<void>();
    requests.push(request);
    return request.promise;
  }, 60_000);
  const first = coalesced.ask('acme documents');
  await coalesced.ask('acme documents');
  requests[0]?.resolve();
  await first;
  expect(coalesced.isOwing()).toBe(true);

  const failing = coalesced.payOwed(true);
  requests[1]?.reject(new Error('Temporal is away'));
  await expect(failing).rejects.toThrow('Temporal is away');
  expect(coalesced.isOwing()).toBe(true);

  const paying = coalesced.payOwed(true);
  requests[2]?.resolve();
  await paying;
  expect([requests.length, coalesced.isOwing()]).toEqual([3, false]);
});
