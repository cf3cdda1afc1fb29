import { describe, expect, test } from 'vitest';
import { isWholeDue } from '../../activities/streams/pull-pages.ts';
import type { StreamState } from '../../src/store/streams.ts';
import type { TenantState } from '../../src/store/tenant-states.ts';
import type { LimitCode } from '../../src/streams/change-limits.ts';
import { everyStream } from '../../src/streams/streams.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { judgeTenant, type TenantFacts } from '../../src/worker/raise-alarms.ts';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const EVERY = 15 * MINUTE;
const START = 100 * DAY;

/** One stream of one tenant in virtual time; what breaks is switched off one by one. */
interface Working {
  /** Runs end and say so. */
  runs: boolean;
  /** Whole lists are read when they are due. */
  wholeLists: boolean;
  /** Hints are followed. */
  hints: boolean;
  /** Webhooks have a key that is known. */
  accepted: boolean;
  held?: LimitCode;
  refused?: string;
}

const fine: Working = { runs: true, wholeLists: true, hints: true, accepted: true };

const tenant = {
  partner: { webhooks: 'on' },
  policies: { reconcile: { every: 5 * MINUTE } },
  streams: { ...everyStream(() => ({})), candidates: { every: EVERY, wholeWithin: DAY } },
} as unknown as Tenant;

function createWeek() {
  const run = { stream: 'candidates', refused_code: null as string | null, refused_message: null };
  let [updatedAt, wholeAt, now] = [START, START, START];
  let hintedAt: number | undefined;
  let [acceptedAt, refusedAt] = [START, 0];
  const foundAt = new Map<string, number>();
  return {
    /** Goes on by one minute, and tells the alarms that stand then. */
    minute(works: Working): string[] {
      now += MINUTE;
      // A webhook comes every ten minutes.
      if ((now - START) % (10 * MINUTE) === 0) {
        if (works.accepted) [hintedAt, acceptedAt] = [hintedAt ?? now, now];
        else refusedAt = now;
      }
      if ((now - START) % EVERY === 0) {
        if (works.runs) updatedAt = now;
        if (works.runs && works.hints) hintedAt = undefined;
        const due = isWholeDue({ now, wholeAt, every: EVERY, wholeWithin: DAY, hasHints: true });
        if (works.runs && works.wholeLists && due) wholeAt = now;
      }
      const found = judgeTenant(facts(works));
      for (const key of foundAt.keys()) if (!found.some(({ subject }) => subject === key)) foundAt.delete(key);
      for (const { subject } of found) foundAt.set(subject, foundAt.get(subject) ?? now);
      const lasting = found.filter(({ subject, afterMs = 0 }) => now - (foundAt.get(subject) ?? now) >= afterMs);
      return lasting.map(({ reason }) => reason);
    },
  };

  function facts({ held, refused }: Working): TenantFacts {
    const standing = { tenant_id: 'acme', stream: 'candidates', whole_at: wholeAt, held_code: held ?? null };
    const state = refused === undefined ? 'done' : 'refused';
    return {
      now,
      state: { tenant_id: 'acme', state: 'active', baseline_done_at: 1, reconciled_at: now } as unknown as TenantState,
      tenant,
      departedAt: [],
      streams: [{ ...run, state, refused_code: refused ?? null, updated_at: updatedAt }],
      standing: [standing as unknown as StreamState],
      hintedSince: new Map(hintedAt === undefined ? [] : [['candidates', hintedAt]]),
      stuck: [],
      webhooks: {
        tenantId: 'acme',
        acceptedAt,
        refused: refusedAt === 0 ? [] : [{ reason: 'WEBHOOK_KEY_WRONG', count: 1, lastAt: refusedAt }],
      },
    };
  }
}

test('a clean week of runs, hints and whole lists raises no alarm', () => {
  const week = createWeek();
  const alarms = Array.from({ length: 7 * 1_440 }, () => week.minute(fine)).flat();
  expect(alarms).toEqual([]);
});

describe('what peers lose in silence is an alarm within the stated time and one interval', () => {
  test.each<[what: string, broken: Partial<Working>, alarm: string, withinMs: number]>([
    ['webhooks answered 200 whose records nobody reads', { hints: false }, 'HINTS_WAIT', 3 * EVERY],
    ['webhooks that are all refused', { accepted: false }, 'WEBHOOK_KEY_WRONG', 60 * MINUTE],
    ['runs that no longer come to an end', { runs: false }, 'STALE', 3 * EVERY],
    ['edits that no webhook tells, in a list that is not read', { wholeLists: false }, 'WHOLE_LIST_LATE', DAY],
    ['a list that is empty all of a sudden', { held: 'ZERO_ROWS' }, 'ZERO_ROWS', 0],
    ['a field that is empty all of a sudden', { held: 'FILL_RATE_FELL' }, 'FILL_RATE_FELL', 0],
    ['a key without its permission', { held: 'PERMISSION_LOST' }, 'PERMISSION_LOST', 0],
    ['records that vanish in masses', { held: 'MASS_DELETE' }, 'MASS_DELETE', 0],
    ['a run that was refused', { refused: 'LANDING_UNUSABLE' }, 'LANDING_UNUSABLE', 0],
  ])('%s', (_what, broken, alarm, withinMs) => {
    const week = createWeek();
    for (let minute = 0; minute < 1_440; minute += 1) expect(week.minute(fine)).toEqual([]);
    const until = (withinMs + 2 * EVERY) / MINUTE;
    const alarms = Array.from({ length: until }, () => week.minute({ ...fine, ...broken })).flat();
    expect(alarms).toContain(alarm);
  });
});
