import { expect, test } from 'vitest';
import { bookingLinks } from './booking-links.ts';
import { checkFamily } from './model-run.ts';

test('booking links do what the model says, whatever the order of steps', () => {
  const { runs, steps, seed } = checkFamily(bookingLinks, { runs: 100, seed: 1 });
  console.log(`bookingLinks: ${runs} runs, ${steps} steps, seed ${seed}`);
  expect(steps).toBeGreaterThan(1_000);
});

test('the model notices a second active link for the same person and schedule', () => {
  const spoiled = () =>
    checkFamily(bookingLinks, {
      runs: 100,
      seed: 1,
      spoil: (company) => ({
        ...company,
        api(method, path, body) {
          const answer = company.api(method, path, body);
          if (method !== 'POST' || !path.endsWith('/links') || answer.code !== undefined) return answer;
          company.act('revokeBookingLink', { bookingLinkId: answer.body.data.id });
          return company.api(method, path, body);
        },
      }),
    });
  expect(spoiled).toThrow('Counterexample');
});
