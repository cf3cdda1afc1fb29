import { type EnrolmentInput, terminalStatuses } from '../../partner/contract/onboarding.ts';
import { type Context, effect, invalidRequest, notFound, refuse } from '../context.ts';
import { stableUuid } from '../random.ts';
import { emailKey } from './candidates.ts';
import { updateCompany } from './companies.ts';
import { emit } from './deliveries.ts';
import { type Enrolment, findEnrolment, findFlow, stepsOf } from './enrolments.ts';
import { followStep } from './onboarding-documents.ts';
import { schedule } from './tasks.ts';

const TERMINAL: ReadonlySet<string> = new Set(terminalStatuses);
const NOT_TERMINAL = `overall_status not in (${terminalStatuses.map((status) => `'${status}'`).join(', ')})`;

function isTerminal(overallStatus: string): boolean {
  return TERMINAL.has(overallStatus);
}

/**
 * Enrols all or none; `at` is an entry's place in the request: a duplicate of an active enrolment, or within the
 * entries, refuses the whole call with 409; then too few credits do with 402 (O3, O4, O13, assumed). One credit and one
 * event a person.
 */
export function enrol(
  ctx: Context,
  flowId: string,
  entries: readonly EnrolmentInput[],
  at: (index: number) => string = () => '',
): Enrolment[] {
  const flow = findFlow(ctx, flowId);
  if (flow.status !== 'ACTIVE')
    throw invalidRequest('The onboarding flow is not active', { flowId: `is ${flow.status}` });
  const twice = duplicateIn(ctx, flowId, entries);
  if (twice !== undefined)
    throw refuse('DUPLICATE_ENROLLMENT', 'An active enrollment exists for this email or externalRef in the flow', {
      [`${at(twice.index)}${twice.field}`]: 'has an active enrollment in the flow, or is here twice',
    });
  const available = ctx.company.onboardingCredits;
  if (available < entries.length) {
    throw refuse('INSUFFICIENT_ONBOARDING_CREDITS', 'Not enough onboarding credits', {
      requiredCredits: entries.length,
      availableCredits: available,
    });
  }
  updateCompany(ctx.state, ctx.company.id, { onboardingCredits: available - entries.length });
  return entries.map((entry) => enrolOne(ctx, flowId, entry));
}

/** The first entry that has an active enrolment in the flow, or is here twice, and the field that says so. */
function duplicateIn(
  ctx: Context,
  flowId: string,
  entries: readonly EnrolmentInput[],
): { index: number; field: 'email' | 'externalRef' } | undefined {
  const seen = { email: new Set<string>(), externalRef: new Set<string>() };
  for (const [index, { email, externalRef }] of entries.entries()) {
    const values = { email: emailKey(email), externalRef: externalRef ?? '' };
    for (const field of ['email', 'externalRef'] as const) {
      if (values[field] === '') continue;
      if (seen[field].has(values[field]) || isActive(ctx, flowId, field, values[field])) return { index, field };
      seen[field].add(values[field]);
    }
  }
  return undefined;
}

const COLUMNS = { email: 'email', externalRef: 'external_ref' } as const;

/** Whether another enrolment of this person is under way in the flow. */
function isActive(ctx: Context, flowId: string, field: keyof typeof COLUMNS, value: string, except = ''): boolean {
  const where = `flow_id = ? and ${NOT_TERMINAL} and ${COLUMNS[field]} = ? and id <> ?`;
  return ctx.state.count('onboarding_candidates', where, flowId, value, except) > 0;
}

function enrolOne(ctx: Context, flowId: string, entry: EnrolmentInput): Enrolment {
  const { state, company, now } = ctx;
  const seq = state.nextId('enrolment');
  const id = stableUuid(state.seed, 'enrolment', seq);
  state.run(
    `insert into onboarding_candidates (id, company_id, seq, flow_id, first_name, last_name, email, phone_number,
      external_ref, overall_status,
       journey_url, metadata, enrolled_at, updated_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, 'not_started', ?, ?, ?, ?)`,
    id,
    company.id,
    seq,
    flowId,
    entry.firstName,
    entry.lastName,
    emailKey(entry.email),
    entry.phoneNumber ?? null,
    entry.externalRef ?? null,
    `/journey/${stableUuid(state.seed, 'journey', seq)}`,
    entry.metadata === undefined || entry.metadata === null ? null : JSON.stringify(entry.metadata),
    now,
    now,
  );
  state.run(
    `insert into onboarding_steps (onboarding_id, step_key, step_order, status)
     select ?, value ->> 'stepKey', value ->> 'stepOrder', 'pending' from json_each((select steps
       from onboarding_flows where id = ?))
     where value ->> 'isActive' = 1`,
    id,
    flowId,
  );
  effect(ctx, 'onboarding-credit', id);
  effect(ctx, 'enrolment', id, { flowId, externalRef: entry.externalRef ?? null });
  const enrolled = findEnrolment(ctx, id);
  emit(ctx, 'onboarding.candidate.enrolled', eventFields(enrolled));
  return enrolled;
}

/** A status that the specification does not name, and how long it lasts: the quirk unknown-status. */
const AWAITING_SIGNATURE = 'awaiting_signature';
const SIGNING_MS = 2000;

