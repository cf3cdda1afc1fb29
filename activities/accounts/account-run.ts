import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { recordWrites } from '../../src/store/foreign-writes.ts';
import type { Hint } from '../../src/store/hints.ts';
import type { StepKey } from '../../src/store/hire-steps.ts';
import { WHOLE_LIST } from '../../src/streams/stream.ts';
import type { Connection } from '../connections.ts';
import { assertOurs, type PushContext, type Verdict } from '../push/push-context.ts';

/** What a pass works with and what it found out so far. */
export interface AccountRun {
  context: PushContext;
  hints: readonly Hint[];
  verdicts: Map<string, Verdict>;
  /** How long what was sent without an answer may still arrive, ms. */
  waits: number[];
  /** Why a destination could not be worked with. */
  down: ConnectorError[];
  beat: () => void;
}

export function tell({ verdicts }: AccountRun, id: string, verdict: Omit<Verdict, 'id'>): void {
  verdicts.set(id, { id, ...verdict });
}

export function unconfigured(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'ACCOUNTS_UNCONFIGURED',
    action: 'reject',
    message: `Hires of ${tenantId} get no accounts: its file names no "destinations". Add them, or remove the stream.`,
  });
}

/** So many failures of one pass show that it is the destination, and not what is written to it. */
const MOST_FAILURES = 3;

/** What is wrong with one step stops no other. */
export async function eachOf<T>(
  run: AccountRun,
  due: AsyncIterable<T>,
  step: (one: T) => Promise<void>,
): Promise<void> {
  let failures = 0;
  for await (const one of due) {
    await assertOurs(run.context);
    try {
      await step(one);
    } catch (error) {
      if (!(error instanceof Down)) throw error;
      run.down.push(error.why);
      failures += error.why.action === 'retry' ? 1 : MOST_FAILURES;
      if (failures >= MOST_FAILURES) return;
    }
    run.beat();
  }
}

/** A destination that cannot be worked with now. */
export class Down extends Error {
  readonly why: ConnectorError;
  constructor(name: string, { code, action, message, retryAfterMs, cause }: ConnectorError) {
    super(code);
    this.why = new ConnectorError({
      code: code.replace(/^HRIS_/, 'ACCOUNTS_'),
      // Of the HR system this would stop the tenant's hires, which need nothing of it.
      action: action === 'reauthorize' ? 'reject' : action,
      message: `Destination "${name}": ${message} Hires go on; their accounts follow once it works.`,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      cause,
    });
  }
}

/** What is asked of a destination. What is wrong with it, and not with one step, is thrown as `Down`. */
export async function atDestination<T>({ destination }: StepKey, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isConnectorError(error) || error.action === 'reject' || error.code === 'OUTCOME_UNKNOWN') throw error;
    throw new Down(destination, error);
  }
}

/** Which steps of a destination are to be looked at. */
export function dueIn({ connection, key, full }: PushContext, hints: readonly Hint[], destination: string) {
  const { tenant } = connection;
  const named = hints.map(({ recordId }) => recordId.split('/'));
  const isWhole = full || hints.some(({ recordId }) => recordId === WHOLE_LIST);
  return {
    tenantId: key.tenantId,
    destination,
    connection: tenant.hris.connection,
    againAfterMs: isWhole ? 0 : tenant.streams.accounts.wholeWithin,
    hinted: named.flatMap(([id = '', of = destination]) => (of === destination ? [id] : [])),
  };
}

export async function openDestination({ context }: AccountRun, at: number, key: StepKey): Promise<Connection> {
  try {
    const opened = await context.connection.destinations?.of(at);
    if (opened !== undefined) return opened;
  } catch (error) {
    throw isConnectorError(error) ? new Down(key.destination, error) : error;
  }
  throw unconfigured(key.tenantId);
}

/** As commands name a step. */
export function stepId({ jobCandidateId, destination }: StepKey): string {
  return `${jobCandidateId}/${destination}`;
}

export function refused(code: string, message: string): ConnectorError {
  return new ConnectorError({ code, action: 'reject', message });
}

export function writeOf(
  key: StepKey,
  write: Omit<Parameters<typeof recordWrites>[2][number], 'target' | 'recordId' | 'period'>,
) {
  return { target: `account:${key.destination}`, recordId: key.jobCandidateId, period: key.period, ...write };
}
