import type { Context } from './context.ts';
import { generateQuestions } from './records/assessments.ts';
import { companyById } from './records/companies.ts';
import { scoreInterview } from './records/interviews.ts';
import { finishBatch } from './records/invites.ts';
import { completeSigned } from './records/onboarding.ts';
import { finishRescore, scoreJobCandidate } from './records/rescoring.ts';
import { finishParsing, parseResumes } from './records/resumes.ts';
import { runOldestTask, type Task } from './records/tasks.ts';
import type { SandboxState } from './state.ts';

/** The platform's background tasks, by name: a function gets a fresh context and the scheduled task (tasks.ts). */
const TASKS: Record<string, (ctx: Context, input: never) => void> = {
  'complete-onboarding': completeSigned,
  'parse-resume': finishParsing,
  'parse-resumes': parseResumes,
  score: scoreJobCandidate,
  rescore: finishRescore,
  'generate-questions': generateQuestions,
  'invite-batch': finishBatch,
  'score-interview': scoreInterview,
};

/** Runs everything that is due, in order; returns how many. */
export function runDueTasks(state: SandboxState): number {
  let count = 0;
  while (runOldestTask(state, (task) => runTask(state, task))) count += 1;
  return count;
}

function runTask(state: SandboxState, { companyId, name, input }: Task): void {
  const company = companyById(state, companyId);
  if (company === undefined) return;
  TASKS[name]?.({ state, company, now: state.clock.now(), origin: 'background' }, JSON.parse(input) as never);
}
