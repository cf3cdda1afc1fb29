import type { Store } from '../store/open-store.ts';
import type { HireClient } from '../temporal/hire-client.ts';
import type { Tenant } from '../tenants/schema.ts';

/** What an operator's actions work on, opened by whoever calls them. */
export interface OperatorParts {
  store: Store;
  hires: HireClient;
  tenants: readonly Pick<Tenant, 'tenant'>[];
}
