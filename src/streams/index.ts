import { sourceRecords } from '../mapping/source-fields.ts';
import type { ListEndpoint } from '../partner/client/types.ts';
import { contract } from '../partner/contract/index.ts';
import { type Pipeline, stageTypes } from '../partner/contract/pipelines.ts';
import { type ExchangeStream, lookupTable, type PullStream, type PushStream } from './stream.ts';

// Columns of landing tables, by type; a required column holds text.
const columns =
  (column: PullStream['landing'][string]) =>
  (...names: string[]): PullStream['landing'] =>
    Object.fromEntries(names.map((name) => [name, column]));
const required = columns({ type: 'text', required: true });
const texts = columns({ type: 'text' });
const numbers = columns({ type: 'number' });
const lists = columns({ type: 'list' });

/**
 * Job candidates of all jobs. Listed one stage type at a time, because no list shows them all (section 4.4). The stage
 * is not a field of the record: its type comes from the list that shows the record, as of the last whole pass, and no
 * list tells which stage of that type it is. A record read by id also contains its person, whom another stream brings.
 */
export const applications: PullStream = {
  kind: 'pull',
  list: contract.jobCandidates.listByStageType as ListEndpoint,
  segments: stageTypes.map((stageType) => ({ stageType })),
  fetch: contract.jobCandidates.bulkFetch as ListEndpoint,
  toRecords: ({ candidate_details: _person, ...item }, { stageType }) => [
    'jobCandidateDetails' in item ? { ...(item['jobCandidateDetails'] as object), stageType } : item,
  ],
  record: { name: 'jobCandidate', fields: [...sourceRecords.jobCandidate.fields, 'stageType'] },
  listOnly: ['stageType'],
  landing: { ...required('jobId', 'candidateId'), ...numbers('profileMatchScore'), ...texts('evaluationStatus') },
};

/**
 * Consents of applications (section 4.4): reads the lists of applications and, one by one, each application's consent
 * document. A consent that was withdrawn or has expired lands as such.
 */
export const consents: PullStream = {
  kind: 'pull',
  list: contract.jobCandidates.listByStageType as ListEndpoint,
  segments: applications.segments ?? [],
  fetch: contract.jobCandidates.bulkFetch as ListEndpoint,
  toRecords: (item) => [(item['jobCandidateDetails'] as Record<string, unknown> | undefined) ?? item],
  record: { name: 'consent', ...sourceRecords.consent },
  landing: {
    ...required('jobId', 'candidateId', 'state'),
    ...texts('document', 'policyVersion', 'acceptedAt', 'expiresAt'),
  },
};

export const candidates: PullStream = {
  kind: 'pull',
  list: contract.candidates.list as ListEndpoint,
  fetch: contract.candidates.bulkFetch as ListEndpoint,
  record: { name: 'candidate', ...sourceRecords.candidate },
  landing: {
    ...texts('givenName', 'familyName', 'email', 'phone', 'city', 'country', 'currentTitle', 'currentCompany'),
    ...lists('skills'),
    ...texts('createdAt', 'updatedAt'),
  },
};

export const jobs: PullStream = {
  kind: 'pull',
  list: contract.jobs.list as ListEndpoint,
  record: { name: 'job', ...sourceRecords.job },
  landing: {
    ...required('title'),
    ...texts('description', 'status', 'city', 'state', 'country', 'workMode'),
    ...numbers('salaryFrom', 'salaryTo'),
    ...texts('salaryCurrency', 'createdAt'),
  },
};

/** Enrolments and their progress, from the only list that shows all flows (section 4.9). */
export const onboarding: PullStream = {
  kind: 'pull',
  list: contract.onboarding.listCandidates as ListEndpoint,
  toRecords: (item) => [{ ...item, id: item['onboardingCandidateId'] }],
  record: { name: 'onboarding', ...sourceRecords.onboarding },
  landing: { ...texts('flowId', 'status', 'externalRef', 'enrolledAt') },
};

/**
 * Interviews that were submitted or timed out, one assessment at a time, because no call reads an interview by id
 * (section 4.6). The specification does not show the names of results (reading SUBMISSION).
 */
export const interviews: PullStream = {
  kind: 'pull',
  list: contract.assessments.listCandidates as ListEndpoint,
  parent: {
    list: contract.assessments.list as ListEndpoint,
    param: 'assessmentId',
    isEmpty: ({ submissionCount }) => submissionCount === 0,
    isTold: true,
  },
  toRecords: (item, { assessmentId }) => [{ ...item, id: item['submissionId'], assessmentId }],
  record: { name: 'interview', ...sourceRecords.interview },
  landing: {
    ...required('assessmentId'),
    ...texts('jobCandidateId', 'externalRef', 'email', 'status'),
    ...numbers('score'),
    ...texts('bucket', 'verdict', 'languageLevel', 'startedAt', 'endedAt', 'scoredAt'),
  },
};

