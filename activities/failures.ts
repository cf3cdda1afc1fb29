import { ApplicationFailure, ApplicationFailureCategory, type RetryPolicy } from '@temporalio/common';
import { ConnectorError, type ErrorAction } from '../src/errors.ts';
import { HIRE_BEHIND } from '../src/hire/hire-run.ts';

/** Expected waits are no alarm: they are logged low and left out of failure counts. */
const benign: ReadonlySet<ErrorAction> = new Set(['throttle', 'reauthorize', 'unknown']);

/**
 * Turns an error's action into a Temporal failure: retrying happens there and nowhere else. Every action comes back,
 * but HIRE_BEHIND, after the error's own delay where it names one: a refusal that a person can cure has become a hold
 * before it gets here, and a hire whose workflow failed would be followed by nobody. Messages are ConnectorErrors' own
 * or a fixed text: what other errors say may quote a record. `usualMs`: when an error without a delay of its own comes
 * back.
 */
export function toFailure(error: unknown, usualMs?: number): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (!(error instanceof ConnectorError)) {
    const type = error instanceof Error ? error.name : 'Error';
    return ApplicationFailure.create({
      type,
      message: `Unexpected ${type}; see the worker's log.`,
      nonRetryable: false,
      ...delayOf(usualMs),
    });
  }
  return ApplicationFailure.create({
    type: error.code,
    message: error.message,
    nonRetryable: error.code === HIRE_BEHIND,
    ...delayOf(error.retryAfterMs ?? usualMs),
    ...(benign.has(error.action) ? { category: ApplicationFailureCategory.BENIGN } : {}),
  });
}

function delayOf(ms: number | undefined): { nextRetryDelay?: number } {
  return ms === undefined ? {} : { nextRetryDelay: ms };
}

/**
 * The retry policy's delay after so many failures. Temporal counts waits for the rate limit as tries like any other;
 * a failure after twenty of them is still the first. Undefined where nothing was counted: Temporal decides.
 */
export function retryDelay(policy: RetryPolicy | undefined, failures: number | undefined): number | undefined {
  if (policy === undefined || failures === undefined) return undefined;
  // The SDK hands its policy on in milliseconds.
  const first = Number(policy.initialInterval ?? 1_000);
  const most = Number(policy.maximumInterval ?? 100 * first);
  return Math.min(most, first * (policy.backoffCoefficient ?? 2) ** (failures - 1));
}
