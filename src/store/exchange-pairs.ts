import { sql } from 'kysely';
import type { Side } from '../hire/side.ts';
import type { ExchangePairTable } from './exchange-tables.ts';
import type { Store } from './open-store.ts';
import { sealed } from './sealed-values.ts';
import type { StreamKey } from './streams.ts';

/** What is known of a pair; `version` 0 where nothing is. */
export interface PairState
  extends Pick<ExchangePairTable, 'version' | 'settles_at' | 'missing_side' | 'missing_run' | 'updated_at'> {
  bases: Readonly<Record<string, string>>;
  /** Which field of either side a base belongs to, by field; absent in pairs of an earlier version. */
  identities: Readonly<Record<string, string>>;
  sent: SentForms;
  echoes: Echoes;
  isGone: boolean;
}

/** Values under way, by field. */
export type SentForms = Readonly<Record<string, { to: Side; form: string }>>;

/** What was last written of a field and taken, by field; none once its side was seen to hold just that. */
export type Echoes = Readonly<Record<string, Echo>>;

export interface Echo {
  to: Side;
  form: string;
  /** Forms that the side may go on showing for a while: what stood there before, and what was written since. */
  over?: readonly string[];
  /** When it was written, by the database's clock. */
  at?: number;
  /** What the side was seen to make of it directly after it was written. */
  after?: string;
  /** How often in a row writes of the field had come back otherwise by then. */
  times: number;
  /** The form that the side shows in its place, which counts as `form` there; absent until it was looked at. */
  shown?: string;
}

export const UNKNOWN_PAIR: PairState = {
  version: 0,
  bases: {},
  identities: {},
  sent: {},
  echoes: {},
  settles_at: 0,
  updated_at: 0,
  missing_side: null,
  missing_run: null,
  isGone: false,
};

/** What changes of a pair; `settlesInMs` from now. */
export interface PairChange {
  pairId: string;
  /** The state that it was decided from. */
  version: number;
  bases?: Readonly<Record<string, string>>;
  identities?: Readonly<Record<string, string>> | undefined;
  sent?: SentForms;
  echoes?: Echoes;
  settlesInMs?: number;
  missing?: { side: Side; runId: string } | null;
  isGone?: boolean;
}

/** What is known of these pairs; what nobody has seen yet is left out. */
export async function readPairStates(
  { kysely }: Store,
  { tenantId, stream }: StreamKey,
  pairIds: readonly string[],
): Promise<Map<string, PairState>> {
  if (pairIds.length === 0) return new Map();
  const rows = await kysely
    .selectFrom('exchange_pairs')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('stream', '=', stream)
    .where('pair_id', 'in', pairIds)
    .execute();
  return new Map(
    rows.map(({ pair_id, bases, identities, sent, echoes, settles_at, gone_at, updated_at, ...row }) => [
      pair_id,
      {
        version: row.version,
        missing_side: row.missing_side,
        missing_run: row.missing_run,
        updated_at: Number(updated_at),
        bases: JSON.parse(bases) as Record<string, string>,
        identities: JSON.parse(identities) as Record<string, string>,
        sent: JSON.parse(sent) as SentForms,
        echoes: readEchoes(echoes),
        settles_at: Number(settles_at),
        isGone: gone_at !== null,
      },
    ]),
  );
}

/** An earlier version kept one form of what stood there before. */
function readEchoes(text: string): Echoes {
  const kept = JSON.parse(text) as Record<string, Omit<Echo, 'over'> & { over?: string | readonly string[] }>;
  return Object.fromEntries(
    Object.entries(kept).map(([field, { over, ...echo }]) => [
      field,
      over === undefined ? echo : { ...echo, over: [over].flat() },
    ]),
  );
}

/**
 * Saves what changed of a pair, over the state it was decided from. False where somebody else was quicker: then
 * nothing is saved, and nothing may be written.
 */
export async function savePair(
  store: Store,
  { tenantId, stream }: StreamKey,
  { pairId, version, bases, identities, sent, echoes, settlesInMs, missing, isGone }: PairChange,
): Promise<boolean> {
  const { kysely, now } = store;
  const seal = (column: 'bases' | 'sent' | 'echoes', value: object): Promise<string> =>
    sealed(store, `exchange_pairs.${column}`, tenantId, JSON.stringify(value));
  const settles = settlesInMs === undefined ? undefined : sql<number>`${now} + ${sql.lit(settlesInMs)}`;
  const changed = {
    version: version + 1,
    updated_at: now,
    ...(bases === undefined ? {} : { bases: await seal('bases', bases) }),
    ...(identities === undefined ? {} : { identities: JSON.stringify(identities) }),
    ...(sent === undefined ? {} : { sent: await seal('sent', sent) }),
    ...(echoes === undefined ? {} : { echoes: await seal('echoes', echoes) }),
    ...(settles === undefined ? {} : { settles_at: settles }),
    ...(missing === undefined ? {} : { missing_side: missing?.side ?? null, missing_run: missing?.runId ?? null }),
    ...(isGone === undefined ? {} : { gone_at: isGone ? now : null }),
  };
  if (version > 0) {
    const result = await kysely
      .updateTable('exchange_pairs')
      .set(changed)
      .where('tenant_id', '=', tenantId)
      .where('stream', '=', stream)
      .where('pair_id', '=', pairId)
      .where('version', '=', version)
      .executeTakeFirst();
    return result.numUpdatedRows === 1n;
  }
  const row = { tenant_id: tenantId, stream, pair_id: pairId, bases: '{}', sent: '{}', settles_at: 0 };
  const made = await kysely
    .insertInto('exchange_pairs')
    .values({ ...row, missing_side: null, missing_run: null, gone_at: null, ...changed })
    .onConflict((c) => c.doNothing())
    .executeTakeFirst();
  return made.numInsertedOrUpdatedRows === 1n;
}

/** How many pairs this run has marked as missing on one side, or as gone. */
export async function countMarked(
  { kysely }: Store,
  { tenantId, stream }: StreamKey,
  missing: { side: Side; runId: string },
): Promise<number> {
  const own = { tenant_id: tenantId, stream, missing_side: missing.side, missing_run: missing.runId };
  const { count } = await kysely
    .selectFrom('exchange_pairs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where((eb) => eb.and(own))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The link goes to another record: neither what was agreed with the one before nor a conflict with it counts. */
export async function forgetPair(
  { kysely, now }: Store,
  { tenantId, stream, pairId }: StreamKey & { pairId: string },
): Promise<void> {
  const own = { tenant_id: tenantId, stream, pair_id: pairId };
  await kysely
    .deleteFrom('exchange_pairs')
    .where((eb) => eb.and(own))
    .execute();
  await kysely
    .updateTable('field_conflicts')
    .set({ closed_at: now })
    .where((eb) => eb.and(own))
    .where('closed_at', 'is', null)
    .execute();
}
