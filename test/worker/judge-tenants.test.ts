import { expect, test } from 'vitest';
import type { StreamState } from '../../src/store/streams.ts';
import { PAUSED_BY_PERSON, type TenantState } from '../../src/store/tenant-states.ts';
import { everyStream } from '../../src/streams/streams.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { judgeTenant, type TenantFacts } from '../../src/worker/raise-alarms.ts';

const MINUTE = 60_000;
const NOW = 10_000 * MINUTE;

const state: TenantState = {
  tenant_id: 'acme',
  state: 'active',
  paused_code: null,
  receives: null,
  paused_message: null,
  baseline_started_at: 1,
  baseline_done_at: 2,
  reconciled_at: NOW - MINUTE,
  credit_gate: null,
  digested_on: null,
};

function standing(of: Partial<StreamState>): StreamState {
  const paused = { paused_by: null, paused_at: null, held_code: null, held_message: null, held_at: null };
  const allowed = { allowed_code: null, allowed_by: null };
  const pass = { whole_at: NOW, listed: 1, landed: 1, mapping_hash: 'm', unshown: null };
  return { tenant_id: 'acme', stream: 'jobs', ...paused, ...allowed, ...pass, ...of };
}

const wholeAt = (at: number): StreamState => standing({ whole_at: at });

function judge(facts: Partial<TenantFacts>, of: Partial<TenantState> = {}): string[] {
  const streams = { ...everyStream(() => ({})), jobs: { every: 10 * MINUTE, wholeWithin: 1_440 * MINUTE } };
  const tenant = {
    policies: { reconcile: { every: 5 * MINUTE }, changeLimits: { cancellationsPerHour: 3 } },
    streams,
    partner: { webhooks: 'on' },
    notify: {},
  } as unknown as Tenant;
  const run = { stream: 'jobs', state: 'done', refused_code: null, refused_message: null, updated_at: NOW } as const;
  const quiet = { streams: [run], standing: [wholeAt(NOW)], hintedSince: new Map<string, number>(), stuck: [] };
  const nobodyLeft = { departedAt: [] };
  const whole = { now: NOW, state: { ...state, ...of }, tenant, ...quiet, ...nobodyLeft, ...facts };
  return judgeTenant(whole).map(
    ({ kind, reason, afterMs }) => `${kind} ${reason}${afterMs === undefined ? '' : ` after ${afterMs / MINUTE} min`}`,
  );
}

function refusedAt(lastAt: number): NonNullable<TenantFacts['webhooks']> {
  return { tenantId: 'acme', refused: [{ reason: 'WEBHOOK_KEY_WRONG', count: 3, lastAt }] };
}

