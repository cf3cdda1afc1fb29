/**
 * What the requests of the collection send, and what they remember of an answer for those that follow.
 * `{{name}}` is a variable as text, `{{#name}}` one that stands in the JSON as a number.
 */
export interface Example {
  query?: Record<string, string>;
  body?: unknown;
  /** Variable to dotted path in the answer's body. */
  remember?: Record<string, string>;
}

/** Ids that a dashboard makes may be missing in a fresh company: such requests may answer a documented refusal. */
export const UNKNOWN_ID = 'unknown';

const person = { firstName: 'Ada', lastName: 'Example' };

export const collectionExamples: Record<string, Example> = {
  'pipelines.list': { remember: { pipelineId: 'data.0.id', newStageId: 'data.0.stages.0.id' } },
  'pipelines.create': { body: { name: 'Collection pipeline' } },
  'pipelines.rename': { body: { name: 'Collection pipeline, renamed' } },
  'pipelines.saveStage': {
    body: { pipelineId: '{{#pipelineId}}', name: 'Collection stage', type: 'SCREEN' },
    remember: { stageId: 'data.id' },
  },
  'pipelines.deleteStage': { body: { pipelineId: '{{#pipelineId}}', newStageId: '{{#newStageId}}' } },
  'jobs.list': { query: { pageNumber: '1', perPage: '10' } },
  'jobs.create': {
    body: { title: 'Collection job', city: 'Manila', state: '', country: 'Philippines', status: 'ACTIVE' },
    remember: { jobId: 'id' },
  },
  'candidates.add': {
    body: {
      email: 'collection.{{run}}@example.org',
      ...person,
      city: 'Manila',
      country: 'Philippines',
      educations: [],
      workExperiences: [],
      jobId: '{{#jobId}}',
      shouldParseResume: false,
    },
    remember: { candidateId: 'data.id', jobCandidateId: 'data.jobCandidateId', entityId: 'data.id' },
  },
  'candidates.list': { query: { pageNumber: '0', perPage: '10' } },
  'candidates.update': { body: { currentJobTitle: 'Engineer' } },
  'candidates.uploadResumes': {
    body: { resumeURLs: ['https://files.example.org/resume.pdf'] },
    remember: { batchId: 'data.batchId' },
  },
  'candidates.getBatch': { query: { page: '1', perPage: '10' } },
  'candidates.bulkFetch': { body: { candidateIds: ['{{#candidateId}}'] } },
  'jobCandidates.bulkFetch': { body: { jobCandidateIds: ['{{#jobCandidateId}}'] } },
  'jobCandidates.rescore': { body: { jobId: '{{#jobId}}' }, remember: { rescoreId: 'data.rescoreId' } },
  'jobCandidates.uploadResumes': {
    body: { jobId: '{{#jobId}}', resumeURLs: ['https://files.example.org/resume.pdf'] },
  },
  'jobCandidates.listByJob': { query: { pageNumber: '1', perPage: '10' } },
  'jobCandidates.listByStageType': { query: { stageType: 'SOURCED', perPage: '10' } },
  'jobCandidates.listByStage': { query: { perPage: '10' } },
  'jobCandidates.update': { body: { noticePeriod: '30 days' } },
  'jobCandidates.move': { body: { stageId: '{{#stageId}}' } },
  'customFields.list': { query: { entityType: 'candidate' } },
  'customFields.create': {
    body: { entityType: 'candidate', fieldLabel: 'Collection field', fieldType: 'text' },
    remember: { customFieldId: 'data.id' },
  },
  'customFields.update': { body: { description: 'Made by the request collection' } },
  'customFieldValues.list': { query: { entityType: 'candidate', entityId: '{{candidateId}}' } },
  'customFieldValues.upsert': {
    body: {
      customFieldId: '{{customFieldId}}',
      entityType: 'candidate',
      entityId: '{{#candidateId}}',
      value: 'set by the collection',
    },
    remember: { valueId: 'data.id' },
  },
  'customFieldValues.upsertBulk': {
    body: [
      {
        customFieldId: '{{customFieldId}}',
        entityType: 'candidate',
        entityId: '{{#candidateId}}',
        value: 'set in bulk',
      },
    ],
    remember: { valueId: 'data.0.id' },
  },
  'assessments.list': { query: { pageNumber: '1', perPage: '10' } },
  'assessments.createAudioInterview': {
    body: {
      title: 'Collection interview',
      hiringForRole: 'Engineer',
      purposeOfInterview: 'To see that the collection works',
    },
    remember: { assessmentId: 'data.assessmentId' },
  },
  'assessments.update': { body: { duration: 25 } },
  'assessments.addQuestion': { body: { question: 'Why this collection?' }, remember: { questionId: 'data.id' } },
  'assessments.updateQuestion': { body: { idealAnswer: 'Because it runs.' } },
  'assessments.autoGenerate': { body: { purpose: 'To see that the collection works', role: 'Engineer', duration: 15 } },
  'assessments.generateQuestions': { body: { jobDescription: 'An engineer who likes collections' } },
  'assessments.invite': { body: { ...person, emailAddress: 'collection.invite.{{run}}@example.org' } },
  'assessments.inviteBulk': {
    body: {
      candidates: [{ ...person, emailAddress: 'collection.bulk.{{run}}@example.org', externalRef: 'collection' }],
    },
    remember: { inviteBatchId: 'data.batchId' },
  },
  'assessments.listCandidates': {
    query: { pageNumber: '1', perPage: '10' },
    remember: { submissionId: 'data.0.submissionId' },
  },
  'assessmentFlows.create': {
    body: { flowName: 'Collection flow', steps: [{ assessmentId: '{{assessmentId}}', passThreshold: 50 }] },
    remember: { id: 'data.id' },
  },
  'assessmentFlows.update': { body: { description: 'Made by the request collection' } },
  'assessmentFlows.listCandidates': { query: { page: '1', perPage: '10' } },
  'assessmentFlows.assign': { body: { email: 'collection.flow.{{run}}@example.org', ...person } },
  'bookingSchedules.list': {
    query: { scheduleProfile: 'INTERVIEW' },
    remember: { bookingScheduleId: 'data.0.id' },
  },
  'bookingSchedules.listSlots': {
    query: { from: '{{today}}', to: '{{nextWeek}}' },
    remember: { slotStartAt: 'data.0.startAt' },
  },
  'bookingSchedules.createLink': { body: { entityType: 'JOB_CANDIDATE', entityId: '{{jobCandidateId}}' } },
  'bookingSchedules.createBooking': {
    body: { entityType: 'JOB_CANDIDATE', entityId: '{{jobCandidateId}}', scheduledStartAt: '{{slotStartAt}}' },
  },
  'onboarding.listFlows': { query: { page: '1', limit: '20' }, remember: { flowId: 'data.flows.0.flowId' } },
  'onboarding.enrol': {
    body: { ...person, email: 'collection.{{run}}@example.org', externalRef: 'collection-{{run}}' },
    remember: { onboardingCandidateId: 'data.onboardingCandidateId' },
  },
  'onboarding.enrolBulk': { body: { candidates: [{ ...person, email: 'collection.bulk.{{run}}@example.org' }] } },
  'onboarding.listCandidates': { query: { externalRef: 'collection-{{run}}' } },
  'onboarding.listDocuments': { remember: { documentId: 'data.documents.0.documentId' } },
  'onboarding.setExternalStatus': { body: { status: 'ACTIVE', employeeId: 'E-{{run}}' } },
  'onboarding.terminate': { body: { reason: 'end of the collection' } },
  'onboarding.listOffers': { query: { page: '1', limit: '20' }, remember: { offerId: 'data.offers.0.offerId' } },
  'sites.list': { remember: { companySiteId: 'sites.0.id' } },
  'campaigns.list': { query: { page: '1', limit: '20' }, remember: { campaignId: 'campaigns.0.id' } },
  'campaigns.create': {
    body: {
      title: 'Collection campaign',
      timezone: 'Asia/Manila',
      companySiteId: '{{#companySiteId}}',
      phoneNumber: '{{verifiedPhone}}',
      openingMessage: 'Hello',
      closingMessage: 'Goodbye',
      purposeType: 'ASSESSMENT_REMINDER',
    },
    remember: { campaignId: 'campaign.id' },
  },
  'campaigns.addLeads': { body: { leads: [{ firstName: 'Ada', phone: '+639170000001' }] } },
  'users.list': { query: { page: '1', perPage: '20' }, remember: { userId: 'data.0.id' } },
  'teams.list': { remember: { teamId: 'data.0.id' } },
};
