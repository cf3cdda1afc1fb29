import type { Selectable } from 'kysely';
import { audit } from './audit.ts';
import type { Store } from './open-store.ts';
import type { StreamStateTable } from './stream-tables.ts';
import type { StreamKey } from './streams.ts';

export type StreamState = Selectable<StreamStateTable>;

/** Undefined if the stream was never paused, held or read in full. */
export async function readStreamState(store: Store, key: StreamKey): Promise<StreamState | undefined> {
  return store.kysely
    .selectFrom('stream_states')
    .selectAll()
    .where('tenant_id', '=', key.tenantId)
    .where('stream', '=', key.stream)
    .executeTakeFirst();
}

export async function listStreamStates({ kysely }: Store, tenantIds?: readonly string[]): Promise<StreamState[]> {
  const query = kysely.selectFrom('stream_states').selectAll();
  return (tenantIds === undefined ? query : query.where('tenant_id', 'in', tenantIds)).execute();
}

/** Stops a stream until `resumeStream`. False if it is paused already. */
export async function pauseStream(store: Store, key: StreamKey, by: string): Promise<boolean> {
  if ((await readStreamState(store, key))?.paused_at) return false;
  return store.kysely.transaction().execute(async (kysely) => {
    const own = { ...store, kysely };
    await change(own, key, { paused_by: by, paused_at: store.now });
    await audit(own, { by, tenantId: key.tenantId, act: 'stream-paused', details: key.stream });
    return true;
  });
}

/** Stops a stream whose run would have changed too much; its message stays until a person resumes it. */
export async function holdStream(store: Store, key: StreamKey, why: { code: string; message: string }): Promise<void> {
  await change(store, key, { held_code: why.code, held_message: why.message, held_at: store.now });
}

/**
 * Ends a pause or a hold. The held change is allowed in the next full pass, along with earlier allowances that no pass
 * has used. False if the stream was neither paused nor held.
 */
export async function resumeStream(store: Store, key: StreamKey, by: string): Promise<boolean> {
  const state = await readStreamState(store, key);
  if (!state?.paused_at && !state?.held_code) return false;
  const codes = [...allowedCodes(state), ...(state.held_code === null ? [] : [state.held_code])];
  const allowed = state.held_code === null ? {} : { allowed_code: codes.join(' '), allowed_by: by };
  const over = { paused_by: null, paused_at: null, held_code: null, held_message: null, held_at: null };
  return store.kysely.transaction().execute(async (kysely) => {
    const own = { ...store, kysely };
    await change(own, key, { ...over, ...allowed });
    const details = [key.stream, state.held_code].filter(Boolean).join(' ');
    await audit(own, { by, tenantId: key.tenantId, act: 'stream-resumed', details });
    return true;
  });
}

/** The change limits that the stream is held for. */
export function heldCodes(state: Pick<StreamState, 'held_code'> | undefined): string[] {
  return state?.held_code?.split(' ') ?? [];
}

/** A code with `:` names the only part of the stream that is held or allowed; the other parts go on. */
export function isOfPart(code: string): boolean {
  return code.includes(':');
}

/** Drops the holds of parts that the stream no longer has. */
export async function forgetHeld(store: Store, key: StreamKey, gone: readonly string[]): Promise<void> {
  const held = heldCodes(await readStreamState(store, key));
  const kept = held.filter((code) => !gone.includes(code));
  if (kept.length === held.length) return;
  const none = { held_code: null, held_message: null, held_at: null };
  await change(store, key, kept.length === 0 ? none : { held_code: kept.join(' ') });
}

/** Whether a run was refused for a reason that the hold does not name. */
export function isRefusedBeside(
  run: { state: string; refused_code: string | null } | undefined,
  state: Pick<StreamState, 'held_code'> | undefined,
): boolean {
  const held = heldCodes(state);
  return run?.state === 'refused' && held.every((one) => isOfPart(one) && one.split(':')[0] !== run.refused_code);
}

/** The change limits that a person lifted for the next full pass. */
export function allowedCodes(state: Pick<StreamState, 'allowed_code'> | undefined): string[] {
  return state?.allowed_code?.split(' ') ?? [];
}

