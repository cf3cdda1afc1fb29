import { z } from 'zod';
import { CustomFieldInputs, CustomFieldsOfCandidate } from './custom-fields.ts';
import {
  defineEndpoint,
  errorsOf,
  invalidPerPage,
  invalidRequest,
  notFound,
  refusal,
  statusData,
  statusList,
  statusPage,
  successData,
  valueAt,
} from './endpoint.ts';
import {
  AnyObject,
  atLeastOne,
  CandidateId,
  calendarDate,
  Email,
  emailToSend,
  IsoTime,
  JobCandidateId,
  JobId,
  openEnum,
  pathInteger,
  pathText,
  queryBoolean,
  queryInteger,
  queryIntegers,
  queryList,
  queryPageSize,
  queryTime,
  TextId,
} from './shapes.ts';

/** Elements may be text or objects (C20), as the types of dateOfBirth and category are not shown. */
const Items = z.preprocess(
  (value: unknown) => (typeof value === 'string' ? splitCommas(value) : value),
  z.array(z.union([z.string(), AnyObject])),
);

function splitCommas(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

const Education = z
  .looseObject({ degree: z.string().nullish(), field: z.string().nullish(), institution: z.string().nullish() })
  .meta({ id: 'Education' });

/** `id` is what a nested custom field value names as parentEntityId (section 2.5). */
const WorkExperience = z
  .looseObject({
    id: TextId.nullish(),
    title: z.string().nullish(),
    company: z.string().nullish(),
    duration: z.unknown().optional(),
  })
  .meta({ id: 'WorkExperience' });

export const Candidate = z
  .looseObject({
    id: CandidateId,
    firstName: z.string().nullish(),
    lastName: z.string().nullish(),
    email: Email.nullish(),
    phone: z.string().nullish(),
    currentJobTitle: z.string().nullish(),
    currentCompany: z.string().nullish(),
    city: z.string().nullish(),
    country: z.string().nullish(),
    skills: Items.nullish(),
    resume: z.string().nullish(),
    majors: Items.nullish(),
    summary: z.string().nullish(),
    languages: Items.nullish(),
    educations: z.array(Education).nullish(),
    workExperiences: z.array(WorkExperience).nullish(),
    projectExperiences: z.array(AnyObject).nullish(),
    certifications: z.array(z.union([z.string(), AnyObject])).nullish(),
    githubUrl: z.string().nullish(),
    linkedin: z.string().nullish(),
    coverLetter: z.string().nullish(),
    gender: z.string().nullish(),
    dateOfBirth: z.union([z.string(), z.number()]).nullish(),
    nationality: z.string().nullish(),
    industry: z.string().nullish(),
    category: z.union([z.string(), AnyObject, z.array(z.unknown())]).nullish(),
    customFields: CustomFieldsOfCandidate.nullish(),
    createdAt: IsoTime.nullish(),
    updatedAt: IsoTime.nullish(),
  })
  .meta({ id: 'Candidate' });

const text = z.string().optional();
const commaTexts = z.union([z.string(), z.array(z.string())]).optional();

/** Types and lengths are not shown (section 4.3); only the fields' names are. */
const profile = {
  firstName: text,
  lastName: text,
  phone: text,
  currentJobTitle: text,
  currentCompany: text,
  city: text,
  country: text,
  skills: commaTexts,
  majors: commaTexts,
  summary: text,
  languages: commaTexts,
  educations: z.array(AnyObject).optional(),
  workExperiences: z.array(AnyObject).optional(),
  projectExperiences: z.array(AnyObject).optional(),
  certifications: z.array(z.union([z.string(), AnyObject])).optional(),
  githubUrl: text,
  linkedin: text,
  coverLetter: text,
  gender: text,
  dateOfBirth: calendarDate().optional(),
  nationality: text,
  industry: text,
  category: text,
  customFields: CustomFieldInputs.optional(),
};

/** `skills` on input: a list or a comma-separated string. */
export const CandidateInput = z
  .object({
    email: emailToSend(),
    ...profile,
    resume: z.url({ protocol: /^https?$/ }).optional(),
    jobId: z.int().optional(),
    shouldParseResume: z.boolean().default(true),
  })
  .refine(hasParsedFields, {
    path: ['shouldParseResume'],
    error: 'city, country, educations and workExperiences are required with jobId when the resume is not parsed',
  })
  .meta({ id: 'CandidateInput' });

function hasParsedFields(body: {
  jobId?: number | undefined;
  shouldParseResume: boolean;
  city?: string | undefined;
  country?: string | undefined;
  educations?: unknown;
  workExperiences?: unknown;
}): boolean {
  if (body.jobId === undefined || body.shouldParseResume) return true;
  return Boolean(body.city && body.country && body.educations && body.workExperiences);
}

/** As CandidateInput without jobId and shouldParseResume; a resume URL is refused (C19). */
export const CandidateUpdate = atLeastOne(
  z.object({
    email: emailToSend().optional(),
    ...profile,
    resume: z.never({ error: 'The resume URL cannot be updated' }).optional(),
  }),
).meta({ id: 'CandidateUpdate' });

/**
 * POST /candidates: flags beside the fields of the candidate; `data.candidate` with flags around it, and flags beside
 * `data`, are read too (C2).
 */
const AddedCandidate = z.preprocess(
  flattenAdded,
  Candidate.extend({
    isExisting: z.boolean().nullish(),
    isAlreadyInJob: z.boolean().nullish(),
    jobCandidateId: JobCandidateId.nullish(),
  }).meta({ id: 'AddedCandidate' }),
);

/** GET /candidates/:candidateId: `jobs` holds the associated jobs, or only their ids (C11). */
const CandidateWithJobs = z.preprocess(
  flattenAdded,
  Candidate.extend({
    jobs: z
      .array(z.union([z.looseObject({ jobId: JobId.nullish(), jobCandidateId: JobCandidateId.nullish() }), JobId]))
      .nullish(),
  }).meta({ id: 'CandidateWithJobs' }),
);

/** GET /candidates/list: jobCandidateDetails only on request, object or array (C15). */
const ListedCandidate = Candidate.extend({
  jobCandidateDetails: z.union([z.array(AnyObject), AnyObject]).nullish(),
}).meta({ id: 'ListedCandidate' });

export const ResumeBatch = z.looseObject({ batchId: TextId }).meta({ id: 'ResumeBatch' });

/** A batch's page; a list of any name, a bare one and a flag inside `pagination` are read too (C16). */
const ParsedBatch = z.preprocess(
  (data: unknown) => batchPage(data),
  z.looseObject({
    batchId: TextId.nullish(),
    status: openEnum(['processing', 'completed', 'failed']).nullish(),
    candidates: z.array(z.unknown()),
    hasNextPage: z.boolean().nullish(),
  }),
);

/** The flag may stand beside `data`. */
function flagIntoBatch(body: unknown): unknown {
  const flag = valueAt(body, 'hasNextPage') ?? valueAt(body, 'pagination.hasNextPage');
  if (typeof flag !== 'boolean' || typeof body !== 'object' || body === null || !('data' in body)) return body;
  const data = Array.isArray(body.data) ? { candidates: body.data } : body.data;
  return typeof data === 'object' ? { ...body, data: { hasNextPage: flag, ...data } } : body;
}

function batchPage(data: unknown): unknown {
  if (Array.isArray(data)) return { candidates: data };
  if (typeof data !== 'object' || data === null) return data;
  const nested = valueAt(data, 'pagination.hasNextPage');
  const lists = Object.values(data).filter((value) => Array.isArray(value));
  return {
    ...(lists.length === 1 && { candidates: lists[0] }),
    ...(typeof nested === 'boolean' && { hasNextPage: nested }),
    ...data,
  };
}

/** 1 to 5,000 public URLs (section 8). */
export const ResumeUrls = z
  .array(z.url({ protocol: /^https?$/ }))
  .min(1)
  .max(5000);

/** 1 to 100 ids, text or numbers (section 8). */
export const BulkIds = z
  .array(z.union([z.int(), z.string().min(1)]))
  .min(1)
  .max(100);

const candidateParams = z.object({ candidateId: pathInteger() });

const listQuery = z
  .object({
    skills: queryList(z.string()).optional(),
    jobIds: queryIntegers().optional(),
    stageIds: queryIntegers().optional(),
    groupIds: queryList(z.string()).optional(),
    candidateEmail: z.string().optional(),
    phone: z.string().optional(),
    currentJobTitle: z.string().optional(),
    currentCompany: z.string().optional(),
    searchTerm: z.string().optional(),
    createdAtMin: queryTime().optional(),
    createdAtMax: queryTime().optional(),
    appliedAtMin: queryTime().optional(),
    appliedAtMax: queryTime().optional(),
    includeJobApplicationDetails: queryBoolean().default(false),
    pageNumber: queryInteger({ min: 0 }).default(0),
    perPage: queryPageSize().default(10),
  })
  .refine((query) => inOrder(query.createdAtMin, query.createdAtMax), {
    path: ['createdAtMin'],
    error: 'createdAtMin must not be after createdAtMax',
  })
  .refine((query) => inOrder(query.appliedAtMin, query.appliedAtMax), {
    path: ['appliedAtMin'],
    error: 'appliedAtMin must not be after appliedAtMax',
  });

function inOrder(min: string | undefined, max: string | undefined): boolean {
  return min === undefined || max === undefined || Date.parse(min) <= Date.parse(max);
}

function flagsIntoData(body: unknown): unknown {
  const data = valueAt(body, 'data');
  if (typeof body !== 'object' || body === null || typeof data !== 'object' || data === null) return body;
  const flags = Object.entries(body).filter(([key]) =>
    ['isExisting', 'isAlreadyInJob', 'jobCandidateId'].includes(key),
  );
  return flags.length === 0 ? body : { ...body, data: { ...Object.fromEntries(flags), ...data } };
}

function flattenAdded(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !('candidate' in data)) return data;
  const { candidate, ...flags } = data;
  return typeof candidate === 'object' && candidate !== null ? { ...candidate, ...flags } : data;
}

