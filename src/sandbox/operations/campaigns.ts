/** Section 4.10: company campaigns and sites. */
import { linkedSites } from '../records/sites.ts';
import type { OperationTree } from './operation.ts';

export const sites = {
  list: (ctx) => ({ body: { sites: linkedSites(ctx) } }),
} satisfies OperationTree['sites'];
