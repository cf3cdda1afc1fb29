import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { expect, test, vi } from 'vitest';
import { currentWorkflow } from '../simulation/workflow-double.ts';
import { type Answers, input, policy, runHire } from './run-hire.ts';

vi.mock('@temporalio/workflow', () => import('../simulation/workflow-double.ts'));

const verified = { verdict: 'verified' } as const;
const closedDone = { verdict: 'closed', period: 1, state: 'done' } as const;

function hear(about: string): void {
  currentWorkflow.getStore()?.handlers.get('hint')?.(about);
}

/** Answers one after the other; the last one stays. */
function inTurn<T>(...answers: T[]): () => T {
  return () => (answers.length > 1 ? answers.shift() : answers[0]) as T;
}

type EmployeeAnswers = Awaited<ReturnType<NonNullable<Answers['employ']>>>;

test.each([
  ['left', 'out', ['readHire', 'confirmGone', 'allowCancellation', 'cancelHire', 'openHold']],
  ['is still there', 'in', ['readHire', 'employ']],
] as const)('somebody heard of while the HR system has yet to make their employee, who %s', async (...given) => {
  const [, verdict, next] = given;
  const hold = { code: 'LEFT_WHILE_PENDING', message: '', answers: ['retry'] as const };
  const answers: Answers = {
    employ: inTurn<EmployeeAnswers>({ verdict: 'pending', nextCheckMs: 60_000 }, { verdict: 'employee', done: true }),
    readHire: () => ({ verdict }),
    confirmGone: () => ({ verdict: 'gone' }),
    allowCancellation: () => ({ verdict: 'allowed' }),
    cancelHire: () => ({ verdict: 'hold', hold }),
    openHold: () => ({ holdId: 'h' }),
  };
  const carried = { step: 'employ' as const, period: 1, policy, hints: ['person' as const] };
  const run = await runHire({ ...input, carried }, answers, { longAfter: 1 + next.length });
  expect(run.called).toEqual(['employ', ...next]);
});

test('who leaves while their hire waits for credits is noticed, although an enrolment is found by then', async () => {
  const carried = { step: 'await-credits' as const, period: 1, policy, hints: ['person' as const] };
  const answers: Answers = {
    enrol: () => ({ verdict: 'enrolled' }),
    readOnboarding: () => ({ verdict: 'waiting' }),
    readHire: () => ({ verdict: 'out' }),
  };
  const run = await runHire({ ...input, carried }, answers, { longAfter: 1 });
  expect(run.called).toEqual(['readHire']);
  expect(run.carried).toMatchObject({ step: 'confirm-left' });
});

test('a hire begun again at its write-back looks at the person it was begun for', async () => {
  const answers: Answers = {
    openHire: () => ({ verdict: 'open', period: 1, step: 'write-back', policy }),
    finishHire: () => verified,
    readHire: () => ({ verdict: 'out' }),
    confirmGone: () => ({ verdict: 'gone' }),
    judgeDeparture: () => ({ verdict: 'over' }),
  };
  const run = await runHire(input, answers, { signals: ['person'] });
  expect(run.called).toEqual(['openHire', 'finishHire', 'readHire', 'confirmGone', 'judgeDeparture']);
  expect(run.result).toEqual({ state: 'left', period: 1 });
});

test('a hire begun again looks at its person where the enrolment was only found', async () => {
  const enrolled = { verdict: 'enrolled' } as const;
  const answers: Answers = {
    openHire: () => ({ verdict: 'open', period: 1, step: 'enrol', policy, enrolled }),
    readOnboarding: () => ({ verdict: 'waiting' }),
    readHire: () => ({ verdict: 'out' }),
  };
  const run = await runHire(input, answers, { longAfter: 3, signals: ['person'] });
  expect(run.called).toEqual(['openHire', 'readOnboarding', 'readHire']);
  expect(run.carried).toMatchObject({ step: 'confirm-left' });
});

test('what a person asked of a run that had not begun yet counts as asked of it', async () => {
  const answers: Answers = { openHire: () => ({ verdict: 'closed', period: 1, state: 'kept' }) };
  const run = await runHire(input, answers, { signals: ['person', 'adopt'] });
  expect(run.inputs).toEqual([{ tenantId: 'acme', jobCandidateId: '5012', adopt: true, watch: false }]);
  expect(run.continued).toBeUndefined();
});

test.each([
  ['while it is opened', ['person'], ['person']],
  ['before it is opened', ['person', 'person'], []],
])('news of the person of a finished hire that comes to a run %s is looked into', async (_when, signals, heard) => {
  const answers: Answers = {
    openHire: () => {
      for (const about of heard) hear(about);
      return closedDone;
    },
  };
  const run = await runHire(input, answers, { signals });
  expect(run.continued).toEqual([{ ...input, watch: true }]);
});

test('the hint that began a run for a finished hire is not looked into', async () => {
  const run = await runHire(input, { openHire: () => closedDone }, { signals: ['person'] });
  expect(run.continued).toBeUndefined();
  expect(run.result).toEqual({ state: 'done', period: 1 });
});

test.each([
  ['before', { ...input, adopt: true }, []],
  ['meanwhile', input, ['adopt']],
])('a person who asked for the hire %s is heard by the run that begins anew after a restore', async (...of) => {
  const [, given, heard] = of;
  const answers: Answers = {
    readOnboarding: () => {
      for (const about of heard) hear(about);
      const cause = ApplicationFailure.create({ type: 'HIRE_BEHIND', nonRetryable: true });
      throw new ActivityFailure('failed', 'readOnboarding', '1', 'NON_RETRYABLE_FAILURE', undefined, cause);
    },
  };
  const carried = { step: 'onboard' as const, period: 1, policy };
  const run = await runHire({ ...given, carried }, answers, { timers: true });
  expect(run.continued).toEqual([{ ...input, watch: true, adopt: true, behind: 1 }]);
});
