import { isSafeId, type SignalHire } from '../hire/hire.ts';
import { addHints } from '../store/hints.ts';
import { hiresOfEnrolments, latestHires } from '../store/hires.ts';
import { wasHeld } from '../store/holds.ts';
import type { LeasedDelivery } from '../store/inbox.ts';
import type { Store } from '../store/open-store.ts';
import { erasedAmong } from '../store/person-marks.ts';
import type { HireRow, TenantRow } from '../store/schema.ts';
import { hintOfRecord, WHOLE_LIST } from '../streams/stream.ts';
import { streams as kinds, type StreamName } from '../streams/streams.ts';
import { dispatchOf, type HireHint } from './dispatch.ts';

export interface HintSender {
  store: Store;
  signalHire: SignalHire;
  reconciles: Coalesced;
  /** Whether a stage starts hires for this tenant. */
  isHiringStage: (tenantId: string, stageId: string) => Promise<boolean>;
}

type SendHints = (sender: HintSender, delivery: LeasedDelivery, tenant: TenantRow) => Promise<void>;

/** Sends a delivery's hints to the hires that it is about. */
export const hireHints: Record<HireHint, SendHints> = {
  hired: startHires,
  async moved(sender, delivery, tenant) {
    const [nextStageId] = delivery.ids['nextStageId'] ?? [];
    const into = nextStageId === undefined || (await sender.isHiringStage(delivery.tenantId, nextStageId));
    await (into ? startHires(sender, delivery, tenant) : hintRunning(sender, delivery));
  },
  left: hintRunning,
  onboarding: hintEnrolled,
};

/**
 * Starts a hire for each id. An event that came before the baseline was complete is about a hire after go-live: no
 * event is accepted before the tenant is applied. What a person decided since stays, also if somebody replays
 * the delivery. Nobody who was erased is started: the history of the workflow would name them again.
 */
async function startHires(
  { store, signalHire }: HintSender,
  delivery: LeasedDelivery,
  tenant: TenantRow,
): Promise<void> {
  const { tenantId, receivedAt } = delivery;
  const named = jobCandidateIdsOf(delivery);
  const erased = await erasedAmong(
    store,
    tenantId,
    named.map((id) => ({ kind: 'job-candidate', id })),
  );
  const ids = named.filter((id) => !erased.has(id));
  const { baseline_started_at: began, baseline_done_at: done } = tenant;
  // Where the store was rebuilt, the question about it names everybody who may have been work in progress.
  const isNew =
    receivedAt <= (done ?? 0) && (receivedAt >= (began ?? 0) || !(await wasHeld(store, tenantId, 'REBUILT_BASELINE')));
  const known = isNew ? await latestHires(store, tenantId, ids) : new Map<string, HireRow>();
  for (const jobCandidateId of ids) {
    const adopt = known.get(jobCandidateId)?.state === 'before-go-live';
    await signalHire({ tenantId, jobCandidateId }, 'person', { start: true, adopt });
  }
}

/** Hints only at people we follow; a hire without a workflow is left to a reconcile of its job. */
async function hintRunning({ store, signalHire, reconciles }: HintSender, delivery: LeasedDelivery): Promise<void> {
  const { tenantId } = delivery;
  const known = await latestHires(store, tenantId, jobCandidateIdsOf(delivery));
  for (const hire of known.values()) {
    if (hire.state !== 'open' && hire.state !== 'done') continue;
    const ref = { tenantId, jobCandidateId: hire.job_candidate_id };
    if (await signalHire(ref, 'person', { start: false })) continue;
    await addHints(store, tenantId, 'people', hire.job_id === null ? [] : [hire.job_id]);
    await reconciles.ask(tenantId);
  }
}

/** The specification does not show these payloads: without a known id, a reconcile looks. */
async function hintEnrolled({ store, signalHire, reconciles }: HintSender, delivery: LeasedDelivery): Promise<void> {
  const { tenantId, ids } = delivery;
  const byEnrolment = await hiresOfEnrolments(store, tenantId, ids['onboardingCandidateId'] ?? []);
  const byApplication = await latestHires(store, tenantId, jobCandidateIdsOf(delivery));
  const known = [...byEnrolment, ...byApplication.values()];
  for (const hire of known.filter((one) => one.state === 'open'))
    await signalHire({ tenantId, jobCandidateId: hire.job_candidate_id }, 'onboarding', { start: true });
  // Nearly every hire ends with an event about its finished enrolment: nothing waits for it, so no reconcile is needed.
  if (known.length === 0) await reconciles.ask(tenantId);
}