/** People on assessment flows and their progress, one flow at a time (section 4.7). No event reports them. */
export const screenings: PullStream = {
  kind: 'pull',
  list: contract.assessmentFlows.listCandidates as ListEndpoint,
  parent: {
    list: contract.assessmentFlows.list as ListEndpoint,
    param: 'id',
    isEmpty: ({ candidateCount }) => candidateCount === 0,
  },
  toRecords: (item, { id: flowId }) => [{ ...item, id: item['flowCandidateId'], flowId }],
  record: { name: 'screening', ...sourceRecords.screening },
  landing: { ...required('flowId'), ...texts('jobCandidateId', 'email', 'status'), ...numbers('currentStep') },
};

/** Booked slots (section 4.8). No event reports them. */
export const bookings: PullStream = {
  kind: 'pull',
  list: contract.bookings.list as ListEndpoint,
  // The specification shows no id of a booking (section 2.8), but a booking link is used only once.
  toRecords: (item) => [{ ...item, id: item['id'] ?? item['bookingLinkId'] ?? bookedBy(item) }],
  record: { name: 'booking', ...sourceRecords.booking },
  landing: {
    ...texts('scheduleId', 'linkId', 'entityType', 'entityId'),
    ...required('startsAt'),
    ...texts('endsAt', 'format', 'locationId', 'attendance', 'createdAt'),
  },
};

function bookedBy({ entityType, entityId, scheduledStartAt }: Record<string, unknown>): string {
  return [entityType, entityId, scheduledStartAt].join(' ');
}

/**
 * People called by campaigns, one campaign at a time. The specification does not show who they are (section 2.10;
 * reading M1), so identity lands only if a mapping asks for it.
 */
export const leads: PullStream = {
  kind: 'pull',
  list: contract.campaigns.listLeads as ListEndpoint,
  parent: { list: contract.campaigns.list as ListEndpoint, param: 'campaignId' },
  toRecords: (item, { campaignId }) => [{ ...item, id: item['leadId'], campaignId }],
  record: { name: 'lead', ...sourceRecords.lead },
  landing: { ...required('campaignId'), ...texts('status', 'statusLabel') },
};

/** AI interviews: the names of the assessments of interviews and invitations. */
export const assessments = lookupTable('assessments', {
  list: contract.assessments.list as ListEndpoint,
  toRecords: (item) => [{ ...item, id: item['assessmentId'] }],
});

/** Calendars in which candidates book, with their time zones. */
export const schedules = lookupTable('schedules', { list: contract.bookingSchedules.list as ListEndpoint });

/** Stages of all pipelines; only their pipelines show them (section 4.1). */
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

/** Users of the partner's workspace, for example to find a hiring manager's e-mail by user id. */
export const users = lookupTable('users', { list: contract.users.list as ListEndpoint });

/** Fields of open positions and their jobs, in the direction that the tenant's mapping says. */
export const positions: ExchangeStream = { kind: 'exchange', workflow: 'exchangeStream', entity: 'job' };

/** Turns open positions of the HRIS into jobs at the partner. */
export const requisitions: PushStream = { kind: 'push', workflow: 'pushStream' };

/** Fields of linked candidates and employees, in the direction that the tenant's mapping says. */
export const employees: ExchangeStream = { kind: 'exchange', workflow: 'exchangeStream', entity: 'candidate' };

/** Invites the people named by the tenant's rules to an assessment, or assigns them to a flow, once. */
export const invitations: PushStream = { kind: 'push', workflow: 'pushStream', followsHints: true };

/** Makes campaign leads named by the tenant's rules candidates of a job, once. */
export const sourcing: PushStream = { kind: 'push', workflow: 'pushStream' };

/** Makes candidates of a job from files that the customer lists, once. */
export const resumes: PushStream = { kind: 'push', workflow: 'pushStream', followsHints: true };

/** Has candidates of a job scored again if a person asks for it. */
export const rescoring: PushStream = { kind: 'push', workflow: 'pushStream', followsHints: true };

/** Writes results of interviews and flows to custom fields of the candidate. */
export const results: PushStream = { kind: 'push', workflow: 'pushStream', followsHints: true };

/** Makes options of the partner's select fields equal to lists of the HRIS. */
export const options: PushStream = { kind: 'push', workflow: 'pushStream' };

/** Stores booked slots for the addresses where calendars read them. */
export const calendar: PushStream = { kind: 'push', workflow: 'pushStream' };

/** Tells the partner when employees change in the HRIS: their number, and whether they left. */
export const employment: PushStream = { kind: 'push', workflow: 'pushStream', followsHints: true };

/** Changes at the partner after the employee exists: a person is asked, or they are written to the HR system. */
export const amendments: ExchangeStream = { kind: 'exchange', workflow: 'exchangeStream', entity: 'candidate' };

/** Gives each hired person an account in each further destination of the tenant. */
export const accounts: PushStream = { kind: 'push', workflow: 'pushStream', followsHints: true, followsHires: true };

/** Copies documents of a finished hire into the employee's record in the HRIS. */
export const documents: PushStream = {
  kind: 'push',
  workflow: 'pushStream',
  followsHints: true,
  followsHires: true,
};