const run = { stream: 'jobs', refused_code: null, refused_message: null };
const cases: [string, Partial<TenantFacts>, Partial<TenantState>, string[]][] = [
  ['nothing is wrong', {}, {}, []],
  ['it is paused for its key', {}, { state: 'paused', paused_code: 'UNAUTHORIZED' }, ['tenant-paused UNAUTHORIZED']],
  ['a person paused it', {}, { state: 'paused', paused_code: PAUSED_BY_PERSON }, []],
  ['it was removed', {}, { state: 'removed', reconciled_at: 1 }, []],
  ['a reconcile is three periods old', {}, { reconciled_at: NOW - 15 * MINUTE }, []],
  ['a reconcile is older', {}, { reconciled_at: NOW - 16 * MINUTE }, ['reconcile-stale STALE after 5 min']],
  ['no reconcile ended yet', {}, { reconciled_at: null }, ['reconcile-stale STALE after 15 min']],
  [
    'its baseline takes long, and gets on',
    { reconcileAt: NOW - 14 * MINUTE },
    { reconciled_at: null, baseline_done_at: null },
    [],
  ],
  [
    'its baseline stands still',
    { reconcileAt: NOW - 16 * MINUTE },
    { reconciled_at: null, baseline_done_at: null },
    ['reconcile-stale BASELINE_STUCK after 5 min'],
  ],
  [
    'its baseline began and noted nothing',
    {},
    { reconciled_at: null, baseline_done_at: null, baseline_started_at: NOW - 16 * MINUTE },
    ['reconcile-stale BASELINE_STUCK after 5 min'],
  ],
  [
    'six leave together',
    { departedAt: [1, 2, 3, 4, 5, 6].map((minute) => NOW - minute * MINUTE) },
    {},
    ['many-departures MANY_DEPARTURES'],
  ],
  ['three leave together', { departedAt: [NOW, NOW, NOW - MINUTE] }, {}, []],
  ['six leave in six hours', { departedAt: [0, 1, 2, 3, 4, 5].map((hour) => NOW - hour * 61 * MINUTE) }, {}, []],
  [
    'its baseline never began',
    {},
    { reconciled_at: null, baseline_done_at: null, baseline_started_at: null },
    ['reconcile-stale STALE after 15 min'],
  ],
  ['its webhooks are refused', { webhooks: refusedAt(NOW - MINUTE) }, {}, ['webhooks-refused WEBHOOK_KEY_WRONG']],
  ['one was accepted since', { webhooks: { ...refusedAt(NOW - MINUTE), acceptedAt: NOW } }, {}, []],
  ['one was accepted shortly before', { webhooks: { ...refusedAt(NOW), acceptedAt: NOW - 59 * MINUTE } }, {}, []],
  ['they were refused weeks ago', { webhooks: refusedAt(NOW - 14 * 24 * 60 * MINUTE) }, {}, []],
  ['its definition cannot be read', { tenant: undefined }, { reconciled_at: 1 }, []],
  [
    'a stream is stale',
    { streams: [{ ...run, state: 'done', updated_at: NOW - 31 * MINUTE }] },
    {},
    ['stream-stale STALE after 10 min'],
  ],
  ['its whole list was read a day ago', { standing: [wholeAt(NOW - 1_440 * MINUTE)] }, {}, []],
  [
    'its whole list was read longer ago than it should be',
    { standing: [wholeAt(NOW - 1_451 * MINUTE)] },
    {},
    ['stream-stale WHOLE_LIST_LATE after 10 min'],
  ],
  [
    'a change limit holds it',
    { standing: [standing({ held_code: 'MASS_DELETE', held_message: 'why' })] },
    {},
    ['stream-stale MASS_DELETE'],
  ],
  [
    'one part of it is held, and another is refused',
    {
      streams: [{ ...run, state: 'refused', updated_at: NOW, refused_code: 'OPTIONS_FIELD_UNUSABLE' }],
      standing: [standing({ held_code: 'MASS_DELETE:cf-1 ZERO_ROWS:cf-2', held_message: 'why' })],
    },
    {},
    ['stream-stale MASS_DELETE:cf-1 ZERO_ROWS:cf-2', 'stream-stale OPTIONS_FIELD_UNUSABLE'],
  ],
  [
    'one part of it is held, and its runs say so',
    {
      streams: [{ ...run, state: 'refused', updated_at: NOW, refused_code: 'ZERO_ROWS' }],
      standing: [standing({ held_code: 'MASS_DELETE:cf-1 ZERO_ROWS:cf-2', held_message: 'why' })],
    },
    {},
    ['stream-stale MASS_DELETE:cf-1 ZERO_ROWS:cf-2'],
  ],
  ['a person paused the stream', { streams: [], standing: [standing({ paused_at: 1, paused_by: 'jo' })] }, {}, []],
  [
    'hints wait for three periods',
    { hintedSince: new Map([['jobs', NOW - 31 * MINUTE]]) },
    {},
    ['stream-stale HINTS_WAIT'],
  ],
  ['a stream never ran', { streams: [] }, {}, ['stream-stale STALE after 30 min']],
  ['its whole list was never read', { standing: [] }, {}, ['stream-stale WHOLE_LIST_LATE after 1450 min']],
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
  ['an event waits', { untaken: { at: NOW - 59 * MINUTE, error: null } }, {}, []],
  [
    'an event waits for an hour',
    { untaken: { at: NOW - 61 * MINUTE, error: 'answered 503' } },
    {},
    ['events-waiting EVENTS_WAIT'],
  ],
  ['a notice waits', { untoldAt: NOW - 59 * MINUTE }, {}, []],
  ['a notice waits for an hour', { untoldAt: NOW - 61 * MINUTE }, {}, ['notices-waiting NOTICES_WAIT after 10 min']],
];

test.each(cases)('%s', (_what, facts, of, alarms) => {
  expect(judge(facts, of)).toEqual(alarms);
});

test('a name of an event that is no word is not shown', () => {
  const stuck = [{ tenantId: 'acme', state: 'unknown', event: 'ada@example.com said', count: 1 }] as const;
  const quiet = { streams: [], standing: [], hintedSince: new Map<string, number>(), departedAt: [] };
  const [trouble] = judgeTenant({ now: NOW, state, ...quiet, stuck });
  expect(JSON.stringify(trouble)).not.toContain('ada@');
  expect(trouble?.subject).toBe('event (not a name)');
});
