import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';

const VARIABLE = 'HIREBRIDGE_TEST_PACE';
/** What the measured work takes on an idle core of the machines that this suite was written on, milliseconds. */
const USUAL_MS = 120;
const MOST = 30;

/**
 * How much slower this machine is than usual, 1 at least. Measured once a run, by a fixed amount of work and the start
 * of a process, and handed on to every process of the run.
 */
export function pace(): number {
  const known = Number(process.env[VARIABLE]);
  if (known >= 1) return known;
  const measured = slowness();
  process.env[VARIABLE] = measured.toFixed(1);
  return measured;
}

/** The same, at this moment: beside other work it swings tenfold within minutes. */
export function slowness(): number {
  return Math.min(MOST, Math.max(1, measure() / USUAL_MS));
}

/** A time limit on this machine. Limits only end what hangs: no verdict may depend on one. */
export function scaled(ms: number): number {
  return Math.round(ms * pace());
}

/** Beside other work a machine may become this many times slower within minutes of the start. */
const SWING = 4;

/** How long to wait for what must come: only a hang ends it, however busy the machine becomes after the start. */
export function patience(ms: number): number {
  return Math.round(ms * Math.max(SWING, 2 * pace()));
}

/**
 * For a test of an upper limit of time, which has to hold whatever the pace: a machine that stalls exceeds it, but not
 * time after time, as a fault does.
 */
export const unlessStalled = { retry: 3 };

function measure(): number {
  const start = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  let hash = 'pace';
  for (let n = 0; n < 60_000; n += 1) hash = createHash('sha256').update(hash).digest('hex');
  return performance.now() - start;
}
