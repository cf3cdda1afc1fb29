import { expect, test, vi } from 'vitest';
import type { ExchangeStep } from '../../src/streams/stream-activities.ts';
import type { ExchangeStart } from '../../workflows/streams.ts';
import { ContinueAsNew, currentWorkflow, type WorkflowHost } from '../simulation/workflow-double.ts';

vi.mock('@temporalio/workflow', () => import('../simulation/workflow-double.ts'));
const { exchangeStream } = await import('../../workflows/streams.ts');
const { pushStream } = await import('../../workflows/streams.ts');

const input: ExchangeStart = {
  tenantId: 'acme',
  stream: 'employees',
  timing: { heartbeatMs: 1_000, attemptMs: 60_000, retryMs: 1_000 },
};

interface Call {
  runId: string;
  begun: boolean;
  full: boolean;
  mode?: string;
  recordId?: string;
}

/** Answers of the activity, one a call; `hint` sends one while that call runs. */
type Answer = ExchangeStep['state'] | { hint: ExchangeStep['state'] } | ExchangeStep;

/** One run of the workflow, whose waits are over at once: what it asked for, and how it ended. */
async function run(given: ExchangeStart, answers: readonly Answer[], isLong = false) {
  return runOf(() => exchangeStream(given), answers, isLong);
}

async function runOf(
  workflow: () => Promise<unknown>,
  answers: readonly Answer[],
  isLong = false,
  onWait: (ms: number, hint: () => void) => void = () => undefined,
) {
  const calls: Call[] = [];
  const waits: number[] = [];
  const host: WorkflowHost = {
    now: () => 0,
    at: (ms, done) => {
      waits.push(ms);
      onWait(ms, () => host.handlers.get('stream-hint')?.());
      queueMicrotask(done);
      return () => undefined;
    },
    callActivity: async (_name, asked) => {
      const answer = answers[calls.length];
      if (answer === undefined) throw new Error('nothing more was expected');
      const { runId, begun, full, mode, recordId } = asked as Call;
      calls.push({
        runId: runId.replace(/^.*undefined/, ''),
        begun,
        full,
        ...(mode && { mode }),
        ...(recordId && { recordId }),
      });
      if (typeof answer !== 'object') return { state: answer };
      if ('state' in answer) return answer;
      host.handlers.get('stream-hint')?.();
      return { state: answer.hint };
    },
    isHistoryLong: () => isLong,
    handlers: new Map(),
    early: [],
    conditions: new Set(),
  };
  const ended = await currentWorkflow.run(host, () => workflow().catch((error: unknown) => error));
  return { calls, waits, ended: ended instanceof ContinueAsNew ? ended.args[0] : ended };
}

test('a schedule has every pair read, some of them an activity', async () => {
  const { calls, ended } = await run(input, ['running', 'done']);
  expect(calls).toEqual([
    { runId: '', begun: false, full: false },
    { runId: '', begun: true, full: false },
  ]);
  expect(ended).toEqual({ state: 'done' });
});

test('one record is asked for once; a hint that came meanwhile is followed by a run of its own', async () => {
  const { calls } = await run({ ...input, mode: 'one', recordId: '7' }, [{ hint: 'done' }, 'done']);
  expect(calls).toEqual([
    { runId: '', begun: false, full: false, mode: 'one', recordId: '7' },
    { runId: '/1', begun: false, full: false, mode: 'incremental' },
  ]);
});

test('a run that a hint began reads the hinted pairs alone, and waits for a run under way', async () => {
  const { calls, ended } = await run({ ...input, hinted: true }, ['busy', 'busy', 'done']);
  expect(calls.map(({ mode }) => mode)).toEqual(['incremental', 'incremental', 'incremental']);
  expect(ended).toEqual({ state: 'done' });
});

test('a long history is continued in the same run, also where an earlier version began it', async () => {
  const { ended } = await run({ ...input, full: true }, ['running'], true);
  expect(ended).toMatchObject({ full: true, carried: { round: 0, begun: true } });
  const { calls } = await run({ ...input, full: true, begun: true }, ['done']);
  expect(calls).toEqual([{ runId: '', begun: true, full: true }]);
});

test('a hint that was heard before a long history is continued is followed after the pass', async () => {
  const { ended } = await run({ ...input, full: true }, [{ hint: 'running' }], true);
  const { calls } = await run(ended as ExchangeStart, ['done', 'done']);
  expect(calls).toEqual([
    { runId: '', begun: true, full: true },
    { runId: '/1', begun: false, full: false, mode: 'incremental' },
  ]);
});

test('pairs whose write is in doubt are read again once they can be, and need no further run', async () => {
  const doubt = { state: 'partial', againInMs: 30_000 } as const;
  const { calls, waits, ended } = await run(input, [doubt, 'done']);
  expect(calls).toEqual([
    { runId: '', begun: false, full: false },
    { runId: '/1', begun: false, full: false, mode: 'incremental' },
  ]);
  expect(waits).toEqual([30_000]);
  // What the schedule asked for is what it is told of.
  expect(ended).toEqual(doubt);
});

test('pairs that stay in doubt are left to the schedule after three times', async () => {
  const doubt = { state: 'partial', againInMs: 30_000 } as const;
  const { calls } = await run({ ...input, hinted: true }, [doubt, doubt, doubt, doubt]);
  expect(calls).toHaveLength(4);
  const { ended } = await run(input, [doubt], true);
  expect(ended).toMatchObject({ carried: { round: 1, begun: false, again: 1 } });
});

test('hints that come one after the other, each while the one before waits, are all followed', async () => {
  const hinted = { ...input, stream: 'documents' as const, hinted: true };
  const early = { state: 'done', againInMs: 2_000 } as const;
  const steps = [early, early, early, early, early, 'done'] as const;
  let hints = 4;
  const { calls } = await runOf(
    () => pushStream(hinted),
    steps,
    false,
    (ms, hint) => void (ms === early.againInMs && (hints -= 1) >= 0 && hint()),
  );
  expect(calls).toHaveLength(steps.length);
});

test('a pass over documents that an event began is followed by one for each event meanwhile', async () => {
  const hinted = { ...input, stream: 'documents' as const, hinted: true };
  const { calls, ended } = await runOf(() => pushStream(hinted), [{ hint: 'done' }, 'busy', 'done']);
  expect(calls).toEqual([
    { runId: '', begun: false, full: false },
    { runId: '/1', begun: false, full: false },
    { runId: '/1', begun: false, full: false },
  ]);
  expect(ended).toEqual({ state: 'done' });
});
