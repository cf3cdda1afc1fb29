import { audit } from '../store/audit.ts';
import type { Store } from '../store/open-store.ts';

/** Writes down that somebody was shown what is masked otherwise, before it is shown. */
export async function noteReveal(
  store: Store,
  { by, tenantId, what }: { by: string; tenantId: string; what: string },
): Promise<void> {
  await audit(store, { by, tenantId, act: 'revealed', details: what });
}
