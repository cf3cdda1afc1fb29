import { describe, expect, test } from 'vitest';
import { compareJobs } from '../../activities/guarded.ts';

const AT = '2026-01-05T09:00:00.250Z';
const MS = Date.parse(AT);
const known = (record: Record<string, unknown>, jobId = '4711') => ({ jobId, record, listedTotals: null });
const compare = (was: Record<string, unknown>, is: Record<string, unknown>) => compareJobs([known(was)], [is]);

describe('a job known before is the same', () => {
  test.each([
    ['as it was', { createdAt: MS }, { id: 4711, createdAt: MS }],
    ['with seconds for milliseconds', { createdAt: MS }, { id: 4711, createdAt: Math.floor(MS / 1000) }],
    ['with milliseconds for seconds', { createdAt: Math.floor(MS / 1000) }, { id: 4711, createdAt: MS }],
    ['with a number as text', { createdAt: MS }, { id: '4711', createdAt: String(MS) }],
    ['with ISO text for a number', { createdAt: MS }, { id: '4711', createdAt: AT }],
    ['with another zone', { createdAt: AT }, { id: '4711', createdAt: '2026-01-05T10:00:00.250+01:00' }],
    ['without a zone', { createdAt: AT }, { id: '4711', createdAt: '2026-01-05 09:00:00' }],
    ['with blanks around its id', { createdAt: MS }, { id: ' 4711\u200b', createdAt: MS }],
    ['by its title where no moment is shown', { createdAt: MS, title: 'Nurse' }, { id: 4711, title: ' NURSE ' }],
  ])('%s', (_how, was, is) => expect(compare(was, is)).toBe('same'));

  test('with capitals in its id', () => {
    expect(compareJobs([known({ createdAt: MS }, 'ab-c')], [{ id: 'AB-C', createdAt: MS }])).toBe('same');
  });

  test('however many others were deleted', () => {
    const jobs = ['1', '2', '3'].map((id) => known({ createdAt: MS }, id));
    expect(compareJobs(jobs, [{ id: 3, createdAt: MS }])).toBe('same');
  });
});

test.each([
  ['made at another moment is another company’s', { createdAt: MS }, { id: 4711, createdAt: MS + 60_000 }, 'other'],
  [
    'of the same title made at another moment, too',
    { createdAt: 1, title: 'a' },
    { id: 4711, createdAt: MS, title: 'a' },
    'other',
  ],
  ['of an unknown id says nothing', { createdAt: MS }, { id: 4712, createdAt: MS }, 'none'],
  ['without moment and title says nothing', { createdAt: MS }, { id: 4711 }, 'none'],
])('a job %s', (_how, was, is, evidence) => expect(compare(was, is)).toBe(evidence));
