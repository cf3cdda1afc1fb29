import {
  DeleteQueryNode,
  InsertQueryNode,
  type KyselyPlugin,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryId,
  type QueryResult,
  RawNode,
  type RootOperationNode,
  type UnknownRow,
  UpdateQueryNode,
} from 'kysely';

/** Calls `pass` directly before and after every write to the store, with a name made of verb and table. */
export function writeFailpoints(pass: (point: string) => void): KyselyPlugin {
  const writing = new WeakMap<QueryId, string>();
  return {
    transformQuery({ node, queryId }: PluginTransformQueryArgs): RootOperationNode {
      const name = nameOf(node);
      if (name !== undefined) {
        writing.set(queryId, name);
        pass(`${name}/before`);
      }
      return node;
    },
    async transformResult({ result, queryId }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
      const name = writing.get(queryId);
      if (name !== undefined) pass(`${name}/after`);
      return result;
    },
  };
}

function nameOf(node: RootOperationNode): string | undefined {
  if (InsertQueryNode.is(node)) return `store.insert.${tableOf(node.into)}`;
  if (UpdateQueryNode.is(node)) return `store.update.${tableOf(node.table)}`;
  if (DeleteQueryNode.is(node)) return `store.delete.${tableOf(node.from)}`;
  if (RawNode.is(node)) return nameOfText(node.sqlFragments.join(' '));
  return undefined;
}

/** Names a write given as text; if it begins with another one (`with`), the last one counts. */
function nameOfText(text: string): string | undefined {
  const [, verb, table] =
    /^\s*(?:with\b[^]*\)\s*)?(insert|update|delete)\b(?:\s+(?:into|from))?\s*"?(\w*)/i.exec(text) ?? [];
  return verb === undefined ? undefined : `store.${verb.toLowerCase()}.${table || 'unknown'}`;
}

/** Finds the table's name in a query node. */
function tableOf(node: unknown): string {
  if (typeof node !== 'object' || node === null) return 'unknown';
  if ('kind' in node && node.kind === 'IdentifierNode' && 'name' in node) return String(node.name);
  for (const key of ['table', 'identifier', 'node', 'froms'] as const) {
    const inner = (node as Record<string, unknown>)[key];
    if (inner !== undefined) return tableOf(Array.isArray(inner) ? inner[0] : inner);
  }
  return 'unknown';
}
