/** Section 4.9: onboarding. Documents and offers stand in a file of their own. */
import {
  type Enrolment,
  findEnrolment,
  listEnrolments,
  renderEnrolment,
  renderEnrolmentInFull,
} from '../records/onboarding/enrolments.ts';
import { enrol, setExternalStatus, terminate } from '../records/onboarding/onboarding.ts';
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
    const enrolled = enrol(ctx, params.flowId, body.candidates, (index) => `candidates[${String(index)}].`);
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

  listCandidates(ctx, { query }) {
    const { enrolments, total } = listEnrolments(ctx, query);
    return success({
      candidates: enrolments.map(renderEnrolment),
      pagination: limitPagination(query.page, query.limit, total),
    });
  },

  setExternalStatus(ctx, { params, body }) {
    return success(renderEnrolmentInFull(ctx, setExternalStatus(ctx, params.onboardingCandidateId, body)));
  },

  terminate(ctx, { params, body }) {
    return success(renderEnrolmentInFull(ctx, terminate(ctx, params.onboardingCandidateId, body?.reason ?? null)));
  },
} satisfies OperationTree['onboarding'];
