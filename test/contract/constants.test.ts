import { describe, expect, it } from 'vitest';
import { defaultBuckets, minutesPerQuestion } from '../../src/partner/contract/assessment.ts';
import { readMultiSelect } from '../../src/partner/contract/custom-fields.ts';
import { defaultStageTypes, systemStageTypes } from '../../src/partner/contract/pipelines.ts';

describe('constants of the specification', () => {
  it('give a new pipeline its six stages, three of them system stages (2.1)', () => {
    expect(defaultStageTypes).toEqual(['SOURCED', 'APPLIED', 'ASSESSMENT', 'SCREEN', 'SHORTLISTED', 'HIRED']);
    expect(systemStageTypes).toEqual(['SOURCED', 'APPLIED', 'HIRED']);
  });

  it('give an assessment its default buckets and its minutes a question (2.6, 4.6)', () => {
    expect(defaultBuckets).toEqual(['Strong Fit', 'Good Fit', 'Maybe', 'Not a Fit']);
    expect(minutesPerQuestion).toEqual({ JUNIOR_MID: 3, SENIOR_LEADERSHIP: 5 });
  });

  it.each([
    ['["A","B"]', ['A', 'B']],
    [['A'], ['A']],
    ['A', undefined],
    ['[1]', undefined],
    [null, undefined],
  ])('read the multi-select value %j as its options (2.5)', (value, options) => {
    expect(readMultiSelect(value)).toEqual(options);
  });
});
