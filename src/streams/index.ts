import { sourceRecords } from '../mapping/source-fields.ts';
import type { ListEndpoint } from '../partner/client/types.ts';
import { contract } from '../partner/contract/index.ts';
import { type Pipeline, stageTypes } from '../partner/contract/pipelines.ts';
import type { ExchangeStream, PullStream, PushStream } from './stream.ts';
import { lookupTable } from './with-tables.ts';

/**
 * Job candidates of all jobs. They are listed a stage type at a time, because no list shows them all (section 4.4). The
 * stage is no field of theirs: its type is known by the list that shows them, so it is as of the last whole pass. Which
 * stage of that type, no list of types tells.
 */
export const applications: PullStream = {
  kind: 'pull',
  list: contract.jobCandidates.listByStageType as ListEndpoint,
  segments: stageTypes.map((stageType) => ({ stageType })),
  fetch: contract.jobCandidates.bulkFetch as ListEndpoint,
  toRecords: (item, { stageType }) => [
    'jobCandidateDetails' in item ? { ...(item['jobCandidateDetails'] as object), stageType } : item,
  ],
  record: { name: 'jobCandidate', fields: [...sourceRecords.jobCandidate.fields, 'stageType'] },
  listOnly: ['stageType'],
  landing: {
    jobId: { type: 'text', required: true },
    candidateId: { type: 'text', required: true },
    profileMatchScore: { type: 'number' },
    evaluationStatus: { type: 'text' },
  },
};

export const candidates: PullStream = {
  kind: 'pull',
  list: contract.candidates.list as ListEndpoint,
  fetch: contract.candidates.bulkFetch as ListEndpoint,
  record: { name: 'candidate', ...sourceRecords.candidate },
  landing: {
    givenName: { type: 'text' },
    familyName: { type: 'text' },
    email: { type: 'text' },
    phone: { type: 'text' },
    city: { type: 'text' },
    country: { type: 'text' },
    currentTitle: { type: 'text' },
    currentCompany: { type: 'text' },
    skills: { type: 'list' },
    createdAt: { type: 'text' },
    updatedAt: { type: 'text' },
  },
};

export const jobs: PullStream = {
  kind: 'pull',
  list: contract.jobs.list as ListEndpoint,
  record: { name: 'job', ...sourceRecords.job },
  landing: {
    title: { type: 'text', required: true },
    description: { type: 'text' },
    status: { type: 'text' },
    city: { type: 'text' },
    state: { type: 'text' },
    country: { type: 'text' },
    workMode: { type: 'text' },
    salaryFrom: { type: 'number' },
    salaryTo: { type: 'number' },
    salaryCurrency: { type: 'text' },
    createdAt: { type: 'text' },
  },
};

/** Enrolments and how far they are, from the one list that shows all flows (section 4.9). */
export const onboarding: PullStream = {
  kind: 'pull',
  list: contract.onboarding.listCandidates as ListEndpoint,
  toRecords: (item) => [{ ...item, id: item['onboardingCandidateId'] }],
  record: { name: 'onboarding', ...sourceRecords.onboarding },
  landing: {
    flowId: { type: 'text' },
    status: { type: 'text' },
    externalRef: { type: 'text' },
    enrolledAt: { type: 'text' },
  },
};

/** Stages of all pipelines; they are shown within their pipelines alone (section 4.1). */
export const stages = lookupTable('stages', {
  list: contract.pipelines.list as ListEndpoint,
  toRecords(item) {
    const { id: pipelineId, stages: own } = item as Pipeline;
    return own.map(({ id, name, type }, index) => ({ id, name, type, pipelineId, order: index + 1 }));
  },
});

/** Onboarding flows. */
export const flows = lookupTable('flows', {
  list: contract.onboarding.listFlows as ListEndpoint,
  toRecords: (item) => [{ ...item, id: item['flowId'] }],
});

export const pipelines = lookupTable('pipelines', { list: contract.pipelines.list as ListEndpoint });

export const teams = lookupTable('teams', { list: contract.teams.list as ListEndpoint });

/** People of the partner's workspace: a hiring manager's e-mail by the user's id. */
export const users = lookupTable('users', { list: contract.users.list as ListEndpoint });

/** Fields of open positions and of the jobs that they became, in whichever direction the tenant's mapping says. */
export const positions: ExchangeStream = { kind: 'exchange', workflow: 'exchangeStream', entity: 'job' };

/** Open positions of the HRIS become jobs of the partner. */
export const requisitions: PushStream = { kind: 'push', workflow: 'pushStream' };

/** Fields of linked candidates and employees, in whichever direction the tenant's mapping says. */
export const employees: ExchangeStream = { kind: 'exchange', workflow: 'exchangeStream', entity: 'candidate' };

/** Employees that change in the HRIS: their number and whether they left reach the partner. */
export const employment: PushStream = { kind: 'push', workflow: 'pushStream' };

/** What changes at the partner once the employee exists: a person is asked, or the HR system gets it. */
export const amendments: ExchangeStream = { kind: 'exchange', workflow: 'exchangeStream', entity: 'candidate' };

/** Documents of a finished hire go into the employee's record in the HRIS. */
export const documents: PushStream = { kind: 'push', workflow: 'pushStream' };
