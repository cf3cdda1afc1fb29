import { styleText } from 'node:util';
import { withCode } from '../docs.ts';
import { ConnectorError, isConnectorError } from '../errors.ts';
import { isDebugging } from '../log-level.ts';

/**
 * Exit codes for scripts: 0 done, 1 error, 2 rejected input or differences found, 3 partly done or a required process
 * does not run, 130 stopped by Ctrl-C.
 */
export const EXIT = { done: 0, error: 1, refused: 2, partial: 3, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Rejected files and answers are 2; unreachable systems and failures are 1. */
export function exitCodeOf(error: unknown): ExitCode {
  if (isConnectorError(error, 'INTERRUPTED')) return EXIT.interrupted;
  return error instanceof ConnectorError && error.action === 'reject' ? EXIT.refused : EXIT.error;
}

/** Prints to standard error: the message (what, where, why, next step), its code, and where that is explained. */
export function printError(error: unknown): void {
  process.stderr.write(`${styleText('red', 'error:', { stream: process.stderr })} ${describe(error)}\n`);
  if (isDebugging() && error instanceof Error) process.stderr.write(`${error.stack ?? ''}\n${causeStack(error)}`);
}

/** Operating system errors, with the next step. */
const SYSTEM_ERRORS: Record<string, string> = {
  EADDRINUSE: 'Another process listens there. Stop it or choose another port (0 takes a free one).',
  EACCES: 'This user may not do that. Choose another place, or change its permissions.',
  ENOSPC: 'The disk is full. Make room and run it again.',
  EROFS: 'That place is read-only. Choose another with --data.',
};

function describe(error: unknown): string {
  if (error instanceof ConnectorError) return withCode(error.message, error.code, '\n');
  const message = error instanceof Error ? error.message : String(error);
  const advice = SYSTEM_ERRORS[(error as NodeJS.ErrnoException | undefined)?.code ?? ''];
  if (advice !== undefined) return `${message}. ${advice}`;
  return `${message} (unexpected; run again with LOG_LEVEL=debug for the whole story)`;
}

function causeStack(error: Error): string {
  return error.cause instanceof Error ? `caused by ${error.cause.stack ?? error.cause.message}\n` : '';
}
