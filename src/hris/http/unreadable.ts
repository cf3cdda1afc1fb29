import { ConnectorError, isConnectorError } from '../../errors.ts';

/** An answer in which something of the definition is not there. */
export function unreadable(what: string, how: string, key: string, requestId?: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_UNREADABLE_ANSWER',
    action: 'retry',
    message: `${what} was answered ${how}. Check ${key} of the definition, and whether hris.url is the right address.`,
    requestId,
  });
}

/** For `catch`: a refusal for good finds nothing; any other error stays one. */
export function unlessRefused(error: unknown): undefined {
  if (!isConnectorError(error) || error.action !== 'reject') throw error;
}

export function unlessAbsent(error: unknown): undefined {
  if (!isConnectorError(error, 'EMPLOYEE_NOT_FOUND')) throw error;
}
