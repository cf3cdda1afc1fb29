import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { PairPlan } from '../../src/exchange/plan-pair.ts';
import { storedForm } from '../../src/exchange/see-fields.ts';
import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import type { CustomFieldValue, CustomFieldValueInput } from '../../src/partner/contract/custom-fields.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { WriteOutcome } from '../../src/store/stream-tables.ts';
import { ownValues } from '../fields/custom-fields.ts';
import { writeValues } from '../fields/write-values.ts';
import type { SendGuard } from '../hire/write-once.ts';
import type { ExchangeContext } from './read-sides.ts';

/**
 * Outcome of one field's write. `stale`: its side holds another value by now, so nothing was written. `unknown`: the
 * value was sent but no answer came.
 */
export type Sent = { ok: true } | { ok: false; code: string } | { stale: true } | { unknown: unknown };

/** Values of one partner record that are about to be written. */
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
  /** Whether the stored value is the one that the decision was based on. */
  isOver: (stored: CustomFieldValue) => boolean;
}

type Guarded = ExchangeContext & { guard: SendGuard };

const MOST_ENTRIES = 100;

/** Sends the custom field values of all records together, 100 per call. */
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

/**
 * One bad value makes the side refuse the whole call (F3), so a refused call is split in halves until the bad value is
 * alone.
 */
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

/** What became of one record's values; a record of which any value arrived was written. */
export function outcomeOf(sent: readonly (Sent | undefined)[]): WriteOutcome {
  const all = sent.map((one): WriteOutcome => {
    if (one === undefined) return 'open';
    if ('stale' in one) return 'absent';
    if ('ok' in one) return one.ok ? 'done' : 'refused';
    // The side denied us access, so nothing arrived.
    return isConnectorError(one.unknown) && one.unknown.action === 'reauthorize' ? 'refused' : 'open';
  });
  return (['open', 'done', 'refused'] as const).find((one) => all.includes(one)) ?? 'absent';
}

function entriesOf(
  { entity, mapping, defined }: ExchangeContext,
  { pairId, partnerId, writes }: RecordWrites,
): Entry[] {
  return writes.flatMap(({ field, at, over }) => {
    if (!('customFieldId' in at)) return [];
    const { customFieldId, sent: value } = at;
    const key = { customFieldId, entityType: entity, entityId: partnerId };
    const isOver: Entry['isOver'] = (stored) => storedForm(mapping, field, { pairId, stored, defined }) === over;
    return [{ key: outcomeKey(pairId, field), value: { ...key, value }, isOver }];
  });
}

/** Partners known to refuse null: an emptied value is deleted there instead. */
const takesNoNull = new WeakSet<PartnerClient>();

async function upsert(context: Guarded, entries: readonly Entry[], outcomes: Outcomes): Promise<void> {
  const { connection, guard } = context;
  const { signal, beforeSend } = guard;
  const options = { priority: 'bulk', signal, beforeSend } as const;
  const { partner } = connection;
  const note = ({ key }: Entry, sent: Sent): void => void outcomes.set(key, sent);
  const left: Entry[] = [];
  const send = async (some: readonly Entry[]): Promise<Sent> => {
    const body = some.map(({ value }) => value);
    const only = some.length === 1 && some[0]?.value.value === null ? some[0] : undefined;
    if (only !== undefined && takesNoNull.has(partner)) return attempt(() => deleteValue(context, only));
    const sent = await attempt(async () => {
      const missed = new Set(await writeValues(partner, body, options));
      left.push(...some.filter(({ value }) => missed.has(value)));
    });
    if (!('code' in sent) || only === undefined) return sent;
    const deleted = await attempt(() => deleteValue(context, only));
    if ('ok' in deleted && deleted.ok) takesNoNull.add(partner);
    return 'code' in deleted ? sent : deleted;
  };
  const isDeleted = ({ value }: Entry): boolean => value.value === null && takesNoNull.has(partner);
  for (const one of entries.filter(isDeleted)) note(one, await send([one]));
  const others = entries.filter((one) => !isDeleted(one));
  await sendApart(others, send, note);
  for (const one of left) note(one, await send([one]));
}

/**
 * Deletes one value of an entity by the value's own id (section 4.5). A missing value counts as empty already.
 * @throws ConnectorError STALE if somebody edited it since it was read
 */
async function deleteValue(
  { connection: { partner }, guard: { signal, beforeSend } }: Guarded,
  { value: { customFieldId, entityType, entityId }, isOver }: Entry,
): Promise<void> {
  const query = { entityType, entityId: String(entityId) };
  const { items } = await partner.readAll(contract.customFieldValues.list, { query }, { priority: 'bulk' });
  const own = ownValues(items).find((one) => one.customFieldId === customFieldId);
  if (own === undefined) return;
  if (!isOver(own))
    throw new ConnectorError({
      code: 'STALE',
      action: 'retry',
      message: 'The hiring platform now holds another value. It was not deleted; it is read again.',
    });
  const options = { priority: 'bulk', signal, beforeSend } as const;
  await partner.customFieldValues.remove({ params: { valueId: own.id } }, options);
}

/** A refusal blames the values; after any other error it is unknown what arrived. */
export async function attempt(send: () => Promise<unknown>): Promise<Sent> {
  try {
    await send();
    return { ok: true };
  } catch (error) {
    if (isConnectorError(error, 'STALE')) return { stale: true };
    return isConnectorError(error) && error.action === 'reject' ? { ok: false, code: error.code } : { unknown: error };
  }
}
