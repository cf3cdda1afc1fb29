import type { EventName } from '../partner/contract/events.ts';
import { type Context, iso } from './context.ts';
import { queueDelivery } from './records/deliveries.ts';
import { record } from './records/ledger.ts';

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
