import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import { inActivity } from '../../src/failpoint.ts';
import { undecided } from '../../src/hire/answers.ts';
import type { Change, HireRef, HireStep, Observed } from '../../src/hire/hire.ts';
import type { HireActivities, Opened } from '../../src/hire/hire-activities.ts';
import { type Held, refusalHold } from '../../src/hire/holds.ts';
import { planEmployee as plan } from '../../src/plan/plan-employee.ts';
import { judgeAdmission, type KnownHire, planOpening } from '../../src/plan/plan-enrolment.ts';
import { shownStatus } from '../../src/plan/plan-write-back.ts';
import { isRestoredSince } from '../../src/store/backups.ts';
import { observes } from '../../src/store/freezes.ts';
import { addHints } from '../../src/store/hints.ts';
import { endEarlier, endHire, endOutlived, moveResting } from '../../src/store/hire-states.ts';
import { type HireChange, insertHires, latestHire, type NewHire, updateHire } from '../../src/store/hires.ts';
import { answersOf, lastAnswered } from '../../src/store/holds.ts';
import { findTaker, isErased, type Recorded, recordHire } from '../../src/store/observed-hires.ts';
import { inTransaction, type Store } from '../../src/store/open-store.ts';
import { insertPlan } from '../../src/store/plans.ts';
import type { HireRow } from '../../src/store/schema.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { traceOpened } from '../../src/trace.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import { guarded } from '../guarded.ts';
import { UNSHOWN } from '../reconcile/baseline.ts';
import { foreseeClaim } from './ask-person.ts';
import { enrol, findEnrolments, holderBeside } from './enrol.ts';
import { knownPerson, observe } from './plan-employee.ts';
import { isInScope, keepSeen, readEnrolment, readSources, type Seen, seePerson } from './read-sources.ts';
import { enrolmentReference, type HireContext, personOf } from './with-hire.ts';
import { readTooLongAgo, startClock } from './write-once.ts';

type Input = Parameters<HireActivities['openHire']>[0];

/**
 * Finds or opens the hire of this application in `hires`; the store counts, no matter what Temporal remembers. Every
 * step looks before it writes, so a new workflow may begin at the last certain step. Goes on to the enrolment, because
 * nothing is waited for in between.
 */
export async function openHire(deps: ActivityDeps, input: Input): Promise<Opened> {
  const { opened, seen } = await open(deps, input);
  if (opened.verdict === 'closed' || opened.step !== 'enrol') return opened;
  // An answered hold comes first.
  if (opened.hold !== undefined || opened.policy.skipOnboarding) return opened;
  const { tenantId, jobCandidateId } = input;
  const ref = { tenantId, jobCandidateId, period: opened.period };
  return { ...opened, enrolled: await inActivity('enrol', () => enrol(deps, ref, seen)) };
}

/** `seen`: the person, if the opening read them. */
interface Opening {
  opened: Opened;
  seen?: Seen;
}

function open(deps: ActivityDeps, input: Input): Promise<Opening> {
  return guarded(deps, input.tenantId, async (connection, tenant) => {
    const { store } = deps;
    const { tenantId, jobCandidateId } = input;
    if (tenant.baseline_done_at === null)
      throw new ConnectorError({
        code: 'BASELINE_PENDING',
        action: 'throttle',
        message:
          `Tenant ${tenantId} is still recording who was hired before go-live. ` +
          'No hire starts until that is complete.',
        retryAfterMs: 2_000,
      });
    if (await isErased(store, { tenantId, jobCandidateId })) return { opened: closed(undefined) };
    const latest = await latestNotForgotten(deps, connection, input);
    if (latest !== undefined) await endOutlived(store, latest);
    const opening = planOpening(await readKnown(store, latest), input);
    if (opening.kind === 'look') return openPeriod(deps, connection, input, { latest, period: opening.period });
    if (latest === undefined || opening.kind === 'closed') return { opened: closed(latest) };
    if (opening.kind === 'reopen') {
      const { candidate_id: candidateId, job_id: jobId } = latest;
      if (!(await admit(deps, connection, { ref: refOf(latest), candidateId, jobId })))
        return { opened: closed(latest) };
      await moveResting(store, latest, 'open');
    }
    const { step, hold } = opening.kind === 'resume' ? opening : { step: 'enrol' as const, hold: undefined };
    return { opened: { ...opened(connection, latest.period, step), ...(hold === undefined ? {} : { hold }) } };
  });
}

/**
 * The newest period of an application. A restored store may know it as done although its employment was ended after the
 * backup: the person is out of the stage, and their enrolment shows the status of those who left.
 */
