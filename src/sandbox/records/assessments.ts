import { aiLanguages, defaultBuckets, minutesPerQuestion } from '../../partner/contract/assessment.ts';
import { type Context, effect, notFound, refuse } from '../context.ts';
import { stableUuid } from '../random.ts';
import type { SandboxState } from '../state.ts';
import { emit } from './deliveries.ts';
import { lastEntry, readLedger } from './ledger.ts';
import { findJob, type Job } from './pipelines.ts';
import { schedule } from './tasks.ts';
import { listUsers } from './users.ts';

interface Bucket {
  name: string;
  description?: string | undefined;
  status: string;
}

/** The required entries of the candidate (section 2.6). */
interface AssessmentFields {
  testName: string;
  assessmentType: string;
  hiringForRole: string;
  purposeOfInterview: string;
  duration: number;
  aiLanguage: string;
  skills: string[];
  buckets: Bucket[];
  resumeAllowed: boolean;
  maxResumeCount: number | null;
  isEmailVerificationRequired: boolean;
  shouldEvaluateCEFR: boolean;
}

export interface Assessment {
  id: string;
  companyId: number;
  jobId: number | null;
  status: string;
  createdAt: number;
  updatedAt: number;
  fields: AssessmentFields;
}

interface Row extends Omit<Assessment, 'fields'> {
  body: string;
}

const ASSESSMENT = `select id, company_id as companyId, job_id as jobId, status, body, created_at as createdAt,
    updated_at as updatedAt from assessments`;

function toAssessment({ body, ...row }: Row): Assessment {
  return { ...row, fields: JSON.parse(body) as AssessmentFields };
}

/** Where an invited person takes it: a page of the sandbox. */
export function assessmentUrl(state: SandboxState, id: string): string {
  return `${state.publicUrl}/assessment/${id}`;
}

/** The defaults pass, but the last of them (A14, assumed); an empty list takes them too. */
export function bucketsOf(given: readonly Bucket[] | undefined): Bucket[] {
  if (given !== undefined && given.length > 0) return given.map((bucket) => ({ ...bucket }));
  return defaultBuckets.map((name, index) => ({
    name,
    description: `${name} for the role`,
    status: index === defaultBuckets.length - 1 ? 'fail' : 'pass',
  }));
}

