import type { Context } from './context.ts';
import { scoreInterview } from './records/assessments/interviews.ts';
import { finishBatch } from './records/assessments/invite-batches.ts';
import { generateQuestions } from './records/assessments/question-generator.ts';
import { parseResumes } from './records/candidates/resume-batches.ts';
import { finishParsing } from './records/candidates/resumes.ts';
import { finishRescore } from './records/job-candidates/rescoring.ts';
import { scoreJobCandidate } from './records/job-candidates/scoring.ts';
import { completeSigned } from './records/onboarding/onboarding.ts';
import { runOldestTask, type Task } from './records/platform/tasks.ts';
import { companyById } from './records/workspace/companies.ts';
import type { SandboxState } from './state.ts';

/**
 * What the platform does in the background, by name: a function gets a fresh context and what was scheduled (tasks.ts).
 */
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

/** Runs everything that is due, in order; the answer is how many. */
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
