import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Judged } from '../harness/judge-hires.ts';

/** What the kills at one point left behind. */
export interface KillRow extends Judged {
  point: string;
  killed: number;
  /** Fewest hires under way at any of its kills. */
  inFlight: number;
}

/** A run that can be taken up again: the points it is made of, and the rows it has. */
export interface Marathon {
  points: string[];
  rows: KillRow[];
  /** Working time of all its parts. */
  seconds: number;
}

export async function loadMarathon(file: string): Promise<Marathon | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Marathon;
  } catch {
    return undefined;
  }
}

/** A rename never leaves half a file. */
export async function saveMarathon(file: string, marathon: Marathon): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, JSON.stringify(marathon));
  await rename(`${file}.new`, file);
}
