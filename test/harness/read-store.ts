import { existsSync } from 'node:fs';
import { sql } from 'kysely';
import { openDatabase } from '../../src/sql/open-database.ts';

export interface TenantStatus {
  /** `active`, `paused`, `removed`, or `unknown` before the tenant was applied. */
  state: string;
  /** Why it is paused. */
  paused: string | null;
  baseline: 'done' | 'not done';
  /** Whether a whole pass over the tenant has ended. The baseline goes live before its pass ends. */
  reconciled: boolean;
  /** How many hires there are in each state. */
  hires: Partial<Record<string, number>>;
  /** Deliveries by state. */
  inbox: Partial<Record<string, number>>;
  /** Codes of the open holds. */
  holds: string[];
}

const NOTHING: TenantStatus = {
  state: 'unknown',
  paused: null,
  baseline: 'not done',
  reconciled: false,
  hires: {},
  inbox: {},
  holds: [],
};

/**
 * Where a tenant stands, read from the store's tables. Only for waiting and for the words of a failure: the judge is
 * the ledger. Far cheaper than `hirebridge status`, which starts a process each time and slows down what is waited for.
 */
export async function readTenant(storeUrl: string, tenant: string): Promise<TenantStatus> {
  // Opening a file that is not there would make it.
  if (storeUrl.startsWith('sqlite:') && !existsSync(storeUrl.slice('sqlite:'.length))) return NOTHING;
  const { kysely, close } = openDatabase<never>(storeUrl, { poolSize: 1 });
  try {
    const counts = (table: string) =>
      sql<{
        state: string;
        count: number;
      }>`select state, count(*) as count from ${sql.table(table)} where tenant_id = ${tenant} group by state`.execute(
        kysely,
      );
    const [tenants, hires, inbox, holds] = [
      await sql<{
        state: string;
        paused_code: string | null;
        baseline_done_at: number | null;
        reconciled_at: number | null;
      }>`select state, paused_code, baseline_done_at, reconciled_at from tenants where tenant_id = ${tenant}`.execute(
        kysely,
      ),
      await counts('hires'),
      await counts('inbox'),
      await sql<{
        code: string;
      }>`select code from holds where tenant_id = ${tenant} and closed_at is null`.execute(kysely),
    ];
    const [row] = tenants.rows;
    return {
      state: row?.state ?? 'unknown',
      paused: row?.paused_code ?? null,
      baseline: (row?.baseline_done_at ?? null) === null ? 'not done' : 'done',
      reconciled: (row?.reconciled_at ?? null) !== null,
      hires: Object.fromEntries(hires.rows.map(({ state, count }) => [state, Number(count)])),
      inbox: Object.fromEntries(inbox.rows.map(({ state, count }) => [state, Number(count)])),
      holds: holds.rows.map(({ code }) => code),
    };
  } catch (error) {
    // Its tables are made by the process that starts first.
    if (/no such table|does not exist/.test(String(error))) return NOTHING;
    throw error;
  } finally {
    await close();
  }
}
