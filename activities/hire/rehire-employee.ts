import type { Change } from '../../src/hire/change.ts';
import { isShownFormer, latestRehire, type PinnedRehire } from './former-employee.ts';
import { newValues, noteWrites, sensitiveFields } from './note-writes.ts';
import { REHIRE_VERB } from './verbs.ts';
import type { HireContext } from './with-hire.ts';
import { type Elapsed, type OnceOptions, type Seen, settleEarlier, startClock, writeOnce } from './write-once.ts';

type Rehire = Extract<Change, { kind: 'rehire' }>;

/** Makes a former employee an active one, by this hire's intent. What is refused is thrown. */
export async function rehireEmployee(hire: HireContext, change: Rehire, sinceRead: Elapsed): Promise<void> {
  const shown = await isShownFormer(hire, change.employee.id);
  const once = await writeOnce(rehireOptions(hire, change, { shown, sinceRead }));
  if (once.kind === 'refused') throw once.error;
}

/** Whether an earlier attempt did it: settled wherever the person is by now. */
export async function isRehired(hire: HireContext, change: Rehire): Promise<boolean> {
  if ((await latestRehire(hire)) === undefined) return false;
  const options = rehireOptions(hire, change, { shown: false, sinceRead: startClock() });
  return (await settleEarlier(options)).kind === 'adopted';
}

function rehireOptions(
  hire: HireContext,
  { employee: { id }, fields }: Rehire,
  { shown, sinceRead }: { shown: boolean; sinceRead: Elapsed },
): OnceOptions<null, PinnedRehire> {
  const { store, connection, deps, ref } = hire;
  const { employees } = connection.hris;
  return {
    store,
    key: ref,
    verb: REHIRE_VERB,
    pinned: () => ({ employeeId: id, shown }),
    giveUpMs: deps.limits.giveUpMs,
    readLagMs: connection.hris.capabilities.readLagMs,
    look: () => lookForRehire(hire, id),
    sinceRead,
    note: (_pinned, intent) => {
      const [changes, sensitive] = [newValues(fields), sensitiveFields(hire)];
      return noteWrites(hire, [{ target: 'employee', foreignId: id, kind: 'update', changes, sensitive }], intent);
    },
    async send(_pinned, guard) {
      await employees.rehire?.(id, fields, guard);
      return null;
    },
  };
}

/** An active employee proves an attempt where a former one was shown before it; otherwise the same is sent again. */
async function lookForRehire(hire: HireContext, employeeId: string): Promise<Seen<null>> {
  const latest = await latestRehire(hire);
  const { shown = false } = JSON.parse(latest?.pinned ?? '{}') as Partial<PinnedRehire>;
  return shown && !(await isShownFormer(hire, employeeId)) ? { kind: 'found', value: null } : { kind: 'absent' };
}
