import { isExactlyOnce } from '../harness/judge-hires.ts';
import type { Upgraded } from './upgrade.ts';

/** The sender repeats after 200, 400 and 800 ms. */
const LONGEST_STOP_MS = 250;

/** What is wrong with an upgrade; nothing where every hire was made once and nobody stumbled. */
export function faultsOf(
  { judged, states, failures, tasks, migrations, olderSays, webhooks }: Upgraded,
  hires: number,
): string[] {
  const migrated = migrations.length > 0;
  const wrong = {
    [`not each hire exactly once: ${JSON.stringify(judged)}`]: judged.hires !== hires || !isExactlyOnce(judged),
    [`not every hire is done: ${JSON.stringify(states)}`]: states['done'] !== hires,
    [`replays or activities failed: ${failures.join(', ')}`]: failures.length > 0,
    [`not both versions worked: ${JSON.stringify(tasks)}`]: tasks.base === 0 || tasks.current === 0,
    [`webhooks were refused: ${webhooks.refused} of ${webhooks.sent}`]: webhooks.refused > 0,
    [`a webhook waited ${webhooks.lockedMs} ms for a lock`]: webhooks.lockedMs > LONGEST_STOP_MS,
    [`an older worker did not say in one line why it ends: ${olderSays}`]: migrated !== isRefusal(olderSays),
  };
  return Object.entries(wrong).flatMap(([fault, is]) => (is ? [fault] : []));
}

/** What is wrong with a way back to the version before. */
export function faultsOfReturn({ olderSays, widenings }: Upgraded): string[] {
  const wrong = {
    [`the version before does not start on the tables of now: ${olderSays}`]: olderSays !== undefined,
    'the version before knew every change of the tables': widenings.length === 0,
  };
  return Object.entries(wrong).flatMap(([fault, is]) => (is ? [fault] : []));
}

/** One line that names the code. */
function isRefusal(said: string | undefined): boolean {
  return said !== undefined && !said.includes('\n') && said.includes('STORE_TOO_NEW');
}
