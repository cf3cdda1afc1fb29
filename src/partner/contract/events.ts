/**
 * Section 6: the envelope and the 29 named events. What arrives is read tolerantly; payloads not shown are kept whole.
 */
import { z } from 'zod';
import { LooseNumber, TextId } from './shapes.ts';

/** companyId is an integer, a string in the interview examples, and missing in some (E2). */
export const EventEnvelope = z
  .looseObject({
    event: z.string().min(1),
    timestamp: z.union([z.string(), z.number()]),
    companyId: TextId.nullish(),
    data: z.preprocess((data: unknown) => data ?? {}, z.looseObject({})),
  })
  .meta({ id: 'EventEnvelope' });
export type EventEnvelope = z.infer<typeof EventEnvelope>;

const id = TextId.nullish();
const ids = z.preprocess((list: unknown) => list ?? [], z.array(TextId));
const count = LooseNumber.nullish();
const text = z.string().nullish();
const texts = z.array(z.string()).nullish();

/** Payload not shown in the specification: anything goes, `idsOf` finds the ids in it. */
const NotShown = z.looseObject({});
const Moved = z.looseObject({ jobId: id, jobCandidateIds: ids, candidateIds: ids });
const Scored = z.looseObject({ jobId: id, jobCandidateId: id, candidateId: id });
const Batch = z.looseObject({
  batchId: id,
  status: text,
  fileCount: count,
  successCount: count,
  failedCount: count,
  jobId: id,
  error: text,
  errorCode: text,
});

/** Event name to the schema of its `data`. */
export const events = {
  'resume.bulk_upload_parse.started': z.looseObject({ batchId: id, fileCount: count, jobId: id }),
  'resume.bulk_upload_parse.completed': Batch,
  'resume.bulk_upload_parse.failed': z.looseObject({ error: z.unknown().optional() }),
  'resume.single_parse.completed': NotShown,
  'resume.single_parse.failed': NotShown,
  'job.created': z.looseObject({ jobId: id, title: text }),
  'job.updated': z.looseObject({ jobId: id, updatedFields: texts }),
  'job.status_changed': z.looseObject({
    jobId: id,
    status: text,
    previousStatus: text,
    closingStatus: text,
    closingReason: text,
  }),
  'candidate.added_to_job': Moved.extend({ stageId: id, count }),
  'candidate.stage_changed': Moved.extend({ currentStageId: id, nextStageId: id }),
  'candidate.hired': Moved,
  'candidate.rejected': Moved.extend({ jobCandidateId: id, candidateId: id, reason: text }),
  'candidate.removed_from_job': Moved,
  'candidate.updated': z.looseObject({
    candidateId: id,
    updatedFields: texts,
    scope: text,
    jobCandidateId: id,
    jobId: id,
  }),
  'candidate.applied': NotShown,
  'job.candidate.score.completed': Scored.extend({ score: count }),
  'job.candidate.score.failed': Scored.extend({ error: z.unknown().optional() }),
  'job.candidates.rescored': z.looseObject({
    jobId: id,
    rescoreId: id,
    status: text,
    jobCandidateIds: ids,
    totalEligible: count,
    totalRequested: count,
    totalProcessed: count,
    totalFailed: count,
    cappedByCredits: z.boolean().nullish(),
    errors: z.array(z.looseObject({ reason: text, jobCandidateId: id })).nullish(),
  }),
  'assessment.ready': z.looseObject({ assessmentId: id, message: text, questionCount: count }),
  'interview.started': z.looseObject({
    assessmentId: id,
    submissionId: id,
    interviewStatus: text,
    firstName: text,
    lastName: text,
    email: text,
    jobCandidateId: id,
  }),
  'interview.scoring_completed': z.looseObject({ submissionId: id, externalRef: text }),
  'interview.ended': NotShown,
  'assessment.bulk_invite.completed': z.looseObject({ batchId: id, totalCount: count }),
  'onboarding.candidate.enrolled': NotShown,
  'onboarding.candidate.status_changed': NotShown,
  'onboarding.documents.verified': NotShown,
  'onboarding.report.ready': NotShown,
  'onboarding.offer.completed': NotShown,
  'onboarding.candidate.completed': NotShown,
} as const satisfies Record<string, z.ZodType>;

export type EventName = keyof typeof events;
/** An event's data, as its schema reads it. */
export type EventData<Name extends EventName> = z.infer<(typeof events)[Name]>;

export const eventNames = Object.keys(events) as EventName[];

/** Whether an event is one of the 29; the interview error event and later ones are not. */
export function isEventName(name: string): name is EventName {
  return Object.hasOwn(events, name);
}

const idKeys = {
  jobId: ['jobId'],
  candidateId: ['candidateId', 'candidateIds'],
  jobCandidateId: ['jobCandidateId', 'jobCandidateIds'],
  onboardingCandidateId: ['onboardingCandidateId', 'onboardingCandidateIds'],
  assessmentId: ['assessmentId'],
  submissionId: ['submissionId'],
  batchId: ['batchId'],
  rescoreId: ['rescoreId'],
  offerId: ['offerId'],
  currentStageId: ['currentStageId'],
  // `stageId` names the stage that somebody is added to.
  nextStageId: ['nextStageId', 'stageId'],
} as const;
export type EventIdKind = keyof typeof idKeys;
const idKinds = Object.keys(idKeys) as EventIdKind[];
export type EventIds = Partial<Record<EventIdKind, string[]>>;

/** The ids an event's data carries, as text without repeats, whether shown by the spec or not; also one level down. */
export function idsOf(data: Record<string, unknown>, kind: EventIdKind): string[] {
  return idsIn(levelsOf(data), kind);
}

function levelsOf(data: Record<string, unknown>): Record<string, unknown>[] {
  return [data, ...Object.values(data).filter(isPlainObject)];
}

function idsIn(levels: readonly Record<string, unknown>[], kind: EventIdKind): string[] {
  const found = levels.flatMap((level) => idKeys[kind].flatMap((key) => level[key]));
  return [...new Set(found.filter(isId).map(String))];
}

/** Every kind of id that the data carries; a kind without one is absent. A list carries the ids of its records. */
export function allIdsOf(data: unknown): EventIds {
  const levels = [data].flat().filter(isPlainObject).flatMap(levelsOf);
  // An event carries one or two kinds: looking for the names first costs a tenth of collecting every kind.
  const named = idKinds.filter((kind) => levels.some((level) => idKeys[kind].some((key) => level[key] !== undefined)));
  const found = named.map((kind) => [kind, idsIn(levels, kind)] as const);
  return Object.fromEntries(found.filter(([, ids]) => ids.length > 0)) as EventIds;
}

/** Longer texts are no ids: an index of Postgres takes at most 2,704 bytes. */
const MOST_CHARACTERS = 255;

/** A text that no database keeps cannot be the id of a record that is stored. */
function isId(value: unknown): value is number | string {
  if (typeof value === 'number') return true;
  if (typeof value !== 'string' || value === '' || value.length > MOST_CHARACTERS) return false;
  return !value.includes('\0') && value.isWellFormed();
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
