import { applyPlan } from '../../../activities/hire/apply-plan.ts';
import { planEmployee } from '../../../activities/hire/plan-employee.ts';
import { updateEmployee } from '../../../activities/hire/update-employee.ts';
import { type HireContext, reread } from '../../../activities/hire/with-hire.ts';
import { employeeIdOf, upsertValues, writeEmployeeId } from '../../../activities/hire/write-back.ts';
import { ConnectorError } from '../../errors.ts';
import type { EmployeeFields, FieldValue } from '../../hire/employee.ts';
import { markRecords, readPlanRecords, type SavedPlan } from '../../store/saved-plans.ts';
import type { OpenTenant } from '../open-tenant.ts';
import type { Applied } from './applied.ts';
import { hireWrites, readHire } from './plan-hire.ts';
import type { HireWrites, PlannedRecord } from './plan-view.ts';

/** What writing one part of a hire came to. */
type Written = { state: 'applied' } | { state: 'changed' | 'refused'; reason: string };

/**
 * Writes what a plan has for a hire, part by part. Before each part the hire is planned anew: a part that would come
 * out otherwise is named and left alone, one that is there by now was written by an earlier apply.
 */
export async function applyHire(given: OpenTenant, plan: SavedPlan, by: string): Promise<Applied> {
  const open = { ...given, deps: { ...given.deps, actor: { runId: plan.hash, by } } };
  const [, jobCandidateId = ''] = /^hire (.+)\/\d+$/.exec(plan.subject) ?? [];
  const applied: Applied = { written: 0, already: 0, changed: [], refused: [] };
  for (const { id, change } of await readPlanRecords<PlannedRecord>(open.store, plan.hash, 'planned')) {
    const hire = await readHire(open, jobCandidateId);
    const now = await hireWrites(hire);
    const due = now.writes.find((write) => write.target === change.target);
    const record = `${jobCandidateId} ${change.target}`;
    const written = due === undefined ? judgeAbsent(now) : await writePart(hire, change, due);
    await markRecords(open.store, plan.hash, [id], written.state);
    if (written.state !== 'applied') applied[written.state].push({ record, reason: written.reason });
    else if (due === undefined) applied.already += 1;
    else applied.written += 1;
  }
  return applied;
}

/** Nothing is left to write: it is there, unless something speaks against it. */
function judgeAbsent({ notes }: HireWrites): Written {
  const [note] = notes;
  return note === undefined ? { state: 'applied' } : { state: 'changed', reason: `${note.what}: ${note.reason}` };
}

async function writePart(hire: HireContext, planned: PlannedRecord, due: PlannedRecord): Promise<Written> {
  if (JSON.stringify(planned.changes) !== JSON.stringify(due.changes) || planned.kind !== due.kind)
    return { state: 'changed', reason: 'one of its sides changed since the plan was made' };
  return WRITERS[planned.target]?.(hire, planned) ?? notDue(hire, planned.target);
}

type Writer = (hire: HireContext, planned: PlannedRecord) => Promise<Written>;

const WRITERS: Readonly<Partial<Record<string, Writer>>> = {
  employee: (hire, planned) => (hire.row.employee_id === null ? employ(hire, planned) : correct(hire, planned)),
  'external-status': async (hire) => {
    const target = await writeEmployeeId(hire, employeeIdOf(hire));
    if (target.verdict === 'written') return { state: 'applied' };
    return { state: 'refused', reason: 'the enrolment does not take the Employee ID' };
  },
  'custom-fields': async (hire, { changes }) => {
    const values = Object.entries(changes).map(([customFieldId, change]) => ({
      customFieldId,
      value: change.new as Exclude<FieldValue, null>,
    }));
    await upsertValues(hire, values);
    return { state: 'applied' };
  },
};

async function correct(hire: HireContext, planned: PlannedRecord): Promise<Written> {
  await updateEmployee(hire, hire.row.employee_id ?? '', newFields(planned));
  return { state: 'applied' };
}

/** Through claim, intent and deadline, as the hire's workflow would; it finds the employee when it comes by. */
async function employ(hire: HireContext, planned: PlannedRecord): Promise<Written> {
  if (hire.row.step !== 'employ') return notDue(hire, 'employee');
  const made = await planEmployee(hire);
  if (made.verdict === 'hold') return { state: 'changed', reason: made.hold.message };
  if (made.verdict !== 'plan') return { state: 'changed', reason: 'the person is not in the stage any more' };
  const fields = made.change.kind === 'link' ? { employee: made.change.employee.id } : made.change.fields;
  if (made.change.kind !== planned.kind || JSON.stringify(fields) !== JSON.stringify(newFields(planned)))
    return { state: 'changed', reason: 'one of its sides changed since the plan was made' };
  const done = await applyPlan(await reread(hire), made);
  if (done.verdict === 'employee') return { state: 'applied' };
  if (done.verdict === 'hold') return { state: 'refused', reason: done.hold.message };
  return { state: 'changed', reason: `it came to "${done.verdict}"; its workflow goes on with it` };
}

function newFields({ changes }: PlannedRecord): EmployeeFields {
  return Object.fromEntries(Object.entries(changes).map(([name, change]) => [name, change.new as FieldValue]));
}

/** Credits and readiness are the workflow's to judge; a plan shows what it will write, and does not hurry it. */
function notDue({ row, ref }: HireContext, part: string): never {
  throw new ConnectorError({
    code: 'PLAN_NOT_DUE',
    action: 'reject',
    message:
      `The ${part} of job candidate ${ref.jobCandidateId} is not due: the hire stands at "${row.step}", and its ` +
      'workflow writes it when the time has come. Nothing of it was written.',
  });
}
