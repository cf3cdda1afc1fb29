import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { ConnectorError, type ErrorAction } from '../src/errors.ts';

/** Expected waits are no alarm: they are logged low and left out of failure counts. */
const benign: ReadonlySet<ErrorAction> = new Set(['throttle', 'reauthorize', 'unknown']);

/**
 * Turns an error's action into a Temporal failure: retrying happens there and nowhere else. Every action comes back,
 * after the error's own delay where it names one: a refusal that a person can cure has become a hold before it gets
 * here, and a hire whose workflow failed would be followed by nobody. Messages are ConnectorErrors' own or a fixed
 * text: what other errors say may quote a record.
 */
export function toFailure(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (!(error instanceof ConnectorError)) {
    const type = error instanceof Error ? error.name : 'Error';
    return ApplicationFailure.create({
      type,
      message: `Unexpected ${type}; see the worker's log.`,
      nonRetryable: false,
    });
  }
  return ApplicationFailure.create({
    type: error.code,
    message: error.message,
    nonRetryable: false,
    ...(error.retryAfterMs === undefined ? {} : { nextRetryDelay: error.retryAfterMs }),
    ...(benign.has(error.action) ? { category: ApplicationFailureCategory.BENIGN } : {}),
  });
}
