/** Sections 2.2, 4.2: jobs. `GET /jobs/:jobId` and the update have no shape, see undefinedEndpoints. */
import { z } from 'zod';
import { CustomFieldInputs, CustomFieldsOfCandidate, CustomFieldsShown } from './custom-fields.ts';
import { defineEndpoint, errorsOf, invalidPerPage, invalidRequest, notFound, refusal } from './endpoint.ts';
import {
  AnyObject,
  EpochTime,
  JobId,
  LooseNumber,
  openEnum,
  PipelineId,
  queryInteger,
  queryPageSize,
} from './shapes.ts';
export const jobStatuses = ['DRAFT', 'ACTIVE', 'INACTIVE', 'DELETED'] as const;
export const workModes = ['ONSITE', 'REMOTE', 'HYBRID'] as const;
export const publishTypes = ['EXTERNAL', 'INTERNAL'] as const;
export const contractTypes = [
  'Permanent',
  'Freelance / Consultant',
  'Fixed term contract',
  'Internship',
  'Student',
] as const;
export const degreeLevels = ['High School', "Bachelor's", "Master's", 'M.B.A.', 'Ph.D.', 'Other'] as const;
export const jobRoles = [
  'Accounting',
  'Administrative',
  'Customer Service',
  'Design',
  'Education',
  'Engineering',
  'Finance',
  'Healthcare',
  'Hospitality & Tourism',
  'Human Resources (HR)',
  'Information Technology (IT)',
  'Legal',
  'Marketing',
  'Media & Public Relations (PR)',
  'Pharmaceuticals',
  'Production',
  'Property Management',
  'Public Service & Security',
  'Real Estate',
  'Retail',
  'Sales',
  'Supply Chain & Logistics',
] as const;

export const Job = z
  .looseObject({
    id: JobId,
    title: z.string(),
    description: z.string().nullish(),
    city: z.string().nullish(),
    state: z.string().nullish(),
    country: z.string().nullish(),
    pipelineId: PipelineId.nullish(),
    status: openEnum(jobStatuses),
    workMode: openEnum(workModes).nullish(),
    pipelineStage: z
      .array(z.looseObject({ name: z.string().nullish(), type: z.string(), totalCandidate: LooseNumber }))
      .nullish(),
    createdAt: EpochTime.nullish(),
    /** Type and unit are not shown (J14): nothing is read from it. */
    runningRevenue: z.union([LooseNumber, z.string(), AnyObject]).nullish(),
    rejectedCandidateCount: LooseNumber.nullish(),
    salaryRangeFrom: LooseNumber.nullish(),
    salaryRangeTo: LooseNumber.nullish(),
    salaryCurrency: z.string().nullish(),
    customFields: CustomFieldsShown.nullish(),
  })
  .meta({ id: 'Job' });
export type Job = z.infer<typeof Job>;

const place = z.string().trim().min(1).max(200);
const salary = z.int().min(0).max(9_999_999_999);

/** The form of the fields is shown for list items: an answer to a create may have the bare values. */
function withFieldsShown(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('customFields' in body)) return body;
  return { ...body, customFields: CustomFieldsOfCandidate.parse(body.customFields) };
}

export const JobInput = z
  .object({
    title: z.string().trim().min(3).max(120),
    city: place,
    state: z.string().max(200),
    country: place,
    description: z.string().max(10_000).optional(),
    status: z.enum(['DRAFT', 'ACTIVE']).optional(),
    workMode: z.enum(workModes).optional(),
    screeningQuestion: z
      .array(z.object({ type: z.literal('text'), question: z.string().min(1).max(3000) }))
      .max(15)
      .optional(),
    teamId: z.guid().optional(),
    contractType: z.enum(contractTypes).optional(),
    degreeLevel: z.enum(degreeLevels).optional(),
    jobRole: z.enum(jobRoles).optional(),
    salaryRangeFrom: salary.optional(),
    salaryRangeTo: salary.optional(),
    salaryCurrency: z
      .string()
      .regex(/^[A-Z]{3}$/)
      .optional(),
    customFields: CustomFieldInputs.optional(),
  })
  .refine(salaryTogether, {
    path: ['salaryCurrency'],
    error: 'salaryRangeFrom, salaryRangeTo and salaryCurrency must be given together',
  })
  .refine((job) => !(Number(job.salaryRangeFrom) >= Number(job.salaryRangeTo)), {
    path: ['salaryRangeFrom'],
    error: 'salaryRangeFrom must be less than salaryRangeTo',
  })
  .meta({ id: 'JobInput' });
export type JobInput = z.input<typeof JobInput>;

function salaryTogether(job: { salaryRangeFrom?: unknown; salaryRangeTo?: unknown; salaryCurrency?: unknown }) {
  const given = [job.salaryRangeFrom, job.salaryRangeTo, job.salaryCurrency].filter((part) => part !== undefined);
  return given.length === 0 || given.length === 3;
}

export const jobs = {
  list: defineEndpoint({
    id: 'jobs.list',
    method: 'GET',
    path: '/jobs',
    section: '4.2',
    summary: 'List jobs',
    query: z.object({
      pageNumber: queryInteger({ min: 1 }).default(1),
      perPage: queryPageSize().default(10),
      jobTitle: z.string().optional(),
      teamId: z.string().optional(),
      city: z.string().optional(),
      state: z.string().optional(),
      country: z.string().optional(),
      careerLevel: z.string().optional(),
      contractType: z.string().optional(),
      degreeLevel: z.string().optional(),
      jobRole: z.string().optional(),
      status: z.enum(['DRAFT', 'ACTIVE', 'INACTIVE']).optional(),
      publishType: z.enum(publishTypes).optional(),
      workMode: z.enum(workModes).optional(),
    }),
    status: 200,
    envelope: 'bare',
    response: z.looseObject({ jobs: z.array(z.unknown()), totalJobs: LooseNumber }),
    list: {
      itemsAt: 'jobs',
      item: Job,
      idKey: 'id',
      paging: {
        pageParam: 'pageNumber',
        firstPage: 1,
        sizeParam: 'perPage',
        sizes: [10, 20, 40, 80, 100],
        end: { totalAt: 'totalJobs' },
      },
    },
    errors: errorsOf(
      invalidPerPage,
      refusal('INVALID_STATUS', 'status filter outside its values', { field: 'status' }),
      refusal('INVALID_PUBLISH_TYPE', 'publishType filter outside its values', { field: 'publishType' }),
      refusal('INVALID_WORK_MODE', 'workMode filter outside its values', { field: 'workMode' }),
      refusal('INVALID_REQUEST', 'pageNumber below 1 or no integer'),
    ),
    assumed: ['G11', 'J2', 'J3', 'J4', 'J5', 'J6', 'J10', 'J13', 'J14'],
  }),
  create: defineEndpoint({
    id: 'jobs.create',
    method: 'POST',
    path: '/jobs',
    section: '4.2',
    summary: 'Create a job',
    body: JobInput,
    status: 200,
    envelope: 'bare',
    response: z.preprocess(withFieldsShown, Job),
    errors: errorsOf(
      invalidRequest,
      notFound('team or company'),
      refusal('CUSTOM_FIELD_NOT_FOUND', 'unknown custom field'),
      refusal('PERMISSION_DENIED', 'custom field of another company'),
    ),
    assumed: ['G1', 'J1', 'J7', 'J8', 'J9', 'J10', 'J11', 'J12', 'J15', 'J16'],
  }),
};
