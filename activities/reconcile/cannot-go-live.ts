import { ConnectorError } from '../../src/errors.ts';
import type { UnreadableItem } from '../../src/partner/client/types.ts';

export const BASELINE_UNREADABLE = 'BASELINE_UNREADABLE';

/** Without an id, nobody could tell later who was hired before go-live. */
export function cannotGoLive(tenantId: string, whoHas: string, { reason }: UnreadableItem): ConnectorError {
  return new ConnectorError({
    code: BASELINE_UNREADABLE,
    action: 'reject',
    message:
      `${whoHas} a record without an id (${reason}), so tenant ${tenantId} cannot go live: people hired before ` +
      'would be hired again. Correct the record with the partner; the reconcile then continues by itself. Where all ' +
      'records lack an id, this partner shows it in a place that hirebridge does not know: report it.',
  });
}

/** People who are not shown now would be taken for new hires later. */
export function shortBaseline(
  tenantId: string,
  { jobId, shown, unshown }: { jobId: string; shown: number; unshown: number },
): ConnectorError {
  return new ConnectorError({
    code: 'BASELINE_SHORT',
    action: 'reject',
    message:
      `The list of people hired on job ${jobId} ended with an empty page after ${shown} of them. Its total and the ` +
      `job's own count say that there are ${unshown} more. Tenant ${tenantId} does not go live without them: they ` +
      'would be hired again. The next reconcile reads the list again. If it still ends there an hour after the ' +
      'baseline began, the totals are taken to be wrong and the tenant goes live.',
    details: { jobId, shown, unshown },
  });
}
