import { describe, expect, test } from 'vitest';
import { actionForStatus, httpError, MAX_RETRY_AFTER_MS, readRetryAfter } from '../../src/http/http-error.ts';

test.each([
  [400, 'reject', 'reject'],
  [401, 'reauthorize', 'reauthorize'],
  [402, 'reject', 'reject'],
  [403, 'reauthorize', 'reauthorize'],
  [404, 'reject', 'reject'],
  [408, 'retry', 'unknown'],
  [409, 'reject', 'reject'],
  [418, 'reject', 'reject'],
  [422, 'reject', 'reject'],
  [425, 'retry', 'retry'],
  [429, 'throttle', 'throttle'],
  [302, 'reject', 'reject'],
  [500, 'retry', 'unknown'],
  [501, 'reject', 'reject'],
  [502, 'retry', 'unknown'],
  [503, 'retry', 'unknown'],
  [504, 'retry', 'unknown'],
  [599, 'retry', 'unknown'],
  [0, 'retry', 'unknown'],
])('status %i means %s where repeating is safe and %s where it is not', (status, repeatable, write) => {
  expect(actionForStatus(status, true)).toBe(repeatable);
  expect(actionForStatus(status, false)).toBe(write);
});

test('an error names call, status, code, request and next step', () => {
  const error = httpError('GET /jobs', { status: 429, headers: { 'retry-after': '3' }, requestId: 'r1' }, true);
  expect(error).toMatchObject({
    code: 'RATE_LIMITED',
    action: 'throttle',
    status: 429,
    retryAfterMs: 3000,
    requestId: 'r1',
  });
  expect(error.message).toBe(
    'GET /jobs was answered 429 RATE_LIMITED (request r1): too many requests: it is tried again by itself.',
  );
});

describe('Retry-After', () => {
  const now = Date.parse('2030-01-01T00:00:00Z');
  test.each<[string, Record<string, unknown>, number | undefined]>([
    ['is missing', {}, undefined],
    ['is in seconds', { 'retry-after': '120' }, 120_000],
    ['is zero', { 'retry-after': '0' }, 0],
    ['is in parts of a second', { 'retry-after': '0.25' }, 250],
    ['has blanks around', { 'retry-after': ' 7 ' }, 7000],
    ['is absurd', { 'retry-after': '86400' }, MAX_RETRY_AFTER_MS],
    ['is beyond numbers', { 'retry-after': '9'.repeat(400) }, MAX_RETRY_AFTER_MS],
    ['is negative', { 'retry-after': '-5' }, undefined],
    ['is text', { 'retry-after': 'soon' }, undefined],
    ['is empty', { 'retry-after': '' }, undefined],
    ['is sent twice', { 'retry-after': ['1', '2'] }, undefined],
    ['is a date', { 'retry-after': 'Tue, 01 Jan 2030 00:00:30 GMT' }, 30_000],
    ['is a date gone by', { 'retry-after': 'Tue, 01 Jan 2029 00:00:30 GMT' }, undefined],
    ['is a date far away', { 'retry-after': 'Tue, 01 Jan 2031 00:00:00 GMT' }, MAX_RETRY_AFTER_MS],
    [
      'is a date of a server whose clock is five minutes ahead',
      { 'retry-after': 'Tue, 01 Jan 2030 00:05:30 GMT', date: 'Tue, 01 Jan 2030 00:05:00 GMT' },
      30_000,
    ],
  ])('that %s', (_name, headers, expected) => {
    expect(readRetryAfter(headers, now)).toBe(expected);
  });
});
