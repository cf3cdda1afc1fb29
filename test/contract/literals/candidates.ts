/** Sections 2.3, 2.4, 4.3, 4.4. */
import type { Literal } from './literal.ts';

const candidate = {
  id: 501,
  firstName: 'Mara',
  lastName: 'Lim',
  email: 'mara.lim@example.org',
  phone: '+6591234567',
  currentJobTitle: 'Nurse',
  currentCompany: 'City Hospital',
  city: 'Singapore',
  country: 'Singapore',
  skills: ['Triage', 'ICU'],
  resume: 'https://files.example.org/501.pdf',
  majors: ['Nursing'],
  summary: 'Eight years in intensive care.',
  languages: ['English', 'Malay'],
  educations: [{ degree: 'BSc', field: 'Nursing', institution: 'NUS' }],
  workExperiences: [{ title: 'Nurse', company: 'City Hospital', duration: '8 years' }],
  projectExperiences: [],
  certifications: [],
  githubUrl: null,
  linkedin: 'https://www.linkedin.com/in/example',
  coverLetter: null,
  gender: null,
  dateOfBirth: '1992-04-11',
  nationality: 'Singaporean',
  industry: 'Healthcare',
  category: null,
  createdAt: '2026-01-06T02:00:00.000Z',
  updatedAt: '2026-01-06T02:00:00.000Z',
};

const jobCandidate = {
  id: 9001,
  jobId: 301,
  candidateId: 501,
  profileMatchScore: 87,
  evaluationStatus: 'PENDING',
  criteriaMatches: { skills: 90, experience: 85, education: 80 },
  recommendToRecruitingFirm: true,
  aiSummary: 'A strong match.',
  candidate_details: candidate,
  customFields: { cf_9: { label: 'Start date', value: '2026-03-01', parentSection: 'Miscellaneous' } },
};

const refused = (message: string) => ({ error: { code: 'INVALID_REQUEST', type: 'validation_error', message } });
const tooMany = Array.from({ length: 101 }, (_, index) => index + 1);

