import { type KyselyPlugin, type QueryId, type RootOperationNode, sql } from 'kysely';
import { onTestFinished } from 'vitest';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { freshStoreUrl, type kinds } from './stores.ts';

export interface Asked {
  node: RootOperationNode;
  queryId: QueryId;
}

/** A store that keeps every query it was asked. */
export async function recordingStore(kind: (typeof kinds)[number], options = '') {
  const asked: Asked[] = [];
  const built = new WeakMap<QueryId, RootOperationNode>();
  const recorder: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      built.set(queryId, node);
      return node;
    },
    // Parts of queries are built as well; what has a result was asked.
    async transformResult({ result, queryId }) {
      const node = built.get(queryId);
      if (node !== undefined) asked.push({ node, queryId });
      return result;
    },
  };
  const url = await freshStoreUrl(kind);
  await (await openStore(url)).close();
  const store = await openStore(kind === 'postgres' ? url + options : url, { plugins: [recorder] });
  onTestFinished(() => store.close());
  asked.splice(0);
  return { store, asked };
}

/** How each of these queries is carried out, a line a step. */
export async function plansOf({ kysely, kind }: Store, asked: readonly Asked[]) {
  const plans: { sql: string; lines: string[] }[] = [];
  for (const { node, queryId } of asked) {
    const compiled = kysely.getExecutor().compileQuery(node, queryId);
    const explain = kind === 'sqlite' ? 'explain query plan' : 'explain';
    const { rows } = await kysely.executeQuery<PlanLine>({ ...compiled, sql: `${explain} ${compiled.sql}` });
    plans.push({ sql: compiled.sql, lines: rows.map((row) => row.detail ?? row['QUERY PLAN'] ?? '') });
  }
  return plans;
}

interface PlanLine {
  detail?: string;
  'QUERY PLAN'?: string;
}

/** Rows that these queries go through. SQLite does not say: there each scan counts as its whole table. */
export async function rowsRead(store: Store, asked: readonly Asked[]): Promise<number> {
  let rows = 0;
  if (store.kind === 'sqlite') {
    const scanned = (await plansOf(store, asked)).flatMap(({ lines }) => lines.map((line) => /^SCAN (\w+)/.exec(line)));
    for (const [, table = ''] of scanned.filter((found) => found !== null)) rows += await countOf(store, table);
    return rows;
  }
  for (const { node, queryId } of asked) {
    const compiled = store.kysely.getExecutor().compileQuery(node, queryId);
    const explained = { ...compiled, sql: `explain (analyze, format json) ${compiled.sql}` };
    const result = await store.kysely.executeQuery<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explained);
    rows += rowsOf(result.rows[0]?.['QUERY PLAN'][0].Plan);
  }
  return rows;
}

interface PlanNode {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

function rowsOf(node: PlanNode | undefined): number {
  if (node === undefined) return 0;
  const { 'Actual Rows': kept, 'Actual Loops': loops, 'Rows Removed by Filter': dropped = 0, Plans = [] } = node;
  return loops * (kept + dropped) + Plans.reduce((sum, one) => sum + rowsOf(one), 0);
}

/** Nothing where the name is not that of a table: what a query made itself is as small as what it read. */
async function countOf({ kysely }: Store, table: string): Promise<number> {
  const known = await sql`select 1 from sqlite_master where type = 'table' and name = ${table}`.execute(kysely);
  if (known.rows.length === 0) return 0;
  const counted = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(kysely);
  return Number(counted.rows[0]?.count);
}
