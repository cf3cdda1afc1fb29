import { isPhone } from '../../../partner/contract/shapes.ts';
import { invalidRequest } from '../../errors.ts';
import type { Question } from './booking-schedules.ts';

type Answer = string | string[];

/** Section 2.8: every required question answered, each answer in the form of its type. Details by question. */
export function checkAnswers(questions: readonly Question[], answers: Record<string, Answer>): void {
  const details: Record<string, string> = {};
  for (const id of Object.keys(answers))
    if (questions.every((question) => question.id !== id)) details[`bookingAnswers.${id}`] = 'unknown question';
  for (const question of questions) {
    const given = Object.hasOwn(answers, question.id) ? answers[question.id] : undefined;
    const wrong = given === undefined || given.length === 0 ? missing(question) : wrongIn(question, given);
    if (wrong !== undefined) details[`bookingAnswers.${question.id}`] = wrong;
  }
  if (Object.keys(details).length > 0) throw invalidRequest('The answers do not fit the questions', details);
}

function missing(question: Question): string | undefined {
  return question.required ? 'is required' : undefined;
}

function wrongIn(question: Question, given: Answer): string | undefined {
  const { type, options = [], maxLength } = question;
  if (Array.isArray(given) !== (type === 'multi_choice'))
    return type === 'multi_choice' ? 'must be an array of strings' : 'must be a string';
  if (type === 'phone' && typeof given === 'string' && !isPhone(given)) return 'must be a phone number';
  if (type.endsWith('_choice') && [given].flat().some((one) => !options.includes(one))) return 'is no option';
  if (maxLength !== undefined && given.length > maxLength) return `must be at most ${String(maxLength)} characters`;
  return typeof given === 'string' && question.required && given.trim() === '' ? 'is required' : undefined;
}
