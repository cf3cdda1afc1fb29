import { isDeepStrictEqual } from 'node:util';
import { assessmentTypes } from '../../partner/contract/assessment.ts';
import { type Context, effect, invalidRequest, notFound } from '../context.ts';
import { findAssessment } from './assessments.ts';
import { type Invite, inviteOf, type Person, refuseInactive, submissionOf, writeInvite } from './invites.ts';

/** A step as it was given; both names of its type are answered (L8, assumed). */
interface FlowStep {
  assessmentId: string;
  passThreshold: number;
  type: string | null;
  name: string | null;
  instructions: string | null;
  passAction: unknown;
}

interface StepInput {
  assessmentId: string;
  passThreshold?: number | null | undefined;
  assessmentType?: string | null | undefined;
  type?: string | null | undefined;
  name?: string | null | undefined;
  instructions?: string | null | undefined;
  passAction?: unknown;
}

interface AssessmentFlow {
  id: number;
  companyId: number;
  name: string;
  description: string | null;
  status: string;
  steps: FlowStep[];
}

interface Row extends Omit<AssessmentFlow, 'steps'> {
  steps: string;
}

const FLOW = 'select id, company_id as companyId, name, description, status, steps from assessment_flows';

function toFlow(row: Row): AssessmentFlow {
  return { ...row, steps: JSON.parse(row.steps) as FlowStep[] };
}

/** A new ACTIVE flow. 404 for a step whose assessment is not the company's (L4, assumed). */
export function createAssessmentFlow(
  ctx: Context,
  input: { flowName: string; description?: string | null | undefined; steps: readonly StepInput[] },
): AssessmentFlow {
  const { state, company, now } = ctx;
  const steps = appended(ctx, [], input.steps);
  const id = state.nextId('assessment-flow', 901);
  state.run(
    `insert into assessment_flows (id, company_id, name, description, status, steps, created_at, updated_at)
      values (?, ?, ?, ?, 'ACTIVE', ?, ?, ?)`,
    id,
    company.id,
    input.flowName,
    input.description ?? null,
    JSON.stringify(steps),
    now,
    now,
  );
  effect(ctx, 'assessment-flow', id);
  return findAssessmentFlow(ctx, id);
}

/** 404 when unknown, another company's, or DELETED (L3, assumed). */
export function findAssessmentFlow(ctx: Context, id: number): AssessmentFlow {
  const row = ctx.state.one<Row>(`${FLOW} where id = ? and company_id = ? and status <> 'DELETED'`, id, ctx.company.id);
  if (row === undefined) throw notFound('Assessment flow');
  return toFlow(row);
}

export function listAssessmentFlows(ctx: Context): AssessmentFlow[] {
  return ctx.state
    .all<Row>(`${FLOW} where company_id = ? and status <> 'DELETED' order by id`, ctx.company.id)
    .map(toFlow);
}

/** The answer is the flow as it is then, DELETED too. */
export function updateAssessmentFlow(
  ctx: Context,
  id: number,
  input: {
    flowName?: string | undefined;
    description?: string | null | undefined;
    status?: string | undefined;
    steps?: readonly StepInput[] | undefined;
  },
): AssessmentFlow {
  const before = findAssessmentFlow(ctx, id);
  const after: AssessmentFlow = {
    ...before,
    name: input.flowName ?? before.name,
    description: input.description === undefined ? before.description : input.description,
    status: input.status ?? before.status,
    steps: input.steps === undefined ? before.steps : grown(ctx, before.steps, input.steps),
  };
  ctx.state.run(
    'update assessment_flows set name = ?, description = ?, status = ?, steps = ?, updated_at = ? where id = ?',
    after.name,
    after.description,
    after.status,
    JSON.stringify(after.steps),
    ctx.now,
    id,
  );
  effect(ctx, 'assessment-flow-updated', id);
  return after;
}

/**
 * Section 4.7: existing steps stay except for their threshold, new ones may follow. The list is complete, existing
 * steps first; fields left out of an existing step stay (L2, assumed).
 */
function grown(ctx: Context, before: readonly FlowStep[], given: readonly StepInput[]): FlowStep[] {
  if (given.length < before.length)
    throw invalidRequest('Existing steps cannot be removed', { steps: `at least ${String(before.length)}` });
  const kept = before.map((step, index) => {
    const input = given[index] as StepInput;
    const field = changedField(step, input);
    if (field !== undefined)
      throw invalidRequest('Existing steps cannot be changed', { [`steps[${String(index)}].${field}`]: 'is fixed' });
    return { ...step, passThreshold: input.passThreshold ?? step.passThreshold };
  });
  return appended(ctx, kept, given.slice(before.length));
}

