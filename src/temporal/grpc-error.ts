import { isGrpcServiceError } from '@temporalio/client';

/** gRPC status codes that decisions depend on, by number (grpc.io/docs/guides/status-codes). */
const names: Record<number, string> = {
  3: 'INVALID_ARGUMENT',
  5: 'NOT_FOUND',
  7: 'PERMISSION_DENIED',
  12: 'UNIMPLEMENTED',
  16: 'UNAUTHENTICATED',
};

/** The status in a Temporal server's error, wrapped or not; undefined for all others, such as no answer. */
export function grpcCode(error: unknown): string | undefined {
  if (isGrpcServiceError(error)) return names[error.code];
  return error instanceof Error && error.cause !== undefined ? grpcCode(error.cause) : undefined;
}

/** The deepest message in a chain of causes: the SDK's outer messages only say that something failed. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
}
