import { findHrisAdapter } from '../hris/registry.ts';
import { looksSigned, readSigned } from '../http/signed-delivery.ts';
import type { AppliedTenant } from '../store/applied-tenants.ts';
import { resolveSecret } from '../tenants/secrets.ts';
import { type HrisAddress, type ReceiverTenant, refusal } from './admit.ts';

export interface ReceiverTenants {
  find: (tenantId: string) => ReceiverTenant | undefined;
  take: (changed: readonly AppliedTenant[]) => void;
}

/** Keys are read again after this time, and at once for an unknown key. */
const FRESH_MS = 1_000;

/** The tenants as a receiver knows them. A tenant without webhooks has no webhook address. */
export function createReceiverTenants(): ReceiverTenants {
  const known = new Map<string, ReceiverTenant>();
  return {
    find: (tenantId) => known.get(tenantId),
    take(changed) {
      for (const { tenantId, state, receives } of changed) {
        const isSilent = receives.webhooks === 'off' && receives.hris === undefined;
        if (state !== 'removed' && isSilent) known.delete(tenantId);
        else known.set(tenantId, receiverTenant(tenantId, receives, state === 'removed'));
      }
    },
  };
}

type HrisWebhooks = NonNullable<AppliedTenant['receives']['hris']>;

function receiverTenant(
  id: string,
  { webhookKeys: refs, company, hris, webhooks }: AppliedTenant['receives'],
  removed: boolean,
): ReceiverTenant {
  let keys: readonly string[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    id,
    removed,
    webhookKeys(anew) {
      if (!anew && performance.now() - readAt < FRESH_MS) return keys;
      keys = readKeys(refs);
      readAt = performance.now();
      return keys;
    },
    ...(company === undefined ? {} : { company }),
    ...(hris === undefined ? {} : { hris: hrisAddress(hris) }),
    hrisAlone: !removed && webhooks === 'off',
  };
}

function hrisAddress({ kind, webhookKey, webhookKeys = [webhookKey], signing: kept }: HrisWebhooks): HrisAddress {
  const signing = kept ?? findHrisAdapter(kind)?.webhooks;
  return {
    looksSigned: (delivery) => signing !== undefined && looksSigned(signing, delivery),
    read: (delivery) =>
      readKeys(webhookKeys)
        .map((key) => signing && readSigned(signing, delivery, key))
        .find((one) => one !== undefined),
  };
}

/** One of two keys may be missing as long as the other is there; if none is there, the sender should try again. */
function readKeys(refs: readonly string[]): string[] {
  const read = refs.map((ref) => {
    try {
      return { key: resolveSecret(ref) };
    } catch (error) {
      return { error };
    }
  });
  const keys = read.flatMap(({ key }) => key ?? []);
  if (keys.length === 0 && refs.length > 0) throw refusal('WEBHOOK_KEY_UNREADABLE', read[0]?.error);
  return keys;
}
