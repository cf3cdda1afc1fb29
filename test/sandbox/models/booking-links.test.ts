import { test } from 'vitest';
import { bookingLinks } from './booking-links.ts';
import { expectAgreement, expectCounterexample } from './expect-family.ts';

test('booking links do what the model says, whatever the order of steps', () => expectAgreement(bookingLinks));

test('the model notices a second active link for the same person and schedule', () =>
  expectCounterexample(bookingLinks, (company) => ({
    ...company,
    api(method, path, body) {
      const answer = company.api(method, path, body);
      if (method !== 'POST' || !path.endsWith('/links') || answer.code !== undefined) return answer;
      company.act('revokeBookingLink', { bookingLinkId: answer.body.data.id });
      return company.api(method, path, body);
    },
  })));
