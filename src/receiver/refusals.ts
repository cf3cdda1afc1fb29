import { ConnectorError } from '../errors.ts';
import type { Logger } from '../log.ts';

/** Every refusal of a delivery, in the order of the checks: code -> HTTP status and message to the sender. */
const REFUSALS = {
  WEBHOOK_PATH_UNKNOWN: [404, 'No tenant of this installation receives webhooks at this address.'],
  WEBHOOK_TENANT_REMOVED: [410, 'The tenant of this address was removed. Send it no more webhooks.'],
  WEBHOOK_METHOD_WRONG: [405, 'Webhooks arrive by POST.'],
  WEBHOOK_TYPE_WRONG: [415, 'Webhooks carry application/json without a content encoding.'],
  WEBHOOK_TOO_LARGE: [413, 'The delivery is larger than this receiver accepts.'],
  WEBHOOK_KEY_WRONG: [401, 'The webhook key is missing or does not belong to this tenant.'],
  HRIS_WEBHOOK_FORGED: [401, 'The signature matches no key under hris.webhookKeys, or its time is too far from now.'],
  WEBHOOKS_BUSY: [503, 'The receiver was full and gave up this delivery while its body arrived. Send it again.'],
  WEBHOOK_TOO_SLOW: [408, 'The body did not arrive in time.'],
  WEBHOOK_ABORTED: [400, 'The connection ended before the body was complete.'],
  WEBHOOK_MALFORMED: [400, 'The body is not a JSON object with an event name.'],
  WEBHOOK_KEY_UNREADABLE: [503, "The tenant's webhook key cannot be read now. Send the delivery again."],
  STORE_UNAVAILABLE: [503, 'The delivery could not be stored. Send it again.'],
} as const satisfies Record<string, readonly [number, string]>;

export type RefusalCode = keyof typeof REFUSALS;

/** The error for a refused delivery; its `status` is the answer's. Never contains the key or a part of the body. */
export function refusal(code: RefusalCode, cause?: unknown): ConnectorError {
  const [status, message] = REFUSALS[code];
  return new ConnectorError({ code, action: status === 503 ? 'retry' : 'reject', status, message, cause });
}

/** Records refused deliveries of known tenants for `status` and `check`. */
export interface RefusalNotes {
  note(tenantId: string, reason: string): void;
  /** Sets where to write; until then refusals are only counted. */
  writeTo(write: (refusals: readonly NotedRefusal[]) => Promise<void>): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

interface NotedRefusal {
  tenantId: string;
  reason: string;
  count: number;
}

/**
 * Counts in memory and writes at most once in `everyMs`: a sender of rubbish costs the store one statement a second
 * instead of one per delivery. A failed write is lost, since it is not worth a retry.
 */
export function createRefusalNotes(everyMs = 1_000): RefusalNotes {
  let write: ((refusals: readonly NotedRefusal[]) => Promise<void>) | undefined;
  const counts = new Map<string, NotedRefusal>();
  let timer: NodeJS.Timeout | undefined;
  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (write === undefined) return;
    const noted = [...counts.values()];
    counts.clear();
    if (noted.length > 0) await write(noted).catch(() => undefined);
  }
  return {
    note(tenantId, reason) {
      const key = `${tenantId} ${reason}`;
      counts.set(key, { tenantId, reason, count: (counts.get(key)?.count ?? 0) + 1 });
      timer ??= setTimeout(() => void flush(), everyMs);
    },
    writeTo(where) {
      write = where;
      void flush();
    },
    close: flush,
  };
}

export interface RefusalLog {
  say(tenantId: string | undefined, status: number, refused: ConnectorError): void;
  /** Logs the number of refusals that had no line of their own. */
  close(): void;
}

/**
 * Keeps a sender of rubbish from filling the log: logs the first refusal of each tenant and code at once, and the
 * following ones as a number, once in `everyMs`.
 */
export function createRefusalLog(log: Logger, everyMs = 10_000): RefusalLog {
  const silences = new Map<string, { count: number; end: () => void }>();
  return {
    say(tenantId, status, refused) {
      const key = `${tenantId ?? ''} ${refused.code}`;
      const silence = silences.get(key);
      if (silence !== undefined) {
        silence.count += 1;
        return;
      }
      const write = status === 503 ? log.error.bind(log) : log.warn.bind(log);
      write({ tenantId, status, err: refused }, 'delivery refused');
      const end = (): void => {
        clearTimeout(timer);
        silences.delete(key);
        if (begun.count > 0) write({ tenantId, status, code: refused.code, count: begun.count }, 'more were refused');
      };
      const timer = setTimeout(end, everyMs).unref();
      const begun = { count: 0, end };
      silences.set(key, begun);
    },
    close() {
      for (const { end } of silences.values()) end();
    },
  };
}
