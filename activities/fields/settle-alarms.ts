import type { Logger } from '../../src/log.ts';
import { clearTrouble, listAlarms, noteTrouble, type Trouble } from '../../src/store/alarms.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { AlarmKind } from '../../src/store/schema.ts';

/** Alarms of one kind whose subjects begin so. */
interface Settled {
  tenantId: string;
  kind: AlarmKind;
  about: string;
}

/** Raises an alarm for each trouble, and ends those whose trouble is over. At rest it reads once and writes nothing. */
export async function settleAlarms(
  { store, log }: { store: Store; log: Logger },
  { tenantId, kind, about }: Settled,
  troubles: ReadonlyArray<Pick<Trouble, 'subject' | 'reason' | 'message'>>,
): Promise<void> {
  for (const trouble of troubles) {
    const { raised } = await noteTrouble(store, { tenantId, kind, ...trouble }, 0);
    const { subject, reason: code, message: reason } = trouble;
    if (raised) log.error({ tenantId, subject, code, reason }, 'alarm raised');
  }
  const standing = new Set(troubles.map(({ subject }) => subject));
  for (const { kind: other, subject } of await listAlarms(store, tenantId)) {
    if (other !== kind || !subject.startsWith(about) || standing.has(subject)) continue;
    await clearTrouble(store, { tenantId, kind, subject });
    log.info({ tenantId, subject }, 'alarm over');
  }
}
