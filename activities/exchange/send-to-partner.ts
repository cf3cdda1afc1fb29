import { isConnectorError } from '../../src/errors.ts';
import type { PairPlan } from '../../src/exchange/plan-pair.ts';
import type { CustomFieldValueInput } from '../../src/partner/contract/custom-field-values.ts';
import type { SendGuard } from '../hire/write-once.ts';
import type { ExchangeContext } from './exchange-context.ts';

/** What became of one field's write; `unknown` where it left and nobody heard more. */
export type Sent = { ok: true } | { ok: false; code: string } | { unknown: unknown };

/** Values of one record of the partner about to be written. */
export interface RecordWrites {
  pairId: string;
  partnerId: string;
  writes: PairPlan['toPartner'];
}

/** Outcomes by pair and field. */
export type Outcomes = Map<string, Sent>;

interface Entry {
  key: string;
  value: CustomFieldValueInput;
}

type Guarded = ExchangeContext & { guard: SendGuard };

const MOST_ENTRIES = 100;

/** Sends custom field values of all records together, a hundred a call. */
export async function sendValues(
  context: ExchangeContext,
  all: readonly RecordWrites[],
  guard: SendGuard,
  outcomes: Outcomes,
): Promise<void> {
  const entries = all.flatMap((one) => entriesOf(context, one));
  const guarded = { ...context, guard };
  for (let from = 0; from < entries.length; from += MOST_ENTRIES)
    await upsert(guarded, entries.slice(from, from + MOST_ENTRIES), outcomes);
}

/** Sends the fields of one profile, all of them by one call. */
export function sendProfile(
  { connection }: ExchangeContext,
  { partnerId: candidateId, writes }: RecordWrites,
  { signal, beforeSend }: SendGuard,
): Promise<Sent> {
  const body = Object.fromEntries(writes.flatMap(({ at }) => ('property' in at ? [[at.property, at.sent]] : [])));
  const options = { priority: 'bulk' as const, signal, beforeSend };
  return attempt(() => connection.partner.candidates.update({ params: { candidateId }, body }, options));
}

export function outcomeKey(pairId: string, field: string): string {
  return `${pairId} ${field}`;
}

function entriesOf({ entity }: ExchangeContext, { pairId, partnerId, writes }: RecordWrites): Entry[] {
  return writes.flatMap(({ field, at }) => {
    if (!('customFieldId' in at)) return [];
    const { customFieldId, sent: value } = at;
    const key = { customFieldId, entityType: entity, entityId: partnerId };
    return [{ key: outcomeKey(pairId, field), value: { ...key, value } }];
  });
}

/** One bad entry refuses them all (F3): then they are sent in halves, down to the one that it is about. */
async function upsert(context: Guarded, entries: readonly Entry[], outcomes: Outcomes): Promise<void> {
  const { connection, guard } = context;
  const { signal, beforeSend } = guard;
  const { customFieldValues } = connection.partner;
  const body = entries.map(({ value }) => value);
  const sent = await attempt(() => customFieldValues.upsertBulk({ body }, { priority: 'bulk', signal, beforeSend }));
  if (entries.length > 1 && 'code' in sent) {
    const half = Math.ceil(entries.length / 2);
    await upsert(context, entries.slice(0, half), outcomes);
    await upsert(context, entries.slice(half), outcomes);
    return;
  }
  for (const { key } of entries) outcomes.set(key, sent);
}

/** A refusal is about the values; after every other error nobody knows what arrived. */
export async function attempt(send: () => Promise<unknown>): Promise<Sent> {
  try {
    await send();
    return { ok: true };
  } catch (error) {
    return isConnectorError(error) && error.action === 'reject' ? { ok: false, code: error.code } : { unknown: error };
  }
}
