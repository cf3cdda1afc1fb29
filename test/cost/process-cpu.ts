import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports process times in ticks of 10 ms (`getconf CLK_TCK`). */
const TICK_SECONDS = 0.01;

interface ProcessTimes {
  pid: number;
  parent: number;
  seconds: number;
  command: string;
}

/** CPU seconds, user and system, that this process's descendants have used, for those whose command line matches. */
export function cpuSecondsOf(command: RegExp): number {
  const processes = readProcesses();
  const ours = new Set([process.pid]);
  let size = 0;
  while (size < ours.size) {
    size = ours.size;
    for (const { pid, parent } of processes) if (ours.has(parent)) ours.add(pid);
  }
  return processes
    .filter(({ pid, command: line }) => ours.has(pid) && pid !== process.pid && command.test(line))
    .reduce((sum, { seconds }) => sum + seconds, 0);
}

function readProcesses(): ProcessTimes[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []));
}

/** Undefined for a process that ended meanwhile. */
function readProcess(pid: number): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name in parentheses, which may hold blanks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { pid, parent: Number(fields[1]), seconds: ticks * TICK_SECONDS, command };
  } catch {
    return undefined;
  }
}
