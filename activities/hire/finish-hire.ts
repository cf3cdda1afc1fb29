import { inActivity } from '../../src/failpoint.ts';
import { employeeIn } from '../../src/hire/employee.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import type { EmployeeRecord } from '../../src/hris/port.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { employeeOf } from '../../src/store/hires.ts';
import { closeHoldsOf } from '../../src/store/holds.ts';
import { changePerson, inTransaction } from '../../src/store/persons.ts';
import type { ActivityDeps } from '../deps.ts';
import { personOf } from './hire-references.ts';
import { readEmployee, unshownForMs } from './read-employee.ts';
import { verify } from './verify.ts';
import { formerHris, type HireContext, reread, withHireOrHeld } from './with-hire.ts';
import { writeBack } from './write-back.ts';

type Finished = ReturnType<HireActivities['finishHire']>;

/** Writes back, reads back what was written, and ends the hire once the ID stands with the partner. */
export function finishHire(deps: ActivityDeps, given: HireRef): Finished {
  return withHireOrHeld(deps, given, writeAndVerify, 'after-employee');
}

async function writeAndVerify(hire: HireContext): Finished {
  // An earlier attempt came to the hire's end and was lost.
  if (hire.row.state === 'done') return { verdict: 'verified' };
  const employed = await readEmployed(hire);
  if ('verdict' in employed) return employed;
  const written = await inActivity('writeBack', () => writeBack(employed.hire, employed.shown));
  return written.verdict === 'hold' ? written : inActivity('verify', () => verifyAndEnd(employed.hire));
}

interface Employed {
  hire: HireContext;
  /** Absent where the HR system may show the employee late. */
  shown?: EmployeeRecord;
}

/**
 * The employee is read before the partner is told of them: since they were made somebody may have merged or deleted the
 * record, and the HR system may have given it a number.
 */
async function readEmployed(hire: HireContext): Promise<Employed | Held> {
  const { store, connection, ref, row, decisions } = hire;
  const { hris, tenant } = connection;
  const { jobCandidateId } = ref;
  const employee = employeeIn(tenant.hris.connection, row.employee_id ?? '');
  const whose = personOf(tenant, row.candidate_id ?? '');
  const isElsewhere = formerHris(hire) !== undefined;
  const shown = isElsewhere ? undefined : await readEmployee(hris, employee);
  if (shown !== undefined) {
    const { number = null } = shown.ref;
    if (number === null || number === row.employee_number) return { hire, shown };
    const is = { employee, number };
    await changePerson(store, whose, { kind: 'link', hire: ref, candidate: whose.candidate, is, ...FOUND });
    return { hire: await reread(hire), shown };
  }
  // One that was made a moment ago may be shown late.
  if (!isElsewhere && (await unshownForMs(hire)) > 0) return { hire };
  if (decisions.link === undefined || (decisions.link === employee.id && !isElsewhere))
    return held('EMPLOYEE_GONE', { jobCandidateId, employeeId: employee.id });
  const named = await readEmployee(hris, employeeIn(tenant.hris.connection, decisions.link));
  if (named === undefined) return held('EMPLOYEE_GONE', { jobCandidateId, employeeId: decisions.link });
  const { refusal } = await changePerson(store, whose, {
    kind: 'link',
    hire: ref,
    candidate: whose.candidate,
    ...FOUND,
    insteadOf: employeeOf(row) ?? employee,
    is: { employee: named.ref, number: named.ref.number ?? null },
  });
  if (refusal?.reason === 'of-another')
    return held('EMPLOYEE_GONE', { jobCandidateId, employeeId: named.ref.id, other: refusal.other.hire });
  return { hire: await reread(hire), shown: named };
}

const FOUND = { how: 'linked', shownAfterMs: 0 } as const;

async function verifyAndEnd(hire: HireContext): Finished {
  const { deps, ref } = hire;
  const verified = await verify(hire);
  if (verified.verdict !== 'verified') return verified;
  await inTransaction(deps.store, async (store) => {
    if (await endHire(store, ref, 'done')) await closeHoldsOf(store, ref);
  });
  deps.log.info(ref, 'hire done');
  return verified;
}
