import { cases } from './cases.ts';
import type { Loose } from './loose.ts';
import { newField, newPipeline } from './records.ts';
import type { World } from './world.ts';

/** One condition of a row of section 7: the operation, and a request that meets it. */
export interface Condition {
  when: string;
  operation: string;
  input: (world: World) => Loose | Promise<Loose>;
}

/** The request that the operation's own case has for a code. */
function known(operation: string, code: string, when = operation): Condition {
  const input = cases.get(operation)?.refusals[code];
  if (input === undefined) throw new Error(`no case for ${operation} ${code}`);
  return { when, operation, input };
}

const all = (code: string, ...operations: string[]): Condition[] => operations.map((one) => known(one, code));

const stage = (when: string, body: (at: Awaited<ReturnType<typeof newPipeline>>) => object): Condition => ({
  when,
  operation: 'pipelines.saveStage',
  input: async ({ partner }) => {
    const at = await newPipeline(partner);
    return { body: { pipelineId: at.pipelineId, ...body(at) } };
  },
});

const deletion = (type: 'SOURCED' | 'APPLIED' | 'HIRED'): Condition => ({
  when: `delete of ${type}`,
  operation: 'pipelines.deleteStage',
  input: async ({ partner }) => {
    const at = await newPipeline(partner);
    return { params: { stageId: at.stage(type) }, body: { pipelineId: at.pipelineId, newStageId: at.stage('SCREEN') } };
  },
});

const fetched = (when: string, jobCandidateIds?: unknown): Condition => ({
  when: `jobCandidateIds ${when}`,
  operation: 'jobCandidates.bulkFetch',
  input: () => ({ body: { jobCandidateIds } }),
});

const field = (when: string, different: object): Condition => ({
  when: `custom field ${when}`,
  operation: 'customFields.create',
  input: () => ({ body: { entityType: 'job', fieldLabel: 'Grade', fieldType: 'text', ...different } }),
});

const upload = (when: string, body: object): Condition => ({
  when: `bulk resume upload with ${when}`,
  operation: 'candidates.uploadResumes',
  input: () => ({ body }),
});

const FILE_URL = 'https://files.example.com/ada.pdf';

