import type { Store } from '../store/open-store.ts';
import { listProcesses, type Role, type SeenProcess } from '../store/processes.ts';

/** One role: the processes that run it, and the last one if none does. */
export interface RoleStatus {
  role: Role;
  running: { host: string; version: string; startedAt: string; seenMs: number; trouble?: string }[];
  /** The last process, if none runs. */
  last?: { host: string; version: string; ageMs: number; ended: 'orderly' | 'not' };
  /** The applied tenants need this role. */
  needed: boolean;
}

/** Processes report every ten seconds; one silent for this long does not run. */
const SILENT_MS = 45_000;

/** Processes that run and that should: a worker if there is a tenant, a receiver if a tenant's webhooks are on. */
export async function readProcesses(
  store: Store,
  now: number,
  tenants: readonly { webhooks: 'on' | 'off' }[],
): Promise<RoleStatus[]> {
  const seen = await listProcesses(store, now);
  const needed: Record<Role, boolean> = {
    worker: tenants.length > 0,
    receiver: tenants.some(({ webhooks }) => webhooks === 'on'),
  };
  return (['worker', 'receiver'] as const).map((role) => {
    const own = seen.filter((one) => one.role === role);
    const running = own.filter((one) => one.endedAt === null && now - one.seenAt < SILENT_MS);
    const [last] = own;
    return {
      role,
      running: running.map(({ host, version, startedAt, seenAt, trouble }) => ({
        host,
        version,
        startedAt: new Date(startedAt).toISOString(),
        seenMs: now - seenAt,
        ...(trouble === null ? {} : { trouble }),
      })),
      ...(running.length > 0 || last === undefined ? {} : { last: lastOf(last, now) }),
      needed: needed[role],
    };
  });
}

function lastOf({ host, version, seenAt, endedAt }: SeenProcess, now: number): NonNullable<RoleStatus['last']> {
  return { host, version, ageMs: now - seenAt, ended: endedAt === null ? 'not' : 'orderly' };
}

/** A needed role does no work: no process runs it, or none of those that do can work. */
export function isMissing({ needed, running }: RoleStatus): boolean {
  return needed && running.every(({ trouble }) => trouble !== undefined);
}

const STARTS: Record<Role, string> = { worker: 'hirebridge worker', receiver: 'hirebridge serve' };

/** Describes one role in a line, with the next step if it does no work. */
export function describeRole(status: RoleStatus, age: (ms: number) => string): string {
  const { role, running, last } = status;
  const [first, ...others] = running;
  if (first !== undefined) {
    const more = others.length === 0 ? '' : `, and ${others.length} more`;
    const inTrouble = running.filter(({ trouble }) => trouble !== undefined);
    const [worst] = inTrouble;
    const which = inTrouble.length === running.length ? 'Nothing is processed' : `${inTrouble.length} can do nothing`;
    const trouble = worst === undefined ? '' : ` ${which}: ${worst.trouble} (${worst.host}).`;
    return `The ${role} runs since ${first.startedAt} on ${first.host}, version ${first.version}${more}.${trouble}`;
  }
  if (!isMissing(status)) return `No ${role} runs, and nothing needs one.`;
  const how = last?.ended === 'not' ? 'and it did not shut down cleanly' : 'and was stopped';
  const before =
    last === undefined ? 'none has ever run' : `the last one was seen ${age(last.ageMs)} ago on ${last.host}, ${how}`;
  const meanwhile = role === 'worker' ? 'Hires stand still' : 'Webhooks are lost, and only the reconcile finds hires';
  return `No ${role} runs (${before}). ${meanwhile}. Start it: ${STARTS[role]}, or both: hirebridge up`;
}
