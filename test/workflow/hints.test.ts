import { afterEach, expect, test, vi } from 'vitest';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireInput } from '../../src/hire/hire-run.ts';
import { ContinueAsNew, currentWorkflow, type WorkflowHost } from '../simulation/workflow-double.ts';

vi.mock('@temporalio/workflow', () => import('../simulation/workflow-double.ts'));
const { hire } = await import('../../workflows/hire.ts');

afterEach(() => vi.restoreAllMocks());

const input: HireInput = {
  tenantId: 'acme',
  jobCandidateId: '5012',
  timing: { heartbeatMs: 1_000, attemptMs: 60_000, retryMs: 1_000 },
};
const policy = { skipOnboarding: false, onboardingDeadlineMs: 60_000, cancelGraceMs: 0 };

type Answers = { [Name in keyof HireActivities]?: () => Awaited<ReturnType<HireActivities[Name]>> };

/** One run of the workflow: which activities it called, and with what it continued. */
async function run(
  given: HireInput,
  answers: Answers,
  { longAfter, signals }: { longAfter: number; signals: string[] },
) {
  const called: string[] = [];
  let long = false;
  const host: WorkflowHost = {
    now: () => Date.now(),
    at: () => () => undefined,
    callActivity: async (name) => {
      called.push(name);
      long = called.length >= longAfter;
      const answer = answers[name as keyof HireActivities];
      if (answer === undefined) throw new Error(`${name} was not expected`);
      return answer();
    },
    isHistoryLong: () => long,
    handlers: new Map(),
    early: signals.map((about) => ({ name: 'hint', args: [about] })),
    conditions: new Set(),
  };
  const ended = await currentWorkflow.run(host, () => hire(given).catch((error: unknown) => error));
  return { called, carried: ended instanceof ContinueAsNew ? (ended.args[0] as HireInput).carried : undefined, host };
}

test('a run that continues another one acts upon the hints that came before', async () => {
  const carried = { step: 'onboard' as const, period: 1, policy, hints: ['person' as const] };
  const answers: Answers = {
    readOnboarding: () => ({ verdict: 'waiting' }),
    readHire: () => ({ verdict: 'out' }),
  };
  const second = await run({ ...input, carried }, answers, { longAfter: 1, signals: ['onboarding'] });
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
  const { carried: next } = await run({ ...input, carried }, answers, { longAfter: 1, signals: [] });
  expect(next).toMatchObject({ step: 'employ', hints: ['person', 'onboarding', 'answer'] });
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
  const heard = await run({ ...input, carried }, answers, { longAfter: called.length, signals: [] });
  expect(heard.called).toEqual(called);
});
