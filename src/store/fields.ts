import type { Selectable } from 'kysely';
import { audit } from './audit.ts';
import type { Store } from './open-store.ts';
import type { FieldChangeTable, FieldSide, FieldTable } from './stream-tables.ts';

/** A custom field of the partner, or a field of the HRIS. */
export interface FieldDefinition {
  id: string;
  /** candidate or job at the partner; employee or a stream in the HRIS. */
  entity: string;
  label: string;
  type: string;
  section?: string | null;
  options?: readonly string[] | null;
  /** Known for fields of the HRIS only. */
  required?: boolean;
  maxLength?: number;
  /** Digits after the point. */
  decimals?: number;
}

export interface FieldChange {
  entity: string;
  fieldId: string;
  at: number;
  before: FieldDefinition | undefined;
  after: FieldDefinition | undefined;
}

/** Selects fields: all of one side, or those of one kind of record. */
interface FieldScope {
  tenantId: string;
  side: FieldSide;
  entity?: string;
}

/**
 * Stores the current definitions and the changes since the last look. Writes nothing if nothing changed. A first
 * sighting is not a change.
 */
export async function saveFields(store: Store, scope: FieldScope, found: readonly FieldDefinition[]): Promise<void> {
  const rows = (await rowsOf(store, scope.tenantId, scope.side)).filter(
    ({ entity }) => scope.entity === undefined || entity === scope.entity,
  );
  const { differing, missing } = compare(rows, found);
  if (differing.length + missing.length === 0) return;
  await store.kysely.transaction().execute(async (kysely) => {
    const within = { ...store, kysely };
    for (const { now, before } of differing) {
      await putField(within, scope, now);
      if (rows.length > 0) await noteChange(within, scope, now, { before, after: textOf(now) });
    }
    for (const row of missing) {
      await markGone(within, row);
      const { entity, field_id: id, definition: before } = row;
      await noteChange(within, scope, { entity, id }, { before, after: null });
    }
  });
}

type Row = Selectable<FieldTable>;

/** Definitions that are new or changed, and rows whose field is missing. */
function compare(rows: readonly Row[], found: readonly FieldDefinition[]) {
  const present = rows.filter((row) => row.gone_at === null);
  const known = new Map(present.map((row) => [keyOf(row.entity, row.field_id), row.definition]));
  const seen = new Set(found.map(({ entity, id }) => keyOf(entity, id)));
  const differing = found.flatMap((now) => {
    const before = known.get(keyOf(now.entity, now.id)) ?? null;
    return before === textOf(now) ? [] : [{ now, before }];
  });
  return { differing, missing: present.filter((row) => !seen.has(keyOf(row.entity, row.field_id))) };
}

/** The latest changes of one tenant, newest first. */
export async function listFieldChanges(
  store: Store,
  tenantId: string,
  side: FieldSide,
  limit: number,
): Promise<FieldChange[]> {
  const rows = await store.kysely
    .selectFrom('field_changes')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('side', '=', side)
    .orderBy('at', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ entity, field_id: fieldId, at, before, after }: Selectable<FieldChangeTable>) => ({
    entity,
    fieldId,
    at: Number(at),
    before: before === null ? undefined : parse(before),
    after: after === null ? undefined : parse(after),
  }));
}

/** The field that each path in the mappings stands for. */
export async function readMatches(store: Store, tenantId: string): Promise<Map<string, FieldDefinition>> {
  const rows = await store.kysely.selectFrom('field_matches').selectAll().where('tenant_id', '=', tenantId).execute();
  return new Map(rows.map((row) => [row.path, parse(row.definition)]));
}

export async function saveMatches(
  store: Store,
  tenantId: string,
  matches: ReadonlyMap<string, FieldDefinition>,
): Promise<void> {
  for (const [path, match] of matches)
    await store.kysely
      .insertInto('field_matches')
      .values({ tenant_id: tenantId, path, definition: textOf(match), matched_at: store.now })
      .onConflict((c) => c.columns(['tenant_id', 'path']).doUpdateSet({ definition: textOf(match) }))
      .execute();
}

/** Makes the paths stand for the definitions found at the next read; records who confirmed that. */
export async function acknowledgeFields(
  store: Store,
  { tenantId, by }: { tenantId: string; by: string },
): Promise<void> {
  await store.kysely.transaction().execute(async (kysely) => {
    await kysely.deleteFrom('field_matches').where('tenant_id', '=', tenantId).execute();
    await audit({ ...store, kysely }, { by, tenantId, act: 'acknowledged', details: 'custom fields as they are now' });
  });
}

function rowsOf(store: Store, tenantId: string, side: FieldSide): Promise<Row[]> {
  return store.kysely
    .selectFrom('fields')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('side', '=', side)
    .execute();
}

async function putField(store: Store, { tenantId, side }: FieldScope, one: FieldDefinition): Promise<void> {
  const definition = textOf(one);
  await store.kysely
    .insertInto('fields')
    .values({
      tenant_id: tenantId,
      side,
      entity: one.entity,
      field_id: one.id,
      definition,
      first_seen_at: store.now,
      gone_at: null,
    })
    .onConflict((c) =>
      c.columns(['tenant_id', 'side', 'entity', 'field_id']).doUpdateSet({ definition, gone_at: null }),
    )
    .execute();
}

async function markGone(store: Store, row: Row): Promise<void> {
  await store.kysely
    .updateTable('fields')
    .set({ gone_at: store.now })
    .where('tenant_id', '=', row.tenant_id)
    .where('side', '=', row.side)
    .where('entity', '=', row.entity)
    .where('field_id', '=', row.field_id)
    .execute();
}

async function noteChange(
  store: Store,
  { tenantId, side }: FieldScope,
  { entity, id }: Pick<FieldDefinition, 'entity' | 'id'>,
  change: { before: string | null; after: string | null },
): Promise<void> {
  const row = { tenant_id: tenantId, side, entity, field_id: id, at: store.now, ...change };
  await store.kysely.insertInto('field_changes').values(row).execute();
}

/** The same text for equal definitions. */
function textOf({ id, entity, label, type, section, options, required, maxLength, decimals }: FieldDefinition): string {
  return JSON.stringify({ id, entity, label, type, section, options, required, maxLength, decimals });
}

function parse(text: string): FieldDefinition {
  return JSON.parse(text) as FieldDefinition;
}

function keyOf(entity: string, id: string): string {
  return JSON.stringify([entity, id]);
}
