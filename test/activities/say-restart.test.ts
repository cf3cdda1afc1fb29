import { expect, test } from 'vitest';
import { sayRestart } from '../../activities/guarded.ts';
import { ConnectorError } from '../../src/errors.ts';
import type { Tenant } from '../../src/tenants/schema.ts';

function tenantOf(apiKey: string, url: string): Tenant {
  return { partner: { apiKey }, hris: { options: { url } } } as unknown as Tenant;
}

function refused(code: string): ConnectorError {
  return new ConnectorError({ code, action: 'reauthorize', message: 'It was refused.', status: 401 });
}

const restart = (name: string) =>
  `It was refused. It is read from env:${name} when a process starts: a new one needs a restart.`;

test('a refused secret from the environment says that a new one needs a restart; one from a file does not', () => {
  const fromEnvironment = tenantOf('env:ACME_KEY', 'env:ACME_HR');
  expect(sayRestart(refused('UNAUTHORIZED'), fromEnvironment)).toMatchObject({
    code: 'UNAUTHORIZED',
    status: 401,
    message: restart('ACME_KEY'),
  });
  expect(sayRestart(refused('HRIS_ACCESS_DENIED'), fromEnvironment).message).toBe(restart('ACME_HR'));
  expect(sayRestart(refused('UNAUTHORIZED'), tenantOf('file:/a', 'file:/b')).message).toBe('It was refused.');
});

test('other troubles stay as they are', () => {
  const down = new ConnectorError({ code: 'HRIS_UNREACHABLE', action: 'retry', message: 'It does not answer.' });
  expect(sayRestart(down, tenantOf('env:ACME_KEY', 'env:ACME_HR'))).toBe(down);
});
