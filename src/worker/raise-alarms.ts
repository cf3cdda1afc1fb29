import type { HoldCode } from '../hire/holds.ts';
import { count } from '../in-words.ts';
import type { Logger } from '../log.ts';
import {
  alignAlarms,
  countStuck,
  type Found,
  type StuckDeliveries,
  type Trouble,
  untoldSince,
} from '../store/alarms.ts';
import { oldestUntaken } from '../store/events-out.ts';
import { oldestHints } from '../store/hints.ts';
import { openDepartures } from '../store/holds.ts';
import { readClock, type Store } from '../store/open-store.ts';
import { countAsked } from '../store/privacy-cases.ts';
import { reconcilesSavedAt } from '../store/reconciles.ts';
import { listOverdue, type Overdue } from '../store/retention.ts';
import type { StreamRow } from '../store/schema.ts';
import { isRefusedBeside, listStreamStates, listStreams, type StreamState } from '../store/streams.ts';
import { PAUSED_BY_PERSON, type TenantState } from '../store/tenant-states.ts';
import { readWebhookFacts, refusedSinceAccepted, type WebhookFacts } from '../store/webhook-refusals.ts';
import { streams as kinds, type StreamName, streamNames } from '../streams/streams.ts';
import type { Tenant } from '../tenants/schema.ts';

const DAY_MS = 86_400_000;
/** How long bodies, deliveries and delivered events are kept. */
export const KEPT = { bodiesMs: 7 * DAY_MS, deliveriesMs: 90 * DAY_MS, eventsMs: 30 * DAY_MS };
/** An unknown event stops being an alarm if it was not sent for this long. */
const UNKNOWN_MS = DAY_MS;
/** Holds about people who left. */
const DEPARTURES = ['LEFT_BEFORE_START', 'LEFT_AFTER_EMPLOYEE', 'TOO_MANY_CANCELLATIONS'] as const satisfies HoldCode[];

/** A day more than `KEPT`: a worker that was down for a night has caught up by then. */
const LATE = { bodiesMs: KEPT.bodiesMs + DAY_MS, deliveriesMs: KEPT.deliveriesMs + DAY_MS };

/** Compares every tenant's actual state in the tables with the expected one, with a few queries for all. */
export function createAlarmRound(
  store: Store,
  log: Logger,
): (states: readonly TenantState[], tenants: ReadonlyMap<string, Tenant>) => Promise<void> {
  return async (states, tenants) => {
    const [now, runs, deliveries, standing, hinted, departures, untold, people, webhooks, reconciles, notices] = [
      await readClock(store),
      Map.groupBy(await listStreams(store), (run) => run.tenant_id),
      Map.groupBy(await countStuck(store, UNKNOWN_MS), (one) => one.tenantId),
      Map.groupBy(await listStreamStates(store), (one) => one.tenant_id),
      Map.groupBy(await oldestHints(store), (one) => one.tenantId),
      await openDepartures(store, DEPARTURES),
      await oldestUntaken(store),
      await countAsked(store),
      await readWebhookFacts(store),
      await reconcilesSavedAt(store),
      await untoldSince(store),
    ];
    const troubles = states.flatMap((state) => {
      const { tenant_id: tenantId } = state;
      const tenant = tenants.get(tenantId);
      return judgeTenant({
        now,
        state,
        tenant,
        streams: runs.get(tenantId) ?? [],
        standing: standing.get(tenantId) ?? [],
        hintedSince: new Map((hinted.get(tenantId) ?? []).map((one) => [one.stream, one.hintedAt])),
        stuck: deliveries.get(tenantId) ?? [],
        departedAt: departures.get(tenantId) ?? [],
        untaken: untold.get(tenantId),
        askedAbout: people.get(tenantId),
        webhooks: webhooks.get(tenantId),
        reconcileAt: reconciles.get(tenantId),
        untoldAt: notices.get(tenantId),
      });
    });
    const late = (await listOverdue(store, LATE)).map(lateTrouble);
    const { raised, over } = await alignAlarms(store, [...troubles, ...late]);
    for (const { tenantId, kind, subject, reason: code, message: reason } of raised)
      log.error({ tenantId, kind, subject, code, reason }, 'alarm raised');
    for (const { tenantId, kind, subject } of over) log.info({ tenantId, kind, subject }, 'alarm over');
  };
}

