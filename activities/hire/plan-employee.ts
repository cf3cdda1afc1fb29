import type { Decisions } from '../../src/hire/decisions.ts';
import type { EmployeeFields, EmployeeRef } from '../../src/hire/employee.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import type { MappingProblem } from '../../src/mapping/evaluate.ts';
import type { IdentityDecision } from '../../src/plan/identity-ladder.ts';
import { readHireRow, updateHire } from '../../src/store/hires.ts';
import { linkOfEmployee } from '../../src/store/identity.ts';
import { latestIntent } from '../../src/store/intents.ts';
import { insertPlan } from '../../src/store/plans.ts';
import type { LinkRow } from '../../src/store/schema.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { guardedOrHeld } from '../guarded.ts';
import { claimPerson } from './claim-person.ts';
import { employeeReference, personOf } from './hire-references.ts';
import { lookForEmployee } from './look-for-employee.ts';
import { readDecisions } from './read-decisions.ts';
import { readSources, type Sources } from './read-sources.ts';

/** One write of a plan. Holds personal data: it stands in the store and nowhere else. */
export type Change =
  | { kind: 'create'; fields: EmployeeFields; reference: string }
  | { kind: 'link'; employee: EmployeeRef }
  | { kind: 'update'; employee: EmployeeRef; fields: EmployeeFields };

type Planned = Awaited<ReturnType<HireActivities['planEmployee']>>;

/** What a transfer changes: the job, not the person. */
const jobFields: ReadonlySet<string> = new Set([
  'title',
  'department',
  'location',
  'employmentType',
  'startDate',
  'manager',
]);

/** Reads the person anew, takes the claim, looks along the identity ladder, and saves what should be written and why. */
export function planEmployee(deps: ActivityDeps, ref: HireRef): Promise<Planned> {
  return guardedOrHeld(deps, ref.tenantId, async (connection): Promise<Planned> => {
    const { store } = deps;
    await updateHire(store, ref, { step: 'employ' });
    const unsettled = (await latestIntent(store, ref, 'create-employee'))?.outcome === 'open';
    const read = await readSources(deps, connection, ref, { anyStage: unsettled });
    if (read.verdict !== 'read') return read;
    const { sources } = read;
    const decisions = await readDecisions(store, ref);
    const claimed = await claimPerson(deps, connection, ref, sources.candidateId, decisions);
    if (claimed.verdict === 'hold') return claimed;
    if (sources.problems.length > 0) return incomplete(ref, sources.problems);
    const change = await decideChange(deps, connection, ref, sources, decisions, claimed.before);
    if ('verdict' in change) return change;
    return { verdict: 'plan', planId: await insertPlan(store, ref, sources.hash, change) };
  });
}

async function decideChange(
  { store }: ActivityDeps,
  connection: Connection,
  ref: HireRef,
  { candidateId, fields }: Sources,
  decisions: Decisions,
  before: LinkRow | undefined,
): Promise<Change | Held> {
  const { employee_id: id, employee_number: number } = await readHireRow(store, ref);
  if (id !== null) return { kind: 'link', employee: refOf(id, number) };
  if (before !== undefined && decisions.person !== 'new-employment') {
    const employee = refOf(before.employee_id, before.employee_number);
    if (decisions.person === 'same-employee') return { kind: 'link', employee };
    return { kind: 'update', employee, fields: pick(fields, jobFields) };
  }
  if (decisions.link !== undefined) return linkByHand(connection, ref, decisions.link);
  const reference = employeeReference(connection.tenant, candidateId, before === undefined ? undefined : ref);
  const notThese = before === undefined ? decisions.notThese : new Set([...decisions.notThese, before.employee_id]);
  const unsettledCreate = (await latestIntent(store, ref, 'create-employee'))?.outcome === 'open';
  const identity = await lookForEmployee(connection, reference, fields, { unsettledCreate, notThese });
  if (identity.kind === 'create') return { kind: 'create', fields, reference };
  // A create that already left is settled by applyPlan, which knows its deadline.
  if (identity.kind === 'hold' && (unsettledCreate || decisions.createUnproven))
    return { kind: 'create', fields, reference };
  if (identity.kind === 'hold') return ambiguous(ref, identity);
  return linkFound({ store }, connection, ref, candidateId, identity.ref);
}

async function linkFound(
  { store }: Pick<ActivityDeps, 'store'>,
  { tenant }: Connection,
  ref: HireRef,
  candidateId: string,
  employee: EmployeeRef,
): Promise<Change | Held> {
  const link = await linkOfEmployee(store, tenant.hris.connection, employee.id);
  const person = personOf(tenant, candidateId);
  if (link === undefined || (link.partner_company === person.partnerCompany && link.candidate_id === candidateId))
    return { kind: 'link', employee };
  const other = { tenantId: link.tenant_id, jobCandidateId: link.job_candidate_id, period: link.period };
  return held('EMPLOYEE_OF_ANOTHER', { jobCandidateId: ref.jobCandidateId, employeeIds: [employee.id], other });
}

async function linkByHand({ hris }: Connection, ref: HireRef, id: string): Promise<Change | Held> {
  const record = await hris.employees.read(id, AbortSignal.timeout(30_000));
  if (record !== undefined) return { kind: 'link', employee: record.ref };
  return held('LINK_NOT_FOUND', { jobCandidateId: ref.jobCandidateId, employeeId: id });
}

function ambiguous(ref: HireRef, identity: Extract<IdentityDecision, { kind: 'hold' }>): Held {
  const employeeIds = [...new Set(identity.evidence.flatMap(({ refs }) => refs.map(({ id }) => id)))];
  const keys = identity.evidence.map((evidence) => evidence.by);
  return held('IDENTITY_AMBIGUOUS', { jobCandidateId: ref.jobCandidateId, reason: identity.reason, keys, employeeIds });
}

function incomplete(ref: HireRef, problems: readonly MappingProblem[]): Held {
  const text = problems.map((problem) => problem.text).join(' ');
  const fields = Object.fromEntries(problems.map(({ field, code }) => [field, code]));
  return held('MAPPING_INCOMPLETE', { jobCandidateId: ref.jobCandidateId, problems: text, fields });
}

function refOf(id: string, number: string | null): EmployeeRef {
  return number === null ? { id } : { id, number };
}

function pick(fields: EmployeeFields, names: ReadonlySet<string>): EmployeeFields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.has(name)));
}