/** Section 7, row by row: the code, and each condition that the row names. */
export const section7: Record<string, readonly Condition[]> = {
  INVALID_REQUEST: [
    known('pipelines.create', 'INVALID_REQUEST', 'pipeline name missing'),
    stage('stage type invalid', () => ({ name: 'Moon', type: 'MOON' })),
    stage('order below 1', () => ({ name: 'Screen', type: 'SCREEN', order: 0 })),
    stage('order over the stage count', () => ({ name: 'Screen', type: 'SCREEN', order: 99 })),
    stage('stage id invalid', () => ({ stageId: 'one', name: 'Screen' })),
    ...(['SOURCED', 'APPLIED', 'HIRED'] as const).map(deletion),
    fetched('missing'),
    fetched('empty', []),
    fetched(
      'over 100',
      Array.from({ length: 101 }, (_, index) => index + 1),
    ),
    field('missing entityType', { entityType: undefined }),
    field('missing fieldLabel', { fieldLabel: undefined }),
    field('missing fieldType', { fieldType: undefined }),
    field('invalid entityType', { entityType: 'company' }),
    field('invalid fieldType', { fieldType: 'colour' }),
    field('empty options for select', { fieldType: 'select', options: [] }),
    field('empty options for multi-select', { fieldType: 'multi-select' }),
    known('customFields.update', 'INVALID_REQUEST', 'update with no updatable field'),
    {
      when: 'update that would change fieldType alone',
      operation: 'customFields.update',
      input: async ({ partner }) => ({
        params: { customFieldId: await newField(partner) },
        body: { fieldType: 'number' },
      }),
    },
    known('assessments.createAudioInterview', 'INVALID_REQUEST', 'maxResumeCount missing when resumeAllowed true'),
    known('assessments.autoGenerate', 'INVALID_REQUEST', 'neither jobId nor purpose for auto-generate'),
    upload('a missing list', {}),
    upload('no array', { resumeURLs: FILE_URL }),
    upload('an empty list', { resumeURLs: [] }),
    upload('over 5,000', { resumeURLs: Array.from({ length: 5001 }, () => FILE_URL) }),
    upload('an invalid URL', { resumeURLs: [FILE_URL, 'ada.pdf'] }),
  ],
  INVALID_PER_PAGE: all('INVALID_PER_PAGE', 'jobs.list', 'candidates.list', 'candidates.getBatch', 'assessments.list'),
  INVALID_STATUS: all('INVALID_STATUS', 'jobs.list'),
  INVALID_PUBLISH_TYPE: all('INVALID_PUBLISH_TYPE', 'jobs.list'),
  INVALID_WORK_MODE: all('INVALID_WORK_MODE', 'jobs.list'),
  PIPELINE_NOT_FOUND: all('PIPELINE_NOT_FOUND', 'pipelines.get', 'pipelines.rename', 'pipelines.saveStage'),
  CUSTOM_FIELD_NOT_FOUND: all(
    'CUSTOM_FIELD_NOT_FOUND',
    'customFields.get',
    'customFields.update',
    'customFields.remove',
  ),
  PERMISSION_DENIED: [
    ...all('PERMISSION_DENIED', 'pipelines.get', 'pipelines.rename', 'customFields.get', 'customFields.remove'),
    known('jobCandidates.move', 'PERMISSION_DENIED', 'stage of another company'),
  ],
  NOT_FOUND: [
    ...all('NOT_FOUND', 'assessments.get', 'users.get', 'teams.get', 'onboarding.enrol', 'onboarding.getCandidate'),
    ...all('NOT_FOUND', 'onboarding.getDocument', 'onboarding.getOffer', 'jobCandidates.getApplication'),
    ...all('NOT_FOUND', 'assessmentFlows.get', 'assessments.createAudioInterview', 'candidates.getBatch'),
    known('jobCandidates.move', 'NOT_FOUND', 'stage not found'),
  ],
  ACCESS_DENIED: all('ACCESS_DENIED', 'assessments.update', 'assessments.addQuestion', 'assessments.removeQuestion'),
  INSUFFICIENT_CREDITS: [
    ...all('INSUFFICIENT_CREDITS', 'assessments.createAudioInterview', 'assessments.autoGenerate'),
    ...all('INSUFFICIENT_CREDITS', 'assessments.generateQuestions', 'candidates.add', 'jobCandidates.rescore'),
  ],
  INSUFFICIENT_ONBOARDING_CREDITS: all('INSUFFICIENT_ONBOARDING_CREDITS', 'onboarding.enrol', 'onboarding.enrolBulk'),
  DUPLICATE_INVITE: all('DUPLICATE_INVITE', 'assessments.invite'),
  DUPLICATE_ENROLLMENT: [
    known('onboarding.enrol', 'DUPLICATE_ENROLLMENT', 'same email'),
    known('onboarding.enrolBulk', 'DUPLICATE_ENROLLMENT', 'same email, in bulk'),
  ],
  ALREADY_TERMINAL: all('ALREADY_TERMINAL', 'onboarding.terminate'),
  REPORT_NOT_READY: all('REPORT_NOT_READY', 'assessments.getReport'),
  NO_APPLICATION: all('NO_APPLICATION', 'jobCandidates.getApplication', 'jobCandidates.getConsentDocument'),
  NO_CONSENT_RECORD: all('NO_CONSENT_RECORD', 'jobCandidates.getConsentDocument'),
  AI_GENERATION_FAILED: all('AI_GENERATION_FAILED', 'assessments.autoGenerate', 'assessments.generateQuestions'),
  AI_GENERATION_EMPTY: all('AI_GENERATION_EMPTY', 'assessments.autoGenerate', 'assessments.generateQuestions'),
  ACCOUNT_INACTIVE: [{ when: 'inactive subscription', operation: 'jobs.list', input: () => ({}) }],
};
