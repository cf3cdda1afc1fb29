import { z } from 'zod';
import { allEndpoints } from './index.ts';

/**
 * Names of an operation's query parameters, page names included; undefined where no operation is called so or it takes
 * none.
 */
export function queryNamesOf(operation: string): string[] | undefined {
  const query = allEndpoints().find(({ id }) => id === operation)?.query;
  return query instanceof z.ZodObject ? Object.keys(query.shape) : undefined;
}
