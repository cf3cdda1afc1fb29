import { setTimeout as pause } from 'node:timers/promises';
import type { HrisTables } from './hris-tables.ts';
import type { HireView } from './observe-hires.ts';
import { countJobs, openPosition } from './second-tenant.ts';
import type { Stage } from './stage.ts';

/** What crossed from the HR systems to the partner; `diverged` counts what is unequal at the end. */
export interface Streamed {
  seconds: { requisition: number; correctedNumber: number; crossedEdits: number };
  diverged: number;
}

const CORRECTED = '900001';
/** The same field, edited on both sides at once; the mapping says whose edit stays. */
const CITIES = { hris: 'Bergen', partner: 'Tromsø' };
const PATIENCE_MS = 90_000;

/**
 * HR corrects the number of somebody who was hired, and their city while the recruiter edits it too; the second
 * customer opens a position that must become a job. Waits until all of it has arrived, or until patience ends.
 */
export async function playStreams(
  { stage, tables, views }: { stage: Stage; tables: HrisTables; views: readonly HireView[] },
  stop: AbortSignal,
): Promise<Streamed> {
  const [enrolment] = views[0]?.enrolmentIds ?? [];
  const [employee] = views[0]?.employees ?? [];
  const candidateId = employee?.reference?.split(':')[1] ?? '';
  const employeeId = employee?.id ?? '';
  await tables.edit(employeeId, { number: CORRECTED, city: CITIES.hris });
  await stage.partner.candidates.update({ params: { candidateId }, body: { city: CITIES.partner } });
  openPosition(stage.second);
  const isCrossed = async (): Promise<boolean> => {
    const { data } = await stage.partner.candidates.get({ params: { candidateId } });
    return data.city === CITIES.hris && (await tables.readCity(employeeId)) === CITIES.hris;
  };
  const [crossed, job, number] = await Promise.all([
    timed(isCrossed, stop),
    timed(async () => (await countJobs(stage.second)) > 0, stop),
    timed(async () => (await shownNumber(stage, enrolment ?? '')) === CORRECTED, stop),
  ]);
  const jobs = await countJobs(stage.second);
  const isCorrected = (await shownNumber(stage, enrolment ?? '')) === CORRECTED;
  return {
    seconds: { requisition: job, correctedNumber: number, crossedEdits: crossed },
    diverged: Math.abs(jobs - 1) + (isCorrected ? 0 : 1) + ((await isCrossed()) ? 0 : 1),
  };
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
