import { sql } from 'kysely';
import { audit } from './audit.ts';
import { batchesOf, has, inTransaction, put, type Store } from './open-store.ts';
import type { Row } from './schema.ts';

export interface OptionsKey {
  tenantId: string;
  /** A select field of the partner. */
  fieldId: string;
}

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

interface FieldChange {
  entity: string;
  fieldId: string;
  at: number;
  before: FieldDefinition | undefined;
  after: FieldDefinition | undefined;
}

/** Selects fields: all of one side, or those of one kind of record. */
interface FieldScope {
  tenantId: string;
  side: Row<'fields'>['side'];
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
  await inTransaction(store, async (within) => {
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

/** Definitions that are new or changed, and rows whose field is missing. */
function compare(rows: readonly Row<'fields'>[], found: readonly FieldDefinition[]) {
  const present = rows.filter((row) => row.gone_at === null);
  const known = new Map(present.map((row) => [keyOf(row.entity, row.field_id), row.definition]));
  const seen = new Set(found.map(({ entity, id }) => keyOf(entity, id)));
  const differing = found.flatMap((now) => {
    const before = known.get(keyOf(now.entity, now.id)) ?? null;
    return before === textOf(now) ? [] : [{ now, before }];
  });
  return { differing, missing: present.filter((row) => !seen.has(keyOf(row.entity, row.field_id))) };
}

/** The latest changes of the hiring platform's fields for one tenant, newest first. */
export async function listFieldChanges(store: Store, tenantId: string, limit: number): Promise<FieldChange[]> {
  const rows = await store.kysely
    .selectFrom('field_changes')
    .selectAll()
    .where(has({ tenant_id: tenantId, side: 'partner' }))
    .orderBy('at', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ entity, field_id: fieldId, at, before, after }: Row<'field_changes'>) => ({
    entity,
    fieldId,
    at,
    before: before === null ? undefined : parse(before),
    after: after === null ? undefined : parse(after),
  }));
}

/** Labels of custom fields of the hiring platform by their ids; a field that is gone keeps its last one. */
export async function readLabels(
  { kysely }: Store,
  tenantId: string,
  ids: readonly string[],
): Promise<Record<string, string>> {
  if (ids.length === 0) return {};
  const rows = await kysely
    .selectFrom('fields')
    .select(['field_id', 'definition'])
    .where(has({ tenant_id: tenantId, side: 'partner' }))
    .where('field_id', 'in', ids)
    .execute();
  return Object.fromEntries(rows.map(({ field_id: id, definition }) => [id, parse(definition).label]));
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
  const rows = [...matches].map(([path, match]) => {
    return { tenant_id: tenantId, path, definition: textOf(match), matched_at: store.now };
  });
  await put(store, 'field_matches', rows, { key: ['tenant_id', 'path'], set: ['definition'] });
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

function rowsOf(store: Store, tenantId: string, side: Row<'fields'>['side']): Promise<Row<'fields'>[]> {
  return store.kysely
    .selectFrom('fields')
    .selectAll()
    .where(has({ tenant_id: tenantId, side }))
    .execute();
}

async function putField(store: Store, { tenantId, side }: FieldScope, one: FieldDefinition): Promise<void> {
  const { entity, id: field_id } = one;
  const seen = { definition: textOf(one), first_seen_at: store.now, gone_at: null };
  const columns = { key: ['tenant_id', 'side', 'entity', 'field_id'], set: ['definition', 'gone_at'] } as const;
  await put(store, 'fields', [{ tenant_id: tenantId, side, entity, field_id, ...seen }], columns);
}

async function markGone(store: Store, row: Row<'fields'>): Promise<void> {
  await store.kysely
    .updateTable('fields')
    .set({ gone_at: store.now })
    .where(has({ tenant_id: row.tenant_id, side: row.side, entity: row.entity, field_id: row.field_id }))
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

/** What is recorded of each label that the field's options have or had. */
export async function readOptionLabels(
  { kysely }: Store,
  { tenantId, fieldId }: OptionsKey,
): Promise<Map<string, Row<'option_labels'>>> {
  const rows = await kysely
    .selectFrom('option_labels')
    .selectAll()
    .where(has({ tenant_id: tenantId, field_id: fieldId }))
    .execute();
  return new Map(rows.map((row) => [row.label, row]));
}

const A_DAY_MS = 86_400_000;

/** Labels found in use within the last day when they should have been removed: they are not checked again yet. */
export async function readInUse({ kysely, now }: Store, { tenantId, fieldId }: OptionsKey): Promise<string[]> {
  const rows = await kysely
    .selectFrom('option_labels')
    .select('label')
    .where(has({ tenant_id: tenantId, field_id: fieldId }))
    .where('in_use_at', '>', sql<number>`${now} - ${sql.lit(A_DAY_MS)}`)
    .execute();
  return rows.map(({ label }) => label);
}

export async function noteInUse(
  { kysely, now }: Store,
  { tenantId, fieldId }: OptionsKey,
  labels: readonly string[],
): Promise<void> {
  for (const some of batchesOf(labels))
    await kysely
      .updateTable('option_labels')
      .set({ in_use_at: now })
      .where(has({ tenant_id: tenantId, field_id: fieldId }))
      .where('label', 'in', some)
      .execute();
}

/** What one pass found and is about to do: the owner of each label, labels missing from the list, labels to remove. */
interface NotedLabels {
  entries: readonly { id: string; label: string }[];
  /** Missing for the first time. */
  missed: readonly string[];
  leaving: readonly string[];
}

/** By label, the entry that owns it: the first of several with this label; the next one owns it if that one goes. */
export function bearersOf(entries: NotedLabels['entries']): Map<string, string> {
  return new Map(entries.toReversed().map(({ id, label }) => [label, id]));
}

/** Records all of it before anything is sent, in one transaction. Writes nothing if nothing changed. */
export async function noteOptionLabels(
  store: Store,
  { tenantId, fieldId }: OptionsKey,
  runId: string,
  { entries, missed, leaving }: NotedLabels,
): Promise<void> {
  const known = await readOptionLabels(store, { tenantId, fieldId });
  const rows = new Map<string, Row<'option_labels'>>();
  const change = (label: string, to: Partial<Row<'option_labels'>>): void => {
    const blank = { entry_id: null, missed_run: null, leaving: 0, in_use_at: null };
    const before = rows.get(label) ?? known.get(label) ?? { tenant_id: tenantId, field_id: fieldId, label, ...blank };
    const after = { ...before, ...to };
    if (!known.has(label) || JSON.stringify(before) !== JSON.stringify(after)) rows.set(label, after);
  };
  for (const [label, id] of bearersOf(entries)) change(label, { entry_id: id, missed_run: null, leaving: 0 });
  for (const label of missed) change(label, { missed_run: runId });
  for (const label of leaving) change(label, { leaving: 1 });
  if (rows.size === 0) return;
  await store.kysely.transaction().execute(async (kysely) => {
    const columns = { key: ['tenant_id', 'field_id', 'label'], set: ['entry_id', 'missed_run', 'leaving'] } as const;
    await put({ kysely }, 'option_labels', [...rows.values()], columns);
  });
}

/** `gone` labels are removed from the field and unused; `kept` labels stay until a later pass. */
export async function settleLeaving(
  { kysely }: Store,
  { tenantId, fieldId }: OptionsKey,
  { gone, kept }: { gone: readonly string[]; kept: readonly string[] },
): Promise<void> {
  if (gone.length > 0)
    await kysely
      .deleteFrom('option_labels')
      .where(has({ tenant_id: tenantId, field_id: fieldId }))
      .where('label', 'in', gone)
      .execute();
  if (kept.length > 0)
    await kysely
      .updateTable('option_labels')
      .set({ leaving: 0 })
      .where(has({ tenant_id: tenantId, field_id: fieldId }))
      .where('label', 'in', kept)
      .execute();
}
