/** What a mapping may read from, and what each holds (sections 2.2, 2.3, 2.4 and 2.9 of the specification). */
export type SourceName = 'candidate' | 'job' | 'jobCandidate' | 'onboarding';

type Holds = 'text' | 'number' | 'boolean' | 'list' | 'object';

const texts = (names: string): Record<string, Holds> =>
  Object.fromEntries(names.split(' ').map((name) => [name, 'text']));

/** Lists of objects (educations, experiences) are left out: no employee field can hold one. */
export const SOURCE_FIELDS: Record<SourceName, Record<string, Holds>> = {
  candidate: {
    id: 'number',
    skills: 'list',
    ...texts(
      'firstName lastName email phone currentJobTitle currentCompany city country resume majors summary languages githubUrl linkedin coverLetter gender dateOfBirth nationality industry category createdAt updatedAt',
    ),
  },
  job: {
    id: 'number',
    pipelineId: 'number',
    createdAt: 'number',
    salaryRangeFrom: 'number',
    salaryRangeTo: 'number',
    ...texts('title description city state country status workMode salaryCurrency'),
  },
  jobCandidate: {
    id: 'number',
    jobId: 'number',
    candidateId: 'number',
    profileMatchScore: 'number',
    recommendToRecruitingFirm: 'boolean',
    ...texts('evaluationStatus aiSummary'),
  },
  onboarding: {
    ...texts('onboardingCandidateId flowId overallStatus externalRef'),
    enrolledAt: 'number',
    metadata: 'object',
  },
};

/** Sources with custom fields: `{ customFieldId: { label, value, parentSection } }`. */
const WITH_CUSTOM_FIELDS: ReadonlySet<SourceName> = new Set(['candidate', 'job']);

/** A parsed `from`: a field, a key of the onboarding's metadata, or a custom field by its label or id. */
export type SourcePath = { source: SourceName; text: string } & (
  | { field: string; key?: string }
  | { customField: string }
);

/** Reads `candidate.firstName`, `job.customFields[Department]` or `onboarding.metadata.site`; returns the reason when it names nothing. */
export function parseSourcePath(text: string): SourcePath | { wrong: string; word: string; known: string[] } {
  const custom = /^(\w+)\.customFields\[(.+)\]$/s.exec(text);
  const [head = '', field = '', key, ...rest] = custom ? [custom[1] ?? ''] : text.split('.');
  if (!isSource(head))
    return { wrong: `"${head}" is not a record of the hiring platform`, word: head, known: Object.keys(SOURCE_FIELDS) };
  if (custom) {
    if (WITH_CUSTOM_FIELDS.has(head)) return { source: head, text, customField: (custom[2] ?? '').trim() };
    return { wrong: `"${head}" has no custom fields`, word: head, known: [...WITH_CUSTOM_FIELDS] };
  }
  const known = Object.keys(SOURCE_FIELDS[head]);
  if (!Object.hasOwn(SOURCE_FIELDS[head], field))
    return {
      wrong: `"${field}" is not a field of ${head}`,
      word: field,
      known: [...known, ...(WITH_CUSTOM_FIELDS.has(head) ? ['customFields[LABEL]'] : [])],
    };
  const isObject = SOURCE_FIELDS[head][field] === 'object';
  if (rest.length > 0 || isObject !== (key !== undefined)) {
    return {
      wrong: isObject
        ? `"${text}" needs one key, for example ${head}.${field}.site`
        : `"${head}.${field}" has nothing below it`,
      word: text,
      known: [],
    };
  }
  return { source: head, text, field, ...(key === undefined ? {} : { key }) };
}

function isSource(word: string): word is SourceName {
  return Object.hasOwn(SOURCE_FIELDS, word);
}
