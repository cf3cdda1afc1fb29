import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { retryDelay, toFailure } from '../../activities/create-activities.ts';
import { ConnectorError } from '../../src/errors.ts';
import { httpError } from '../../src/http/http-error.ts';
import { createRootLogger } from '../../src/log.ts';

const policy = { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 60_000 };

test.each([
  [1, 1_000],
  [2, 2_000],
  [5, 16_000],
  [20, 60_000],
])('the delay after %i failures follows the policy, however many waits came between: %i ms', (failures, ms) => {
  expect(retryDelay(policy, failures)).toBe(ms);
});

test('an error that says when to come back is believed; one that does not gets the usual delay', () => {
  const wait = new ConnectorError({
    code: 'RATE_LIMIT_WAIT',
    action: 'throttle',
    message: 'wait',
    retryAfterMs: 7_000,
  });
  expect(toFailure(wait, 1_000).nextRetryDelay).toBe(7_000);
  expect(toFailure(new Error('broken'), 1_000).nextRetryDelay).toBe(1_000);
  expect(toFailure(new Error('broken')).nextRetryDelay).toBeUndefined();
});

test.each(['0', '0.0'])(
  'a 429 with Retry-After: %s is tried again, because Temporal never retries after zero',
  (wait) => {
    const answer = { status: 429, headers: { 'retry-after': wait }, requestId: 'r-1' };
    const refused = httpError('GET /onboarding/candidates', answer, true);
    expect(refused.retryAfterMs).toBe(0);
    expect(toFailure(refused, 1_000).nextRetryDelay).toBeGreaterThan(0);
  },
);

test('the words of an HR system stand in the message, and neither in a log nor in what Temporal is given', () => {
  const answer = { status: 500, headers: {}, requestId: 'r-1' };
  const refused = httpError('POST employees', answer, false, { said: 'Eva is in (7)' });
  expect(refused.message).toContain('"Eva is in (7)"');
  const { code, action, message } = refused;
  const again = new ConnectorError({ code, action, message: `${message} Look.`, cause: refused });
  const logged: string[] = [];
  const out = new Writable({ write: (chunk, _, done) => (logged.push(String(chunk)), done()) });
  for (const error of [refused, again]) {
    const level = process.env['LOG_LEVEL'];
    process.env['LOG_LEVEL'] = 'trace';
    createRootLogger(out, 'trace').warn({ err: error, error }, 'refused');
    if (level === undefined) delete process.env['LOG_LEVEL'];
    else process.env['LOG_LEVEL'] = level;
    const failure = toFailure(error);
    expect(failure.message).toMatch(/^POST employees was answered 500 SERVER_ERROR \(request r-1\): "…"/);
    expect(JSON.stringify([failure.message, failure.stack])).not.toContain('Eva');
  }
  expect(logged).toHaveLength(2);
  expect(logged.join()).toContain('POST employees was answered 500');
  expect(logged.join()).not.toContain('Eva');
});
