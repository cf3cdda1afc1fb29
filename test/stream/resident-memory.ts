import { readFile, writeFile } from 'node:fs/promises';

/**
 * The kernel's own high-water mark of a process's resident memory, megabytes; so no sample can miss the peak. Linux.
 */
export async function peakMegabytes(pid: number): Promise<number> {
  return field(pid, 'VmHWM');
}

/** What it holds now; the high-water mark begins anew from here. */
export async function idleMegabytes(pid: number): Promise<number> {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  return field(pid, 'VmRSS');
}

async function field(pid: number, name: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status) ?? [];
  return Number(kilobytes) / 1024;
}
