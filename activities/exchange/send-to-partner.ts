import { isConnectorError } from '../../src/errors.ts';
import type { PairPlan } from '../../src/exchange/plan-pair.ts';
import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import type { CustomFieldValueInput } from '../../src/partner/contract/custom-field-values.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { SendGuard } from '../hire/write-once.ts';
import type { ExchangeContext } from './exchange-context.ts';

/**
 * What became of one field's write. `stale`: its side holds another value by now, and nothing was written. `unknown`:
 * it left and nobody heard more.
 */
export type Sent = { ok: true } | { ok: false; code: string } | { stale: true } | { unknown: unknown };

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

/** Sends the fields of one profile by one call; where it is refused, in halves. */
export async function sendProfile(
  { connection }: ExchangeContext,
  { pairId, partnerId: candidateId, writes }: RecordWrites,
  { signal, beforeSend }: SendGuard,
  outcomes: Outcomes,
): Promise<void> {
  const options = { priority: 'bulk' as const, signal, beforeSend };
  const send = (some: RecordWrites['writes']): Promise<Sent> => {
    const body = Object.fromEntries(some.flatMap(({ at }) => ('property' in at ? [[at.property, at.sent]] : [])));
    return attempt(() => connection.partner.candidates.update({ params: { candidateId }, body }, options));
  };
  await sendApart(
    writes.filter(({ at }) => 'property' in at),
    send,
    ({ field }, sent) => outcomes.set(outcomeKey(pairId, field), sent),
  );
}

/** One bad value refuses all that is sent with it (F3): then they are sent in halves, down to the one it is about. */
export async function sendApart<T>(
  all: readonly T[],
  send: (some: T[]) => Promise<Sent>,
  note: (one: T, sent: Sent) => void,
): Promise<void> {
  if (all.length === 0) return;
  const sent = await send([...all]);
  if (all.length > 1 && 'code' in sent) {
    const half = Math.ceil(all.length / 2);
    await sendApart(all.slice(0, half), send, note);
    await sendApart(all.slice(half), send, note);
    return;
  }
  for (const one of all) note(one, sent);
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

/** Partners that are known to take no null: what is emptied there is deleted. */
const takesNoNull = new WeakSet<PartnerClient>();

async function upsert(context: Guarded, entries: readonly Entry[], outcomes: Outcomes): Promise<void> {
  const { connection, guard } = context;
  const { signal, beforeSend } = guard;
  const options = { priority: 'bulk', signal, beforeSend } as const;
  const { partner } = connection;
  const note = ({ key }: Entry, sent: Sent): void => void outcomes.set(key, sent);
  const send = async (some: readonly Entry[]): Promise<Sent> => {
    const body = some.map(({ value }) => value);
    const only = body.length === 1 && body[0]?.value === null ? body[0] : undefined;
    if (only !== undefined && takesNoNull.has(partner)) return attempt(() => deleteValue(context, only));
    const sent = await attempt(() => partner.customFieldValues.upsertBulk({ body }, options));
    if (!('code' in sent) || only === undefined) return sent;
    const deleted = await attempt(() => deleteValue(context, only));
    if ('ok' in deleted && deleted.ok) takesNoNull.add(partner);
    return 'code' in deleted ? sent : deleted;
  };
  const isDeleted = ({ value }: Entry): boolean => value.value === null && takesNoNull.has(partner);
  for (const one of entries.filter(isDeleted)) note(one, await send([one]));
  const others = entries.filter((one) => !isDeleted(one));
  await sendApart(others, send, note);
}

/** One value of an entity by its own id (section 4.5); one that is not there is empty already. */
async function deleteValue(
  { connection: { partner }, guard: { signal, beforeSend } }: Guarded,
  { customFieldId, entityType, entityId }: CustomFieldValueInput,
): Promise<void> {
  const query = { entityType, entityId: String(entityId) };
  const { items } = await partner.readAll(contract.customFieldValues.list, { query }, { priority: 'bulk' });
  const own = items.find((one) => one.customFieldId === customFieldId && (one.parentEntityId ?? '') === '');
  if (own === undefined) return;
  const options = { priority: 'bulk', signal, beforeSend } as const;
  await partner.customFieldValues.remove({ params: { valueId: own.id } }, options);
}

/** A refusal is about the values; after every other error nobody knows what arrived. */
export async function attempt(send: () => Promise<unknown>): Promise<Sent> {
  try {
    await send();
    return { ok: true };
  } catch (error) {
    if (isConnectorError(error, 'STALE')) return { stale: true };
    return isConnectorError(error) && error.action === 'reject' ? { ok: false, code: error.code } : { unknown: error };
  }
}
