import { isGrpcServiceError, NamespaceNotFoundError } from '@temporalio/client';
import { isConnectorError } from '../errors.ts';

const INVALID_ARGUMENT = 3;

/**
 * Whether a delivery failed through no fault of its own: Temporal, the partner or the store did not do its part. A busy
 * server and an expired key count as well, because neither says anything about the delivery.
 */
export function isOutage(error: unknown): boolean {
  if (isConnectorError(error)) return error.action !== 'reject';
  if (error instanceof NamespaceNotFoundError) return true;
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  // A namespace that was made anew lacks them until somebody adds them: no fault of the delivery.
  if (isGrpcServiceError(cause)) return cause.code !== INVALID_ARGUMENT || /search attribute/i.test(cause.details);
  return isDriverError(error);
}

/** Database drivers and sockets give their errors a code; a mistake in our own code has none. */
function isDriverError(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TypeError) return false;
  return typeof (error as NodeJS.ErrnoException).code === 'string';
}

/** What is to be logged of an outage: a name or a code, never a message that might quote a record. */
export function outageReason(error: unknown): string {
  if (isConnectorError(error)) return error.code;
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  if (!(cause instanceof Error)) return 'unknown';
  const { code } = cause as { code?: string | number };
  return code === undefined ? cause.name : `${cause.name} ${code}`;
}
