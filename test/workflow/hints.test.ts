import { expect, test, vi } from 'vitest';
import { currentWorkflow } from '../simulation/workflow-double.ts';
import { type Answers, input, policy, runHire } from './run-hire.ts';

vi.mock('@temporalio/workflow', () => import('../simulation/workflow-double.ts'));

test('a run that continues another one acts upon the hints that came before', async () => {
  const carried = { step: 'onboard' as const, period: 1, policy, hints: ['person' as const] };
  const answers: Answers = {
    readOnboarding: () => ({ verdict: 'waiting' }),
    readHire: () => ({ verdict: 'out' }),
  };
  const second = await runHire({ ...input, carried }, answers, { longAfter: 1, signals: ['onboarding'] });
  expect(second.called).toEqual(['readOnboarding', 'readHire']);
  expect(second.carried).toMatchObject({ step: 'confirm-left' });
});

test('what was heard while the last activity ran is carried on, of every kind', async () => {
  const carried = { step: 'onboard' as const, period: 1, policy };
  const answers: Answers = {
    readOnboarding: () => {
      for (const about of ['person', 'onboarding', 'answer'] as const)
        currentWorkflow.getStore()?.handlers.get('hint')?.(about);
      return { verdict: 'ready' };
    },
  };
  const { carried: next } = await runHire({ ...input, carried }, answers, { longAfter: 1, signals: [] });
  expect(next?.step).toBe('employ');
  expect(new Set(next?.hints)).toEqual(new Set(['person', 'onboarding', 'answer']));
});

test.each([
  ['stays held, and nothing is ended again', 'away', ['takeAnswer', 'lookForReturn']],
  ['goes on once its person is back', 'back', ['takeAnswer', 'lookForReturn', 'enrol']],
] as const)('a hire whose end was refused %s', async (_what, verdict, called) => {
  const hold = { holdId: 'h', code: 'TERMINATE_REFUSED', from: 'cancel' as const };
  const carried = { step: 'cancel' as const, period: 1, policy, hold, hints: ['person' as const] };
  const answers: Answers = {
    takeAnswer: () => ({ verdict: 'waiting' }),
    lookForReturn: () => ({ verdict }),
    enrol: () => ({ verdict: 'enrolled' }),
  };
  const heard = await runHire({ ...input, carried }, answers, { longAfter: called.length, signals: [] });
  expect(heard.called).toEqual(called);
});

test('an answer that is given while a person seems to have left is heard before the grace ends', async () => {
  const hold = { holdId: 'h', code: 'ONBOARDING_DEADLINE', from: 'onboard' as const };
  const patient = { ...policy, cancelGraceMs: 60_000 };
  const carried = { step: 'onboard' as const, period: 1, policy: patient, hold, hints: ['person' as const] };
  const taken = [{ verdict: 'waiting' }, { verdict: 'answered', next: 'employ' }] as const;
  let [asked, heard] = [0, false];
  const answers: Answers = {
    takeAnswer: () => taken[Math.min(asked++, 1)] as (typeof taken)[number],
    readHire: () => {
      // The person answers a moment after the grace has begun.
      const store = currentWorkflow.getStore();
      if (!heard) setTimeout(() => store && currentWorkflow.run(store, () => hearing(store)), 20);
      heard = true;
      return { verdict: 'out' };
    },
    employ: () => ({ verdict: 'left' }),
  };
  const run = await runHire({ ...input, carried }, answers, { longAfter: 4 });
  expect(run.called).toEqual(['takeAnswer', 'readHire', 'takeAnswer', 'employ']);
  expect(run.carried).toMatchObject({ step: 'confirm-left' });
});

function hearing({ handlers, conditions }: NonNullable<ReturnType<typeof currentWorkflow.getStore>>): void {
  handlers.get('hint')?.('answer');
  for (const waiting of conditions) if (waiting.met() && conditions.delete(waiting)) waiting.resolve(true);
}

test.each([
  ['was cancelled', { progress: true }],
  ['was found closed', { progress: false }],
] as const)('a person’s word that reaches a run as it ends is heard by the next one: the hire %s', async (_, of) => {
  const adopted = (): void => currentWorkflow.getStore()?.handlers.get('hint')?.('adopt');
  const answers: Answers = {
    cancelHire: () => {
      adopted();
      return { verdict: 'cancelled', state: 'cancelled' };
    },
    openHire: () => {
      adopted();
      return { verdict: 'closed', period: 1, state: 'cancelled' };
    },
  };
  const carried = { step: 'cancel' as const, period: 1, policy };
  const { continued } = await runHire(of.progress ? { ...input, carried } : input, answers);
  expect(continued).toEqual([{ ...input, watch: false, adopt: true }]);
});

test('what a run was started with is not heard again when it ends', async () => {
  const answers: Answers = { openHire: () => ({ verdict: 'closed', period: 1, state: 'kept' }) };
  const { continued, result } = await runHire({ ...input, adopt: true }, answers, { signals: ['adopt'] });
  expect(continued).toBeUndefined();
  expect(result).toEqual({ state: 'kept', period: 1 });
});
