import { dayOf } from '../../src/day-of.ts';
import type { FieldValue } from '../../src/hire/employee.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import { type HireRef, IMPORTED_PERIOD, isSameHire } from '../../src/hire/hire-ref.ts';
import { held } from '../../src/hire/holds.ts';
import { judgeDeparture as judge } from '../../src/plan/judge-departure.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { employeeOf, findHireRow, hireBehind } from '../../src/store/hires.ts';
import { answerHold, closeHoldsOf, isAsking, lastAnswered, listHolds } from '../../src/store/holds.ts';
import type { Store } from '../../src/store/open-store.ts';
import { inTransaction } from '../../src/store/persons.ts';
import { latestPlan } from '../../src/store/plans.ts';
import type { HoldRow } from '../../src/store/schema.ts';
import { readClock } from '../../src/store/tenant-states.ts';
import type { ActivityDeps } from '../deps.ts';
import { isTakenOver } from './ask-person.ts';
import { readEmployee } from './read-employee.ts';
import { seePerson } from './see-person.ts';
import { formerHris, type HireContext, withHire } from './with-hire.ts';

const DAY_MS = 86_400_000;

/** What it means that the person of a finished hire has left the stage. */
export function judgeDeparture(deps: ActivityDeps, given: HireRef): ReturnType<HireActivities['judgeDeparture']> {
  return withHire(deps, given, async (hire) => {
    const { store, connection, ref, row } = hire;
    const { policies, notify } = connection.tenant;
    const employee = employeeOf(row);
    if (employee === undefined) throw hireBehind(ref);
    const employeeId = employee.id;
    if (formerHris(hire) !== undefined)
      return held('LEFT_AFTER_EMPLOYEE', { jobCandidateId: ref.jobCandidateId, employeeId });
    const shown = await readEmployee(connection.hris, employee);
    const judged = judge({
      jobCandidateId: ref.jobCandidateId,
      employeeId,
      startDate: shown?.fields['startDate'] ?? (await plannedStart(hire)),
      former: shown?.former === true,
      takenOver: await isTakenOver(hire),
      today: dayOf(await readClock(store), policies.timezone ?? notify?.timezone),
      noShowDays: Math.floor(policies.noShow.within / DAY_MS),
      asked: await isAsking(store, ref, 'LEFT_BEFORE_START'),
    });
    if (judged.verdict === 'hold') return judged;
    // The HR system may have been away for hours since the person was seen to be gone.
    const { presence } = await seePerson(store, connection, ref.jobCandidateId);
    if (presence.verdict === 'in') return { verdict: 'back' };
    await endAsLeft(store, ref);
    return judged;
  });
}

/** With its questions: nobody would hear the answers of a hire that is over. */
async function endAsLeft(store: Store, ref: HireRef): Promise<void> {
  await inTransaction(store, async (open) => {
    if (await endHire(open, ref, 'left', ['done'])) await closeHoldsOf(open, ref);
  });
}

/** As it was when the employee was made, for an HR system that does not show it. */
async function plannedStart({ store, ref }: HireContext): Promise<FieldValue | undefined> {
  const { change = 'purged' } = (await latestPlan(store, ref)) ?? {};
  return change !== 'purged' && 'fields' in change ? change.fields['startDate'] : undefined;
}

/**
 * Whoever said that the person moved has answered what the hire on the other job asks about them. Where two jobs ask,
 * nobody said which of them it is.
 */
export function handOver(deps: ActivityDeps, given: HireRef): ReturnType<HireActivities['handOver']> {
  return withHire(deps, given, async (hire) => {
    const { store, ref } = hire;
    const { tenantId } = ref;
    const by = (await lastAnswered(store, ref))?.answered_by ?? 'hirebridge';
    const asking: HoldRow[] = [];
    for (const hold of await listHolds(store, { tenantId })) if (await asksAbout(hire, hold)) asking.push(hold);
    for (const hold of asking.length === 1 ? asking : []) {
      await answerHold(store, hold.hold_id, { answer: 'transfer', arguments: [], by });
      await deps.signalHire({ tenantId, jobCandidateId: hold.job_candidate_id ?? '' }, 'answer', { start: true });
    }
    await endAsLeft(store, ref);
    return { verdict: 'over' } as const;
  });
}

/** A hold that was opened before this hire had the employee names the one that had them then. */
async function asksAbout({ store, ref, row }: HireContext, { code, details }: HoldRow): Promise<boolean> {
  if (code !== 'PERSON_HIRED_BEFORE') return false;
  const { other } = JSON.parse(details) as { other: HireRef };
  if (isSameHire(other, ref)) return true;
  if (other.tenantId !== ref.tenantId || other.period === IMPORTED_PERIOD) return false;
  return (await findHireRow(store, other))?.employee_id === row.employee_id;
}
