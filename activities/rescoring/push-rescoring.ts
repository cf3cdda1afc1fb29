import { ConnectorError, isConnectorError, unless } from '../../src/errors.ts';
import { isRefusedByPartner } from '../../src/partner/client/read-answer.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { addHints, clearHints, type Hint, readHints } from '../../src/store/hints.ts';
import { latestIntent } from '../../src/store/intents.ts';
import { readClock } from '../../src/store/open-store.ts';
import { askIn, type RescoreAsk } from '../../src/streams/stream.ts';
import { startClock, writeOnce } from '../hire/write-once.ts';
import type { PushContext, Verdict } from '../push/push-context.ts';

/**
 * Has the partner score a job's candidates again, once per request of a person, follows the run to its end, and then
 * has the new scores read. Nothing starts by itself, because it costs credits and no list shows a job's criteria
 * (section 2.2). No list shows runs either (section 4.4): a run whose answer was lost is found by the event that ends
 * it, and is not started again.
 */
export async function pushRescoring(context: PushContext): Promise<void> {
  const { deps, key, verdicts, beat } = context;
  const hints = await readHints(deps.store, key.tenantId, key.stream);
  const told = hints.map(({ recordId }) => recordId).filter((id) => askIn(id) === undefined);
  const updated: Hint[] = [];
  let running: unknown;
  for (const hint of hints) {
    const ask = askIn(hint.recordId);
    if (ask === undefined) continue;
    try {
      const verdict = await rescore(context, ask, told);
      verdicts.set(verdict.id, verdict);
      if (verdict.kind === 'updated') updated.push(hint);
    } catch (error) {
      if (!isConnectorError(error)) throw error;
      const id = `job ${ask.jobId}`;
      if (error.code === 'RESCORE_RUNNING') running = error;
      else if (isRefusedByPartner(error)) verdicts.set(id, { id, kind: 'quarantined', reason: error.message });
      else throw error;
    }
    beat();
  }
  // A run under way holds up no other request. What else is to be told is told once all have ended.
  await clearHints(deps.store, key.tenantId, key.stream, running === undefined ? hints : updated);
  if (running !== undefined) throw running;
}

interface Begun {
  rescoreId: string;
  /** Candidates that the run leaves out: it takes at most 250, and no more than there are credits. */
  left: number;
}

async function rescore(context: PushContext, { jobId, askedAt }: RescoreAsk, told: string[]): Promise<Verdict> {
  const { deps, connection, key } = context;
  const { store, limits } = deps;
  const verdict = (kind: Verdict['kind'], reason?: string): Verdict => ({ id: `job ${jobId}`, kind, reason });
  if (!/^\d+$/.test(jobId)) return verdict('quarantined', 'is no id of a job of the hiring platform');
  const ask = { tenantId: key.tenantId, jobCandidateId: `job ${jobId}`, period: askedAt };
  const begun = await writeOnce<Begun, { jobId: number }>({
    store,
    key: ask,
    verb: 'rescore',
    state: 'none',
    pinned: () => ({ jobId: Number(jobId) }),
    giveUpMs: limits.giveUpMs,
    readLagMs: limits.partnerLagMs,
    sinceRead: startClock(),
    async look() {
      if ((await latestIntent(store, ask, 'rescore')) === undefined) return { kind: 'absent' };
      for (const rescoreId of told)
        if (String((await readRun(context, rescoreId))?.jobId) === jobId)
          return { kind: 'found', value: { rescoreId, left: 0 } };
      return { kind: 'unprovable' };
    },
    note: async () => undefined,
    async send(body, { signal, beforeSend }) {
      const { data } = await connection.partner.jobCandidates.rescore({ body }, { signal, beforeSend });
      const left = Number(data.totalEligible ?? 0) - Number(data.totalQueued ?? data.totalEligible ?? 0);
      return { rescoreId: data.rescoreId, left };
    },
  });
  if (begun.kind === 'refused')
    return verdict('quarantined', `was refused by the hiring platform: ${begun.error.code}`);
  if (!('value' in begun))
    return verdict('quarantined', 'a request got no answer, and no event reports its run: check there, and ask again');
  return follow(context, { ...begun.value, askedAt }, verdict, told);
}

async function readRun({ connection: { partner } }: PushContext, rescoreId: string) {
  const run = await partner.jobCandidates.getRescore({ params: { rescoreId } }).catch(unless('NOT_FOUND'));
  return run?.data;
}

/** Time until a running rescore is looked at again. */
const LOOK_MS = 5_000;
/** A run that has not ended by then is left to a person. */
const MOST_MS = 86_400_000;

async function follow(
  context: PushContext,
  { rescoreId, left, askedAt }: Begun & Pick<RescoreAsk, 'askedAt'>,
  verdict: (kind: Verdict['kind'], reason?: string) => Verdict,
  told: readonly string[],
): Promise<Verdict> {
  const { deps, connection, key } = context;
  const run = await readRun(context, rescoreId);
  // The specification does not show the possible statuses (K9), so the event counts as well.
  const isOver = run?.status === 'completed' || run?.status === 'failed' || told.includes(rescoreId);
  if (run !== undefined && !isOver && (await readClock(deps.store)) > askedAt * 1_000 + MOST_MS)
    return verdict('quarantined', `run ${rescoreId} has not ended within a day: check there, and ask again`);
  if (run !== undefined && !isOver)
    throw new ConnectorError({
      code: 'RESCORE_RUNNING',
      action: 'retry',
      retryAfterMs: LOOK_MS,
      message:
        `The hiring platform is still scoring candidates again in run ${rescoreId}. ` +
        'hirebridge checks again later.',
    });
  if (run === undefined) return verdict('quarantined', `the hiring platform does not show its run ${rescoreId}`);
  if (run.status === 'failed') return verdict('quarantined', `run ${rescoreId} failed: nobody was scored`);
  const { items } = await connection.partner.readAll(contract.jobCandidates.listRescored, { params: { rescoreId } });
  const scored = items.map(({ id }) => String(id));
  await addHints(deps.store, key.tenantId, 'applications', scored);
  const failed = Number(run.totalFailed ?? 0);
  if (failed + left === 0) return verdict('updated');
  return verdict('skipped', `${failed} were not scored, and ${left} had no place in the run (250, and credits)`);
}
