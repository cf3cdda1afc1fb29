import { setTimeout as pause } from 'node:timers/promises';
import { type Applicant, type TenantWorld, until } from './world.ts';

/**
 * Hires that come and go in one world: people are moved into HIRED from a pool, and whoever is enrolled finishes the
 * onboarding.
 */
export interface Traffic {
  /** Everybody hired so far. */
  hired: readonly Applicant[];
  /** People not hired yet. */
  left(): number;
  /** From now on as many hires as this are kept under way, as long as the pool lasts; 0 hires nobody more. */
  keep(count: number): Promise<void>;
  /** Hired, and no Employee ID written back yet, as the partner's ledger has it now. */
  inFlight(): Promise<Applicant[]>;
  /** Ends with the failure that stopped it, if any. */
  close(): Promise<void>;
}

const EVERY_MS = 150;

/**
 * The partner's side is played by the ledger alone, without one call to the partner API: the ledger's requests are the
 * product's own.
 */
export function startTraffic(
  world: TenantWorld,
  people: readonly Applicant[],
  { mayFinish = () => true }: { /** Whether onboardings end now. */ mayFinish?: () => boolean } = {},
): Traffic {
  const pool = [...people];
  const hired: Applicant[] = [];
  const ledger = readEffects(world);
  let wanted = 0;
  let closed = false;
  let failure: unknown;

  async function inFlight(): Promise<Applicant[]> {
    if (failure !== undefined) throw failure;
    await ledger.read();
    return hired.filter((one) => !ledger.written.has(String(one.jobCandidateId)));
  }

  async function turn(): Promise<void> {
    const next = pool.splice(0, Math.max(0, wanted - (await inFlight()).length));
    hired.push(...next);
    const ids = next.map((one) => one.jobCandidateId);
    if (ids.length > 0) await world.control.act('move', { jobCandidateIds: ids, stageType: 'HIRED' });
    for (const [onboardingCandidateId, jobCandidateId] of mayFinish() ? ledger.enrolled.splice(0) : [])
      if (hired.some((one) => String(one.jobCandidateId) === jobCandidateId))
        await world.control.act('finishOnboarding', { onboardingCandidateId });
  }

  async function play(): Promise<void> {
    for (; !closed; await pause(EVERY_MS)) await turn();
  }

  const playing = play().catch((error: unknown) => {
    failure = error;
  });
  return {
    hired,
    left: () => pool.length,
    inFlight,
    async keep(count) {
      wanted = count;
      await until(`${count} hires under way`, async () => pool.length === 0 || (await inFlight()).length >= count);
    },
    async close() {
      closed = true;
      await playing;
      if (failure !== undefined) throw failure;
    },
  };
}

/** Follows the ledger: enrolments not acted upon yet, and job candidates whose Employee ID came back. */
function readEffects(world: TenantWorld): {
  enrolled: [string, string][];
  written: Set<string>;
  read(): Promise<void>;
} {
  const jobCandidates = new Map<string, string>();
  const enrolled: [string, string][] = [];
  const written = new Set<string>();
  let afterSeq = 0;
  let reading = Promise.resolve();

  async function readOn(): Promise<void> {
    const rows = await world.control.ledger({ kind: 'effect', afterSeq, limit: 100_000 });
    for (const { seq, name, subject, detail } of rows) {
      afterSeq = Math.max(afterSeq, seq);
      const id = String(subject);
      if (name === 'enrolment') {
        const jobCandidateId = String(detail['externalRef']).split(':')[1] ?? '';
        jobCandidates.set(id, jobCandidateId);
        enrolled.push([id, jobCandidateId]);
      }
      if (name === 'external-status' && detail['employeeId'] !== undefined) written.add(jobCandidates.get(id) ?? '');
    }
  }

  return {
    enrolled,
    written,
    // One reading after the other: two at once would see one row twice.
    read: () => (reading = reading.then(readOn)),
  };
}
