import { expect, test } from 'vitest';
import { PAUSED_BY_PERSON, type TenantState } from '../../src/store/tenant-states.ts';
import { everyStream } from '../../src/streams/streams.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { judgeTenant, type TenantFacts } from '../../src/worker/judge-tenants.ts';

const MINUTE = 60_000;
const NOW = 10_000 * MINUTE;

const state: TenantState = {
  tenant_id: 'acme',
  state: 'active',
  paused_code: null,
  paused_message: null,
  baseline_started_at: 1,
  baseline_done_at: 2,
  reconciled_at: NOW - MINUTE,
  credit_gate: null,
  digested_on: null,
};

function judge(facts: Partial<TenantFacts>, of: Partial<TenantState> = {}): string[] {
  const streams = { ...everyStream(() => ({})), jobs: { every: 10 * MINUTE } };
  const tenant = { policies: { reconcile: { every: 5 * MINUTE } }, streams } as unknown as Tenant;
  const run = { stream: 'jobs', state: 'done', refused_code: null, refused_message: null, updated_at: NOW } as const;
  const whole = { now: NOW, state: { ...state, ...of }, tenant, activeSince: 0, streams: [run], stuck: [], ...facts };
  return judgeTenant(whole).map(({ kind, reason }) => `${kind} ${reason}`);
}

const run = { stream: 'jobs', refused_code: null, refused_message: null };
const cases: [string, Partial<TenantFacts>, Partial<TenantState>, string[]][] = [
  ['nothing is wrong', {}, {}, []],
  ['it is paused for its key', {}, { state: 'paused', paused_code: 'UNAUTHORIZED' }, ['tenant-paused UNAUTHORIZED']],
  ['a person paused it', {}, { state: 'paused', paused_code: PAUSED_BY_PERSON }, []],
  ['it was removed', {}, { state: 'removed', reconciled_at: 1 }, []],
  ['a reconcile is three periods old', {}, { reconciled_at: NOW - 15 * MINUTE }, []],
  ['a reconcile is older', {}, { reconciled_at: NOW - 16 * MINUTE }, ['reconcile-stale STALE']],
  ['the worker just started', { activeSince: NOW - 4 * MINUTE }, { reconciled_at: NOW - 16 * MINUTE }, []],
  ['a period passed since', { activeSince: NOW - 6 * MINUTE }, { reconciled_at: 1 }, ['reconcile-stale STALE']],
  ['its baseline takes long', {}, { reconciled_at: null, baseline_done_at: null }, []],
  [
    'its baseline never began',
    {},
    { reconciled_at: null, baseline_done_at: null, baseline_started_at: null },
    ['reconcile-stale STALE'],
  ],
  ['its definition cannot be read', { tenant: undefined }, { reconciled_at: 1 }, []],
  [
    'a stream is stale',
    { streams: [{ ...run, state: 'done', updated_at: NOW - 31 * MINUTE }] },
    {},
    ['stream-stale STALE'],
  ],
  ['a stream never ran', { streams: [] }, {}, ['stream-stale STALE']],
  [
    'a stream was refused',
    { streams: [{ ...run, state: 'refused', updated_at: NOW, refused_code: 'NO_TABLE' }] },
    {},
    ['stream-stale NO_TABLE'],
  ],
  [
    'deliveries are stuck',
    {
      stuck: [
        { tenantId: 'acme', state: 'unknown', event: 'candidate.sang', count: 3 },
        { tenantId: 'acme', state: 'undeliverable', event: 'candidate.hired', count: 1 },
      ],
    },
    {},
    ['unknown-event EVENT_UNKNOWN', 'undeliverable UNDELIVERABLE'],
  ],
];

test.each(cases)('%s', (_what, facts, of, alarms) => {
  expect(judge(facts, of)).toEqual(alarms);
});

test('a name of an event that is no word is not shown', () => {
  const stuck = [{ tenantId: 'acme', state: 'unknown', event: 'ada@example.com said', count: 1 }] as const;
  const [trouble] = judgeTenant({ now: NOW, state, activeSince: 0, streams: [], stuck });
  expect(JSON.stringify(trouble)).not.toContain('ada@');
  expect(trouble?.subject).toBe('event (not a name)');
});
