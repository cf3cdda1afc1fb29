import {
  type Enrolment,
  findEnrolment,
  listEnrolments,
  listFlows,
  renderEnrolment,
  renderEnrolmentInFull,
  renderFlow,
} from '../records/enrolments.ts';
import { enrol, setExternalStatus, terminate } from '../records/onboarding.ts';
import {
  documentsOf,
  findDocument,
  findOffer,
  listOffers,
  renderDocument,
  renderOffer,
} from '../records/onboarding-documents.ts';
import { limitPagination, type OperationTree, success } from './operation.ts';

const onboardingDocuments = {
  listDocuments(ctx, { params, query }) {
    const { id } = findEnrolment(ctx, params.onboardingCandidateId);
    return success({ documents: documentsOf(ctx, id, query.type).map((one) => renderDocument(ctx, one)) });
  },

  getDocument(ctx, { params }) {
    const { id } = findEnrolment(ctx, params.onboardingCandidateId);
    return success(renderDocument(ctx, findDocument(ctx, id, params.documentId)));
  },

  listOffers(ctx, { query: { jobCandidateId, candidateId, jobId, status, page, limit } }) {
    const filters = { job_candidate_id: jobCandidateId, candidate_id: candidateId, job_id: jobId, status };
    const { offers, total } = listOffers(ctx, filters, limit, (page - 1) * limit);
    const pagination = limitPagination(page, limit, total);
    return success({ offers: offers.map((offer) => renderOffer(ctx, offer)), pagination });
  },

  getOffer: (ctx, { params }) => success(renderOffer(ctx, findOffer(ctx, params.offerId))),
} satisfies OperationTree['onboarding'];

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
      enrolled: enrolled.map(({ id, externalRef, journeyUrl }, index) => ({
        onboardingCandidateId: id,
        email: body.candidates[index]?.email,
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
