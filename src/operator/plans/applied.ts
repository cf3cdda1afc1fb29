import { ConnectorError } from '../../errors.ts';
import type { SavedPlan } from '../../store/saved-plans.ts';

/** What applying a plan came to. */
export interface Applied {
  written: number;
  /** Written by an earlier apply of the same plan, or by a sync meanwhile. */
  already: number;
  /** No longer as they were planned from: nothing of them was written. */
  changed: { record: string; reason: string }[];
  refused: { record: string; reason: string }[];
}

export function mappingGone({ mappingHash, subject }: SavedPlan): ConnectorError {
  return new ConnectorError({
    code: 'PLAN_OUTDATED',
    action: 'reject',
    message:
      `The plan for ${subject} was made by mapping ${(mappingHash ?? '').slice(0, 12)}, and this release no longer ` +
      'makes the same of its files. Nothing was written. Make a new plan.',
  });
}
