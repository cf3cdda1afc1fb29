import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { patient } from '../../activities/activity-scope.ts';
import { openLimitedHris } from '../../activities/connections.ts';
import { API_KEY, REFERENCE_FIELD, startBambooDouble } from '../../src/counterparts/bamboohr-double.ts';
import { keepRateLimits } from '../../src/rate-limit/kept-rate-limits.ts';
import { type Limited, openRateLimit, viewRateLimits } from '../../src/store/rate-limits.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { refusal, signal } from '../hris/profile.ts';
import { freshStore } from '../store/stores.ts';

const log = pino({ level: 'silent' });

test('tenants that share an HR system learn its limit together: a pause of one is a pause of the other', async () => {
  const double = await startBambooDouble();
  onTestFinished(() => double.close());
  // The pause does not end as long as the store's clock stands.
  const { store } = await freshStore('sqlite', { now: () => Date.UTC(2027, 0, 1) });
  const where = { url: double.url, apiKey: API_KEY, referenceField: REFERENCE_FIELD, allowPrivateAddress: true };
  const open = async (name: string, connection: string) => {
    const tenant = { tenant: name, hris: { kind: 'bamboohr', connection, options: where } } as unknown as Tenant;
    const hris = await openLimitedHris(tenant, (limited) => openRateLimit(store, limited, log), patient);
    onTestFinished(() => hris.close());
    return hris;
  };
  const asked = { by: 'number', value: '1' } as const;
  double.mood = 'throttled';
  const first = await open('acme', 'hr');
  expect(await refusal(first.employees.find(asked, signal))).toMatchObject({ action: 'throttle' });
  await first.close();
  double.mood = 'well';
  const second = await open('acme-north', 'hr');
  expect(await refusal(second.employees.find(asked, signal))).toMatchObject({ code: 'RATE_LIMIT_WAIT' });
  const other = await open('globex', 'other-hr');
  expect(await other.employees.find(asked, signal)).toMatchObject({ kind: 'none' });
  await other.close();
  const views = await viewRateLimits(store);
  expect(views.map(({ tenantId, upstream }) => [tenantId, upstream])).toEqual([
    ['hris:hr', 'hris'],
    ['hris:other-hr', 'hris'],
  ]);
});

test('tenants that share an HR system have one keeper of permits in a process, until the last is closed', async () => {
  const double = await startBambooDouble();
  onTestFinished(() => double.close());
  const { store } = await freshStore('sqlite');
  const opened: Limited[] = [];
  const rateLimitOf = keepRateLimits((limited: Limited) => {
    opened.push(limited);
    return openRateLimit(store, limited, log);
  });
  const where = { url: double.url, apiKey: API_KEY, referenceField: REFERENCE_FIELD, allowPrivateAddress: true };
  const open = (name: string) => {
    const tenant = { tenant: name, hris: { kind: 'bamboohr', connection: 'hr', options: where } } as unknown as Tenant;
    return openLimitedHris(tenant, rateLimitOf, patient);
  };
  const asked = { by: 'number', value: '1' } as const;
  const [first, second] = await Promise.all([open('acme'), open('acme-north')]);
  await Promise.all([first.employees.find(asked, signal), second.employees.find(asked, signal)]);
  await first.close();
  expect(await second.employees.find(asked, signal)).toMatchObject({ kind: 'none' });
  expect(opened).toEqual([{ tenantId: 'hris:hr', upstream: 'hris' }]);
  await second.close();
});
