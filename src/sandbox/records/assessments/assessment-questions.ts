import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { stableUuid } from '../../random.ts';

export interface Question {
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

export interface QuestionInput {
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
export function findQuestion(ctx: Context, assessmentId: string, id: string): Question {
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
