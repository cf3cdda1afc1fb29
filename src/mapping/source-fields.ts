/** One kind of record that a mapping may read. */
export interface SourceRecord {
  fields: readonly string[];
  /** Whether it has custom fields: `{ customFieldId: { label, value, parentSection } }`. */
  hasCustomFields?: boolean;
  /** Its lists whose entries have custom fields of their own (section 2.5). */
  lists?: readonly string[];
  /** Whether it has answers to questions, found by the questions' text. */
  hasAnswers?: boolean;
  /** Whether the whole record may be read at once, except these fields. */
  whole?: { without: readonly string[] };
}

/** Records by the first word of a path. */
export type SourceRecords = Readonly<Record<string, SourceRecord>>;

const words = (text: string): string[] => text.split(' ');

/**
 * What an employee's mapping may read (sections 2.2, 2.3, 2.4 and 2.9 of the specification). From lists of objects
 * (educations, experiences) it can read only the custom fields of one entry, because no employee field holds a list of
 * objects.
 */
export const sourceRecords = {
  candidate: {
    fields: words(
      'id firstName lastName email phone currentJobTitle currentCompany city country skills resume majors summary ' +
        'languages githubUrl linkedin coverLetter gender dateOfBirth nationality industry category createdAt updatedAt',
    ),
    hasCustomFields: true,
    lists: ['workExperiences', 'educations'],
  },
  job: {
    fields: words(
      'id title description city state country pipelineId status workMode createdAt salaryRangeFrom salaryRangeTo ' +
        'salaryCurrency',
    ),
    hasCustomFields: true,
  },
  jobCandidate: {
    fields: words('id jobId candidateId profileMatchScore evaluationStatus recommendToRecruitingFirm aiSummary'),
  },
  consent: { fields: words('id jobId candidateId state document policyVersion acceptedAt expiresAt') },
  interview: {
    fields: words(
      'submissionId assessmentId jobCandidateId externalRef firstName lastName email interviewStatus score bucket ' +
        'bucketStatus cefrLevel startedAt endedAt scoredAt',
    ),
  },
  screening: { fields: words('flowCandidateId flowId jobCandidateId email firstName lastName status currentStep') },
  booking: {
    fields: words(
      'id bookingScheduleId bookingLinkId entityType entityId scheduledStartAt scheduledEndAt selectedFormat ' +
        'selectedLocationId attendance createdAt',
    ),
  },
  lead: { fields: words('leadId campaignId status statusLabel firstName lastName email phone consentAt') },
  /** What a person entered on the hosted page (section 2.4); their current earnings are left out on purpose. */
  application: {
    fields: words('appliedAt noticePeriod isWillingToRelocate expectedCTC currencyExpectedCTC expectedCTCPeriod'),
    hasAnswers: true,
  },
  onboarding: { fields: words('onboardingCandidateId flowId overallStatus externalRef enrolledAt metadata') },
} as const satisfies SourceRecords;

/**
 * Fields that the partner lets an integration change (sections 4.3, 4.5): PATCH /candidates, and custom field values.
 */
export const partnerTargets = {
  candidate: {
    fields: words(
      'email firstName lastName phone currentJobTitle currentCompany city country skills majors summary languages ' +
        'githubUrl linkedin coverLetter gender dateOfBirth nationality industry category',
    ),
    hasCustomFields: true,
  },
  job: { fields: [], hasCustomFields: true },
} as const satisfies SourceRecords;

/** The only field with keys of its own: the data sent with the enrolment. */
const WITH_KEYS = 'metadata';

/** The field of an application that holds the answers to its questions (section 2.4). */
const ANSWERS = 'screeningQuestionAnswer';

/** Stands in place of a field for the whole record. */
const WHOLE = '*';

/** Which entry of a list; `current` is the entry marked as current. */
const PICKS = ['first', 'last', 'current'] as const;
type Pick = (typeof PICKS)[number];

/**
 * A parsed `from`: a field, a key of the onboarding's metadata, an answer by its question's text, the whole record
 * without some fields, or a custom field by label or id, of the record or of one entry of a list.
 */
export type SourcePath = { source: string; text: string } & (
  | { field: string; key?: string; question?: string; without?: readonly string[] }
  | { customField: string; of?: { list: string; pick: Pick } }
);

/** A path that names nothing: the reason, the word to blame, and possible corrections. */
interface WrongPath {
  wrong: string;
  word: string;
  known: string[];
}

/** Parses `candidate.workExperiences[last].customFields[Reason for leaving]`; undefined if the text is no such path. */
function parseNested(text: string, records: SourceRecords): SourcePath | WrongPath | undefined {
  const [, head = '', list = '', pick = '', customField = ''] =
    /^(\w+)\.(\w+)\[([^\]]*)\]\.customFields\[(.+)\]$/s.exec(text) ?? [];
  if (head === '' || !Object.hasOwn(records, head)) return undefined;
  const lists = records[head]?.lists ?? [];
  if (!lists.includes(list))
    return lists.length > 0
      ? { wrong: `"${list}" is no list of ${head} whose entries have custom fields`, word: list, known: [...lists] }
      : {
          wrong: 'only the mapping of employees can read custom fields of the entries of a list',
          word: text,
          known: [],
        };
  const known = PICKS.find((one) => one === pick);
  if (known === undefined)
    return { wrong: `"${pick}" does not say which entry of ${list} is meant`, word: pick, known: [...PICKS] };
  return { source: head, text, customField: customField.trim(), of: { list, pick: known } };
}

/** Parses `candidate.firstName`, `job.customFields[Department]` or `onboarding.metadata.site`. */
export function parseSourcePath(text: string, records: SourceRecords = sourceRecords): SourcePath | WrongPath {
  const nested = parseNested(text, records);
  if (nested !== undefined) return nested;
  const [, asked = '', question = ''] = /^(\w+)\.answers\[(.+)\]$/s.exec(text) ?? [];
  if (Object.hasOwn(records, asked) && records[asked]?.hasAnswers === true)
    return { source: asked, text, field: ANSWERS, question: question.trim() };
  const custom = /^(\w+)\.customFields\[(.+)\]$/s.exec(text);
  const [head = '', ...path] = custom ? [custom[1] ?? ''] : text.split('.');
  const record = Object.hasOwn(records, head) ? records[head] : undefined;
  if (record === undefined)
    return { wrong: `"${head}" is not a record of the hiring platform`, word: head, known: Object.keys(records) };
  if (custom === null) return parseField(text, head, record, path);
  if (record.hasCustomFields) return { source: head, text, customField: (custom[2] ?? '').trim() };
  const known = Object.keys(records).filter((name) => records[name]?.hasCustomFields);
  return { wrong: `"${head}" has no custom fields`, word: head, known };
}

function parseField(
  text: string,
  head: string,
  { fields, hasCustomFields, hasAnswers, whole }: SourceRecord,
  [field = '', key, ...rest]: string[],
): SourcePath | WrongPath {
  if (field === WHOLE && key === undefined) {
    if (whole !== undefined) return { source: head, text, field, ...whole };
    return { wrong: `only the mapping of a stream that lands can read all of a ${head}`, word: text, known: [] };
  }
  if (!fields.includes(field))
    return {
      wrong: `"${field}" is not a field of ${head}`,
      word: field,
      known: [
        ...fields,
        ...(hasCustomFields ? ['customFields[LABEL]'] : []),
        ...(hasAnswers ? ['answers[QUESTION]'] : []),
        ...(whole ? [WHOLE] : []),
      ],
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
