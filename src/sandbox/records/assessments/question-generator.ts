import { aiLanguages, minutesPerQuestion } from '../../../partner/contract/assessment.ts';
import type { Context } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { emit } from '../../events.ts';
import type { Job } from '../jobs/jobs.ts';
import { lastEntry, readLedger } from '../platform/ledger.ts';
import { schedule } from '../platform/tasks.ts';
import { addQuestion, questionsOf } from './assessment-questions.ts';
import type { AssessmentFields } from './assessments.ts';
import { bucketsOf, findAssessment } from './assessments.ts';

/** How long the platform thinks about an assessment's questions. */
const GENERATION_MS = 500;

export const generatorStates = ['works', 'fails', 'empty'] as const;
export type GeneratorState = (typeof generatorStates)[number];

const SENIOR = /\b(lead|head|director|manager|senior|chief|vp)\b/i;

/**
 * Section 4.6: round(duration / minutes a question of that level takes), at least 1. The level is in the role (A2,
 * assumed).
 */
export function questionCountFor(role: string, duration: number): number {
  const minutes = SENIOR.test(role) ? minutesPerQuestion.SENIOR_LEADERSHIP : minutesPerQuestion.JUNIOR_MID;
  return Math.max(1, Math.round(duration / minutes));
}

/** The calls that ask the generator. */
const GENERATING = ['assessments.autoGenerate', 'assessments.generateQuestions'];

interface Generator {
  state: GeneratorState;
  /** Refuses so often, then works again; always when absent. */
  times?: number | undefined;
  /** The ledger's last entry when it was set. */
  since: number;
}

/** The dashboard's switch for tests: a generator that fails or has no ideas refuses at the call (A22, assumed). */
export function setGenerator(ctx: Context, state: GeneratorState, times: number | undefined): void {
  const generator: Generator = { state, times, since: lastEntry(ctx.state) };
  ctx.state.saveSetting(settingOf(ctx), JSON.stringify(generator));
}

/** 500 with one of the two codes of section 7 while the generator is broken. */
export function askGenerator(ctx: Context): void {
  const saved = ctx.state.setting(settingOf(ctx));
  const generator: Generator = saved === undefined ? { state: 'works', since: 0 } : (JSON.parse(saved) as Generator);
  if (generator.state === 'works' || isMended(ctx, generator)) return;
  if (generator.state === 'fails') throw refuse('AI_GENERATION_FAILED', 'Question generation failed');
  throw refuse('AI_GENERATION_EMPTY', 'Question generation returned no questions');
}

/** Refusals are counted in the ledger: whatever a refused call writes itself is undone with it. */
function isMended(ctx: Context, { times, since }: Generator): boolean {
  if (times === undefined) return false;
  const refused = GENERATING.flatMap((name) =>
    readLedger(ctx.state, { kind: 'request', name, companyId: ctx.company.id, status: 500, afterSeq: since }),
  );
  return refused.filter((row) => row.fault === undefined).length >= times;
}

function settingOf(ctx: Context): string {
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