async function latestNotForgotten(
  { store, log }: ActivityDeps,
  connection: Connection,
  { tenantId, jobCandidateId, watch }: Input,
): Promise<HireRow | undefined> {
  const latest = await latestHire(store, tenantId, jobCandidateId);
  if (!watch || latest?.state !== 'done' || latest.onboarding_candidate_id === null) return latest;
  if (!(await isRestoredSince(store, Number(latest.ended_at)))) return latest;
  const ref = refOf(latest);
  const { externalStatus } = await readEnrolment({ connection, ref }, latest.onboarding_candidate_id);
  if (shownStatus(externalStatus) !== connection.tenant.writeBack.leftStatus) return latest;
  const { presence } = await seePerson(store, connection, jobCandidateId);
  if (presence.verdict !== 'out') return latest;
  await endHire(store, ref, 'left', ['done']);
  log.info(ref, 'the employment was ended after the backup: the hire is over');
  return latestHire(store, tenantId, jobCandidateId);
}

async function readKnown(store: Store, row: HireRow | undefined): Promise<KnownHire> {
  if (row === undefined) return { latest: undefined, lastAnswered: undefined, answers: [] };
  const last = await lastAnswered(store, refOf(row));
  return {
    latest: { period: row.period, state: row.state, step: row.step, employeeId: row.employee_id },
    lastAnswered: last && { holdId: last.hold_id, code: last.code, isClosed: last.closed_at !== null },
    answers: await answersOf(store, refOf(row)),
  };
}

/**
 * Opens nothing for a person who is not in a hiring stage now, so that a stale event costs no row and no credit.
 * Exception: a workflow followed the hire and the store was restored from an older backup. The hire is then opened with
 * its enrolment, and its end looks in the HR system; a person is asked if the partner shows no such application. The
 * period that the store knew is over.
 */
async function openPeriod(
  deps: ActivityDeps,
  connection: Connection,
  { tenantId, jobCandidateId, behind = 0 }: Input,
  { latest, period }: { latest: HireRow | undefined; period: number },
): Promise<Opening> {
  const { store, log } = deps;
  const seen = await seePerson(store, connection, jobCandidateId);
  const { presence } = seen;
  const isForgotten = behind === period;
  if (isForgotten && presence.verdict === 'missing') await addHints(store, tenantId, UNSHOWN, [jobCandidateId]);
  if (presence.verdict === 'missing' || (presence.verdict === 'out' && !isForgotten)) return { opened: closed(latest) };
  const { candidateId, jobId } = presence;
  const ref = { tenantId, jobCandidateId, period };
  if (latest !== undefined) await endEarlier(store, latest);
  if (!(await admit(deps, connection, { ref, candidateId, jobId })))
    return { opened: { verdict: 'closed', period, state: 'before-go-live' } };
  // A later attempt may already have found the person gone, and nobody would follow a hire opened now.
  if (seen.sinceRead() > deps.limits.giveUpMs) throw readTooLongAgo();
  const row: NewHire = { ...ref, state: 'open', candidateId, jobId };
  const enrolment = presence.verdict === 'out' ? await findForgotten(store, connection, row) : undefined;
  const fresh = await inTransaction(store, async (trx) => {
    // The person may have been asked to be erased since they were read.
    if (await isErased(trx, row)) return undefined;
    const inserted = await insertHires(trx, [row]);
    if (enrolment !== undefined) await updateHire(trx, row, enrolment);
    return inserted;
  });
  if (fresh === undefined) {
    log.warn(
      { tenantId, jobCandidateId },
      'no hire: the person was erased. If they are hired after all, create the employee by hand',
    );
    return { opened: closed(latest) };
  }
  if (fresh > 0) {
    log.info({ tenantId, jobCandidateId, period }, 'hire opened');
    traceOpened({ installationId: store.installationId, tenantId, jobCandidateId });
  }
  keepSeen(connection, ref, seen);
  return { opened: opened(connection, period, 'enrol'), seen };
}

/** The last enrolment that carries a reference of this period; the hire's end terminates it. */
async function findForgotten(store: Store, connection: Connection, ref: HireRef): Promise<HireChange | undefined> {
  if (connection.tenant.policies.onboarding === 'skip') return undefined;
  let last: HireChange | undefined;
  for (let enrolment = 1; ; enrolment += 1) {
    const reference = enrolmentReference(ref, enrolment);
    const [hit] = await findEnrolments(connection, reference);
    if (hit === undefined || (await holderBeside({ store, ref }, hit.onboardingCandidateId)) !== undefined) return last;
    const { onboardingCandidateId } = hit;
    last = { enrolment, onboarding_candidate_id: onboardingCandidateId, onboarding_reference: reference };
  }
}

function refOf(row: HireRow): HireRef {
  return { tenantId: row.tenant_id, jobCandidateId: row.job_candidate_id, period: row.period };
}

