import { amendsOnly } from '../../src/exchange/see-fields.ts';
import { type HoldCode, holdOf } from '../../src/hire/holds.ts';
import { countUndecided, hasUndecided } from '../../src/store/field-conflicts.ts';
import { askAnew, closeTenantHolds, openHold, readHold } from '../../src/store/holds.ts';
import type { ExchangeContext } from './open-context.ts';

/**
 * Opens the tenant's hold if conflicts wait for a decision, and closes it once none do. A hold whose own conflicts are
 * all settled asks anew about those found since: no answer to it would decide them.
 */
export async function askAboutConflicts(context: ExchangeContext): Promise<void> {
  const { store } = context.deps;
  const { tenantId, stream } = context.key;
  const code = holdCodeOf(context);
  const count = await countUndecided(store, context.key);
  if (count === 0) return closeTenantHolds(store, tenantId, code);
  const hold = { tenantId, ...holdOf(code, { stream, count }) };
  const { holdId, fresh } = await openHold(store, hold);
  const askedAt = Number((await readHold(store, holdId))?.opened_at);
  if (!fresh && !(await hasUndecided(store, { tenantId, stream, askedAt }, []))) await askAnew(store, holdId, hold);
}

/** Each stream has its own code, because a tenant has at most one open hold per code. */
function holdCodeOf({ mapping, entity }: ExchangeContext) {
  if (amendsOnly(mapping)) return 'AMENDMENTS' satisfies HoldCode;
  return (entity === 'job' ? 'POSITION_CONFLICTS' : 'FIELD_CONFLICTS') satisfies HoldCode;
}
