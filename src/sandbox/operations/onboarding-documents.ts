/** Section 4.9: documents, reports and offers, each read with fresh URLs. */

import { findEnrolment } from '../records/onboarding/enrolments.ts';
import { findOffer, listOffers, renderOffer } from '../records/onboarding/offers.ts';
import { documentsOf, findDocument, renderDocument } from '../records/onboarding/onboarding-documents.ts';
import { limitPagination, type OperationTree, success } from './operation.ts';

export const onboardingDocuments = {
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
