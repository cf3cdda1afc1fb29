import { type Context, effect, notFound } from '../context.ts';
import { stableUuid } from '../random.ts';

export interface Enrolment {
  id: string;
  flowId: string;
  firstName: string;
  lastName: string;
  email: string;
  phoneNumber: string | null;
  externalRef: string | null;
  overallStatus: string;
  journeyUrl: string;
  /** JSON texts. */
  metadata: string | null;
  external: string | null;
  enrolledAt: number;
}

export interface Step {
  stepKey: string;
  stepOrder: number;
  status: string;
  rejectionReason: string | null;
  verifiedAt: number | null;
}

const ENROLMENT = `select id, flow_id as flowId, first_name as firstName, last_name as lastName, email,
  phone_number as phoneNumber, external_ref as externalRef, overall_status as overallStatus, journey_url as journeyUrl,
  metadata, external, enrolled_at as enrolledAt from onboarding_candidates`;

/** 404 when unknown or another company's. */
export function findEnrolment(ctx: Context, id: string): Enrolment {
  const found = ctx.state.one<Enrolment>(`${ENROLMENT} where id = ? and company_id = ?`, id, ctx.company.id);
  if (found === undefined) throw notFound('Onboarding candidate');
  return withAddress(ctx, found);
}

/** 404 for an address that nobody was given. */
export function enrolmentByJourney(ctx: Context, token: string): Enrolment {
  const where = "journey_url = '/journey/' || ? and company_id = ?";
  const found = ctx.state.one<Enrolment>(`${ENROLMENT} where ${where}`, token, ctx.company.id);
  if (found === undefined) throw notFound('Journey');
  return withAddress(ctx, found);
}

/** The journey's path is kept, and its host is where the sandbox listens now. */
function withAddress({ state }: Context, row: Enrolment): Enrolment {
  return { ...row, journeyUrl: state.publicUrl + row.journeyUrl };
}

interface EnrolmentQuery {
  externalRef?: string | undefined;
  flowId?: string | undefined;
  status?: string | undefined;
  page: number;
  limit: number;
}

/** One page in the order of enrolment. */
export function listEnrolments(ctx: Context, query: EnrolmentQuery): { enrolments: Enrolment[]; total: number } {
  const filters = { external_ref: query.externalRef, flow_id: query.flowId, overall_status: query.status };
  const used = Object.entries(filters).flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]));
  const where = ['company_id = ?', ...used.map(({ column }) => `${column} = ?`)].join(' and ');
  const values = [ctx.company.id, ...used.map(({ value }) => value)];
  const total = ctx.state.count('onboarding_candidates', where, ...values);
  const enrolments = ctx.state.all<Enrolment>(
    `${ENROLMENT} where ${where} order by seq limit ? offset ?`,
    ...values,
    query.limit,
    (query.page - 1) * query.limit,
  );
  return { enrolments: enrolments.map((row) => withAddress(ctx, row)), total };
}

export function stepsOf(ctx: Context, enrolmentId: string): Step[] {
  return ctx.state.all<Step>(
    `select step_key as stepKey, step_order as stepOrder, status, rejection_reason as rejectionReason,
      verified_at as verifiedAt
     from onboarding_steps where onboarding_id = ? order by step_order`,
    enrolmentId,
  );
}

/** The record of section 2.9 without its steps, as lists show it. */
export function renderEnrolment(enrolment: Enrolment): Record<string, unknown> {
  const { id, metadata, external, ...fields } = enrolment;
  return {
    onboardingCandidateId: id,
    ...fields,
    metadata: metadata === null ? null : (JSON.parse(metadata) as unknown),
    externalStatus: external === null ? null : (JSON.parse(external) as unknown),
  };
}

/** With its steps. */
export function renderEnrolmentInFull(ctx: Context, enrolment: Enrolment): Record<string, unknown> {
  return { ...renderEnrolment(enrolment), stepProgress: stepsOf(ctx, enrolment.id) };
}

/** O9, assumed. */
export const flowStatuses = ['ACTIVE', 'INACTIVE'] as const;

interface OnboardingFlow {
  id: string;
  name: string;
  status: string;
  /** JSON text of [{ stepKey, stepOrder, isActive }]. */
  steps: string;
  createdAt: number;
  updatedAt: number;
}

interface FlowStep {
  stepKey: string;
  isActive?: boolean | undefined;
}

const FLOW = 'select id, name, status, steps, created_at as createdAt, updated_at as updatedAt from onboarding_flows';

export function createFlow(
  ctx: Context,
  input: { name: string; steps: readonly FlowStep[]; status?: string | undefined },
): OnboardingFlow {
  const { state, company, now } = ctx;
  const seq = state.nextId('onboarding-flow');
  const id = stableUuid(state.seed, 'onboarding-flow', seq);
  const steps = input.steps.map((step, index) => ({
    stepKey: step.stepKey,
    stepOrder: index + 1,
    isActive: step.isActive ?? true,
  }));
  state.run(
    `insert into onboarding_flows (id, company_id, seq, name, status, steps, created_at, updated_at)
      values (?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    company.id,
    seq,
    input.name,
    input.status ?? 'ACTIVE',
    JSON.stringify(steps),
    now,
    now,
  );
  effect(ctx, 'onboarding-flow', id);
  return findFlow(ctx, id);
}

/** 404 when unknown or another company's. */
export function findFlow(ctx: Context, id: string): OnboardingFlow {
  const flow = ctx.state.one<OnboardingFlow>(`${FLOW} where id = ? and company_id = ?`, id, ctx.company.id);
  if (flow === undefined) throw notFound('Onboarding flow');
  return flow;
}

export function listFlows(ctx: Context, status: string | undefined): OnboardingFlow[] {
  const wanted = status ?? null;
  return ctx.state.all<OnboardingFlow>(
    `${FLOW} where company_id = ? and (? is null or status = ?) order by seq`,
    ctx.company.id,
    wanted,
    wanted,
  );
}

export function setFlowStatus(ctx: Context, id: string, status: string): OnboardingFlow {
  findFlow(ctx, id);
  ctx.state.run('update onboarding_flows set status = ?, updated_at = ? where id = ?', status, ctx.now, id);
  return findFlow(ctx, id);
}

export function renderFlow(flow: OnboardingFlow): Record<string, unknown> {
  const { id, steps, ...fields } = flow;
  return { flowId: id, ...fields, steps: JSON.parse(steps) as unknown };
}
