import { ConnectorError } from '../errors.ts';

/** Names every field that does not fit at once, without its value. `what`: `BambooHR requires`. */
export function refuseFields(
  code: 'INVALID_VALUE' | 'MISSING_FIELD',
  what: string,
  details: Readonly<Record<string, string>>,
): ConnectorError {
  const message = `${what}: ${Object.keys(details).join(', ')}.`;
  return new ConnectorError({ code, action: 'reject', message, details });
}