/** Sets overallStatus; a change is an event, and reaching completed one more. */
export function setOverallStatus(ctx: Context, id: string, overallStatus: string): Enrolment {
  const before = findEnrolment(ctx, id);
  if (before.overallStatus === overallStatus) return before;
  refuseSecond(ctx, before, overallStatus);
  if (overallStatus !== 'completed' || !ctx.state.quirks.has('unknown-status'))
    return writeOverallStatus(ctx, before, overallStatus);
  if (before.overallStatus === AWAITING_SIGNATURE) return before;
  schedule(ctx, 'complete-onboarding', SIGNING_MS, { id });
  return writeOverallStatus(ctx, before, AWAITING_SIGNATURE);
}

/** An enrolment does not come back to life while another of the same person is active. */
function refuseSecond(ctx: Context, { id, flowId, email, externalRef, overallStatus }: Enrolment, next: string): void {
  if (!isTerminal(overallStatus) || isTerminal(next)) return;
  const twice =
    isActive(ctx, flowId, 'email', email, id) ||
    (externalRef !== null && externalRef !== '' && isActive(ctx, flowId, 'externalRef', externalRef, id));
  if (twice)
    throw refuse('DUPLICATE_ENROLLMENT', 'Another enrollment of this email or externalRef is active in the flow', {
      onboardingCandidateId: 'is not the active one',
    });
}

/** Completes the candidates who still await a signature. */
export function completeSigned(ctx: Context, { id }: { id: string }): void {
  const enrolment = findEnrolment(ctx, id);
  if (enrolment.overallStatus === AWAITING_SIGNATURE) writeOverallStatus(ctx, enrolment, 'completed');
}

function writeOverallStatus(ctx: Context, before: Enrolment, overallStatus: string): Enrolment {
  const { id } = before;
  ctx.state.run(
    'update onboarding_candidates set overall_status = ?, updated_at = ? where id = ?',
    overallStatus,
    ctx.now,
    id,
  );
  effect(ctx, 'onboarding-status', id, { from: before.overallStatus, to: overallStatus });
  const after = findEnrolment(ctx, id);
  emit(ctx, 'onboarding.candidate.status_changed', { ...eventFields(after), previousStatus: before.overallStatus });
  if (overallStatus === 'completed') emit(ctx, 'onboarding.candidate.completed', eventFields(after));
  return after;
}

/** The journey link, as long as it resolves: not once terminated, rejected or failed (section 2.9). */
export function openJourney(ctx: Context, id: string): Enrolment {
  const enrolment = findEnrolment(ctx, id);
  if (isTerminal(enrolment.overallStatus) && enrolment.overallStatus !== 'completed') throw notFound('Journey');
  return enrolment;
}

/** Section 3: any non-terminal enrolment ends; a terminal one answers 409. */
export function terminate(ctx: Context, id: string, reason: string | null): Enrolment {
  if (isTerminal(findEnrolment(ctx, id).overallStatus))
    throw refuse('ALREADY_TERMINAL', 'The enrollment is already terminal');
  effect(ctx, 'termination', id, { reasonGiven: reason !== null });
  return setOverallStatus(ctx, id, 'terminated');
}

/**
 * The other system's data about this person; kept in any state of the enrolment (O2, assumed), given fields replace
 * earlier ones.
 */
export function setExternalStatus(ctx: Context, id: string, given: Record<string, unknown>): Enrolment {
  const before = findEnrolment(ctx, id);
  const external = {
    ...(before.external === null ? {} : (JSON.parse(before.external) as object)),
    ...given,
    updatedAt: ctx.now,
  };
  ctx.state.run(
    'update onboarding_candidates set external = ?, updated_at = ? where id = ?',
    JSON.stringify(external),
    ctx.now,
    id,
  );
  effect(ctx, 'external-status', id, given);
  return findEnrolment(ctx, id);
}

/** A step moves, and overallStatus follows the steps (O17, assumed); a terminal enrolment no longer moves. */
export function setStep(
  ctx: Context,
  id: string,
  stepKey: string,
  status: string,
  reason: string | null = null,
): Enrolment {
  const enrolment = findEnrolment(ctx, id);
  if (isTerminal(enrolment.overallStatus)) throw refuse('ALREADY_TERMINAL', 'The enrollment is already terminal');
  const before = stepsOf(ctx, id).find((step) => step.stepKey === stepKey)?.status;
  const changed = ctx.state.run(
    `update onboarding_steps set status = ?, rejection_reason = ?, verified_at = ? where onboarding_id = ?
      and step_key = ?`,
    status,
    status === 'rejected' ? reason : null,
    status === 'verified' ? ctx.now : null,
    id,
    stepKey,
  );
  if (changed === 0) throw invalidRequest('The enrollment has no such step', { stepKey: 'unknown' });
  effect(ctx, 'onboarding-step', id, { stepKey, status });
  if (before !== status) followStep(ctx, enrolment, stepKey, status);
  return setOverallStatus(ctx, id, overallOf(stepsOf(ctx, id).map((step) => step.status)));
}

/** Only a person makes an enrolment completed; verified steps alone bring it to final_handoff. */
function overallOf(steps: readonly string[]): string {
  if (steps.every((status) => status === 'verified')) return 'final_handoff';
  if (steps.every((status) => status === 'submitted' || status === 'verified')) return 'under_review';
  if (steps.some((status) => status === 'submitted' || status === 'verified')) return 'partial_submission';
  return steps.every((status) => status === 'pending') ? 'not_started' : 'in_progress';
}

function eventFields(enrolment: Enrolment): Record<string, unknown> {
  const { id, flowId, externalRef, overallStatus } = enrolment;
  return { onboardingCandidateId: id, flowId, externalRef, overallStatus };
}
