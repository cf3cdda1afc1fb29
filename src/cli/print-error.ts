import { styleText } from 'node:util';
import { ConnectorError } from '../errors.ts';
import { isDebugging } from '../log.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

/** Refused files and answers are 2; what cannot be reached or went wrong is 1. */
export function exitCodeOf(error: unknown): ExitCode {
  return error instanceof ConnectorError && error.action === 'reject' ? EXIT.refused : EXIT.error;
}

/** One clear paragraph on standard error: the message (what, where, why, next step) and the code to search for. */
export function printError(error: unknown): void {
  process.stderr.write(`${styleText('red', 'error:', { stream: process.stderr })} ${describe(error)}\n`);
  if (isDebugging() && error instanceof Error) process.stderr.write(`${error.stack ?? ''}\n${causeStack(error)}`);
}

function describe(error: unknown): string {
  if (error instanceof ConnectorError) return `${error.message} [${error.code}]`;
  const message = error instanceof Error ? error.message : String(error);
  return `${message} (unexpected; run again with LOG_LEVEL=debug for the whole story)`;
}

function causeStack(error: Error): string {
  return error.cause instanceof Error ? `caused by ${error.cause.stack ?? error.cause.message}\n` : '';
}
