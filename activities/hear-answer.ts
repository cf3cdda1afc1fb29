import type { Side, SignalHire } from '../src/hire/hire.ts';
import { type HoldCode, holdOf } from '../src/hire/holds.ts';
import { releaseCanary } from '../src/store/enrolments.ts';
import { decideConflicts } from '../src/store/field-conflicts.ts';
import { addHints } from '../src/store/hints.ts';
import { hiresAwaitingCredits, latestHires } from '../src/store/hires.ts';
import { closeHold, openHold, unheardAnswers } from '../src/store/holds.ts';
import type { Store } from '../src/store/open-store.ts';
import type { HoldRow } from '../src/store/schema.ts';
import type { ActivityDeps } from './connections.ts';

/** Longer than an operator's command takes to signal the hire itself. */
const UNHEARD_MS = 10_000;
const MOST_WAIT_MS = 3_600_000;

/**
 * Acts on a person's answer, which is already in the store: signals the hire, or acts for the whole tenant and closes
 * the hold. Safe to repeat, so an answer whose signal failed is handled later.
 */
export async function hearAnswer(
  { store, signalHire }: Pick<ActivityDeps, 'store' | 'signalHire'>,
  hold: HoldRow,
): Promise<void> {
  const { tenant_id: tenantId, job_candidate_id: jobCandidateId, answer, code } = hold;
  if (jobCandidateId !== null) {
    await signalHire({ tenantId, jobCandidateId }, 'answer', { start: true });
    return;
  }
  const ids = JSON.parse(hold.answer_arguments ?? '[]') as string[];
  if (answer === 'adopt')
    for (const id of ids) await signalHire({ tenantId, jobCandidateId: id }, 'person', { start: true, adopt: true });
  if (answer === 'retry' && code === ('CREDITS_USED_UP' satisfies HoldCode)) {
    // Lets the next enrolment through as the canary, and signals the hires that wait.
    await releaseCanary(store, tenantId);
    for (const hire of await hiresAwaitingCredits(store, tenantId))
      await signalHire({ tenantId, jobCandidateId: hire.job_candidate_id }, 'credits', { start: true });
  }
  const side = sideKeptBy(answer);
  if (side !== undefined) await keepSide(store, hold, side, ids);
  // The worker checks the HR system all the time: if the trouble persists after the hold is closed, it opens a new one.
  await store.kysely.transaction().execute(async (kysely) => {
    await closeHold({ ...store, kysely }, hold.hold_id);
    if (answer === 'retry' && code === ('REBUILT_BASELINE' satisfies HoldCode))
      await askAgain({ ...store, kysely }, hold);
  });
}

/**
 * Acts on stored answers that nobody has acted on, because Temporal was away or the command was killed. Doubles the
 * wait before each retry, so that a hire that cannot listen yet is not flooded. A signal that fails ends the round: if
 * Temporal is away, every other one would wait for it in vain; if not, the next round leaves this answer out.
 */
export function createAnswerRound(
  deps: Pick<ActivityDeps, 'store' | 'signalHire' | 'log'>,
  stop: AbortSignal = new AbortController().signal,
): () => Promise<void> {
  const { store, log } = deps;
  let waits = new Map<string, { ms: number; until: number }>();
  return async () => {
    const unheard = await unheardAnswers(store, UNHEARD_MS);
    waits = new Map(unheard.map(({ hold_id: id }) => [id, waits.get(id) ?? { ms: UNHEARD_MS, until: 0 }]));
    let isAway = false;
    const signalHire: SignalHire = (...signal) =>
      deps.signalHire(...signal).catch((error: unknown) => {
        isAway = true;
        throw error;
      });
    for (const hold of unheard) {
      if (isAway || stop.aborted) return;
      const { tenant_id: tenantId, job_candidate_id: jobCandidateId, hold_id: holdId } = hold;
      const { ms, until } = waits.get(holdId) as { ms: number; until: number };
      if (until > hold.now) continue;
      waits.set(holdId, { ms: Math.min(2 * ms, MOST_WAIT_MS), until: hold.now + ms });
      await hearAnswer({ store, signalHire }, hold).then(
        () => log.info({ tenantId, jobCandidateId, holdId }, 'answer told again'),
        (error: unknown) => log.warn({ tenantId, jobCandidateId, holdId, err: error }, 'answer not told'),
      );
    }
  };
}

/** Which side's values an answer about differing fields keeps. */
export function sideKeptBy(answer: string | null): Side | undefined {
  if (answer === 'keep-partner' || answer === 'apply') return 'partner';
  return answer === 'keep-hris' || answer === 'keep' ? 'hris' : undefined;
}

/**
 * Stores the decision and hints the pairs: the stream's next run reads them and asks again about pairs that were left
 * out.
 */
async function keepSide(
  store: Store,
  { tenant_id: tenantId, details, opened_at: askedAt }: HoldRow,
  keep: Side,
  ids: readonly string[],
): Promise<void> {
  const { stream } = JSON.parse(details) as { stream: string };
  const pairs = await decideConflicts(store, { tenantId, stream, keep, askedAt: Number(askedAt) }, ids);
  await addHints(store, tenantId, stream, pairs);
}

/** Asks again about people who are still as the baseline recorded them, if there are any. */
async function askAgain(store: Store, { tenant_id: tenantId, details }: HoldRow): Promise<void> {
  const { jobCandidateIds } = JSON.parse(details) as { jobCandidateIds: string[] };
  const hires = await latestHires(store, tenantId, jobCandidateIds);
  const waiting = jobCandidateIds.filter((id) => hires.get(id)?.state === 'before-go-live');
  if (waiting.length === 0) return;
  await openHold(store, { tenantId, ...holdOf('REBUILT_BASELINE', { jobCandidateIds: waiting }) });
}
