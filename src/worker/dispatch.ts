import { isResting, type SignalHire } from '../hire/hire.ts';
import { type EventIdKind, type EventName, isEventName } from '../partner/contract/events.ts';
import { addHints, hintOfRecord } from '../store/hints.ts';
import { hiresOfEnrolments, latestHires, unmadeHiresOf } from '../store/hires.ts';
import { wasHeld } from '../store/holds.ts';
import { HRIS_CHANGED, type LeasedDelivery } from '../store/inbox.ts';
import type { Store } from '../store/open-store.ts';
import { erasedAmong } from '../store/person-marks.ts';
import type { HireRow, TenantRow } from '../store/schema.ts';
import { WHOLE_LIST } from '../streams/stream.ts';
import { streams as kinds, type StreamName } from '../streams/streams.ts';

/**
 * The effect of an event on hires. `hired`: a hint for each job candidate's hire, started if none runs. `moved`: the
 * same if the move leads into a hiring stage, otherwise like `left`. `added`: the same as `hired` if the event names a
 * hiring stage, otherwise nothing. `left`: a hint for a running hire only.
 * `onboarding`: a hint for the hire of that enrolment, or a reconcile if no id is known.
 */
type HireHint = 'hired' | 'moved' | 'added' | 'left' | 'onboarding';

/** The effect of an event: hints for hires or streams; if none, the reason. */
export interface Dispatch {
  hires?: HireHint;
  /** The kind of record that was edited: sends a hint to the hires that it concerns, and starts none. */
  edited?: 'job' | 'person';
  /** By stream, the kind of ids to hint; an event without such an id hints at the whole list. */
  streams?: Partial<Record<StreamName, EventIdKind | 'employeeId'>>;
  /** For a list in parts, the kind of record ids to use if the event names no part. */
  records?: Partial<Record<StreamName, EventIdKind>>;
  /** Streams that ignore the event if it carries no id. */
  ifNamed?: readonly StreamName[];
  /** Streams whose record no longer exists after the event. */
  gone?: readonly StreamName[];
  nothing?: string;
}

const PARSING = 'it reports the progress of parsing; events of their own and the list bring the new candidates';

/** The specification shows a submission but no assessment (section 6); the part is known if the event names both. */
const interviewed: Dispatch = {
  streams: { interviews: 'assessmentId', results: 'assessmentId' },
  records: { interviews: 'submissionId', results: 'submissionId' },
};

/** No event names users, teams, pipelines, their stages or onboarding flows: their tables are read on schedule. */
export const dispatch: Record<EventName, Dispatch> = {
  // An application read by id shows no stage, so moves arrive with the next full pass.
  'candidate.hired': { hires: 'hired' },
  'candidate.stage_changed': { hires: 'moved', streams: { invitations: 'jobCandidateId' } },
  'candidate.rejected': { hires: 'left', streams: { applications: 'jobCandidateId' } },
  // Also sent if the candidate was deleted from the company; a read of the candidate shows which.
  'candidate.removed_from_job': {
    hires: 'left',
    streams: { applications: 'jobCandidateId', candidates: 'candidateId', consents: 'jobCandidateId' },
    gone: ['applications', 'consents'],
  },
  // The response to our own enrolment request already tells us about it.
  'onboarding.candidate.enrolled': { streams: { onboarding: 'onboardingCandidateId' } },
  'onboarding.candidate.status_changed': { hires: 'onboarding', streams: { onboarding: 'onboardingCandidateId' } },
  'onboarding.candidate.completed': { hires: 'onboarding', streams: { onboarding: 'onboardingCandidateId' } },
  'onboarding.documents.verified': { streams: { documents: 'onboardingCandidateId' } },
  'onboarding.report.ready': { streams: { documents: 'onboardingCandidateId' } },
  'onboarding.offer.completed': { streams: { documents: 'jobCandidateId' } },
  'candidate.added_to_job': {
    hires: 'added',
    streams: { candidates: 'candidateId', applications: 'jobCandidateId', invitations: 'jobCandidateId' },
  },
  // A rejection or its withdrawal may arrive as nothing but an edited application (E5).
  'candidate.updated': {
    edited: 'person',
    streams: {
      candidates: 'candidateId',
      employees: 'candidateId',
      amendments: 'candidateId',
      applications: 'jobCandidateId',
      consents: 'jobCandidateId',
    },
    ifNamed: ['applications', 'consents'],
  },
  'candidate.applied': {
    streams: {
      candidates: 'candidateId',
      applications: 'jobCandidateId',
      invitations: 'jobCandidateId',
      consents: 'jobCandidateId',
    },
  },
  'job.created': { streams: { jobs: 'jobId' } },
  'job.updated': { edited: 'job', streams: { jobs: 'jobId', positions: 'jobId' } },
  'job.status_changed': { streams: { jobs: 'jobId', positions: 'jobId' } },
  'job.candidate.score.completed': { streams: { applications: 'jobCandidateId' } },
  'job.candidate.score.failed': { nothing: 'a score that failed changes no record' },
  'job.candidates.rescored': {
    streams: { applications: 'jobCandidateId', rescoring: 'rescoreId' },
    ifNamed: ['rescoring'],
  },
  'resume.bulk_upload_parse.started': { nothing: PARSING },
  'resume.bulk_upload_parse.completed': { streams: { candidates: 'candidateId', resumes: 'batchId' } },
  'resume.bulk_upload_parse.failed': { streams: { resumes: 'batchId' }, ifNamed: ['resumes'] },
  'resume.single_parse.completed': { streams: { candidates: 'candidateId' } },
  'resume.single_parse.failed': { nothing: PARSING },
  'assessment.ready': { streams: { assessments: 'assessmentId' } },
  'assessment.bulk_invite.completed': { streams: { invitations: 'batchId' } },
  'interview.started': { nothing: 'the list shows an interview once it was submitted or timed out (section 4.6)' },
  'interview.scoring_completed': interviewed,
  'interview.ended': interviewed,
};

