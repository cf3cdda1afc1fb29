import { setTimeout as pause } from 'node:timers/promises';
import { dayOf } from '../../src/day-of.ts';
import { isConnectorError } from '../../src/errors.ts';
import { type Employee, employeeIn } from '../../src/hire/employee.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { PersonIds } from '../../src/store/person-marks.ts';
import type { ErasureRow } from '../../src/store/tenant-tables.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { startClock, writeOnce } from '../hire/write-once.ts';

type EndingDeps = Pick<ActivityDeps, 'store' | 'limits'>;

const HRIS_MS = 30_000;
const PAUSE_MS = 250;
/** How often an ending whose answer was lost is looked up and sent again. */
const MOST_TRIES = 5;

/** The verb of every ending of an employment that no longer belongs to a hire. */
const END_VERB = 'end-employment';

/**
 * Leaves the employee, who is the customer's record, or ends the employment on the day of the request if a person asked
 * for that. Each ending is sent once: intent, call, outcome. Reports employments that were not ended by codes, because
 * a message may name somebody.
 */
export async function settleEmployees(
  deps: EndingDeps,
  row: ErasureRow,
  { employees }: Pick<PersonIds, 'employees'>,
  connection: Connection | undefined,
): Promise<{ said: string; left: string[] }> {
  if (employees.length === 0) return { said: 'none known', left: [] };
  if (row.employee === 'keep') return { said: 'kept in the HR system, as asked', left: [] };
  const lastDay = dayOf(Number(row.asked_at));
  const refused: string[] = [];
  for (const [nth, { connection: system, id }] of employees.entries()) {
    const employee = employeeIn(system, id);
    const why = await endEmployment(deps, { row, connection, employee, nth, lastDay });
    if (why !== undefined) refused.push(why);
  }
  const ended = employees.length - refused.length;
  const rest = 'as asked; the record stays in the HR system';
  const said =
    refused.length === 0
      ? `employment ended as of ${lastDay}, ${rest}`
      : `${ended} of ${employees.length} employments ended as of ${lastDay}, ${rest}`;
  return { said, left: refused.map((why) => `An employment should have been ended but was not: ${why}.`) };
}

interface Ending {
  row: ErasureRow;
  connection: Connection | undefined;
  employee: Employee;
  /** Position among the person's employees. */
  nth: number;
  lastDay: string;
}

/** Returns undefined once the employment has ended, else why it was not ended. */
async function endEmployment(deps: EndingDeps, ending: Ending): Promise<string | undefined> {
  const { row, connection, employee } = ending;
  if (connection === undefined) return 'no connection to the HR system was open; end it there';
  const { hris, tenant } = connection;
  if (employee.connection !== tenant.hris.connection)
    return 'it is in an HR system that the tenant no longer has; end it there';
  if (await isOfAnother(deps.store, row.tenant_id, employee)) return "the employee is another tenant's";
  if (hris.employees.terminate === undefined)
    return 'hirebridge cannot end employments in this HR system; end it there';
  for (let tries = 1; ; tries += 1)
    try {
      const once = await writeOnce(endOf(deps, ending, connection));
      return once.kind === 'refused' ? `the HR system refused it (${once.error.code})` : undefined;
    } catch (error) {
      if (isConnectorError(error, 'TENANT_OBSERVES')) return 'the tenant only observes, so nothing is written for it';
      if (!isConnectorError(error, 'OUTCOME_UNKNOWN') || tries > MOST_TRIES) throw error;
      await pause(error.retryAfterMs ?? PAUSE_MS);
    }
}

/** The write belongs to no hire: the person's hires are gone, and their intents too. */
function endOf(
  { store, limits }: EndingDeps,
  { row, employee, nth, lastDay }: Ending,
  { hris }: Connection,
): Parameters<typeof writeOnce<null, { lastDay: string }>>[0] {
  return {
    store,
    key: { tenantId: row.tenant_id, jobCandidateId: row.erasure_id, period: nth },
    verb: END_VERB,
    state: 'none',
    pinned: () => ({ lastDay }),
    giveUpMs: limits.giveUpMs,
    readLagMs: hris.capabilities.readLagMs,
    sinceRead: startClock(),
    async look() {
      const shown = await hris.employees.read(employee, AbortSignal.timeout(HRIS_MS));
      return shown?.former === true ? { kind: 'found', value: null } : { kind: 'absent' };
    },
    // Nothing about the person may be stored any more.
    note: async () => undefined,
    async send(pinned, guard) {
      await hris.employees.terminate?.(employee, pinned.lastDay, guard);
      return null;
    },
  };
}

async function isOfAnother({ kysely }: Store, tenantId: string, { connection, id }: Employee): Promise<boolean> {
  const key = kysely.selectFrom('person_keys').select('value').where('tenant_id', '!=', tenantId);
  const is = { scope: connection, kind: 'employee', value: id } as const;
  return (await key.where((eb) => eb.and(is)).executeTakeFirst()) !== undefined;
}
