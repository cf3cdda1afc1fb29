/** Section 4.6: assessments. Invitations and results stand in assessment-invites.ts. */
import { z } from 'zod';
import {
  Assessment,
  AssessmentQuestion,
  AssessmentUpdate,
  AudioInterviewInput,
  AutoGenerateInput,
  GenerateQuestionsInput,
  QuestionInput,
  QuestionUpdate,
} from './assessment.ts';
import { assessmentInvites } from './assessment-invites.ts';
import { defineEndpoint } from './endpoint.ts';
import { Confirmation, statusData, statusKeyedPage } from './envelopes.ts';
import { errorsOf, invalidPerPage, invalidRequest, notFound, refusal } from './errors.ts';
import { pathText, queryInteger, queryPageSize } from './shapes.ts';

const params = z.object({ assessmentId: pathText() });
const questionParams = params.extend({ questionId: pathText() });
const noCredits = refusal('INSUFFICIENT_CREDITS', 'not enough credits');
const mayNotChange = refusal('ACCESS_DENIED', 'not allowed to change that assessment');
const generation = [
  refusal('AI_GENERATION_FAILED', 'question generation failed'),
  refusal('AI_GENERATION_EMPTY', 'question generation returned nothing'),
];
const changeErrors = errorsOf(invalidRequest, notFound('assessment'), mayNotChange);
const questionErrors = errorsOf(invalidRequest, notFound('assessment or question'), mayNotChange);

export const assessments = {
  list: defineEndpoint({
    id: 'assessments.list',
    method: 'GET',
    path: '/assessment',
    section: '4.6',
    summary: 'List assessments',
    query: z.object({ pageNumber: queryInteger({ min: 1 }).default(1), perPage: queryPageSize().default(10) }),
    status: 200,
    envelope: 'status-data',
    response: statusKeyedPage('assessments'),
    list: {
      itemsAt: 'data.assessments',
      item: Assessment,
      idKey: 'assessmentId',
      paging: {
        pageParam: 'pageNumber',
        firstPage: 1,
        sizeParam: 'perPage',
        sizes: [10, 20, 40, 80, 100],
        end: { totalAt: 'data.pagination.total' },
      },
    },
    errors: errorsOf(invalidPerPage, refusal('INVALID_REQUEST', 'pageNumber below 1 or no integer')),
    assumed: ['G11', 'A16', 'A19'],
  }),
  createAudioInterview: defineEndpoint({
    id: 'assessments.createAudioInterview',
    method: 'POST',
    path: '/assessment/audio-interviews',
    section: '4.6',
    summary: 'Create an audio interview',
    body: AudioInterviewInput,
    status: 201,
    envelope: 'status-data',
    response: statusData(Assessment),
    errors: errorsOf(
      refusal('INVALID_REQUEST', 'missing or invalid field; maxResumeCount missing when resumeAllowed is true'),
      notFound('job or company'),
      noCredits,
    ),
    costsCredit: true,
    assumed: ['A12', 'A14', 'A16', 'A17', 'A21', 'POSTED'],
  }),
  get: defineEndpoint({
    id: 'assessments.get',
    method: 'GET',
    path: '/assessment/:assessmentId',
    section: '4.6',
    summary: 'Get an assessment with its questions',
    params,
    status: 200,
    envelope: 'status-data',
    response: statusData(Assessment),
    errors: errorsOf(notFound('assessment')),
    assumed: ['A10', 'A16', 'A19'],
  }),
  update: defineEndpoint({
    id: 'assessments.update',
    method: 'PUT',
    path: '/assessment/:assessmentId',
    section: '4.6',
    summary: 'Update an assessment',
    params,
    body: AssessmentUpdate,
    status: 200,
    envelope: 'status-data',
    response: statusData(Assessment),
    errors: changeErrors,
    assumed: ['A1', 'A10', 'A20'],
  }),
  addQuestion: defineEndpoint({
    id: 'assessments.addQuestion',
    method: 'POST',
    path: '/assessment/:assessmentId/questions',
    section: '4.6',
    summary: 'Add a question',
    params,
    body: QuestionInput,
    status: 200,
    envelope: 'status-data',
    response: statusData(AssessmentQuestion),
    errors: changeErrors,
    assumed: ['G1', 'A9', 'A10', 'A11'],
  }),
  updateQuestion: defineEndpoint({
    id: 'assessments.updateQuestion',
    method: 'PUT',
    path: '/assessment/:assessmentId/questions/:questionId',
    section: '4.6',
    summary: 'Update a question',
    params: questionParams,
    body: QuestionUpdate,
    status: 200,
    envelope: 'status-data',
    response: statusData(AssessmentQuestion),
    errors: questionErrors,
    assumed: ['A9', 'A10'],
  }),
  removeQuestion: defineEndpoint({
    id: 'assessments.removeQuestion',
    method: 'DELETE',
    path: '/assessment/:assessmentId/questions/:questionId',
    section: '4.6',
    summary: 'Delete a question',
    params: questionParams,
    status: 200,
    envelope: 'status-data',
    response: Confirmation,
    errors: errorsOf(notFound('assessment or question'), mayNotChange),
    assumed: ['A10'],
  }),
  autoGenerate: defineEndpoint({
    id: 'assessments.autoGenerate',
    method: 'POST',
    path: '/assessment/auto-generate',
    section: '4.6',
    summary: 'Create an assessment whose questions are generated in the background',
    body: AutoGenerateInput,
    status: 201,
    envelope: 'status-data',
    response: statusData(Assessment),
    errors: errorsOf(
      refusal('INVALID_REQUEST', 'neither jobId nor purpose; duration outside 5 to 60'),
      notFound('job or company'),
      noCredits,
      ...generation,
    ),
    costsCredit: true,
    assumed: ['A2', 'A13', 'A17', 'A21', 'A22'],
  }),
  generateQuestions: defineEndpoint({
    id: 'assessments.generateQuestions',
    method: 'POST',
    path: '/assessment/:assessmentId/generate-questions',
    section: '4.6',
    summary: 'Generate questions in the background',
    params,
    body: GenerateQuestionsInput,
    status: 200,
    /** "accepted" may be any of the three (G2). */
    okStatuses: [200, 201, 202],
    envelope: 'status-data',
    response: Confirmation,
    errors: errorsOf(invalidRequest, notFound('assessment'), mayNotChange, noCredits, ...generation),
    costsCredit: true,
    assumed: ['G2', 'A3', 'A10', 'A17', 'A22'],
  }),
  ...assessmentInvites,
};
