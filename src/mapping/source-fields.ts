/** What a mapping may read from, and what each holds (sections 2.2, 2.3, 2.4 and 2.9 of the specification). */
export type SourceName = 'candidate' | 'job' | 'jobCandidate' | 'onboarding';

const words = (text: string): string[] => text.split(' ');

/** Lists of objects (educations, experiences) are left out: no employee field can hold one. */
export const SOURCE_FIELDS: Record<SourceName, readonly string[]> = {
  candidate: words(
    'id firstName lastName email phone currentJobTitle currentCompany city country skills resume majors summary languages ' +
      'githubUrl linkedin coverLetter gender dateOfBirth nationality industry category createdAt updatedAt',
  ),
  job: words(
    'id title description city state country pipelineId status workMode createdAt salaryRangeFrom salaryRangeTo salaryCurrency',
  ),
  jobCandidate: words('id jobId candidateId profileMatchScore evaluationStatus recommendToRecruitingFirm aiSummary'),
  onboarding: words('onboardingCandidateId flowId overallStatus externalRef enrolledAt metadata'),
};

/** The one field with keys of its own: what was sent with the enrolment. */
const WITH_KEYS = 'metadata';

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
  const known = SOURCE_FIELDS[head];
  if (!known.includes(field))
    return {
      wrong: `"${field}" is not a field of ${head}`,
      word: field,
      known: [...known, ...(WITH_CUSTOM_FIELDS.has(head) ? ['customFields[LABEL]'] : [])],
    };
  const isObject = field === WITH_KEYS;
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
