/** Section 4.6: invitations to an assessment and what came of them. Interview links are never returned. */
import { z } from 'zod';
import { AssessmentSubmission, BulkInviteEntry, InviteBatch, InviteInput, InviteResult } from './assessment.ts';
import { defineEndpoint } from './endpoint.ts';
import { statusData, statusPage, writeOutcome } from './envelopes.ts';
import { errorsOf, invalidPerPage, notFound, refusal } from './errors.ts';
import { LooseNumber, pathText, queryInteger, queryPageSize, TextId } from './shapes.ts';

const params = z.object({ assessmentId: pathText() });
const submissionParams = params.extend({ submissionId: pathText() });
const mayNotChange = refusal('ACCESS_DENIED', 'not allowed to invite to that assessment');
const resultErrors = errorsOf(
  notFound('assessment or submission'),
  refusal('REPORT_NOT_READY', 'scoring is not completed'),
);

export const assessmentInvites = {
  invite: defineEndpoint({
    id: 'assessments.invite',
    method: 'POST',
    path: '/assessment/:assessmentId/invite',
    section: '4.6',
    summary: 'Invite a candidate by e-mail',
    params,
    body: InviteInput,
    status: 200,
    envelope: 'status-data',
    response: writeOutcome(InviteResult),
    errors: errorsOf(
      refusal('INVALID_REQUEST', 'neither jobCandidateId nor all of firstName, lastName and emailAddress'),
      refusal('DUPLICATE_INVITE', 'candidate already invited'),
      notFound('assessment or job candidate'),
      mayNotChange,
    ),
    assumed: ['G1', 'A6', 'A7', 'A8', 'A10', 'A17'],
  }),
  inviteBulk: defineEndpoint({
    id: 'assessments.inviteBulk',
    method: 'POST',
    path: '/assessment/:assessmentId/invite/bulk',
    section: '4.6',
    summary: 'Invite 1 to 5,000 candidates',
    params,
    body: z.object({ candidates: z.array(BulkInviteEntry).min(1).max(5000) }),
    status: 202,
    envelope: 'status-data',
    response: statusData(z.looseObject({ batchId: TextId, totalCount: LooseNumber.nullish() })),
    errors: errorsOf(
      refusal('INVALID_REQUEST', 'list missing, empty, over 5,000 or with an invalid entry'),
      notFound('assessment'),
      mayNotChange,
    ),
    assumed: ['A4', 'A5', 'A6', 'A7', 'A8', 'A10', 'A17'],
  }),
  getInviteBatch: defineEndpoint({
    id: 'assessments.getInviteBatch',
    method: 'GET',
    path: '/assessment/:assessmentId/invite/bulk/:batchId',
    section: '4.6',
    summary: 'Status of a bulk invite, entry by entry',
    params: params.extend({ batchId: pathText() }),
    status: 200,
    envelope: 'status-data',
    response: statusData(InviteBatch),
    errors: errorsOf(notFound('assessment or batch')),
    assumed: ['A4', 'G7'],
  }),
  listCandidates: defineEndpoint({
    id: 'assessments.listCandidates',
    method: 'GET',
    path: '/assessment/:assessmentId/candidates',
    section: '4.6',
    summary: 'Candidates who submitted or timed out',
    params,
    query: z.object({ pageNumber: queryInteger({ min: 1 }).default(1), perPage: queryPageSize().default(10) }),
    status: 200,
    envelope: 'status-data',
    response: statusPage('data.candidates', 'data.submissions', 'candidates'),
    list: {
      itemsAt: 'data',
      item: AssessmentSubmission,
      idKey: 'submissionId',
      paging: {
        pageParam: 'pageNumber',
        firstPage: 1,
        sizeParam: 'perPage',
        sizes: [10, 20, 40, 80, 100],
        end: { totalAt: 'pagination.total' },
      },
    },
    errors: errorsOf(
      invalidPerPage,
      refusal('INVALID_REQUEST', 'pageNumber below 1 or no integer'),
      notFound('assessment'),
    ),
    assumed: ['G12', 'A18', 'A23', 'PAGES', 'SUBMISSION'],
  }),
  getReport: defineEndpoint({
    id: 'assessments.getReport',
    method: 'GET',
    path: '/assessment/:assessmentId/submissions/:submissionId/report',
    section: '4.6',
    summary: 'Download URL of the result PDF',
    params: submissionParams,
    status: 200,
    envelope: 'status-data',
    response: statusData(z.looseObject({ reportUrl: z.string() })),
    errors: resultErrors,
    assumed: ['A15', 'G24'],
  }),
  getShareLink: defineEndpoint({
    id: 'assessments.getShareLink',
    method: 'GET',
    path: '/assessment/:assessmentId/submissions/:submissionId/share-link',
    section: '4.6',
    summary: 'Public result page',
    params: submissionParams,
    status: 200,
    envelope: 'status-data',
    response: statusData(
      z.preprocess(
        (data: unknown) => (typeof data === 'string' ? { shareUrl: data } : data),
        z.looseObject({ shareUrl: z.string().nullish() }),
      ),
    ),
    errors: resultErrors,
    assumed: ['A15', 'SHARE'],
  }),
};
