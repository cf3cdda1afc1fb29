import type { Change } from '../../src/hire/change.ts';
import type { Employee } from '../../src/hire/employee.ts';
import { readKept } from '../../src/store/purged.ts';
import { isShownFormer, latestRehire, type PinnedRehire } from './former-employee.ts';
import { newValues, noteWrites, sensitiveFields } from './note-writes.ts';
import { REHIRE_VERB } from './verbs.ts';
import type { HireContext } from './with-hire.ts';
import {
  type EarlierOptions,
  type Elapsed,
  type OnceOptions,
  type Seen,
  settleEarlier,
  writeOnce,
} from './write-once.ts';

type Rehire = Extract<Change, { kind: 'rehire' }>;

/** Makes a former employee an active one, by this hire's intent. What is refused is thrown. */
export async function rehireEmployee(hire: HireContext, change: Rehire, sinceRead: Elapsed): Promise<void> {
  const shown = await isShownFormer(hire, change.employee);
  const once = await writeOnce(rehireOptions(hire, change, { shown, sinceRead }));
  if (once.kind === 'refused') throw once.error;
}

/** Whether an earlier attempt did it: settled wherever the person is by now. */
export async function isRehired(hire: HireContext, change: Rehire): Promise<boolean> {
  if ((await latestRehire(hire)) === undefined) return false;
  return (await settleEarlier(earlierRehire(hire, change))).kind === 'adopted';
}

function earlierRehire(hire: HireContext, { employee }: Rehire): EarlierOptions<null> {
  const { store, connection, ref } = hire;
  const { readLagMs } = connection.hris.capabilities;
  return { store, key: ref, verb: REHIRE_VERB, readLagMs, look: () => lookForRehire(hire, employee) };
}

function rehireOptions(
  hire: HireContext,
  change: Rehire,
  { shown, sinceRead }: { shown: boolean; sinceRead: Elapsed },
): OnceOptions<null, PinnedRehire> {
  const { employee, fields } = change;
  const { id } = employee;
  const { employees } = hire.connection.hris;
  return {
    ...earlierRehire(hire, change),
    pinned: () => ({ employeeId: id, shown }),
    giveUpMs: hire.deps.limits.giveUpMs,
    sinceRead,
    note: (_pinned, intent) => {
      const [changes, sensitive] = [newValues(fields), sensitiveFields(hire)];
      return noteWrites(hire, [{ target: 'employee', foreignId: id, kind: 'update', changes, sensitive }], intent);
    },
    async send(_pinned, guard) {
      await employees.rehire?.(employee, fields, guard);
      return null;
    },
  };
}

/** An active employee proves an attempt where a former one was shown before it; otherwise the same is sent again. */
async function lookForRehire(hire: HireContext, employee: Employee): Promise<Seen<null>> {
  const latest = await latestRehire(hire);
  const pinned = latest === undefined ? 'purged' : readKept<PinnedRehire>(latest.pinned);
  const wasShown = pinned !== 'purged' && pinned.shown;
  return wasShown && !(await isShownFormer(hire, employee)) ? { kind: 'found', value: null } : { kind: 'absent' };
}