/** Reported for the tenant with the oldest overdue delivery. */
function lateTrouble({ tenantId, what, receivedAt }: Overdue): Trouble {
  const came = new Date(receivedAt).toISOString().slice(0, 10);
  const message =
    `${what === 'bodies' ? 'The body of a webhook' : 'A webhook'} that came on ${came} should have been cleared by ` +
    'now. Check that a worker runs, and whether the database keeps up: hirebridge status';
  return { tenantId, kind: 'retention-late', subject: `retention of ${what}`, reason: 'RETENTION_LATE', message };
}

/** After this many periods without a result, an alarm is raised. */
const STALE_PERIODS = 3;
/** Unknown events of one tenant that are listed separately: anybody with its webhook key can invent more. */
const MOST_EVENTS = 20;
const HOUR_MS = 3_600_000;

/** The state of a tenant in the tables; times are milliseconds by the database's clock. */
export interface TenantFacts {
  now: number;
  state: TenantState;
  /** Its definition, if it is readable. */
  tenant?: Tenant | undefined;
  /** When its unfinished reconcile last got on. */
  reconcileAt?: number | undefined;
  streams: readonly Pick<StreamRow, 'stream' | 'state' | 'refused_code' | 'refused_message' | 'updated_at'>[];
  /** The states of its streams beyond their runs. */
  standing: readonly StreamState[];
  /** By stream, since when hints have waited. */
  hintedSince: ReadonlyMap<string, number>;
  stuck: readonly StuckDeliveries[];
  /** When each open hold about a person who left was opened. */
  departedAt: readonly number[];
  /** Its oldest undelivered event, and the last try's error. */
  untaken?: { at: number; error: string | null } | undefined;
  /** Since when its oldest hold or alarm waits to be told. */
  untoldAt?: number | undefined;
  /** Number of people who wait for a decision by its privacy policy. */
  askedAbout?: number | undefined;
  /** Its partner's last accepted and refused webhooks. */
  webhooks?: WebhookFacts | undefined;
}

/** The troubles of a tenant that a person should know about. */
export function judgeTenant(facts: TenantFacts): Found[] {
  const { state, stuck } = facts;
  if (state.state === 'removed') return [];
  const deliveries = [...stuckTroubles(state.tenant_id, stuck), ...eventTroubles(facts), ...noticeTroubles(facts)];
  if (state.state === 'paused') {
    const { tenant_id: tenantId, paused_code: code, paused_message: why } = state;
    // A pause by a person needs no alarm.
    if (code === PAUSED_BY_PERSON) return deliveries;
    const subject = { kind: 'tenant-paused', subject: 'tenant' } as const;
    return [{ tenantId, ...subject, reason: code ?? 'PAUSED', message: why ?? '' }, ...deliveries];
  }
  const about = [...departureTroubles(facts), ...privacyTroubles(facts)];
  return [...reconcileTroubles(facts), ...streamTroubles(facts), ...about, ...webhookTroubles(facts), ...deliveries];
}

function reconcileTroubles({ now, state, tenant, reconcileAt }: TenantFacts): Found[] {
  const every = tenant?.policies.reconcile.every;
  if (every === undefined) return [];
  const trouble = { tenantId: state.tenant_id, kind: 'reconcile-stale', subject: 'reconcile' } as const;
  // A baseline of a large company takes long, but each of its pages is noted; a failing one has its own alarm.
  const isBaseline = state.baseline_started_at !== null && state.baseline_done_at === null;
  const stale = staleness(now, every, isBaseline ? (reconcileAt ?? state.baseline_started_at) : state.reconciled_at);
  if (stale === undefined) return [];
  if (isBaseline)
    return [
      {
        ...trouble,
        ...stale,
        reason: 'BASELINE_STUCK',
        message:
          'The baseline began and has not moved for more than three periods of the reconcile, and no hire starts ' +
          'until it is complete. Check that a worker runs and that Temporal and the partner answer: hirebridge status',
      },
    ];
  const message =
    'The last reconcile ended more than three periods ago, so hires without a webhook are not found. ' +
    'Check that a worker runs and that Temporal and the partner answer: hirebridge status';
  return [{ ...trouble, ...stale, reason: 'STALE', message }];
}

