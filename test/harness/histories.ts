import { type Client, Connection, Client as TemporalClient } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

export interface RecordedWorkflow {
  workflowId: string;
  type: string;
  /** Temporal's JSON form of a history. */
  history: string;
  searchAttributes: string;
}

/** Every workflow of one installation with its history, as the server holds it. */
export async function readWorkflows(address: string, installationId: string): Promise<RecordedWorkflow[]> {
  const connection = await Connection.connect({ address });
  try {
    const client: Client = new TemporalClient({ connection });
    const found: RecordedWorkflow[] = [];
    for await (const run of client.workflow.list({ query: `TaskQueue = '${installationId}/work'` })) {
      const handle = client.workflow.getHandle(run.workflowId, run.runId);
      found.push({
        workflowId: run.workflowId,
        type: run.type,
        history: historyToJSON(await handle.fetchHistory()),
        searchAttributes: JSON.stringify(run.typedSearchAttributes.getAll()),
      });
    }
    return found;
  } finally {
    await connection.close();
  }
}

/** A history's text with every payload decoded beside it: payloads are base64 there, and a search would miss them. */
export function readable(history: string): string {
  const decoded: string[] = [history];
  const walk = (value: unknown): void => {
    if (typeof value === 'string' && /^[A-Za-z0-9+/]{4,}={0,2}$/.test(value))
      decoded.push(Buffer.from(value, 'base64').toString());
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(walk);
  };
  walk(JSON.parse(history));
  return decoded.join('\n');
}
