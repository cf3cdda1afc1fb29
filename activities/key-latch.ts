import { ConnectorError } from '../src/errors.ts';
import type { CallReport } from '../src/partner/client/types.ts';
import type { RateLimitKeeper } from '../src/rate-limit/rate-limit.ts';

/** What is known of one partner key: once it was refused, nothing more is asked with it. */
export interface KeyLatch {
  note(report: CallReport): void;
  /** The keeper, closed once the key was refused. */
  guard(keeper: RateLimitKeeper): RateLimitKeeper;
}

/**
 * A key that answers 401 is worth one question, not one for each hire of the tenant. The connection that a probe opens
 * anew has a latch of its own.
 */
export function createKeyLatch(tenantId: string): KeyLatch {
  let refused = false;
  return {
    note({ status }) {
      if (status === 401) refused = true;
    },
    guard: (keeper) => ({
      answered: (answer) => keeper.answered(answer),
      waitMs: (priority, endpoint) => keeper.waitMs(priority, endpoint),
      perSecond: (endpoint) => keeper.perSecond(endpoint),
      async acquire(priority, signal, endpoint) {
        if (refused) throw keyRefused(tenantId);
        await keeper.acquire(priority, signal, endpoint);
        // It may have been refused while this call waited.
        if (!refused) return;
        keeper.answered({ sentAt: Date.now(), status: 0, endpoint });
        throw keyRefused(tenantId);
      },
    }),
  };
}

function keyRefused(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'UNAUTHORIZED',
    action: 'reauthorize',
    status: 401,
    message: `The partner refused the key of tenant ${tenantId}. Nothing more is sent with it until a probe passes.`,
  });
}
