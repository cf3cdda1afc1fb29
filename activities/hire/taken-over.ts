import { isSameHire } from '../../src/hire/hire-ref.ts';
import { followedStates } from '../../src/hire/hire-state.ts';
import { hireOf } from '../../src/store/hire-columns.ts';
import { hasSuccessor } from '../../src/store/hire-states.ts';
import { findHireRow } from '../../src/store/hires.ts';
import { claimOfPerson } from '../../src/store/identity.ts';
import { personOf } from './hire-references.ts';
import type { HireContext } from './with-hire.ts';

/** The claim on the person went to another hire that is not over, of whichever tenant, and the employee with it. */
export async function isTakenOver({ store, connection, ref, row }: HireContext): Promise<boolean> {
  if (row.candidate_id === null) return false;
  const claim = await claimOfPerson(store, personOf(connection.tenant, row.candidate_id));
  if (claim === undefined || isSameHire(hireOf(claim), ref)) return false;
  const holder = await findHireRow(store, hireOf(claim));
  const isSameHris =
    (holder?.connection ?? null) === null || row.connection === null || holder?.connection === row.connection;
  return isSameHris && holder?.employee_id === row.employee_id && holder.state !== 'left';
}

/** Another hire that is not over has this employee too: an earlier job of theirs, or another candidate who is they. */
export function isSharedWithHires({ store, connection, ref, row }: HireContext, employeeId: string): Promise<boolean> {
  const employee = { connection: row.connection ?? connection.tenant.hris.connection, id: employeeId };
  return hasSuccessor(store, ref, employee, { states: followedStates });
}
