import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import type { HireView } from './observe-hires.ts';
import { countJobs, openPosition } from './second-tenant.ts';
import type { Stage } from './stage.ts';

/** What crossed from the HR systems to the partner; `diverged` counts what is unequal at the end. */
export interface Streamed {
  seconds: { requisition: number; correctedNumber: number };
  diverged: number;
}

const CORRECTED = '900001';
const PATIENCE_MS = 90_000;

/**
 * HR corrects the number of somebody who was hired, and the second customer opens a position that must become a job.
 * Waits for both at the partner, or until patience ends.
 */
export async function playStreams(stage: Stage, views: readonly HireView[], stop: AbortSignal): Promise<Streamed> {
  const [enrolment] = views[0]?.enrolmentIds ?? [];
  const [employee] = views[0]?.employees ?? [];
  correctNumber(stage.hrisFile, employee?.id ?? 0);
  openPosition(stage.second);
  const [job, number] = await Promise.all([
    timed(async () => (await countJobs(stage.second)) > 0, stop),
    timed(async () => (await shownNumber(stage, enrolment ?? '')) === CORRECTED, stop),
  ]);
  const jobs = await countJobs(stage.second);
  const isCorrected = (await shownNumber(stage, enrolment ?? '')) === CORRECTED;
  return {
    seconds: { requisition: job, correctedNumber: number },
    diverged: Math.abs(jobs - 1) + (isCorrected ? 0 : 1),
  };
}

function correctNumber(hrisFile: string, id: number): void {
  const database = new DatabaseSync(hrisFile, { timeout: 2_000 });
  try {
    database.prepare('update employees set corrected_number = ? where id = ?').run(CORRECTED, id);
  } finally {
    database.close();
  }
}

async function shownNumber({ partner }: Stage, onboardingCandidateId: string): Promise<unknown> {
  const { data } = await partner.onboarding.getCandidate({ params: { onboardingCandidateId } });
  return (data.externalStatus as { employeeId?: unknown } | null | undefined)?.employeeId;
}

/** Seconds until it holds, or until patience ends. */
async function timed(holds: () => Promise<boolean>, stop: AbortSignal): Promise<number> {
  const began = performance.now();
  while (!(await holds()) && !stop.aborted && performance.now() < began + PATIENCE_MS) await pause(250);
  return Math.round((performance.now() - began) / 100) / 10;
}
