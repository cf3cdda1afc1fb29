import type { Context } from '../context.ts';
import type { SandboxState } from '../state.ts';

/** Schedules a task of background.ts in `delayMs`, in a transaction of its own. Stored, so it survives a restart. */
export function schedule(ctx: Context, name: string, delayMs: number, input: Record<string, unknown>): void {
  ctx.state.run(
    'insert into tasks (company_id, name, due_at, input) values (?, ?, ?, ?)',
    ctx.company.id,
    name,
    ctx.now + delayMs,
    JSON.stringify(input),
  );
  ctx.state.eventsWaiting();
}

export interface Task {
  companyId: number;
  name: string;
  /** JSON text. */
  input: string;
}

/** Lets `run` carry out the oldest due task, in one transaction with its removal; false if none is due. */
export function runOldestTask(state: SandboxState, run: (task: Task) => void): boolean {
  const task = state.one<Task & { id: number }>(
    'select id, company_id as companyId, name, input from tasks where due_at <= ? order by due_at, id limit 1',
    state.clock.now(),
  );
  if (task === undefined) return false;
  state.transaction(() => {
    state.run('delete from tasks where id = ?', task.id);
    run(task);
  });
  return true;
}

/** When the next task is due, epoch ms. */
export function nextTaskAt(state: SandboxState): number | undefined {
  return state.one<{ at: number }>('select due_at as at from tasks order by due_at limit 1')?.at;
}
