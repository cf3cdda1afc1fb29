import { type CompiledQuery, type KyselyPlugin, type QueryId, type RootOperationNode, sql } from 'kysely';
import { onTestFinished } from 'vitest';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { freshStoreUrl, type kinds } from './stores.ts';

export interface Asked {
  node: RootOperationNode;
  queryId: QueryId;
}

/** Keeps every query that a store with this plugin is asked. */
export function recorder(): { plugin: KyselyPlugin; asked: Asked[] } {
  const asked: Asked[] = [];
  const built = new WeakMap<QueryId, RootOperationNode>();
  const plugin: KyselyPlugin = {
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
  return { plugin, asked };
}

/** A store that keeps every query it was asked. */
export async function recordingStore(kind: (typeof kinds)[number], options = '') {
  const { plugin, asked } = recorder();
  const url = await freshStoreUrl(kind);
  await (await openStore(url)).close();
  const store = await openStore(kind === 'postgres' ? url + options : url, { plugins: [plugin] });
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
    // `analyze` has no plan.
    if (!/^\s*(?:select|insert|update|delete|with)\b/i.test(compiled.sql)) {
      plans.push({ sql: compiled.sql, lines: [] });
      continue;
    }
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
  for (const { node, queryId } of asked)
    for (const step of await stepsOf(store, store.kysely.getExecutor().compileQuery(node, queryId)))
      rows += rowsIn(step);
  return rows;
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** Every step that Postgres took for this query, which is carried out once more. */
export async function stepsOf({ kysely }: Store, compiled: CompiledQuery): Promise<PlanNode[]> {
  const explained = { ...compiled, sql: `explain (analyze, format json) ${compiled.sql}` };
  const result = await kysely.executeQuery<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explained);
  const below = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(below)];
  return result.rows.flatMap((row) => below(row['QUERY PLAN'][0].Plan));
}

/** Rows that a step went through. */
export function rowsIn({
  'Actual Rows': kept,
  'Actual Loops': loops,
  'Rows Removed by Filter': dropped = 0,
}: PlanNode): number {
  return loops * (kept + dropped);
}

/** Nothing where the name is not that of a table: what a query made itself is as small as what it read. */
async function countOf({ kysely }: Store, table: string): Promise<number> {
  const known = await sql`select 1 from sqlite_master where type = 'table' and name = ${table}`.execute(kysely);
  if (known.rows.length === 0) return 0;
  const counted = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(kysely);
  return Number(counted.rows[0]?.count);
}
