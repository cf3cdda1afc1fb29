import { assessmentTypes } from '../../../partner/contract/assessment.ts';
import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { invalidRequest, notFound } from '../../errors.ts';
import { findAssessment } from '../assessments/assessments.ts';

/** A step as it was given; both names of its type are answered (L8, assumed). */
export interface FlowStep {
  assessmentId: string;
  passThreshold: number;
  type: string | null;
  name: string | null;
  instructions: string | null;
  passAction: string | null;
}

export interface StepInput {
  assessmentId: string;
  passThreshold?: number | undefined;
  assessmentType?: string | undefined;
  type?: string | undefined;
  name?: string | undefined;
  instructions?: string | undefined;
  passAction?: string | undefined;
}

export interface AssessmentFlow {
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
  input: { flowName: string; description?: string | undefined; steps: readonly StepInput[] },
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
    description?: string | undefined;
    status?: string | undefined;
    steps?: readonly StepInput[] | undefined;
  },
): AssessmentFlow {
  const before = findAssessmentFlow(ctx, id);
  const after: AssessmentFlow = {
    ...before,
    name: input.flowName ?? before.name,
    description: input.description ?? before.description,
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
 * Section 4.7: existing steps stay as they are but for their threshold, new ones may follow. The list is the whole one,
 * existing steps first; what is left out of an existing step stays (L2, assumed).
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
  const fixed: Record<string, unknown> = { ...rest, type: input.type ?? assessmentType };
  return Object.keys(fixed).find(
    (field) => fixed[field] !== undefined && fixed[field] !== step[field as keyof FlowStep],
  );
}

/** An assessment stands in a flow once (L4, assumed): an invitation is good for one interview. */
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
