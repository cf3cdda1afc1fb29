/** Section 4.9: onboarding. Documents and offers stand in a file of their own. */
import type { Enrolment } from '../records/onboarding/onboarding.ts';
import {
  ENROLMENT,
  enrol,
  findEnrolment,
  renderEnrolment,
  renderEnrolmentInFull,
  setExternalStatus,
  terminate,
} from '../records/onboarding/onboarding.ts';
import { listFlows, renderFlow } from '../records/onboarding/onboarding-flows.ts';
import { onboardingDocuments } from './onboarding-documents.ts';
import { limitPagination, type OperationTree, success } from './operation.ts';

export const onboarding = {
  ...onboardingDocuments,

  listFlows(ctx, { query: { status, page, limit } }) {
    const flows = listFlows(ctx, status);
    const shown = flows.slice((page - 1) * limit, page * limit).map(renderFlow);
    return success({ flows: shown, pagination: limitPagination(page, limit, flows.length) });
  },

  enrol(ctx, { params, body }) {
    const [enrolled] = enrol(ctx, params.flowId, [body]);
    return success(renderEnrolmentInFull(ctx, enrolled as Enrolment));
  },

  enrolBulk(ctx, { params, body }) {
    const enrolled = enrol(ctx, params.flowId, body.candidates);
    return success({
      enrolled: enrolled.map(({ id, email, externalRef, journeyUrl }) => ({
        onboardingCandidateId: id,
        email,
        externalRef,
        journeyUrl,
      })),
    });
  },

  getCandidate: (ctx, { params }) =>
    success(renderEnrolmentInFull(ctx, findEnrolment(ctx, params.onboardingCandidateId))),

  listCandidates(ctx, { query: { externalRef, flowId, status, page, limit } }) {
    const filters = { external_ref: externalRef, flow_id: flowId, overall_status: status };
    const used = Object.entries(filters).flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]));
    const where = ['company_id = ?', ...used.map(({ column }) => `${column} = ?`)].join(' and ');
    const values = [ctx.company.id, ...used.map(({ value }) => value)];
    const total =
      ctx.state.one<{ n: number }>(`select count(*) as n from onboarding_candidates where ${where}`, ...values)?.n ?? 0;
    const rows = ctx.state.all<Enrolment>(
      `${ENROLMENT} where ${where} order by seq limit ? offset ?`,
      ...values,
      limit,
      (page - 1) * limit,
    );
    return success({ candidates: rows.map(renderEnrolment), pagination: limitPagination(page, limit, total) });
  },

  setExternalStatus(ctx, { params, body }) {
    return success(renderEnrolmentInFull(ctx, setExternalStatus(ctx, params.onboardingCandidateId, body)));
  },

  terminate(ctx, { params, body }) {
    return success(renderEnrolmentInFull(ctx, terminate(ctx, params.onboardingCandidateId, body?.reason ?? null)));
  },
} satisfies OperationTree['onboarding'];