function opened(connection: Connection, period: number, step: HireStep): Extract<Opened, { verdict: 'open' }> {
  const { onboarding, cancel } = connection.tenant.policies;
  const skipOnboarding = onboarding === 'skip';
  const onboardingDeadlineMs = skipOnboarding ? 0 : onboarding.deadline;
  return {
    verdict: 'open',
    period,
    step,
    policy: { skipOnboarding, onboardingDeadlineMs, cancelGraceMs: cancel.grace },
  };
}

function closed(row: HireRow | undefined): Opened {
  if (row === undefined) return { verdict: 'closed', period: 0, state: 'not-hired' };
  return { verdict: 'closed', period: row.period, state: row.state };
}

/** A hire as it was read. */
type Found = Omit<Recorded, 'about' | 'person'>;

/**
 * Whether this hire may start. If it may not, because the tenant only observes or does not take the job, it is
 * recorded, so that nobody who was hired is ever taken for a new hire.
 */
async function admit(deps: ActivityDeps, connection: Connection, hire: Found): Promise<boolean> {
  const { store, log } = deps;
  const { ref, jobId } = hire;
  const isScoped = connection.tenant.scope !== undefined;
  const admission = judgeAdmission({
    observes: observes(await readTenantState(store, ref.tenantId)),
    inScope: await isInScope(store, connection, jobId),
    takenBy: isScoped ? await findTaker(store, ref) : undefined,
  });
  if (admission.kind === 'start') return true;
  if (admission.kind === 'pass') {
    const about = { passedOver: admission.why };
    if (await recordHire(store, { ...hire, person: personIn(connection, hire), about }))
      log.info({ ...ref, jobId, reason: admission.why }, 'hire passed over');
    return false;
  }
  await observeHire(deps, connection, hire);
  return false;
}

/** Plans the hire as it would be made; writes only to the store. */
async function observeHire(deps: ActivityDeps, connection: Connection, hire: Found): Promise<void> {
  const { store, log } = deps;
  const { ref } = hire;
  const preview = await previewEmployee(deps, connection, ref).catch((error: unknown) => {
    // A refusal shows what a person would be asked about.
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    return refusalHold(error, 'before-employee');
  });
  if (preview.verdict === 'left') return;
  const credits = connection.tenant.policies.onboarding === 'skip' ? 0 : 1;
  const observed: Observed =
    preview.verdict === 'hold'
      ? { would: 'ask', code: preview.hold.code, message: preview.hold.message, credits }
      : {
          would: preview.change.kind,
          ...(preview.change.kind !== 'create' && { employeeId: preview.change.employee.id }),
          credits,
        };
  const isRecorded = await inTransaction(store, async (trx) => {
    const recorded = await recordHire(trx, { ...hire, person: personIn(connection, hire), about: { observed } });
    if (recorded && preview.verdict === 'plan')
      await insertPlan(trx, ref, { mappingHash: connection.mapping.hash, change: preview.change });
    return recorded;
  });
  if (isRecorded) log.info({ ...ref, would: observed.would, code: observed.code }, 'hire observed');
}

function personIn({ tenant }: Connection, { candidateId }: Found): Recorded['person'] {
  return candidateId === null ? undefined : personOf(tenant, candidateId);
}

/** Plans a hire that is not started: reads both sides as a real hire would, but claims, stores and writes nothing. */
async function previewEmployee(
  deps: ActivityDeps,
  connection: Connection,
  ref: HireRef,
): Promise<{ verdict: 'plan'; change: Change } | { verdict: 'left' } | Held> {
  const hire = unstarted(deps, connection, ref);
  // A person between the enrolling and the creating stages is hired all the same.
  const read = await readSources(hire, { anyStage: true });
  if (read.verdict !== 'read') return { verdict: 'left' };
  const claimed = await foreseeClaim(hire, read.sources.candidateId);
  if (claimed.verdict === 'hold') return claimed;
  const change = plan(await observe(hire, knownPerson(hire, read.sources, claimed.before)), undecided);
  return 'verdict' in change ? change : { verdict: 'plan', change };
}

/** The hire as it would stand at its first step. */
function unstarted(deps: ActivityDeps, connection: Connection, ref: HireRef): HireContext {
  const row: HireRow = {
    tenant_id: ref.tenantId,
    job_candidate_id: ref.jobCandidateId,
    period: ref.period,
    candidate_id: null,
    job_id: null,
    state: 'before-go-live',
    step: 'ended',
    onboarding_candidate_id: null,
    onboarding_reference: null,
    enrolment: 1,
    onboarding_status: null,
    onboarding_read_at: null,
    employee_id: null,
    employee_number: null,
    connection: null,
    opened_at: 0,
    updated_at: 0,
    ended_at: null,
    observed: null,
    passed_over: null,
  };
  const none = { answers: [], decisions: undecided, creation: undefined, sinceRead: startClock() };
  return { deps, store: deps.store, connection, ref, row, ...none };
}
