import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';

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

export interface EnrolmentQuery {
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
