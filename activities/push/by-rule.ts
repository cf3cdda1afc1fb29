import { tenantsHeldLike } from '../../src/store/holds.ts';
import { lastRefusal } from '../../src/store/invitations.ts';
import { readClock } from '../../src/store/open-store.ts';
import { readStreamState } from '../../src/store/streams.ts';
import { stopAt } from '../streams/reading.ts';
import type { PushContext } from './push-context.ts';

// Shared by streams that do something for people because a rule names them.

/**
 * Stops the run if too many people are affected: a new rule, or one that suddenly matches many, may include people by
 * mistake. A person must look first.
 * @throws ConnectorError with `code`
 */
export async function assertFew(
  { deps, key }: PushContext,
  { fresh, most, code, message }: { fresh: number; most: number; code: string; message: string },
): Promise<void> {
  if (fresh <= most) return;
  const state = await readStreamState(deps.store, key);
  await stopAt({ deps, key, state }, { code, message }, fresh);
}

/**
 * Whether a hold says that the partner has no credits; if so, whether it is time to try one request, as for onboarding
 * credits.
 */
export async function creditsOf(
  { deps, connection, key }: PushContext,
  { code, table }: { code: string; table: Parameters<typeof lastRefusal>[1] },
): Promise<{ isOut: boolean; mayTry: boolean }> {
  if (!(await tenantsHeldLike(deps.store, code)).has(key.tenantId)) return { isOut: false, mayTry: true };
  const last = await lastRefusal(deps.store, table, key.tenantId, code);
  const { canaryEvery } = connection.tenant.policies.credits;
  return { isOut: true, mayTry: last === null || (await readClock(deps.store)) >= last + canaryEvery };
}
