import { type Connection, isGrpcServiceError } from '@temporalio/client';
import { ConnectorError } from '../errors.ts';
import { searchAttributes } from './dev-server/search-attributes.ts';
import { grpcCode } from './grpc-error.ts';

/** `INDEXED_VALUE_TYPE_KEYWORD` in Temporal's API; all our attributes are keywords. */
const KEYWORD = 2;

interface Verdicts {
  missing: string[];
  otherType: string[];
}

/**
 * Checks before anything starts that the namespace has our search attributes: starting a workflow with a missing one
 * fails. Throws SEARCH_ATTRIBUTES_MISSING with the command that creates them.
 */
export async function checkSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { missing, otherType } = await connection.withDeadline(Date.now() + 10_000, () => look(connection, namespace));
  if (missing.length === 0 && otherType.length === 0) return;
  const asked = Object.entries(searchAttributes);
  const problems = [
    ...missing.map((name) => `${name} is missing`),
    ...otherType.map((name) => `${name} is not of type ${asked.find(([known]) => known === name)?.[1] ?? ''}`),
  ];
  throw new ConnectorError({
    code: 'SEARCH_ATTRIBUTES_MISSING',
    action: 'reject',
    message:
      `Temporal's namespace ${namespace} lacks search attributes: ${problems.join(', ')}.` +
      (missing.length === 0 ? ' Use another namespace.' : ` Create them: ${command(connection, namespace, missing)}`),
    details: { missing, otherType },
  });
}

/** The command that creates them: Temporal Cloud has its own tool; elsewhere the Temporal CLI does it. */
function command({ options: { address } }: Connection, namespace: string, names: string[]): string {
  if (/\.(tmprl\.cloud|temporal\.io)(:\d+)?$/.test(address)) {
    const pairs = names.map((name) => `--search-attribute ${name}=Keyword`).join(' ');
    return `tcld namespace search-attributes add --namespace ${namespace} ${pairs}`;
  }
  // The CLI pairs names with types, and silently ignores names beyond the number of types.
  const flags = names.map((name) => `--name ${name} --type Keyword`).join(' ');
  const where = `--address ${address} --namespace ${namespace}`;
  return `temporal operator search-attribute create ${where} ${flags}`;
}

async function look(connection: Connection, namespace: string): Promise<Verdicts> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const names = Object.keys(searchAttributes);
    return {
      missing: names.filter((name) => !(name in customAttributes)),
      otherType: names.filter((name) => name in customAttributes && customAttributes[name] !== KEYWORD),
    };
  } catch (error) {
    // Temporal Cloud does not offer the operator service; instead, a query with an unknown attribute is refused.
    if (!isGrpcServiceError(error)) throw error;
    return { missing: await unknownToQueries(connection, namespace), otherType: [] };
  }
}

async function unknownToQueries(connection: Connection, namespace: string): Promise<string[]> {
  const missing: string[] = [];
  for (const name of Object.keys(searchAttributes)) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query: `${name} = 'none'` });
    } catch (error) {
      if (grpcCode(error) !== 'INVALID_ARGUMENT') throw error;
      missing.push(name);
    }
  }
  return missing;
}
