import { ConnectorError } from '../../src/errors.ts';
import type { UnreadableItem } from '../../src/partner/client/types.ts';

/** Without an id, nobody could tell later who was hired before go-live. */
export function cannotGoLive(tenantId: string, whoHas: string, { reason }: UnreadableItem): ConnectorError {
  return new ConnectorError({
    code: 'BASELINE_UNREADABLE',
    action: 'retry',
    message:
      `${whoHas} a record without an id (${reason}), so tenant ${tenantId} cannot go live: people hired before ` +
      'would be hired again. Correct the record with the partner, or name the difference in partner.overrides; ' +
      'the reconcile then continues by itself.',
  });
}
