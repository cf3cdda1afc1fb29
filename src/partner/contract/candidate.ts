/** Section 2.3: the candidate record, as it arrives and as it is sent. */
import { z } from 'zod';
import { CustomFieldInputs, CustomFieldsShown } from './custom-field-input.ts';
import { Email } from './email.ts';
import { CandidateId } from './ids.ts';
import { AnyObject, atLeastOne, IsoTime, TextId } from './shapes.ts';

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

export const Education = z
  .looseObject({ degree: z.string().nullish(), field: z.string().nullish(), institution: z.string().nullish() })
  .meta({ id: 'Education' });
export type Education = z.infer<typeof Education>;

/** `id` is what a nested custom field value names as parentEntityId (section 2.5). */
export const WorkExperience = z
  .looseObject({
    id: TextId.nullish(),
    title: z.string().nullish(),
    company: z.string().nullish(),
    duration: z.unknown().optional(),
  })
  .meta({ id: 'WorkExperience' });
export type WorkExperience = z.infer<typeof WorkExperience>;

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
    customFields: CustomFieldsShown.nullish(),
    createdAt: IsoTime.nullish(),
    updatedAt: IsoTime.nullish(),
  })
  .meta({ id: 'Candidate' });
export type Candidate = z.infer<typeof Candidate>;

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
  dateOfBirth: z.iso.date().optional(),
  nationality: text,
  industry: text,
  category: text,
  customFields: CustomFieldInputs.optional(),
};

/** `skills` on input: a list or a comma-separated string. */
export const CandidateInput = z
  .object({
    email: z.email(),
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
export type CandidateInput = z.input<typeof CandidateInput>;

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
    email: z.email().optional(),
    ...profile,
    resume: z.never({ error: 'The resume URL cannot be updated' }).optional(),
  }),
).meta({ id: 'CandidateUpdate' });
export type CandidateUpdate = z.input<typeof CandidateUpdate>;