function changedField(step: FlowStep, input: StepInput): string | undefined {
  const { passThreshold: _free, assessmentType, ...rest } = input;
  const fixed: Record<string, unknown> = { ...rest, type: input.type ?? assessmentType ?? undefined };
  return Object.keys(fixed).find(
    (field) => fixed[field] !== undefined && !isDeepStrictEqual(fixed[field], step[field as keyof FlowStep]),
  );
}

/** An assessment is in a flow only once (L4, assumed): an invitation is valid for one interview. */
function appended(ctx: Context, before: readonly FlowStep[], given: readonly StepInput[]): FlowStep[] {
  const steps = [...before];
  for (const input of given) {
    const { fields } = findAssessment(ctx, input.assessmentId);
    const field = `steps[${String(steps.length)}].assessmentId`;
    if (steps.some((step) => step.assessmentId === input.assessmentId))
      throw invalidRequest('An assessment can stand in a flow once', { [field]: 'is there already' });
    const type = input.type ?? input.assessmentType ?? fields.assessmentType;
    if (isAssessmentType(type) && type !== fields.assessmentType)
      throw invalidRequest('The type of a step is that of its assessment', {
        [`steps[${String(steps.length)}].assessmentType`]: `must be ${fields.assessmentType}`,
      });
    steps.push({
      assessmentId: input.assessmentId,
      passThreshold: input.passThreshold ?? 0,
      type,
      name: input.name ?? null,
      instructions: input.instructions ?? null,
      passAction: input.passAction ?? null,
    });
  }
  return steps;
}

function isAssessmentType(type: string): boolean {
  return (assessmentTypes as readonly string[]).includes(type);
}

/** Section 2.7, steps enriched with name and duration of their assessments. */
export function renderAssessmentFlow(ctx: Context, flow: AssessmentFlow): Record<string, unknown> {
  const { id, companyId, name, description, status, steps } = flow;
  const candidateCount = ctx.state.count('flow_candidates', 'flow_id = ?', id);
  return {
    id,
    companyId,
    flowName: name,
    description,
    status,
    candidateCount,
    steps: steps.map((step) => {
      const { fields } = findAssessment(ctx, step.assessmentId);
      return {
        ...step,
        assessmentType: step.type,
        assessmentName: fields.testName,
        assessmentDuration: fields.duration,
      };
    }),
  };
}

interface FlowCandidate {
  id: number;
  flowId: number;
  email: string;
  firstName: string | null;
  lastName: string | null;
  jobCandidateId: number | null;
  status: string;
  /** 0-based place of the step this person is at. */
  step: number;
}

const FLOW_CANDIDATE = `select id, flow_id as flowId, email, first_name as firstName, last_name as lastName,
  job_candidate_id as jobCandidateId, status, step from flow_candidates`;

/** Assigns a person and sends the first invitation. The same e-mail again is the same assignment (L1, assumed). */
export function assign(
  ctx: Context,
  flow: AssessmentFlow,
  person: Person,
  of: { jobId?: number | undefined; talentId?: number | string | undefined },
): { candidate: FlowCandidate; isNew: boolean } {
  const present = ctx.state.one<FlowCandidate>(
    `${FLOW_CANDIDATE} where flow_id = ? and email = ?`,
    flow.id,
    person.email,
  );
  if (present !== undefined) return { candidate: present, isNew: false };
  if (flow.status !== 'ACTIVE') throw invalidRequest('The assessment flow is not active', { id: `is ${flow.status}` });
  refuseInactive(findAssessment(ctx, flow.steps[0]?.assessmentId ?? ''));
  const id = ctx.state.nextId('flow-candidate', 70_001);
  ctx.state.run(
    `insert into flow_candidates (id, company_id, flow_id, email, first_name, last_name, job_candidate_id, job_id,
      talent_id, status, assigned_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, 'NOT_STARTED', ?)`,
    id,
    ctx.company.id,
    flow.id,
    person.email,
    person.firstName,
    person.lastName,
    person.jobCandidateId,
    of.jobId ?? null,
    of.talentId === undefined ? null : String(of.talentId),
    ctx.now,
  );
  effect(ctx, 'flow-assignment', id, { flowId: flow.id });
  enterStep(ctx, findFlowCandidate(ctx, id));
  return { candidate: findFlowCandidate(ctx, id), isNew: true };
}

