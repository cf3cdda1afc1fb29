import { execFileSync } from 'node:child_process';
import type { Process } from './world.ts';

/** Whether the process stands still by SIGSTOP, as the operating system sees it. */
export function isStopped({ child }: Process): boolean {
  return execFileSync('ps', ['-o', 'state=', '-p', String(child.pid)], { encoding: 'utf8' }).startsWith('T');
}
