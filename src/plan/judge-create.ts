import type { Decisions } from '../hire/decisions.ts';
import type { KnownEmployee } from '../hire/employee.ts';
import { climbIdentityLadder, type Finding, withoutDenied } from './identity-ladder.ts';

/** The newest attempt at the create. */
interface CreateAttempt {
  attempt: number;
  outcome: 'open' | 'done' | 'absent' | 'refused';
}

export type CreateSeen =
  | { kind: 'found'; employee: KnownEmployee }
  | { kind: 'absent' }
  /** `hits`: employees that may be the one. */
  | { kind: 'unprovable'; hits: string[] };

/** A first attempt whose absence a person already vouched for needs no look: nothing of ours has left since. */
export function mayCreateUnseen(latest: CreateAttempt | undefined, { createUnproven }: Decisions): boolean {
  return latest === undefined && createUnproven === true;
}

/**
 * Did an earlier attempt make the employee? Only evidence settles it, or a person's word on that very attempt; and
 * their word only while nothing is found that they were not shown.
 */
export function judgeCreate(
  findings: readonly Finding[],
  latest: CreateAttempt | undefined,
  decisions: Decisions,
): CreateSeen {
  const unsettledCreate = latest?.outcome === 'open';
  const identity = climbIdentityLadder(withoutDenied(findings, decisions.notThese), { unsettledCreate });
  if (identity.kind === 'link') return { kind: 'found', employee: identity.ref };
  if (identity.kind === 'create') return { kind: 'absent' };
  const hits = [...new Set(identity.evidence.flatMap(({ refs }) => refs.map(({ id }) => id)))];
  const denied = latest !== undefined && decisions.neverHappened.has(latest.attempt);
  return denied && hits.length === 0 ? { kind: 'absent' } : { kind: 'unprovable', hits };
}
