import { foldLabel } from '../in-words.ts';
import { type Value, withoutEdges } from '../values/transforms.ts';

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

/**
 * The records that a mapping reads, as the partner sent them; a missing record reads as empty. `candidate.customFields`
 * falls back to those of the job candidate if the partner shows them there.
 */
export type MappingSources = Readonly<Record<string, Record<string, unknown> | undefined>>;

type Read = { value: Value | undefined } | { code: string; text: string };

/**
 * Reads one path of the partner's records. Empty text is an unset custom field (section 2.2), so it reads as undefined.
 */
export function readSource(path: SourcePath, sources: MappingSources): Read {
  const record = sources[path.source];
  if (record === undefined) return { value: undefined };
  if ('customField' in path && path.of !== undefined) return readNested(path, path.of, record);
  if ('customField' in path) return readCustomField(path.customField, customFieldsOf(path, sources), path.text);
  if (path.without !== undefined) return { value: wholeText(record, path.without) };
  const value = record[path.field];
  if (path.question !== undefined) return readAnswer(path.question, value, path.text);
  if (path.key !== undefined) return typed(plain, isRecord(value) ? value[path.key] : undefined, path.text);
  return typed(/^id$|Id$/.test(path.field) ? idValue : plain, value, path.text);
}

/**
 * In the specification, a candidate record has no custom fields: they come with the job candidate (section 2.4) or were
 * read separately.
 */
function customFieldsOf(path: SourcePath, sources: MappingSources): Record<string, unknown> {
  const own = sources[path.source]?.['customFields'];
  const beside = path.source === 'candidate' ? sources['jobCandidate']?.['customFields'] : undefined;
  return { ...(isRecord(beside) ? beside : {}), ...(isRecord(own) ? own : {}) };
}

type Nested = NonNullable<Extract<SourcePath, { customField: string }>['of']>;

/** Reads a custom field of one entry of a list; a missing entry reads as empty. */
function readNested(
  { customField, text }: Extract<SourcePath, { customField: string }>,
  { list, pick }: Nested,
  record: Record<string, unknown>,
): Read {
  const entries = (Array.isArray(record[list]) ? record[list] : []).filter(isRecord);
  const current = entries.filter((one) => one['current'] === true || one['isCurrent'] === true);
  if (pick === 'current' && entries.length > 0 && current.length !== 1)
    return {
      code: 'ENTRY_UNCLEAR',
      text:
        `${text}: ${current.length === 0 ? 'no entry' : 'more than one entry'} of ${list} says that it is the ` +
        'current one. Write first or last, in the order of the hiring platform.',
    };
  const entry = { first: entries[0], last: entries.at(-1), current: current[0] }[pick];
  const fields = entry?.['customFields'];
  return readCustomField(customField, isRecord(fields) ? fields : {}, text);
}

function readCustomField(wanted: string, fields: Record<string, unknown>, text: string): Read {
  const byId = fields[wanted];
  if (Object.hasOwn(fields, wanted)) return readValue(isRecord(byId) ? byId['value'] : byId, text);
  const label = foldLabel(wanted);
  const hits = Object.values(fields).filter(
    (field) => isRecord(field) && typeof field['label'] === 'string' && foldLabel(field['label']) === label,
  );
  if (hits.length > 1)
    return {
      code: 'AMBIGUOUS_LABEL',
      text:
        `${text} fits ${hits.length} custom fields of that label. Write the id of the one you mean into the ` +
        'mapping.',
    };
  const [hit] = hits;
  return isRecord(hit) ? readValue(hit['value'], text) : { value: undefined };
}

/** A question is found by its text only. A question that was not asked or not answered reads as empty. */
function readAnswer(question: string, answers: unknown, text: string): Read {
  const wanted = foldLabel(question);
  const hits = (Array.isArray(answers) ? answers : []).filter(
    (one) => isRecord(one) && typeof one['question'] === 'string' && foldLabel(one['question']) === wanted,
  ) as Record<string, unknown>[];
  if (hits.length <= 1) return readValue(hits[0]?.['answer'], text);
  return {
    code: 'AMBIGUOUS_LABEL',
    text: `${text} was asked ${hits.length} times in this application. Ask it once in the job's form.`,
  };
}

function readValue(value: unknown, text: string): Read {
  return typed((one) => bare(plain(one)), value, text);
}

/** A value of an unusable type must not read as empty, because that would empty the other side. */
function typed(reading: (value: unknown) => Value | undefined, value: unknown, text: string): Read {
  const read = reading(value);
  if (read !== undefined || value === undefined || value === null) return { value: read };
  return {
    code: 'WRONG_TYPE',
    text:
      `${text} holds something other than a text, a number, a list, or yes or no. Correct it in the hiring ` +
      'platform.',
  };
}

/** The record as one text, which is equal for equal records. */
function wholeText(record: Record<string, unknown>, without: readonly string[]): string {
  const own = Object.fromEntries(Object.entries(record).filter(([name]) => !without.includes(name)));
  return JSON.stringify(own, (_name, value: unknown) => {
    if (typeof value === 'string') return unsigned(value);
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  });
}

/** Query parameters that sign a file's address. They open the file to anybody and change with every reading. */
const SIGNED = /[?&](?:x-(?:amz|goog|oss)-[\w-]+|signature|sig|token|expires|key-pair-id|policy)=/i;

function unsigned(text: string): string {
  return /^https?:\/\//i.test(text) && SIGNED.test(text) ? text.replace(/[?#].*$/s, '') : text;
}

/** We treat ids as text, but an id of digits only must also fit a number field. */
function idValue(value: unknown): Value | undefined {
  const number = Number(value);
  return Number.isSafeInteger(number) && String(number) === value ? number : plain(value);
}

function plain(value: unknown): Value | undefined {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return Array.isArray(value) && value.every((item) => typeof item === 'string' || typeof item === 'number')
    ? value.map(String)
    : undefined;
}

/**
 * People type and paste custom fields, so blanks around a text are dropped. Invisible characters inside may matter and
 * stay.
 */
function bare(value: Value | undefined): Value | undefined {
  if (Array.isArray(value)) return value.map(bareText);
  return typeof value === 'string' ? bareText(value) : value;
}

/** The text without blanks and invisible characters around it. */
export function bareText(text: string): string {
  return withoutEdges(text, /[\s\p{Cf}]/u);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
