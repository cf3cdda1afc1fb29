import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Connections } from '../../../activities/connections.ts';
import { createStageLookup } from '../../../activities/reconcile/hiring-stages.ts';
import { ConnectorError } from '../../../src/errors.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A partner that is reached as `reached` says; how often it was asked is counted. */
function lookupOver(reached: () => Promise<never>) {
  const asked = { times: 0 };
  const of = (): Promise<never> => {
    asked.times += 1;
    return reached();
  };
  return { asked, isHiringStage: createStageLookup({ of } as unknown as Connections) };
}

test('a partner that is silent is waited for two seconds, once, and each hire is started', async () => {
  const { asked, isHiringStage } = lookupOver(() => new Promise<never>(() => undefined));
  const first = isHiringStage('acme', '9');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await first).toBe(true);
  const next = isHiringStage('acme', '10');
  await vi.advanceTimersByTimeAsync(0);
  expect(await next).toBe(true);
  expect(asked.times).toBe(1);
});

test('a partner that cannot be asked leaves a doubt: the hire is started, and the next look asks again', async () => {
  const away = new ConnectorError({ code: 'UNREACHABLE', action: 'retry', message: 'away' });
  const { asked, isHiringStage } = lookupOver(() => Promise.reject(away));
  expect([await isHiringStage('acme', '9'), await isHiringStage('acme', '9')]).toEqual([true, true]);
  expect(asked.times).toBe(2);
});
