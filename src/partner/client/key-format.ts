import { createHash } from 'node:crypto';
import { ConnectorError } from '../../errors.ts';

const prefixes = { production: 'sk_live_', sandbox: 'sk_test_' } as const;

/**
 * Refuses a key that cannot be one, or is of the other environment (section 5, rule 2), before any call. The key itself
 * is never shown.
 */
export function assertKeyFormat(apiKey: string, environment: keyof typeof prefixes): void {
  const match = /^(sk_live_|sk_test_)[0-9A-Za-z]{22}$/.exec(apiKey);
  if (match === null)
    throw badKey('KEY_FORMAT', 'The partner key is not sk_live_ or sk_test_ followed by 22 letters and digits');
  if (match[1] === prefixes[environment]) return;
  throw badKey(
    'KEY_ENVIRONMENT',
    `The partner key begins with ${match[1]}, and the environment "${environment}" needs ${prefixes[environment]}`,
  );
}

function badKey(code: string, what: string): ConnectorError {
  return new ConnectorError({
    code,
    action: 'reauthorize',
    message: `${what}. Nothing was sent. Check the key and the environment in the tenant file.`,
  });
}

/** Names a key without showing it. */
export function fingerprintOf(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex').slice(0, 16);
}