function streamTroubles(facts: TenantFacts): Found[] {
  const { now, state, tenant, streams, standing } = facts;
  if (tenant === undefined) return [];
  return streamNames.flatMap((name): Found[] => {
    const { every } = tenant.streams[name];
    if (every === undefined) return [];
    const stands = standing.find(({ stream }) => stream === name);
    // A pause by a person needs no alarm.
    if (stands?.paused_at) return [];
    const run = streams.find(({ stream }) => stream === name);
    const trouble = { tenantId: state.tenant_id, kind: 'stream-stale', subject: `stream ${name}` } as const;
    const held = stands?.held_code
      ? [{ ...trouble, reason: stands.held_code, message: stands.held_message ?? '' }]
      : [];
    if (run !== undefined && isRefusedBeside(run, stands)) {
      const subject = held.length === 0 ? trouble.subject : `${trouble.subject}, refused`;
      const refused = { reason: run.refused_code ?? 'REFUSED', message: run.refused_message ?? '' };
      return [...held, { ...trouble, subject, ...refused }];
    }
    if (held.length > 0) return held;
    const stale = staleness(now, every, run?.updated_at);
    if (stale === undefined) return lateTroubles(facts, name, every);
    const message =
      `The stream ${name} moved nothing for more than three periods. ` +
      `Run it by hand to see why: hirebridge sync ${state.tenant_id} ${name}`;
    return [{ ...trouble, ...stale, reason: 'STALE', message }];
  });
}

/** The stream runs, but part of its work is late. */
function lateTroubles({ now, state, tenant, ...facts }: TenantFacts, name: StreamName, every: number): Found[] {
  const { standing, hintedSince } = facts;
  const wholeWithin = tenant?.streams[name].wholeWithin ?? Number.POSITIVE_INFINITY;
  const wholeAt = standing.find(({ stream }) => stream === name)?.whole_at ?? undefined;
  const trouble = { tenantId: state.tenant_id, kind: 'stream-stale' } as const;
  const troubles: Found[] = [];
  const isLate = wholeAt === undefined || now - Number(wholeAt) > wholeWithin + every;
  if (kinds[name].kind === 'pull' && isLate && Number.isFinite(wholeWithin))
    troubles.push({
      ...trouble,
      afterMs: wholeAt === undefined ? wholeWithin + every : every,
      subject: `stream ${name}, whole list`,
      reason: 'WHOLE_LIST_LATE',
      message:
        `The whole list of ${name} was not read within streams.${name}.wholeWithin, so edits that no webhook told of ` +
        `are missing. Read it now: hirebridge sync ${state.tenant_id} ${name} --full`,
    });
  if (now - (hintedSince.get(name) ?? now) > STALE_PERIODS * every)
    troubles.push({
      ...trouble,
      subject: `stream ${name}, hints`,
      reason: 'HINTS_WAIT',
      message:
        `Webhooks named records of ${name} that have not been read since. Read them now: hirebridge sync ` +
        `${state.tenant_id} ${name}`,
    });
  return troubles;
}

/**
 * For how long a time must be found to be old before that is an alarm; undefined if it is not old. After a pause, a
 * changed definition or an outage of all workers, one period may pass before old times count. What never happened has
 * three periods from when that was first seen.
 */
function staleness(now: number, every: number, last: number | null | undefined): { afterMs: number } | undefined {
  if (last === null || last === undefined) return { afterMs: STALE_PERIODS * every };
  return now - Number(last) > STALE_PERIODS * every ? { afterMs: every } : undefined;
}

/** Many departures within an hour are one wrong filter or mass move rather than separate cases. */
function departureTroubles({ state, tenant, departedAt }: TenantFacts): Trouble[] {
  if (departedAt.length === 0) return [];
  const most = tenant?.policies.changeLimits.cancellationsPerHour;
  const together = departedAt.filter((at) => at > Math.max(...departedAt) - HOUR_MS).length;
  if (most === undefined || together <= most) return [];
  const message =
    `${together} people left their hiring stages within an hour, and each is asked about. If that was one mistake at ` +
    'the hiring platform, move them back there and answer retry; otherwise answer them together: ' +
    `hirebridge hold list --tenant ${state.tenant_id}`;
  const tenantId = state.tenant_id;
  return [{ tenantId, kind: 'many-departures', subject: 'departures', reason: 'MANY_DEPARTURES', message }];
}