const noCredits = refusal('INSUFFICIENT_CREDITS', 'not enough credits for parsing or scoring');

export const candidates = {
  add: defineEndpoint({
    id: 'candidates.add',
    method: 'POST',
    path: '/candidates',
    section: '4.3',
    summary: 'Add a candidate, optionally to a job',
    body: CandidateInput,
    status: 200,
    envelope: 'status-data',
    response: z.preprocess(flagsIntoData, statusData(AddedCandidate)),
    errors: errorsOf(
      invalidRequest,
      notFound('job'),
      refusal('CUSTOM_FIELD_NOT_FOUND', 'unknown custom field'),
      refusal('PERMISSION_DENIED', 'custom field of another company'),
      noCredits,
    ),
    costsCredit: true,
    assumed: ['G1', 'C1', 'C2', 'C4', 'C5', 'C6', 'C7', 'C8', 'C9', 'C10', 'C20', 'E3'],
  }),
  list: defineEndpoint({
    id: 'candidates.list',
    method: 'GET',
    path: '/candidates/list',
    section: '4.3',
    summary: 'List candidates; the first page is 0',
    query: listQuery,
    status: 200,
    envelope: 'status-data',
    response: statusPage('data.candidates', 'candidates', 'data.data'),
    list: {
      itemsAt: 'data',
      item: ListedCandidate,
      idKey: 'id',
      paging: {
        pageParam: 'pageNumber',
        firstPage: 0,
        sizeParam: 'perPage',
        sizes: [10, 20, 40, 80, 100],
        end: { totalAt: 'pagination.total' },
      },
    },
    errors: errorsOf(invalidPerPage, refusal('INVALID_REQUEST', 'date range reversed, or a value of the wrong type')),
    assumed: ['G12', 'C12', 'C13', 'C14', 'C15'],
  }),
  get: defineEndpoint({
    id: 'candidates.get',
    method: 'GET',
    path: '/candidates/:candidateId',
    section: '4.3',
    summary: 'Get a candidate with the jobs it is in',
    params: candidateParams,
    status: 200,
    envelope: 'status-data',
    response: statusData(CandidateWithJobs),
    errors: errorsOf(invalidRequest, notFound('candidate')),
    assumed: ['G6', 'G7', 'G8', 'C11'],
  }),
  update: defineEndpoint({
    id: 'candidates.update',
    method: 'PATCH',
    path: '/candidates/:candidateId',
    section: '4.3',
    summary: 'Update a candidate',
    params: candidateParams,
    body: CandidateUpdate,
    status: 200,
    envelope: 'status-data',
    response: statusData(z.preprocess(flattenAdded, Candidate)),
    errors: errorsOf(
      invalidRequest,
      notFound('candidate'),
      refusal('CUSTOM_FIELD_NOT_FOUND', 'unknown custom field'),
      refusal('PERMISSION_DENIED', 'custom field of another company'),
      refusal('EMAIL_CONFLICT', 'e-mail used by another candidate'),
    ),
    assumed: ['C3', 'C9', 'C19', 'C20'],
  }),
  uploadResumes: defineEndpoint({
    id: 'candidates.uploadResumes',
    method: 'POST',
    path: '/candidates/bulk/resume',
    section: '4.3',
    summary: 'Parse many resumes in the background',
    body: z.object({ resumeURLs: ResumeUrls }),
    status: 200,
    envelope: 'success-data',
    response: successData(ResumeBatch),
    errors: errorsOf(
      refusal('INVALID_REQUEST', 'URL list missing, no array, empty, over 5,000 or with an invalid URL'),
    ),
    costsCredit: true,
    assumed: ['G1', 'C17', 'E11', 'RESUMES'],
  }),
  getBatch: defineEndpoint({
    id: 'candidates.getBatch',
    method: 'GET',
    path: '/candidates/batch/:batchId',
    section: '4.3',
    summary: 'Candidates parsed so far of a resume batch',
    params: z.object({ batchId: pathText() }),
    query: z.object({ page: queryInteger({ min: 1 }).default(1), perPage: queryPageSize().default(10) }),
    status: 200,
    envelope: 'success-data',
    response: z.preprocess(flagIntoBatch, successData(ParsedBatch)),
    list: {
      itemsAt: 'data.candidates',
      item: Candidate,
      idKey: 'id',
      paging: {
        pageParam: 'page',
        firstPage: 1,
        sizeParam: 'perPage',
        sizes: [10, 20, 40, 80, 100],
        end: { hasNextAt: 'data.hasNextPage' },
      },
    },
    errors: errorsOf(invalidPerPage, refusal('INVALID_REQUEST', 'page below 1 or no integer'), notFound('batch')),
    assumed: ['G6', 'G7', 'G12', 'C16', 'PAGES'],
  }),
  bulkFetch: defineEndpoint({
    id: 'candidates.bulkFetch',
    method: 'POST',
    path: '/candidates/bulk-fetch',
    section: '4.3',
    summary: 'Fetch 1 to 100 candidates by id',
    body: z.object({ candidateIds: BulkIds }),
    status: 200,
    envelope: 'status-data',
    response: statusList('data.candidates', 'candidates'),
    list: { itemsAt: 'data', item: Candidate, idKey: 'id' },
    errors: errorsOf(refusal('INVALID_REQUEST', 'candidateIds missing, empty or over 100')),
    chunk: { key: 'candidateIds', max: 100 },
    assumed: ['C18'],
  }),
};
