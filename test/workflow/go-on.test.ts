import { expect, test, vi } from 'vitest';
import { currentWorkflow } from '../simulation/workflow-double.ts';
import { type Answers, input, policy, runHire } from './run-hire.ts';

vi.mock('@temporalio/workflow', () => import('../simulation/workflow-double.ts'));

/** Of each run its own: a run notes there how far it is. */
const onboarding = () => ({ step: 'onboard' as const, period: 1, policy });
const employee = { verdict: 'employee', present: true } as const;
const verified = { verdict: 'verified' } as const;

test.each([
  ['the onboarding', { readOnboarding: () => ({ verdict: 'ready', present: true, done: true }) }, ['readOnboarding']],
  [
    'the employee',
    { readOnboarding: () => ({ verdict: 'ready' }), employ: () => ({ ...employee, done: true }) },
    ['readOnboarding', 'employ'],
  ],
] satisfies [string, Answers, string[]][])(
  '%s that went on to the end is the last of the hire',
  async (_what, answers, called) => {
    const run = await runHire({ ...input, carried: { ...onboarding(), hints: ['person'] } }, answers);
    expect(run.called).toEqual(called);
    expect(run.result).toEqual({ state: 'done', period: 1 });
  },
);

test('somebody heard of while the hire went on to its end is looked after, step by step', async () => {
  const answers: Answers = {
    readOnboarding: () => {
      currentWorkflow.getStore()?.handlers.get('hint')?.('person');
      return { verdict: 'ready', present: true, done: true };
    },
    employ: () => ({ verdict: 'employee', done: true }),
    finishHire: () => verified,
    readHire: () => ({ verdict: 'in' }),
  };
  const run = await runHire({ ...input, carried: onboarding() }, answers);
  expect(run.called).toEqual(['readOnboarding', 'employ', 'finishHire', 'readHire']);
  expect(run.result).toEqual({ state: 'done', period: 1 });
});

test.each([
  ['at first, unless somebody heard of them meanwhile', [], [true, false]],
  ['not where somebody heard of them meanwhile', ['person'], [false, false]],
])('the reading of the opening may serve the employee %s', async (_what, heard, expected) => {
  let employed = 0;
  const answers: Answers = {
    openHire: () => {
      for (const about of heard) currentWorkflow.getStore()?.handlers.get('hint')?.(about);
      return { verdict: 'open', period: 1, step: 'enrol', policy: { ...policy, skipOnboarding: true } };
    },
    employ: () => ((employed += 1) === 1 ? { verdict: 'stale' } : { ...employee, done: true }),
  };
  const run = await runHire(input, answers);
  expect(run.called).toEqual(['openHire', 'employ', 'employ']);
  expect(run.inputs.slice(1)).toEqual(expected.map((seenAtOpening) => expect.objectContaining({ seenAtOpening })));
});

test.each([
  ['left', 'out', ['confirmGone', 'judgeDeparture'], 'left'],
  ['came back', 'in', [], 'done'],
] as const)('an employee whose person left while the hire was held, and then %s, is looked after', async (...given) => {
  const [, whereLast, calledLast, state] = given;
  let isAnswered = false;
  const answers: Answers = {
    takeAnswer: () => (isAnswered ? { verdict: 'answered', next: 'same' } : { verdict: 'waiting' }),
    readHire: () => ({ verdict: isAnswered ? whereLast : 'out' }),
    confirmGone: () => ({ verdict: 'gone' }),
    hasEmployee: () => {
      isAnswered = true;
      currentWorkflow.getStore()?.handlers.get('hint')?.('answer');
      return true;
    },
    finishHire: () => verified,
    judgeDeparture: () => ({ verdict: 'over' }),
  };
  const hold = { holdId: 'h1', code: 'WRITE_BACK_NOT_VERIFIED', from: 'write-back' } as const;
  const carried = { period: 1, policy, step: 'write-back' as const, hold, hints: ['person' as const] };
  const run = await runHire({ ...input, carried }, answers);
  const held = ['takeAnswer', 'readHire', 'confirmGone', 'hasEmployee', 'takeAnswer'];
  expect(run.called).toEqual([...held, 'finishHire', 'readHire', ...calledLast]);
  expect(run.result).toEqual({ state, period: 1 });
});