function jobCandidateIdsOf({ ids }: LeasedDelivery): string[] {
  return (ids['jobCandidateId'] ?? []).filter(isSafeId);
}

/** Limits repeated requests to one per key and time span. */
interface Coalesced {
  ask(key: string): Promise<void>;
  /** Makes the requests that came too early, once they are allowed; with `all`, at once. */
  payOwed(all?: boolean): Promise<void>;
  isOwing(): boolean;
}

export function createCoalesced(request: (key: string) => Promise<void>, gapMs: number): Coalesced {
  const askedAt = new Map<string, number>();
  // Keys asked for again within the gap: the request before may have looked too early for them.
  const owed = new Set<string>();
  const isDue = (key: string): boolean => (askedAt.get(key) ?? Number.NEGATIVE_INFINITY) + gapMs <= performance.now();
  const trigger = async (key: string): Promise<void> => {
    askedAt.set(key, performance.now());
    // Clear it before the request, so that a call during the request is owed another one.
    const wasOwed = owed.delete(key);
    try {
      await request(key);
    } catch (error) {
      if (wasOwed) owed.add(key);
      throw error;
    }
  };
  return {
    async ask(key) {
      if (isDue(key)) await trigger(key);
      else owed.add(key);
    },
    async payOwed(all = false) {
      await Promise.all([...owed].filter((key) => all || isDue(key)).map(trigger));
    },
    isOwing: () => owed.size > 0,
  };
}

export interface StreamHinter {
  store: Store;
  /** Whether a tenant's stream is scheduled: otherwise its hints would never be processed. */
  runsByItself: (tenantId: string, stream: StreamName) => boolean;
  /** Requests that the hints of a tenant's stream be processed; see `streamKey`. */
  streamHints: Coalesced;
}

/** By record, whether the latest event says that it is gone. */
type Told = ReadonlyMap<string, boolean>;

/**
 * Records which records some deliveries of one tenant name, oldest first, and requests that they be read. One statement
 * for each stream, however many deliveries. Returns the deliveries that any stream took.
 */
export async function hintStreams(
  hinter: StreamHinter,
  deliveries: readonly LeasedDelivery[],
): Promise<Set<LeasedDelivery>> {
  const taken = new Set<LeasedDelivery>();
  const told = new Map<StreamName, Map<string, boolean>>();
  for (const delivery of deliveries)
    for (const [stream, ids] of namedIn(hinter, delivery)) {
      taken.add(delivery);
      const gone = dispatchOf(delivery.event).gone?.includes(stream) === true;
      const records = told.get(stream) ?? new Map<string, boolean>();
      for (const id of ids) records.set(id, gone && id !== WHOLE_LIST);
      told.set(stream, records);
    }
  const [{ tenantId } = { tenantId: '' }] = deliveries;
  for (const [stream, records] of told) await hintRecords(hinter, { tenantId, stream }, records);
  return taken;
}

/** The streams that take a delivery, each with the records it names, or the whole list if it names none. */
function namedIn({ runsByItself }: StreamHinter, { tenantId, event, ids }: LeasedDelivery): [StreamName, string[]][] {
  const { streams = {}, records = {}, ifNamed = [] } = dispatchOf(event);
  const entries = Object.entries(streams) as [StreamName, string][];
  return entries
    .filter(
      ([stream, kind]) => runsByItself(tenantId, stream) && !(ifNamed.includes(stream) && ids[kind] === undefined),
    )
    .map(([stream, kind]) => {
      const named = ids[kind] ?? [];
      if (named.length > 0) return [stream, [...named]];
      const ofParts = (ids[records[stream] ?? ''] ?? []).map(hintOfRecord);
      return [stream, ofParts.length > 0 ? ofParts : [WHOLE_LIST]];
    });
}

/** Records that these records must be read again, and requests it. */
export async function hintRecords(
  { store, streamHints }: StreamHinter,
  { tenantId, stream }: { tenantId: string; stream: StreamName },
  records: Told,
): Promise<void> {
  for (const [gone, together] of Map.groupBy(records, ([, isGone]) => isGone))
    await addHints(
      store,
      tenantId,
      stream,
      together.map(([id]) => id),
      gone,
    );
  const kind = kinds[stream];
  if (kind.kind !== 'push' || kind.followsHints === true) await streamHints.ask(streamKey(tenantId, stream));
}

/** One key for coalescing; tenant names contain no space. */
function streamKey(tenantId: string, stream: StreamName): string {
  return `${tenantId} ${stream}`;
}
