import { ConnectorError } from '../src/errors.ts';
import type { Tenant } from '../src/tenants/schema.ts';
import { restartNote } from '../src/tenants/secrets.ts';

/** A refused secret that a running process would not read again says so. */
export function sayRestart(error: ConnectorError, { partner, hris }: Tenant): ConnectorError {
  if (error.action !== 'reauthorize' || error.code === 'SECRET_MISSING') return error;
  const ref = error.code.startsWith('HRIS_') ? hris.options['url'] : partner.apiKey;
  const note = typeof ref === 'string' ? restartNote(ref) : '';
  if (note === '') return error;
  const { code, action, status, details, requestId } = error;
  return new ConnectorError({
    code,
    action,
    status,
    details,
    requestId,
    message: `${error.message}${note}`,
    cause: error,
  });
}