/** What the HRIS reports is exchanged, or told to the partner, at once; the scheduled pass finds it too. */
const ofHris: Dispatch = { streams: { employees: 'employeeId', employment: 'employeeId' } };

export interface HintSender {
  store: Store;
  signalHire: SignalHire;
  reconciles: Requests;
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
  async added(sender, delivery, tenant) {
    const [stageId] = delivery.ids['nextStageId'] ?? [];
    const isHired = stageId !== undefined && (await sender.isHiringStage(delivery.tenantId, stageId));
    if (isHired) await startHires(sender, delivery, tenant);
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
  { store, signalHire, reconciles }: HintSender,
  delivery: LeasedDelivery,
  tenant: TenantRow,
): Promise<void> {
  const { tenantId, receivedAt } = delivery;
  const named = jobCandidateIdsOf(delivery);
  if (named.length === 0) return reconciles.ask(tenantId);
  const people = named.map((id) => ({ kind: 'job-candidate', id }) as const);
  const erased = await erasedAmong(store, tenantId, people);
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

/** Hints only at people we follow; a hire without a workflow, or without a name, is left to a reconcile. */
async function hintRunning({ store, signalHire, reconciles }: HintSender, delivery: LeasedDelivery): Promise<void> {
  const { tenantId } = delivery;
  const named = jobCandidateIdsOf(delivery);
  if (named.length === 0) return reconciles.ask(tenantId);
  const known = await latestHires(store, tenantId, named);
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

/**
 * Hints at a tenant's hires that edits concern, and starts none: those without an employee, so that it is made by
 * current data, and that of an edited application, whose person may have been rejected or taken back. If nobody follows
 * such a hire, the next reconcile lists its job. A few reads, however many deliveries. Returns those about a hire.
 */
export async function hintEdited(
  { store, signalHire }: HintSender,
  deliveries: readonly LeasedDelivery[],
): Promise<Set<LeasedDelivery>> {
  const [{ tenantId } = { tenantId: '' }] = deliveries;
  const concerned = new Set<LeasedDelivery>();
  const unfollowed = new Set<string>();
  for (const [column, edits] of Map.groupBy(deliveries, editedBy)) {
    if (column === undefined) continue;
    const namedIn = ({ ids }: LeasedDelivery): readonly string[] => ids[editedIds[column]] ?? [];
    const named = [...new Set(edits.flatMap(namedIn))];
    const hires =
      column === 'job_candidate_id'
        ? [...(await latestHires(store, tenantId, named)).values()].filter(({ state }) => !isResting(state))
        : await unmadeHiresOf(store, tenantId, column, named);
    for (const { job_candidate_id: jobCandidateId, job_id: jobId, state } of hires) {
      const isTold = state !== 'left' && (await signalHire({ tenantId, jobCandidateId }, 'person', { start: false }));
      if (!isTold && jobId !== null) unfollowed.add(jobId);
    }
    const found = new Set(hires.map((hire) => hire[column]));
    for (const edit of edits) if (namedIn(edit).some((id) => found.has(id))) concerned.add(edit);
  }
  await addHints(store, tenantId, 'people', [...unfollowed]);
  return concerned;
}

/** By column of a hire, the kind of id that names it in an event about an edit. */
const editedIds = { job_id: 'jobId', candidate_id: 'candidateId', job_candidate_id: 'jobCandidateId' } as const;
/** The column that finds the hires which an edit concerns. An edited application names its candidate, too. */
function editedBy({ event, ids }: LeasedDelivery): keyof typeof editedIds | undefined {
  const { edited } = dispatchOf(event);
  if (edited === 'person') return ids['jobCandidateId'] === undefined ? 'candidate_id' : 'job_candidate_id';
  return edited === 'job' ? 'job_id' : undefined;
}

function jobCandidateIdsOf({ ids }: LeasedDelivery): string[] {
  return (ids['jobCandidateId'] ?? []).filter(isSafeId);
}

interface Requests {
  /**
   * Resolves once the request was accepted, or is owed because it came too early: `onOwed` then gets a promise of a
   * request that begins later. Both reject if the request fails; who still needs it must ask again.
   */
  ask(key: string, onOwed?: (paid: Promise<void>) => void): Promise<void>;
}

/** Limits repeated requests to one per key and time span. */
export interface Coalesced extends Requests {
  /** Makes the requests that came too early, once they are allowed; with `all`, at once. */
  payOwed(all?: boolean): Promise<void>;
  isOwing(): boolean;
}

interface LatestRequest {
  at: number;
  underWay: Promise<void> | undefined;
  failed: boolean;
}

export function createCoalesced(request: (key: string) => Promise<void>, gapMs: number): Coalesced {
  const latest = new Map<string, LatestRequest>();
  // Keys asked for again within the gap: the request before may have looked too early for them.
  const owed = new Map<string, PromiseWithResolvers<void>>();
  const isDue = (key: string): boolean =>
    (latest.get(key)?.at ?? Number.NEGATIVE_INFINITY) + gapMs <= performance.now();
  const owe = (key: string): Promise<void> => {
    const debt = owed.get(key) ?? Promise.withResolvers<void>();
    debt.promise.catch(() => undefined); // it may be that nobody waits for it
    owed.set(key, debt);
    return debt.promise;
  };
  const trigger = async (key: string): Promise<void> => {
    // Clear it before the request, so that a call during the request is owed another one.
    const debt = owed.get(key);
    owed.delete(key);
    const sent: LatestRequest = { at: performance.now(), underWay: request(key), failed: false };
    latest.set(key, sent);
    try {
      await sent.underWay;
      debt?.resolve();
    } catch (error) {
      sent.failed = true;
      if (debt !== undefined) void owe(key);
      debt?.reject(error);
      throw error;
    } finally {
      sent.underWay = undefined;
    }
  };
  return {
    async ask(key, onOwed) {
      // Nothing is owed to those who ask in an outage: they would pile up until it ends.
      const { underWay } = latest.get(key) ?? {};
      if (underWay !== undefined) await underWay;
      if (isDue(key) || latest.get(key)?.failed === true) await trigger(key);
      else onOwed?.(owe(key));
    },
    async payOwed(all = false) {
      await Promise.all([...owed.keys()].filter((key) => all || isDue(key)).map(trigger));
    },
    isOwing: () => owed.size > 0,
  };
}

export interface StreamHinter {
  store: Store;
  /** Whether a tenant's stream is scheduled: otherwise its hints would never be processed. */
  runsByItself: (tenantId: string, stream: StreamName) => boolean;
  /** Requests that the hints of a tenant's stream be processed; see `streamKey`. */
  streamHints: Requests;
}

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

/** Records that these records must be read again, and requests it. `records`: whether each is said to be gone. */
export async function hintRecords(
  { store, streamHints }: StreamHinter,
  { tenantId, stream }: { tenantId: string; stream: StreamName },
  records: ReadonlyMap<string, boolean>,
): Promise<void> {
  for (const [gone, together] of Map.groupBy(records, ([, isGone]) => isGone)) {
    const ids = together.map(([id]) => id);
    await addHints(store, tenantId, stream, ids, gone);
  }
  const kind = kinds[stream];
  if (kind.kind !== 'push' || kind.followsHints === true) await streamHints.ask(streamKey(tenantId, stream));
}

/** One key for coalescing; tenant names contain no space. */
function streamKey(tenantId: string, stream: StreamName): string {
  return `${tenantId} ${stream}`;
}

/** An unknown event has no effect. */
export function dispatchOf(event: string): Dispatch {
  if (event === HRIS_CHANGED) return ofHris;
  return isEventName(event) ? dispatch[event] : {};
}

/** Events about hires. Within one tenant they are begun gradually; all other events are relayed together. */
export const hireEvents = Object.keys(dispatch).filter((event) => dispatchOf(event).hires !== undefined);

/** Ids come from webhooks, so only text that looks like an id may become part of a workflow id. */
function isSafeId(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id);
}
