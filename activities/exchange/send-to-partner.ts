import { isConnectorError } from '../../src/errors.ts';
import type { PairPlan } from '../../src/exchange/plan-pair.ts';
import type { CustomFieldValueInput } from '../../src/partner/contract/custom-field-values.ts';
import type { ExchangeContext } from './exchange-context.ts';

/** What became of one field's write; `unknown` where it left and nobody heard more. */
export type Sent = { ok: true } | { ok: false; code: string } | { unknown: unknown };

/** Values of one candidate about to be written. */
export interface CandidateWrites {
  pairId: string;
  candidateId: string;
  writes: PairPlan['toPartner'];
}

/** Outcomes by pair and field. */
export type Outcomes = Map<string, Sent>;

interface Entry {
  key: string;
  value: CustomFieldValueInput;
}

const MOST_ENTRIES = 100;

/** Sends custom field values of all candidates together, a hundred a call, and the fields of each profile by a call. */
export async function sendToPartner(context: ExchangeContext, all: readonly CandidateWrites[]): Promise<Outcomes> {
  const outcomes: Outcomes = new Map();
  const entries = all.flatMap(entriesOf);
  for (let from = 0; from < entries.length; from += MOST_ENTRIES)
    await upsert(context, entries.slice(from, from + MOST_ENTRIES), outcomes);
  for (const one of all) await patch(context, one, outcomes);
  return outcomes;
}

export function outcomeKey(pairId: string, field: string): string {
  return `${pairId} ${field}`;
}

function entriesOf({ pairId, candidateId, writes }: CandidateWrites): Entry[] {
  return writes.flatMap(({ field, at }) => {
    if (!('customFieldId' in at)) return [];
    const { customFieldId, sent: value } = at;
    const key = { customFieldId, entityType: 'candidate' as const, entityId: candidateId };
    return [{ key: outcomeKey(pairId, field), value: { ...key, value } }];
  });
}

/** One bad entry refuses them all (F3): then they are sent in halves, down to the one that it is about. */
async function upsert(context: ExchangeContext, entries: readonly Entry[], outcomes: Outcomes): Promise<void> {
  const { partner } = context.connection;
  const body = entries.map(({ value }) => value);
  const sent = await attempt(() => partner.customFieldValues.upsertBulk({ body }, { priority: 'bulk' }));
  if (entries.length > 1 && 'code' in sent) {
    const half = Math.ceil(entries.length / 2);
    await upsert(context, entries.slice(0, half), outcomes);
    await upsert(context, entries.slice(half), outcomes);
    return;
  }
  for (const { key } of entries) outcomes.set(key, sent);
}

async function patch(context: ExchangeContext, { pairId, candidateId, writes }: CandidateWrites, outcomes: Outcomes) {
  const own = writes.flatMap(({ field, at }) => ('property' in at ? [{ field, ...at }] : []));
  if (own.length === 0) return;
  const { partner } = context.connection;
  const body = Object.fromEntries(own.map(({ property, sent }) => [property, sent]));
  const sent = await attempt(() => partner.candidates.update({ params: { candidateId }, body }, { priority: 'bulk' }));
  for (const { field } of own) outcomes.set(outcomeKey(pairId, field), sent);
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