function privacyTroubles({ state: { tenant_id: tenantId }, askedAbout = 0 }: TenantFacts): Trouble[] {
  if (askedAbout === 0) return [];
  const message =
    `Somebody should decide whether ${count(askedAbout, 'person is', 'people are')} erased or kept. ` +
    `See who and why: hirebridge person due ${tenantId}`;
  return [{ tenantId, kind: 'people-to-decide', subject: 'people', reason: 'PEOPLE_WAIT', message }];
}

/** Refusals older than this may be of an address that the partner no longer uses. */
const REFUSED_MS = 7 * DAY_MS;

function webhookTroubles({ now, state: { tenant_id: tenantId }, tenant, webhooks }: TenantFacts): Trouble[] {
  const refused = refusedSinceAccepted(webhooks);
  if (tenant?.partner.webhooks !== 'on' || refused === undefined || refused.isStray) return [];
  if (now - refused.lastAt > REFUSED_MS) return [];
  const message =
    "The partner's webhooks are refused, and each is dropped after four tries. Until they are accepted, only the " +
    `reconcile finds changes. See why, and what to do: hirebridge check ${tenantId}`;
  return [{ tenantId, kind: 'webhooks-refused', subject: 'webhooks', reason: refused.reason, message }];
}

/** Raised after an hour, because the events' receiver learns of nothing meanwhile. */
function eventTroubles({ now, state, untaken }: TenantFacts): Trouble[] {
  if (untaken === undefined || now - untaken.at <= HOUR_MS) return [];
  const tenantId = state.tenant_id;
  const message =
    "Events have waited for an hour, because the tenant's events address does not accept them " +
    `(${untaken.error ?? 'not tried'}). They are kept and sent again by themselves. See which are waiting: ` +
    `hirebridge events list ${tenantId} --waiting; test the address: hirebridge check ${tenantId}`;
  return [{ tenantId, kind: 'events-waiting', subject: 'events', reason: 'EVENTS_WAIT', message }];
}

/** What waited while no worker ran, or while the tenant had no address, is told within this time. */
const CAUGHT_UP_MS = 600_000;

/** Told by everything but the notices themselves: the status, the console, the metrics and the events. */
function noticeTroubles({ now, state: { tenant_id: tenantId }, tenant, untoldAt }: TenantFacts): Found[] {
  if (tenant?.notify === undefined || untoldAt === undefined || now - untoldAt <= HOUR_MS) return [];
  const message =
    "Notices of holds or alarms have waited for an hour, because the tenant's notify address does not accept them. " +
    "They are sent again by themselves. The worker's log says how they were answered; correct the address under " +
    '"notify" of the tenant file, or its receiver.';
  const subject = { kind: 'notices-waiting', subject: 'notices' } as const;
  return [{ tenantId, ...subject, reason: 'NOTICES_WAIT', message, afterMs: CAUGHT_UP_MS }];
}

function stuckTroubles(tenantId: string, stuck: readonly StuckDeliveries[]): Trouble[] {
  const unknown = stuck.filter(({ state }) => state === 'unknown').slice(0, MOST_EVENTS);
  const events = unknown.map(({ event }): Trouble => {
    // The sender chooses the name, so it is shown only if it looks like one.
    const shown = /^[\w.-]{1,60}$/.test(event) ? event : '(not a name)';
    const message =
      `The partner sent the event ${shown}, whose name or form hirebridge does not know; it is stored and has no ` +
      'effect. See: ' +
      `hirebridge inbox list --tenant ${tenantId} --state unknown`;
    return { tenantId, kind: 'unknown-event', subject: `event ${shown}`, reason: 'EVENT_UNKNOWN', message };
  });
  if (!stuck.some(({ state }) => state === 'undeliverable')) return events;
  const message =
    'Webhooks could not be relayed after ten tries. ' +
    `See: hirebridge inbox list --tenant ${tenantId}; relay again: hirebridge inbox retry --all --tenant ${tenantId}`;
  return [...events, { tenantId, kind: 'undeliverable', subject: 'inbox', reason: 'UNDELIVERABLE', message }];
}
