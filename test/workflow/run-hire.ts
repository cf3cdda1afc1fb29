import type { HireInput, HireResult } from '../../src/hire/hire.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import { ContinueAsNew, currentWorkflow, type WorkflowHost } from '../simulation/workflow-double.ts';

// Only after whoever imports this has put the double in the place of Temporal's package.
const { hire } = await import('../../workflows/hire.ts');

export const input: HireInput = {
  tenantId: 'acme',
  jobCandidateId: '5012',
  timing: { heartbeatMs: 1_000, attemptMs: 60_000, retryMs: 1_000 },
};
export const policy = { skipOnboarding: false, onboardingDeadlineMs: 60_000, cancelGraceMs: 0 };

export type Answers = { [Name in keyof HireActivities]?: () => Awaited<ReturnType<HireActivities[Name]>> };

/** One run of the workflow: which activities it called with what, and its result or with what it continued. */
export async function runHire(
  given: HireInput,
  answers: Answers,
  {
    longAfter = Infinity,
    signals = [],
    timers = false,
  }: { longAfter?: number; signals?: string[]; timers?: boolean } = {},
) {
  const called: string[] = [];
  const inputs: unknown[] = [];
  let long = false;
  const host: WorkflowHost = {
    now: () => Date.now(),
    at: (_ms, run) => {
      if (timers) queueMicrotask(run);
      return () => undefined;
    },
    callActivity: async (name, asked) => {
      called.push(name);
      inputs.push(asked);
      long = called.length >= longAfter;
      const answer = answers[name as keyof HireActivities];
      if (answer === undefined) throw new Error(`${name} was not expected`);
      // A call is under way for a while: what is heard before its answer comes after it began.
      await Promise.resolve();
      return answer();
    },
    isHistoryLong: () => long,
    handlers: new Map(),
    early: signals.map((about) => ({ name: 'hint', args: [about] })),
    conditions: new Set(),
  };
  const ended: unknown = await currentWorkflow.run(host, () => hire(given).catch((error: unknown) => error));
  const continued = ended instanceof ContinueAsNew ? ended.args : undefined;
  const carried = (continued?.[0] as HireInput | undefined)?.carried;
  return { called, inputs, carried, continued, result: ended as HireResult };
}