/** A new assessment without questions. 404 for an unknown or DELETED job (C7, assumed). */
export function createAssessment(
  ctx: Context,
  input: { fields: AssessmentFields; jobId?: number | undefined; status?: string | undefined },
): Assessment {
  const { state, company, now } = ctx;
  if (input.jobId !== undefined && findJob(ctx, input.jobId).status === 'DELETED') throw notFound('Job');
  const seq = state.nextId('assessment');
  const id = stableUuid(state.seed, 'assessment', seq);
  state.run(
    `insert into assessments (id, company_id, seq, job_id, status, body, created_at, updated_at)
      values (?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    company.id,
    seq,
    input.jobId ?? null,
    input.status ?? 'ACTIVE',
    JSON.stringify(input.fields),
    now,
    now,
  );
  effect(ctx, 'assessment', id);
  return findAssessment(ctx, id);
}

/** For reading: unknown and another company's are the same 404 (A10, assumed). */
export function findAssessment(ctx: Context, id: string): Assessment {
  const found = assessmentById(ctx, id);
  if (found?.companyId !== ctx.company.id) throw notFound('Assessment');
  return found;
}

/** For changing: another company's is 403 ACCESS_DENIED (A10, assumed). */
export function findAssessmentToChange(ctx: Context, id: string): Assessment {
  const found = assessmentById(ctx, id);
  if (found === undefined) throw notFound('Assessment');
  if (found.companyId !== ctx.company.id) throw refuse('ACCESS_DENIED', 'Not allowed to change this assessment');
  return found;
}

function assessmentById(ctx: Context, id: string): Assessment | undefined {
  const row = ctx.state.one<Row>(`${ASSESSMENT} where id = ?`, id);
  return row === undefined ? undefined : toAssessment(row);
}

/** Newest first. */
export function listAssessments(
  ctx: Context,
  page: { number: number; size: number },
): { assessments: Assessment[]; total: number } {
  const total = ctx.state.count('assessments', 'company_id = ?', ctx.company.id);
  const rows = ctx.state.all<Row>(
    `${ASSESSMENT} where company_id = ? order by seq desc limit ? offset ?`,
    ctx.company.id,
    page.size,
    (page.number - 1) * page.size,
  );
  return { assessments: rows.map(toAssessment), total };
}

/** Writes the given fields, leaves the others. */
export function updateAssessment(
  ctx: Context,
  id: string,
  changes: { fields?: Partial<AssessmentFields>; status?: string },
): Assessment {
  const before = findAssessmentToChange(ctx, id);
  ctx.state.run(
    'update assessments set body = ?, status = ?, updated_at = ? where id = ?',
    JSON.stringify({ ...before.fields, ...changes.fields }),
    changes.status ?? before.status,
    ctx.now,
    id,
  );
  effect(ctx, 'assessment-updated', id);
  return findAssessment(ctx, id);
}

/**
 * Section 2.6 without its questions, as the list shows it. jobId is text, companyId a number (A16, A19); posted by the
 * key's user (POSTED); assumed.
 */
export function renderAssessment(ctx: Context, assessment: Assessment): Record<string, unknown> {
  const { id, companyId, jobId, status, createdAt, updatedAt, fields } = assessment;
  const [owner] = listUsers(ctx);
  const count = (table: 'assessment_questions' | 'submissions'): number =>
    ctx.state.count(table, 'assessment_id = ?', id);
  return {
    assessmentId: id,
    companyId,
    jobId: jobId === null ? '' : String(jobId),
    status,
    ...fields,
    questionCount: count('assessment_questions'),
    assessmentUrl: assessmentUrl(ctx.state, id),
    createdAt,
    lastUpdatedOn: updatedAt,
    createdBy: owner?.id ?? null,
    postedBy: {
      firstName: owner?.firstName ?? null,
      lastName: owner?.lastName ?? null,
      email: owner?.email ?? null,
      clientId: String(companyId),
    },
    submissionCount: count('submissions'),
  };
}

/** With its questions. */
export function renderAssessmentInFull(ctx: Context, assessment: Assessment): Record<string, unknown> {
  return { ...renderAssessment(ctx, assessment), questions: questionsOf(ctx, assessment.id).map(renderQuestion) };
}

interface Question {
  id: string;
  companyId: number;
  assessmentId: string;
  question: string;
  type: string;
  contextForAI: string | null;
  idealAnswer: string | null;
  createdAt: number;
  updatedAt: number;
}

interface QuestionInput {
  question: string;
  type: string;
  systemInstruction?: string | undefined;
  idealAnswer?: string | undefined;
}

const QUESTION = `select id, company_id as companyId, assessment_id as assessmentId, question, type,
  context_for_ai as contextForAI,
  ideal_answer as idealAnswer, created_at as createdAt, updated_at as updatedAt from assessment_questions`;

/** Puts a question at the end. */
export function addQuestion(ctx: Context, assessmentId: string, input: QuestionInput): Question {
  const { state, company, now } = ctx;
  const seq = state.nextId('question');
  const id = stableUuid(state.seed, 'question', seq);
  state.run(
    `insert into assessment_questions (id, company_id, assessment_id, seq, question, type, context_for_ai,
      ideal_answer, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    company.id,
    assessmentId,
    seq,
    input.question,
    input.type,
    input.systemInstruction ?? null,
    input.idealAnswer ?? null,
    now,
    now,
  );
  touchAssessment(ctx, assessmentId);
  effect(ctx, 'question', id);
  return findQuestion(ctx, assessmentId, id);
}

/** 404 when it is not a question of this assessment. */
function findQuestion(ctx: Context, assessmentId: string, id: string): Question {
  const found = ctx.state.one<Question>(`${QUESTION} where id = ? and assessment_id = ?`, id, assessmentId);
  if (found === undefined) throw notFound('Question');
  return found;
}

/** Before its body is read: a question of any of the company's assessments. */
export function requireQuestion(ctx: Context, id: string): void {
  const found = ctx.state.one('select 1 from assessment_questions where id = ? and company_id = ?', id, ctx.company.id);
  if (found === undefined) throw notFound('Question');
}

export function questionsOf(ctx: Context, assessmentId: string): Question[] {
  return ctx.state.all<Question>(`${QUESTION} where assessment_id = ? order by seq`, assessmentId);
}

/** Writes the given fields, leaves the others. */
export function updateQuestion(
  ctx: Context,
  assessmentId: string,
  id: string,
  input: { [Field in keyof QuestionInput]?: string | undefined },
): Question {
  const before = findQuestion(ctx, assessmentId, id);
  ctx.state.run(
    `update assessment_questions set question = ?, type = ?, context_for_ai = ?, ideal_answer = ?,
      updated_at = ? where id = ?`,
    input.question ?? before.question,
    input.type ?? before.type,
    input.systemInstruction ?? before.contextForAI,
    input.idealAnswer ?? before.idealAnswer,
    ctx.now,
    id,
  );
  touchAssessment(ctx, assessmentId);
  effect(ctx, 'question-updated', id);
  return findQuestion(ctx, assessmentId, id);
}

export function removeQuestion(ctx: Context, assessmentId: string, id: string): void {
  findQuestion(ctx, assessmentId, id);
  ctx.state.run('delete from assessment_questions where id = ?', id);
  touchAssessment(ctx, assessmentId);
  effect(ctx, 'question-removed', id);
}

export function renderQuestion(question: Question): Record<string, unknown> {
  const { companyId, assessmentId: _shownOutside, updatedAt, ...fields } = question;
  return { ...fields, lastUpdatedAt: updatedAt, createdByCompanyId: companyId };
}

/** A changed question is a change of the assessment. */
function touchAssessment(ctx: Context, assessmentId: string): void {
  ctx.state.run('update assessments set updated_at = ? where id = ?', ctx.now, assessmentId);
}

/** How long the platform thinks about an assessment's questions. */
const GENERATION_MS = 500;

export const generatorStates = ['works', 'fails', 'empty'] as const;
type GeneratorState = (typeof generatorStates)[number];

const SENIOR = /\b(lead|head|director|manager|senior|chief|vp)\b/i;

/**
 * Section 4.6: round(duration / minutes a question of that level takes), at least 1. The level is in the role (A2,
 * assumed).
 */
function questionCountFor(role: string, duration: number): number {
  const minutes = SENIOR.test(role) ? minutesPerQuestion.SENIOR_LEADERSHIP : minutesPerQuestion.JUNIOR_MID;
  return Math.max(1, Math.round(duration / minutes));
}

/** The calls that ask the generator. */
const GENERATING = ['assessments.autoGenerate', 'assessments.generateQuestions'];

interface Generator {
  state: GeneratorState;
  /** Refuses this often, then works again; always if absent. */
  times?: number | undefined;
  /** The ledger's last entry when it was set. */
  since: number;
}

/** The dashboard's switch for tests: a generator that fails or has no ideas refuses at the call (A22, assumed). */
export function setGenerator(ctx: Context, state: GeneratorState, times: number | undefined): void {
  const generator: Generator = { state, times, since: lastEntry(ctx.state) };
  ctx.state.saveSetting(generatorSettingOf(ctx), JSON.stringify(generator));
}

/** 500 with one of the two codes of section 7 while the generator is broken. */
export function askGenerator(ctx: Context): void {
  const saved = ctx.state.setting(generatorSettingOf(ctx));
  const generator: Generator = saved === undefined ? { state: 'works', since: 0 } : (JSON.parse(saved) as Generator);
  if (generator.state === 'works' || isMended(ctx, generator)) return;
  if (generator.state === 'fails') throw refuse('AI_GENERATION_FAILED', 'Question generation failed');
  throw refuse('AI_GENERATION_EMPTY', 'Question generation returned no questions');
}

/** Counts refusals in the ledger, because a refused call's own writes are undone. */
function isMended(ctx: Context, { times, since }: Generator): boolean {
  if (times === undefined) return false;
  const refused = GENERATING.flatMap((name) =>
    readLedger(ctx.state, { kind: 'request', name, companyId: ctx.company.id, status: 500, afterSeq: since }),
  );
  return refused.filter((row) => row.fault === undefined).length >= times;
}

function generatorSettingOf(ctx: Context): string {
  return `question-generator-${String(ctx.company.id)}`;
}

/** Has questions appended in the background (A3, assumed): assessment.ready follows. */
export function scheduleQuestions(ctx: Context, assessmentId: string, about?: string): void {
  schedule(ctx, 'generate-questions', GENERATION_MS, { assessmentId, about: about ?? '' });
}

export function generateQuestions(ctx: Context, task: { assessmentId: string; about: string }): void {
  const { id, fields } = findAssessment(ctx, task.assessmentId);
  const topics = task.about === '' ? fields.skills : [task.about, ...fields.skills];
  const count = questionCountFor(fields.hiringForRole, fields.duration);
  for (let n = 0; n < count; n += 1) addQuestion(ctx, id, invented(n, fields.hiringForRole, topics));
  const questionCount = questionsOf(ctx, id).length;
  emit(ctx, 'assessment.ready', { assessmentId: id, message: 'Questions are ready', questionCount });
}

const PATTERNS: readonly ((role: string, topic: string) => string)[] = [
  (role, topic) => `Tell us about a time when ${topic} mattered in your work as ${role}.`,
  (role, topic) => `What would you do in your first month as ${role} to learn about ${topic}?`,
  (_role, topic) => `Which mistake taught you most about ${topic}?`,
  (role, topic) => `How does a good ${role} recognise that ${topic} is going wrong?`,
  (_role, topic) => `Explain ${topic} to somebody who has never heard of it.`,
];

function invented(n: number, role: string, topics: readonly string[]) {
  const topic = topics[n % Math.max(1, topics.length)] ?? 'working with others';
  const pattern = PATTERNS[n % PATTERNS.length] ?? PATTERNS[0];
  return {
    question: pattern?.(role, topic.slice(0, 200)) ?? '',
    type: 'SUBJECTIVE',
    systemInstruction: `Look for a concrete example that shows ${topic.slice(0, 200)}.`,
    idealAnswer: 'Situation, own part in it, outcome, and what was learnt.',
  };
}

/** Section 4.6: title, language, skills, buckets and the CEFR setting follow from role, purpose and job. */
export function derivedFields(
  input: { purpose?: string | undefined; role?: string | undefined; duration: number },
  job: Job | undefined,
): AssessmentFields {
  const role = input.role ?? job?.fields.title ?? 'Candidate';
  const purpose = input.purpose ?? `Find out who is fit to work as ${role}: ${job?.fields.description ?? ''}`;
  const words = `${role} ${purpose}`.toLowerCase().split(/[^a-z]+/);
  const aiLanguage = aiLanguages.find((language) => words.includes(language)) ?? 'english';
  return {
    testName: `Interview: ${role}`.slice(0, 1000),
    assessmentType: 'AI_AUDIO_INTERVIEW',
    hiringForRole: role,
    purposeOfInterview: purpose.slice(0, 5000),
    duration: input.duration,
    aiLanguage,
    skills: topicsOf(`${role} ${input.purpose ?? ''}`),
    buckets: bucketsOf(undefined),
    resumeAllowed: false,
    maxResumeCount: null,
    isEmailVerificationRequired: true,
    shouldEvaluateCEFR: aiLanguage !== 'english' || words.includes('language') || words.includes('cefr'),
  };
}

function topicsOf(text: string): string[] {
  const long = text
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word.length > 4);
  return [...new Set(long)].slice(0, 5);
}

/** The contents of a public result page. */
export const sharedParts = ['name', 'score', 'bucket', 'cefrLevel'] as const;
export type SharedPart = (typeof sharedParts)[number];

/** Section 1, rule 2: configured in the dashboard only, for all results of the company. */
interface SharePageSettings {
  enabled: boolean;
  shows: readonly SharedPart[];
}

const AT_FIRST: SharePageSettings = { enabled: true, shows: sharedParts };

export function setSharePage(ctx: Context, to: SharePageSettings): void {
  ctx.state.saveSetting(sharingSettingOf(ctx), JSON.stringify(to));
}

export function sharePageSettings(ctx: Context): SharePageSettings {
  const saved = ctx.state.setting(sharingSettingOf(ctx));
  return saved === undefined ? AT_FIRST : (JSON.parse(saved) as SharePageSettings);
}

function sharingSettingOf(ctx: Context): string {
  return `share-page-${String(ctx.company.id)}`;
}
