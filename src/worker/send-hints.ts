import { isSafeId } from '../hire/hire.ts';
import type { SignalHire } from '../hire/hire-run.ts';
import { addHints } from '../store/hints.ts';
import { hiresOfEnrolments, latestHires, unmadeHiresOf } from '../store/hires.ts';
import { wasHeld } from '../store/holds.ts';
import type { LeasedDelivery } from '../store/inbox.ts';
import type { Store } from '../store/open-store.ts';
import type { HireRow, TenantRow } from '../store/schema.ts';
import type { Coalesced } from './coalesced.ts';
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
 * the delivery.
 */
async function startHires(
  { store, signalHire }: HintSender,
  delivery: LeasedDelivery,
  tenant: TenantRow,
): Promise<void> {
  const { tenantId, receivedAt } = delivery;
  const ids = jobCandidateIdsOf(delivery);
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

/** Hints at a tenant's hires without an employee, so that the employee is made by the job's current data. */
export async function hintUnmade({ store, signalHire }: HintSender, deliveries: readonly LeasedDelivery[]) {
  const about = deliveries.filter(({ event }) => dispatchOf(event).hiresOfJob === true);
  const [{ tenantId } = { tenantId: '' }] = about;
  const jobIds = new Set(about.flatMap(({ ids }) => ids['jobId'] ?? []));
  for (const { job_candidate_id: jobCandidateId } of await unmadeHiresOf(store, tenantId, [...jobIds]))
    await signalHire({ tenantId, jobCandidateId }, 'person', { start: false });
}

function jobCandidateIdsOf({ ids }: LeasedDelivery): string[] {
  return (ids['jobCandidateId'] ?? []).filter(isSafeId);
}
