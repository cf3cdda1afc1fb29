import type { EventName } from '../../partner/contract/events.ts';
import { type Context, iso, notFound } from '../context.ts';
import type { SandboxState } from '../state.ts';
import { record } from './ledger.ts';

/** Section 6: after the first attempt, three more; then the delivery is dropped for good (E1, assumed). */
const RETRY_DELAYS_MS: readonly number[] = [200, 400, 800];

export interface Delivery {
  id: number;
  companyId: number;
  event: string;
  /** The JSON text sent, the same on every attempt. */
  body: string;
  /** X-Webhook-Timestamp, the same on every attempt (E8, assumed). */
  stamp: string;
  /** Attempts already made. */
  attempt: number;
}

/** The result of one attempt: the receiver's status, or why there was none. */
export interface DeliveryOutcome {
  status?: number;
  error?: string;
  /** The beginning of the receiver's body. */
  answer?: string;
}

/** Puts one delivery in line, due after `delay` ms; the answer is its id. */
function queueDelivery(
  state: SandboxState,
  delivery: { companyId: number; event: string; body: string; stamp: string; delay: number },
): number {
  const now = state.clock.now();
  const id = state.nextId('delivery');
  state.run(
    'insert into deliveries (id, company_id, event, body, stamp, created_at, next_at) values (?, ?, ?, ?, ?, ?, ?)',
    id,
    delivery.companyId,
    delivery.event,
    delivery.body,
    delivery.stamp,
    now,
    now + delivery.delay,
  );
  state.eventsWaiting();
  return id;
}

/** Sends a delivery once more, body and timestamp as they were: as a new delivery with attempts of its own. */
export function redeliver(ctx: Context, id: number): { deliveryId: number; event: string } {
  const { state, company } = ctx;
  const sent = state.one<{ event: string; body: string; stamp: string }>(
    'select event, body, stamp from deliveries where id = ? and company_id = ?',
    id,
    company.id,
  );
  if (sent === undefined) throw notFound('Delivery');
  return { deliveryId: queueDelivery(state, { companyId: company.id, ...sent, delay: 0 }), event: sent.event };
}

/** Takes due deliveries, oldest first; none is taken again until settled. */
export function takeDueDeliveries(state: SandboxState, limit = 64): Delivery[] {
  return state
    .all<Delivery>(
      `update deliveries set state = 'sending' where id in (select id from deliveries where state = 'waiting'
        and next_at <= ? order by next_at, id limit ?)
       returning id, company_id as companyId, event, body, stamp, attempt`,
      state.clock.now(),
      limit,
    )
    .sort((a, b) => a.id - b.id);
}

/** When the next delivery is due, epoch ms. */
export function nextDeliveryAt(state: SandboxState): number | undefined {
  return state.one<{ at: number }>(
    "select next_at as at from deliveries where state = 'waiting' order by next_at limit 1",
  )?.at;
}

/** Writes one attempt into the ledger and decides: delivered, again later, or dropped. */
export function settleDelivery(
  state: SandboxState,
  delivery: Delivery,
  outcome: DeliveryOutcome,
): 'delivered' | 'waiting' | 'dropped' {
  const attempt = delivery.attempt + 1;
  const delay = RETRY_DELAYS_MS[attempt - 1];
  const delivered = outcome.status !== undefined && outcome.status >= 200 && outcome.status < 300;
  const next = delivered ? 'delivered' : delay === undefined ? 'dropped' : 'waiting';
  state.transaction(() => {
    state.run(
      'update deliveries set state = ?, attempt = ?, next_at = ? where id = ?',
      next,
      attempt,
      state.clock.now() + (delay ?? 0),
      delivery.id,
    );
    record(state, {
      kind: 'delivery',
      name: delivery.event,
      companyId: delivery.companyId,
      status: outcome.status,
      subject: delivery.id,
      detail: {
        attempt,
        outcome: next,
        ...(outcome.error === undefined ? {} : { error: outcome.error }),
        ...(outcome.answer === undefined || outcome.answer === '' ? {} : { answer: outcome.answer }),
      },
    });
  });
  return next;
}

/** Sent bodies, by the id of the delivery. */
export function payloadOf(state: SandboxState, id: number): string | undefined {
  return state.one<{ body: string }>('select body from deliveries where id = ?', id)?.body;
}

/** After a restart: attempts that were under way are made again. */
export function reviveDeliveries(state: SandboxState): void {
  state.run("update deliveries set state = 'waiting' where state = 'sending'");
}

/** How many deliveries are still to be made or under way. */
export function pendingDeliveries(state: SandboxState): number {
  return state.count('deliveries', "state in ('waiting', 'sending')");
}

/** The 29 of section 6, and the interview error event that it mentions without a name. */
type SandboxEvent = EventName | 'interview.error';

/**
 * Always written to the ledger; queued for delivery when the company has a webhook URL. It shares the transaction of
 * the effect, so an event exists exactly if its effect does.
 */
export function emit(ctx: Context, event: SandboxEvent, data: Record<string, unknown>): void {
  const { state, company } = ctx;
  if (ctx.origin === 'seed') return;
  record(state, {
    kind: 'event',
    name: event,
    companyId: company.id,
    requestId: ctx.requestId,
    origin: ctx.origin,
    detail: data,
  });
  if (company.webhookUrl === null) return;
  const stamp = iso(ctx.now);
  const body = JSON.stringify({ event, timestamp: stamp, companyId: companyIdOf(ctx, event), data });
  const chosen = state.faults.forEvent(event, company.id);
  for (const fault of chosen)
    record(state, { kind: 'fault', name: fault.kind, subject: event, companyId: company.id, fault: fault.kind });
  const kinds = new Set(chosen.map((fault) => fault.kind));
  if (kinds.has('webhook-lost')) return;
  const delay = chosen.reduce((sum, fault) => sum + delayOf(fault.kind, fault.ms, state.faults.random), 0);
  const copies = kinds.has('webhook-duplicated') ? 2 : 1;
  for (let copy = 0; copy < copies; copy += 1)
    queueDelivery(state, { companyId: company.id, event, body, stamp, delay });
}

/** Text in the interview examples of section 6, a number everywhere else. */
function companyIdOf({ company }: Context, event: SandboxEvent): number | string {
  return event.startsWith('interview.') ? String(company.id) : company.id;
}

/** Reordering is a random delay: in a burst, later events overtake earlier ones. */
function delayOf(kind: string, ms: number | undefined, random: () => number): number {
  if (kind === 'webhook-late') return ms ?? 2000;
  if (kind === 'webhook-reordered') return Math.floor(random() * (ms ?? 500));
  return 0;
}
