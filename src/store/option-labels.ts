import { sql } from 'kysely';
import { batchesOf, type Store } from './open-store.ts';
import type { OptionLabelTable } from './push-tables.ts';

export interface OptionsKey {
  tenantId: string;
  /** A select field of the partner. */
  fieldId: string;
}

/** What is recorded of each label that the field's options have or had. */
export async function readOptionLabels(
  { kysely }: Store,
  { tenantId, fieldId }: OptionsKey,
): Promise<Map<string, OptionLabelTable>> {
  const rows = await kysely
    .selectFrom('option_labels')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('field_id', '=', fieldId)
    .execute();
  return new Map(rows.map((row) => [row.label, row]));
}

const A_DAY_MS = 86_400_000;

/** Labels found in use within the last day when they should have been removed: they are not checked again yet. */
export async function readInUse({ kysely, now }: Store, { tenantId, fieldId }: OptionsKey): Promise<string[]> {
  const rows = await kysely
    .selectFrom('option_labels')
    .select('label')
    .where('tenant_id', '=', tenantId)
    .where('field_id', '=', fieldId)
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
      .where('tenant_id', '=', tenantId)
      .where('field_id', '=', fieldId)
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
  const rows = new Map<string, OptionLabelTable>();
  const change = (label: string, to: Partial<OptionLabelTable>): void => {
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
    for (const some of batchesOf([...rows.values()]))
      await kysely
        .insertInto('option_labels')
        .values(some)
        .onConflict((c) =>
          c.columns(['tenant_id', 'field_id', 'label']).doUpdateSet((eb) => ({
            entry_id: eb.ref('excluded.entry_id'),
            missed_run: eb.ref('excluded.missed_run'),
            leaving: eb.ref('excluded.leaving'),
          })),
        )
        .execute();
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
      .where('tenant_id', '=', tenantId)
      .where('field_id', '=', fieldId)
      .where('label', 'in', gone)
      .execute();
  if (kept.length > 0)
    await kysely
      .updateTable('option_labels')
      .set({ leaving: 0 })
      .where('tenant_id', '=', tenantId)
      .where('field_id', '=', fieldId)
      .where('label', 'in', kept)
      .execute();
}
