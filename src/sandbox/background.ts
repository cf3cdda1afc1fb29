import type { Context } from './context.ts';
import { scoreInterview } from './records/assessments/interviews.ts';
import { finishBatch } from './records/assessments/invite-batches.ts';
import { generateQuestions } from './records/assessments/question-generator.ts';
import { parseResumes } from './records/candidates/resume-batches.ts';
import { finishParsing } from './records/candidates/resumes.ts';
import { finishRescore } from './records/job-candidates/rescoring.ts';
import { scoreJobCandidate } from './records/job-candidates/scoring.ts';
import { companyById } from './records/workspace/companies.ts';
import type { SandboxState } from './state.ts';

/**
 * What the platform does in the background, by name. A family that needs one adds a line here: the function gets a fresh context
 * and what was scheduled (tasks.ts).
 */
const TASKS: Record<string, (ctx: Context, input: never) => void> = {
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
  for (;;) {
    const task = state.one<{ id: number; companyId: number; name: string; input: string }>(
      'select id, company_id as companyId, name, input from tasks where due_at <= ? order by due_at, id limit 1',
      state.clock.now(),
    );
    if (task === undefined) return count;
    state.transaction(() => {
      state.run('delete from tasks where id = ?', task.id);
      const company = companyById(state, task.companyId);
      if (company === undefined) return;
      TASKS[task.name]?.(
        { state, company, now: state.clock.now(), origin: 'background' },
        JSON.parse(task.input) as never,
      );
    });
    count += 1;
  }
}
