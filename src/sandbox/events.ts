import type { Context } from './context.ts';
import { iso } from './context.ts';
import { queueDelivery } from './records/platform/deliveries.ts';
import { record } from './records/platform/ledger.ts';

/**
 * Something happened that section 6 has a name for. Written into the ledger always; queued for delivery when the company has
 * a webhook URL. Same transaction as the effect: an event exists exactly when what it tells does.
 */
export function emit(ctx: Context, event: string, data: Record<string, unknown>): void {
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

/** A string in the interview examples of section 6, a number everywhere else. */
function companyIdOf({ company }: Context, event: string): number | string {
  return event.startsWith('interview.') ? String(company.id) : company.id;
}

/** Reordering is a delay of chance: in a burst, later events overtake. */
function delayOf(kind: string, ms: number | undefined, random: () => number): number {
  if (kind === 'webhook-late') return ms ?? 2000;
  if (kind === 'webhook-reordered') return Math.floor(random() * (ms ?? 500));
  return 0;
}
