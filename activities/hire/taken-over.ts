import { isSameHire } from '../../src/plan/judge-claim.ts';
import { hasSuccessor } from '../../src/store/hire-states.ts';
import { readHireRow } from '../../src/store/hires.ts';
import { claimOfPerson } from '../../src/store/identity.ts';
import { hireOfLink } from './hire-of-link.ts';
import { personOf } from './hire-references.ts';
import type { HireContext } from './with-hire.ts';

/** The claim on the person went to another hire, of whichever tenant, and the employee with it. */
export async function isTakenOver({ store, connection, ref, row }: HireContext): Promise<boolean> {
  if (row.candidate_id === null) return false;
  const claim = await claimOfPerson(store, personOf(connection.tenant, row.candidate_id));
  if (claim === undefined || isSameHire(hireOfLink(claim), ref)) return false;
  return (await readHireRow(store, hireOfLink(claim))).employee_id === row.employee_id;
}

/** Another hire that is not over has this employee too: an earlier job of theirs, or another candidate who is they. */
export function isSharedWithHires({ store, ref }: HireContext, employeeId: string): Promise<boolean> {
  return hasSuccessor(store, ref, employeeId, { states: ['open', 'done'] });
}
