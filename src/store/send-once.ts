import { sql } from 'kysely';
import { has, readClock, type Store } from './open-store.ts';
import type { Row } from './schema.ts';

/** Tables of requests that must not be made twice: a row has the state of its request and counts the attempts. */
type Requests = 'hire_documents' | 'invitations' | 'requisitions' | 'resumes' | 'sourced_leads' | 'stage_moves';

interface Sending<Table extends Requests> {
  key: Partial<Row<Table>>;
  sent: Partial<Row<Table>>;
  /** The row as it was when this was decided; undefined if there was none. */
  before: { state: string; attempt: number } | undefined;
}

/** The columns of a request that is about to leave: it must have left within `budgetMs`. */
export async function sentNow(store: Store, budgetMs: number) {
  const sentAt = await readClock(store);
  return { state: 'sent' as const, sent_at: sentAt, give_up_at: sentAt + budgetMs };
}

/**
 * Commits that a request is about to be sent. Undefined if another process did so first: the row is written only if it
 * is as it was when this was decided.
 */
export async function sendOnce<Table extends Requests>(
  { kysely }: Store,
  table: Table,
  { key, sent, before }: Sending<Table>,
): Promise<Row<Table> | undefined> {
  // One of the tables stands for all of them in the types.
  const own = table as 'requisitions';
  const row = { ...sent, attempt: (before?.attempt ?? 0) + 1 } as Row<'requisitions'>;
  const insert = kysely.insertInto(own).values({ ...key, ...row });
  const known = { ...key, state: before?.state, attempt: before?.attempt } as Row<'requisitions'>;
  const update = kysely.updateTable(own).set(row).where(has(known));
  const write = before === undefined ? insert.onConflict((c) => c.doNothing()).returningAll() : update.returningAll();
  return (await write.executeTakeFirst()) as Row<Table> | undefined;
}

/** Records that nothing is sent, unless a person asks for it again. A row that changed meanwhile stays as it is. */
export async function refuseOnce<Table extends 'resumes' | 'sourced_leads'>(
  { kysely, now }: Store,
  table: Table,
  { key, before }: Pick<Sending<Table>, 'key' | 'before'>,
  change: { code: string } & Partial<Row<Table>>,
): Promise<void> {
  const { state, attempt } = before ?? { state: 'refused', attempt: 0 };
  const refused = { ...change, state: 'refused' as const, decided_at: now };
  await kysely
    .insertInto(table as 'resumes')
    .values({ ...(key as Row<'resumes'>), ...refused, attempt })
    .onConflict((c) =>
      c
        .columns(Object.keys(key) as ['tenant_id', 'job_id'])
        .doUpdateSet(refused)
        .where(sql.ref<string>(`${table}.state`), '=', state)
        .where(sql.ref<number>(`${table}.attempt`), '=', attempt),
    )
    .execute();
}