/** Records a finished pass over the whole list. A person's allowance applied to this pass only. */
export async function completePass(
  store: Store,
  key: StreamKey,
  pass: Pick<StreamState, 'whole_at' | 'listed' | 'landed' | 'mapping_hash' | 'unshown'>,
): Promise<void> {
  await change(store, key, { ...pass, allowed_code: null, allowed_by: null });
  await keepPass(store, key, pass);
}

/** How many passes of a stream are kept for display. */
const MOST_PASSES = 60;

/** Stores a pass with the counts of its run; if another run took over, nothing is stored. */
async function keepPass(
  { kysely, now }: Store,
  { tenantId, stream }: StreamKey,
  { whole_at, listed, landed }: Pick<StreamState, 'whole_at' | 'listed' | 'landed'>,
): Promise<void> {
  if (whole_at === null) return;
  const of = { tenant_id: tenantId, stream };
  await kysely
    .insertInto('stream_passes')
    .columns(['tenant_id', 'stream', 'began_at', 'ended_at', 'listed', 'landed', 'created', 'updated', 'quarantined'])
    .expression((eb) =>
      eb
        .selectFrom('streams')
        .select(['tenant_id', 'stream', eb.val(whole_at).as('began_at'), now.as('ended_at')])
        .select([eb.val(listed ?? 0).as('listed'), eb.val(landed ?? 0).as('landed')])
        .select(['created', 'updated', 'quarantined'])
        .where((of_) => of_.and(of)),
    )
    .onConflict((c) => c.doNothing())
    .execute();
  await kysely
    .deleteFrom('stream_passes')
    .where((eb) => eb.and(of))
    .where('began_at', '<=', (eb) =>
      eb
        .selectFrom('stream_passes as kept')
        .select('kept.began_at')
        .where('kept.tenant_id', '=', tenantId)
        .where('kept.stream', '=', stream)
        .orderBy('kept.began_at', 'desc')
        .limit(1)
        .offset(MOST_PASSES),
    )
    .execute();
}

/** The latest complete passes of a stream, oldest first. */
export async function listPasses({ kysely }: Store, { tenantId, stream }: StreamKey): Promise<StreamPass[]> {
  const rows = await kysely
    .selectFrom('stream_passes')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('stream', '=', stream)
    .orderBy('began_at')
    .execute();
  return rows.map((row) => ({
    beganAt: Number(row.began_at),
    endedAt: Number(row.ended_at),
    listed: Number(row.listed),
    landed: Number(row.landed),
    created: Number(row.created),
    updated: Number(row.updated),
    quarantined: Number(row.quarantined),
  }));
}

/** The result of a pass over the whole list: the number of records on both sides, and what it wrote. */
export interface StreamPass {
  beganAt: number;
  endedAt: number;
  listed: number;
  landed: number;
  created: number;
  updated: number;
  quarantined: number;
}

/**
 * Records that a full exchange with this mapping finished. Returns the change limits that a person had lifted for it.
 */
export async function completeExchange(store: Store, key: StreamKey, mappingHash: string): Promise<string[]> {
  const state = await readStreamState(store, key);
  const allowed = allowedCodes(state);
  if (allowed.length > 0 || state?.mapping_hash !== mappingHash)
    await change(store, key, { mapping_hash: mappingHash, allowed_code: null, allowed_by: null });
  return allowed;
}

/** Drops allowances for a run that is over: all of them, or those that the run has `seen`. */
export async function forgetAllowed(store: Store, key: StreamKey, seen?: readonly string[]): Promise<void> {
  const allowed = allowedCodes(await readStreamState(store, key));
  const kept = seen === undefined ? [] : allowed.filter((code) => !seen.includes(code));
  if (kept.length === allowed.length) return;
  await change(
    store,
    key,
    kept.length === 0 ? { allowed_code: null, allowed_by: null } : { allowed_code: kept.join(' ') },
  );
}

type Times = 'paused_at' | 'held_at';
type Change = Partial<Omit<StreamStateTable, 'tenant_id' | 'stream' | Times>> & {
  [Column in Times]?: Store['now'] | null;
};

async function change(store: Store, key: StreamKey, columns: Change): Promise<void> {
  await store.kysely
    .insertInto('stream_states')
    .values({ tenant_id: key.tenantId, stream: key.stream, ...columns })
    .onConflict((c) => c.columns(['tenant_id', 'stream']).doUpdateSet(columns))
    .execute();
}