/** 404 when unknown or another company's. */
export function findFlowCandidate(ctx: Context, id: number): FlowCandidate {
  const found = ctx.state.one<FlowCandidate>(`${FLOW_CANDIDATE} where id = ? and company_id = ?`, id, ctx.company.id);
  if (found === undefined) throw notFound('Flow candidate');
  return found;
}

/** The invitation of the step somebody is at. */
export function currentInvite(ctx: Context, candidate: FlowCandidate): Invite | undefined {
  const step = findAssessmentFlow(ctx, candidate.flowId).steps[candidate.step];
  return step === undefined ? undefined : inviteOf(ctx, step.assessmentId, candidate.email);
}

/** A candidate who begins an interview has begun the flows that wait for it. */
export function flowStepStarted(ctx: Context, invite: Invite): void {
  for (const candidate of waitingFor(ctx, invite)) setStatus(ctx, candidate, 'IN_PROGRESS', candidate.step);
}

/** At or above the threshold the next step follows, or the flow is COMPLETED; below it the flow is FAILED. */
export function flowStepScored(ctx: Context, invite: Invite, score: number): void {
  for (const candidate of waitingFor(ctx, invite)) settleStep(ctx, candidate, score);
}

function settleStep(ctx: Context, candidate: FlowCandidate, score: number): void {
  const { steps } = findAssessmentFlow(ctx, candidate.flowId);
  const passed = score >= (steps[candidate.step]?.passThreshold ?? 0);
  const isLast = candidate.step === steps.length - 1;
  if (!passed) setStatus(ctx, candidate, 'FAILED', candidate.step);
  else if (isLast) setStatus(ctx, candidate, 'COMPLETED', candidate.step);
  else {
    setStatus(ctx, candidate, 'IN_PROGRESS', candidate.step + 1);
    enterStep(ctx, findFlowCandidate(ctx, candidate.id));
  }
}

/** Invites to the step; a person who has taken that interview before is judged by it. */
function enterStep(ctx: Context, candidate: FlowCandidate): void {
  const step = findAssessmentFlow(ctx, candidate.flowId).steps[candidate.step];
  if (step === undefined) return;
  const { email, firstName, lastName, jobCandidateId } = candidate;
  const present = inviteOf(ctx, step.assessmentId, email);
  if (present === undefined) {
    writeInvite(ctx, step.assessmentId, { email, firstName, lastName, jobCandidateId }, null);
    return;
  }
  const score = submissionOf(ctx, present.id)?.score ?? null;
  if (score !== null) settleStep(ctx, candidate, score);
}

function waitingFor(ctx: Context, invite: Invite): FlowCandidate[] {
  return ctx.state.all<FlowCandidate>(
    `${FLOW_CANDIDATE} where company_id = ? and email = ? and status in ('NOT_STARTED', 'IN_PROGRESS') and exists (
       select 1 from assessment_flows f where f.id = flow_id and f.status <> 'DELETED'
       and f.steps -> step ->> 'assessmentId' = ?) order by id`,
    ctx.company.id,
    invite.email,
    invite.assessmentId,
  );
}

/** In the order of assignment; search is a part of e-mail or name, in any case. */
export function listFlowCandidates(
  ctx: Context,
  flowId: number,
  { status, search }: { status?: string | undefined; search?: string | undefined },
  page: { number: number; size: number },
): { candidates: FlowCandidate[]; total: number } {
  const where = `flow_id = ? and (? is null or status = ?)
    and instr(lower(email || char(10) || coalesce(first_name, '') || ' ' || coalesce(last_name, '')), lower(?)) > 0`;
  const values = [flowId, status ?? null, status ?? null, search ?? ''];
  const total = ctx.state.count('flow_candidates', where, ...values);
  const candidates = ctx.state.all<FlowCandidate>(
    `${FLOW_CANDIDATE} where ${where} order by id limit ? offset ?`,
    ...values,
    page.size,
    (page.number - 1) * page.size,
  );
  return { candidates, total };
}

function setStatus(ctx: Context, { id }: FlowCandidate, status: string, step: number): void {
  ctx.state.run('update flow_candidates set status = ?, step = ? where id = ?', status, step, id);
  effect(ctx, 'flow-progress', id, { status, step });
}

/** L5, assumed; currentStep counts from 1. */
export function renderFlowCandidate(candidate: FlowCandidate): Record<string, unknown> {
  const { id, email, firstName, lastName, jobCandidateId, status, step } = candidate;
  return { flowCandidateId: id, email, firstName, lastName, jobCandidateId, status, currentStep: step + 1 };
}
