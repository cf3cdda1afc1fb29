import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { invalidRequest, notFound } from '../../errors.ts';
import { findAssessment } from '../assessments/assessments.ts';
import { type Invite, inviteOf, type Person, refuseInactive, writeInvite } from '../assessments/invites.ts';
import { submissionOf } from '../assessments/submissions.ts';
import type { AssessmentFlow } from './assessment-flows.ts';
import { findAssessmentFlow } from './assessment-flows.ts';

export interface FlowCandidate {
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

/** Whoever begins an interview has begun the flows that wait for it. */
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

/** Invites to the step; who has taken that interview before is judged by it. */
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
