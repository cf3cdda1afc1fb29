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
