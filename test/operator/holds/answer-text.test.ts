import { expect, test } from 'vitest';
import { answeredText } from '../../../src/cli/hold.ts';

test('whoever answers moved is told what the employee waits for, and what to do if it never comes', () => {
  const told = answeredText('1f2e3d4c', 'moved');
  expect(told).toContain('until the next hire of this person in this tenant takes the record over');
  expect(told).toContain('If there is no next hire, end the employment in the HR system.');
});

test('an answer whose hire goes on at once says only how to follow it', () => {
  const followed = answeredText('1f2e3d4c', 'retry', { tenantId: 'acme', jobCandidateId: '5012' });
  expect(followed).toBe('Answered 1f2e3d4c with retry. Follow it with: hirebridge hire show acme 5012\n');
  for (const of of [undefined, { tenantId: 'acme', jobCandidateId: null }])
    expect(answeredText('1f2e3d4c', 'retry', of)).toContain('Follow it with: hirebridge status\n');
});