export const candidateLiterals: readonly Literal[] = [
  {
    id: 'a candidate added to a job',
    operation: 'candidates.add',
    request: {
      method: 'POST',
      path: '/candidates',
      body: {
        firstName: 'Mara',
        lastName: 'Lim',
        email: 'mara.lim@example.org',
        skills: 'Triage, ICU',
        resume: 'https://files.example.org/501.pdf',
        jobId: 301,
      },
    },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: { ...candidate, isExisting: false, isAlreadyInJob: false, jobCandidateId: 9001 },
      },
    },
  },
  {
    id: 'a candidate whose e-mail is known',
    operation: 'candidates.add',
    request: { method: 'POST', path: '/candidates', body: { email: 'mara.lim@example.org' } },
    response: { status: 200, body: { status: 'success', data: { ...candidate, isExisting: true } } },
  },
  {
    id: 'an unparsed candidate for a job without city and history',
    operation: 'candidates.add',
    request: {
      method: 'POST',
      path: '/candidates',
      body: { email: 'mara.lim@example.org', jobId: 301, shouldParseResume: false },
    },
    response: { status: 400, body: refused('city, country, educations and workExperiences are required') },
    badRequest: true,
  },
  {
    id: 'parsing without credits',
    operation: 'candidates.add',
    request: {
      method: 'POST',
      path: '/candidates',
      body: { email: 'mara.lim@example.org', resume: 'https://files.example.org/501.pdf' },
    },
    response: {
      status: 402,
      body: { error: { code: 'INSUFFICIENT_CREDITS', type: 'payment_error', message: 'Insufficient credits' } },
    },
  },
  {
    id: 'the first page of candidates is 0',
    operation: 'candidates.list',
    request: {
      method: 'GET',
      path: '/candidates/list',
      query: { pageNumber: '0', perPage: '100', skills: 'Triage,ICU' },
    },
    response: {
      status: 200,
      body: { status: 'success', data: [candidate], pagination: { page: 0, perPage: 100, total: 1 } },
    },
  },
  {
    id: 'candidates with their applications',
    operation: 'candidates.list',
    request: { method: 'GET', path: '/candidates/list', query: { includeJobApplicationDetails: 'true' } },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: [{ ...candidate, jobCandidateDetails: [{ id: 9001, jobId: 301 }] }],
        pagination: { page: 0, perPage: 10, total: 1 },
      },
    },
  },
  {
    id: 'a date range the wrong way round',
    operation: 'candidates.list',
    request: {
      method: 'GET',
      path: '/candidates/list',
      query: { appliedAtMin: '2026-02-01T00:00:00Z', appliedAtMax: '2026-01-01T00:00:00Z' },
    },
    response: { status: 400, body: refused('appliedAtMin must not be after appliedAtMax') },
    badRequest: true,
  },
  {
    id: 'a candidate with the jobs it is in',
    operation: 'candidates.get',
    request: { method: 'GET', path: '/candidates/501' },
    response: {
      status: 200,
      body: { status: 'success', data: { ...candidate, jobs: [{ jobId: 301, jobCandidateId: 9001 }] } },
    },
  },
  {
    id: 'an updated candidate',
    operation: 'candidates.update',
    request: { method: 'PATCH', path: '/candidates/501', body: { city: 'Manila', country: 'Philippines' } },
    response: {
      status: 200,
      body: { status: 'success', data: { ...candidate, city: 'Manila', country: 'Philippines' } },
    },
  },
  {
    id: 'a resume is not updated',
    operation: 'candidates.update',
    request: { method: 'PATCH', path: '/candidates/501', body: { resume: 'https://files.example.org/new.pdf' } },
    response: { status: 400, body: refused('The resume URL cannot be updated') },
    badRequest: true,
  },
  {
    id: 'resumes taken for parsing',
    operation: 'candidates.uploadResumes',
    request: {
      method: 'POST',
      path: '/candidates/bulk/resume',
      body: { resumeURLs: ['https://files.example.org/1.pdf', 'https://files.example.org/2.pdf'] },
    },
    response: { status: 200, body: { success: true, data: { batchId: 'batch_1' } } },
  },
  {
    id: 'an empty list of resumes',
    operation: 'candidates.uploadResumes',
    request: { method: 'POST', path: '/candidates/bulk/resume', body: { resumeURLs: [] } },
    response: { status: 400, body: refused('resumeURLs must not be empty') },
    badRequest: true,
  },
  {
    id: 'a batch with more to come',
    operation: 'candidates.getBatch',
    request: { method: 'GET', path: '/candidates/batch/batch_1', query: { page: '1', perPage: '10' } },
    response: {
      status: 200,
      body: {
        success: true,
        data: { batchId: 'batch_1', status: 'processing', candidates: [candidate], hasNextPage: true },
      },
    },
  },
  {
    id: 'an unknown batch',
    operation: 'candidates.getBatch',
    request: { method: 'GET', path: '/candidates/batch/none' },
    response: { status: 404, body: { error: { code: 'NOT_FOUND', type: 'not_found', message: 'Batch not found' } } },
  },
  {
    id: 'candidates by id, as text and number',
    operation: 'candidates.bulkFetch',
    request: { method: 'POST', path: '/candidates/bulk-fetch', body: { candidateIds: ['501', 502] } },
    response: { status: 200, body: { status: 'success', data: [candidate] } },
  },
  {
    id: 'job candidates by id',
    operation: 'jobCandidates.bulkFetch',
    request: { method: 'POST', path: '/job-candidates/bulk-fetch', body: { jobCandidateIds: [9001] } },
    response: { status: 200, body: { status: 'success', data: [jobCandidate] } },
  },
  {
    id: 'job candidates, one too many',
    operation: 'jobCandidates.bulkFetch',
    request: { method: 'POST', path: '/job-candidates/bulk-fetch', body: { jobCandidateIds: tooMany } },
    response: { status: 400, body: refused('jobCandidateIds must contain 1 to 100 ids') },
    badRequest: true,
  },
  {
    id: 'a rescore is accepted',
    operation: 'jobCandidates.rescore',
    request: { method: 'POST', path: '/job-candidates/rescore', body: { jobId: 301, jobCandidateIds: [9001] } },
    response: {
      status: 202,
      body: {
        status: 'accepted',
        data: { rescoreId: 'rescore_1', jobId: 301, totalEligible: 1, totalQueued: 1, message: 'Rescore queued' },
      },
    },
  },
  {
    id: 'people hired, whatever the case of the stage type',
    operation: 'jobCandidates.listByStageType',
    request: { method: 'GET', path: '/job-candidates/stage', query: { stageType: 'hired', perPage: '100' } },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: [{ candidate_details: candidate, jobCandidateDetails: jobCandidate, onboardingFormDetails: null }],
        pagination: { page: 1, perPage: 100, total: 1 },
      },
    },
  },
  {
    id: 'a stage type is required',
    operation: 'jobCandidates.listByStageType',
    request: { method: 'GET', path: '/job-candidates/stage' },
    response: { status: 400, body: refused('stageType is required') },
    badRequest: true,
  },
  {
    id: 'a job candidate is moved',
    operation: 'jobCandidates.move',
    request: { method: 'PUT', path: '/job-candidates/9001/stage', body: { stageId: 76 } },
    response: {
      status: 200,
      body: { status: 'success', data: { jobCandidateId: 9001, jobId: 301, stageId: 76, status: 'IN_PROGRESS' } },
    },
  },
  {
    id: "a move to another company's stage",
    operation: 'jobCandidates.move',
    request: { method: 'PUT', path: '/job-candidates/9001/stage', body: { stageId: 880 } },
    response: {
      status: 403,
      body: { error: { code: 'PERMISSION_DENIED', type: 'authorization_error', message: 'Permission denied' } },
    },
  },
  {
    id: 'an updated application',
    operation: 'jobCandidates.update',
    request: {
      method: 'PATCH',
      path: '/job-candidates/9001',
      body: { evaluationStatus: 'APPROVED', noticePeriod: '30 days' },
    },
    response: { status: 200, body: { status: 'success', data: { ...jobCandidate, evaluationStatus: 'APPROVED' } } },
  },
  {
    id: 'a job candidate removed from its job',
    operation: 'jobCandidates.remove',
    request: { method: 'DELETE', path: '/job-candidates/9001' },
    response: { status: 200, body: { status: 'success', message: 'Candidate removed from job' } },
  },
];
