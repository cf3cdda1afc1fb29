import { withCode } from '../docs.ts';
import { isConnectorError, rejected } from '../errors.ts';
import { describeObserved, type HireStep, isResting, type Observed } from '../hire/hire.ts';
import { shortVersion } from '../mapping/load-mapping.ts';
import { contract } from '../partner/contract/index.ts';
import { readTrouble } from '../store/alarms.ts';
import { audit } from '../store/audit.ts';
import { assertMayWrite } from '../store/freezes.ts';
import type { HireStepRow } from '../store/hire-steps.ts';
import { latestHire } from '../store/hires.ts';
import { listHolds } from '../store/holds.ts';
import { type HireRecords, readHireRecords, readWaits } from '../store/listings.ts';
import type { Store } from '../store/open-store.ts';
import { erasureLookup } from '../store/person-marks.ts';
import type { HireRow, InboxState } from '../store/schema.ts';
import { findTenantState } from '../store/tenant-states.ts';
import { signalHire } from '../temporal/hire-client.ts';
import { hireWorkflowId } from '../temporal/ids.ts';
import { placeOfHire } from '../trace.ts';
import type { OperatorParts } from './open-tenant.ts';
import { assertWrites, knownTenant, readAppliedTenant } from './tenants.ts';

export interface HireStory extends HireView {
  /** The current state and the next step, a sentence each. */
  stands: string;
  next: string;
  /** The hire waits for a person's answer. */
  needsPerson: boolean;
  /** The trace of its spans; derived from the ids, so it exists even if nothing collects spans. */
  traceId: string;
  story: StoryLine[];
}

/**
 * The newest hire of a job candidate: its state, next step and story.
 * @throws ConnectorError HIRE_UNKNOWN
 */
export async function readHire(store: Store, tenantId: string, jobCandidateId: string): Promise<HireStory> {
  const row = await latestHire(store, tenantId, jobCandidateId);
  if (row === undefined)
    throw rejected(
      'HIRE_UNKNOWN',
      `The store knows no hire of job candidate ${jobCandidateId} in tenant ${tenantId}. ` +
        `List the known ones with: hirebridge hire list --tenant ${tenantId}`,
    );
  const records = await readHireRecords(store, row);
  const { traceId } = placeOfHire({ installationId: store.installationId, tenantId, jobCandidateId });
  return { ...viewHire(row), ...(await sayNow(store, records)), traceId, story: tellHire(records) };
}

/** The hire's state and next step, with what keeps it from continuing. */
async function sayNow(store: Store, records: HireRecords): Promise<Pick<HireStory, 'stands' | 'next' | 'needsPerson'>> {
  const { tenant_id: tenantId, job_candidate_id: id, state } = records.hire;
  if (state === 'open' && (await findTenantState(store, tenantId))?.state === 'removed')
    return {
      stands: `The hire of job candidate ${id} stands still: tenant ${tenantId} was removed.`,
      next: 'It continues once the file of the tenant is applied again.',
      needsPerson: true,
    };
  const needsPerson = records.holds.some((hold) => hold.closed_at === null && hold.answered_at === null);
  const isOnboarding = state === 'open' && records.hire.step === 'onboard';
  const { stands, next } = sayHire(records, isOnboarding ? await onboardingDeadline(store, tenantId) : undefined);
  if (needsPerson || state !== 'open') return { stands, next, needsPerson };
  const obstacle = await findObstacle(store, tenantId);
  if (obstacle !== undefined) return { stands: stands.replace(/[;,] nothing to do\.$/, '.'), ...obstacle };
  return { stands, next: next + (await sayFailing(store, records.hire)), needsPerson };
}

/** In ms; undefined if the tenant's file cannot be read any more, or skips the onboarding. */
async function onboardingDeadline(store: Store, tenantId: string): Promise<number | undefined> {
  const tenant = await readAppliedTenant(store, tenantId).catch(() => undefined);
  const onboarding = tenant?.policies.onboarding;
  return onboarding === undefined || onboarding === 'skip' ? undefined : onboarding.deadline;
}

type Obstacle = Pick<HireStory, 'next' | 'needsPerson'>;

/** What keeps all hires of a tenant from continuing, and the command; undefined if nothing does. */
async function findObstacle(store: Store, tenantId: string): Promise<Obstacle | undefined> {
  const { state, paused_code: code, paused_message: why } = (await findTenantState(store, tenantId)) ?? {};
  if (state === 'paused') {
    const next = why?.includes('hirebridge resume') === true ? '' : ` To continue: hirebridge resume ${tenantId}`;
    return { next: `Tenant ${tenantId} is paused: ${withCode(why ?? '', code ?? '')}${next}`, needsPerson: true };
  }
  try {
    await assertMayWrite(store, tenantId);
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    return { next: error.message, needsPerson: true };
  }
  const hold = (await listHolds(store, { tenantId })).find(
    (one) => one.job_candidate_id === null && one.answered_at === null && one.code.startsWith('HRIS_'),
  );
  if (hold === undefined) return undefined;
  const next = `${hold.message} [${hold.code}] To see more: hirebridge hold show ${hold.hold_id}`;
  return { next, needsPerson: false };
}

/** A call that fails is repeated for as long as it fails, which is an alarm only after a quarter of an hour. */
async function sayFailing(store: Store, { tenant_id: tenantId, job_candidate_id: id }: HireRow): Promise<string> {
  const trouble = await readTrouble(store, tenantId, `job candidate ${id}`);
  if (trouble === undefined) return '';
  return ` Its last call failed, and is repeated until it works: ${trouble.message} [${trouble.reason}]`;
}

/** A hire for display: ids, states and times (UTC), no personal data. */
export type HireView = ReturnType<typeof viewHire>;

function viewHire(row: HireRow) {
  return {
    tenantId: row.tenant_id,
    jobCandidateId: row.job_candidate_id,
    period: row.period,
    state: row.state,
    step: row.step,
    jobId: row.job_id,
    candidateId: row.candidate_id,
    onboardingCandidateId: row.onboarding_candidate_id,
    onboardingStatus: row.onboarding_status,
    enrolment: row.enrolment,
    employeeId: row.employee_id,
    employeeNumber: row.employee_number,
    openedAt: utc(row.opened_at),
    updatedAt: utc(row.updated_at),
    endedAt: row.ended_at === null ? null : utc(row.ended_at),
    /** What a tenant in observe mode would have done. */
    observed: row.observed === null ? null : (JSON.parse(row.observed) as Observed),
    /** Why a live tenant recorded the hire without starting it. */
    passedOver: row.passed_over,
  };
}

/** A hire in a list: with whom or what it waits for, and the question that it waits with. */
export type ListedHire = HireView & { waitsFor: string | null; question?: { holdId: string; code: string } };

/** Hires for a list, in the same order. */
export async function viewHires(store: Store, rows: readonly HireRow[]): Promise<ListedHire[]> {
  const named = (row: Record<'tenant_id' | 'job_candidate_id', string | null> & { period: number | null }): string =>
    `${row.tenant_id} ${row.job_candidate_id} ${row.period}`;
  const open = rows.filter(({ state }) => state === 'open');
  const { asked, sent } = await readWaits(store, open);
  const questions = new Map(asked.map((one) => [named(one), { holdId: one.hold_id, code: one.code }]));
  const unconfirmed = new Set(sent.map(named));
  return rows.map((row) => {
    const hire = viewHire(row);
    const question = row.state === 'open' ? questions.get(named(row)) : undefined;
    if (question !== undefined) return { ...hire, waitsFor: `an answer: ${question.code}`, question };
    return { ...hire, waitsFor: sayWait(hire, unconfirmed.has(named(row))) };
  });
}

function sayWait({ state, step, observed }: HireView, isUnconfirmed: boolean): string | null {
  if (state === 'before-go-live') return observed === null ? null : `go-live; would ${describeObserved(observed)}`;
  if (state !== 'open') return null;
  if (step === 'await-credits') return 'onboarding credits';
  if (step === 'onboard') return 'the onboarding';
  return step === 'employ' && isUnconfirmed ? 'the HR system' : 'hirebridge';
}

/** One event in a hire's story. */
export interface StoryLine {
  /** UTC. */
  at: string;
  kind: 'event' | 'hire' | 'read' | 'call' | 'plan' | 'hold' | 'answer' | 'link' | 'document' | 'account';
  /** Ids, names and codes; no personal data. */
  text: string;
}

type Told = Omit<StoryLine, 'at'> & { at: number | null };

/** A hire's story, oldest first: events, calls that are made once, plans, holds, answers, and its state. */
function tellHire(records: HireRecords): StoryLine[] {
  const told = [
    ...tellEvents(records),
    ...tellCourse(records),
    ...tellCalls(records),
    ...tellPlans(records),
    ...tellHolds(records),
    ...tellDocuments(records),
    ...tellAccounts(records),
  ];
  return told
    .filter((line): line is Told & { at: number } => line.at !== null)
    .sort((a, b) => Number(a.at) - Number(b.at))
    .map(({ at, ...line }) => ({ at: new Date(Number(at)).toISOString(), ...line }));
}

/** The hire's state and next step, a sentence each, in the words of an HR department. */
function sayHire({ hire, intents, holds, links }: HireRecords, deadlineMs?: number): { stands: string; next: string } {
  const { tenant_id: tenantId, job_candidate_id: id, period, state, step } = hire;
  const who = `job candidate ${id}${period > 1 ? `, hired for the ${ordinal(period)} time,` : ''}`;
  const open = holds.filter((hold) => hold.closed_at === null);
  const asks = open.find((hold) => hold.answered_at === null);
  if (state === 'open' && asks !== undefined)
    return {
      stands: `The hire of ${who} waits for an answer since ${day(asks.opened_at)}.`,
      next: `${asks.message} [${asks.code}] To answer: hirebridge hold show ${asks.hold_id}`,
    };
  if (state === 'open' && open[0] !== undefined)
    return {
      stands: `The hire of ${who} was answered with ${open[0].answer ?? ''}; nothing to do.`,
      next: 'It receives the answer and continues.',
    };
  if (state === 'open') {
    const enrolled = intents.findLast(({ verb, outcome }) => verb.startsWith('enrol') && outcome === 'done');
    const since = enrolled?.decided_at ?? null;
    const until = since === null || deadlineMs === undefined ? '' : `, until ${day(Number(since) + deadlineMs)}`;
    const sent = step === 'employ' && hire.employee_id === null ? intents.findLast(isUnconfirmed) : undefined;
    if (sent !== undefined)
      return {
        stands:
          `Waiting since ${day(sent.decided_at ?? sent.sent_at)} for the HR system to confirm the employee ` +
          `for ${who}.`,
        next: 'If people approve new employees there, ask them. Once it is confirmed, the Employee ID is written back.',
      };
    return { stands: STEPS[step].stands(who, until), next: STEPS[step].next };
  }
  const number = hire.employee_number ?? links[0]?.employee_number ?? hire.employee_id;
  const ended = hire.ended_at === null ? '' : ` ${state === 'done' ? 'since' : 'on'} ${day(hire.ended_at)}`;
  if (state === 'done')
    return {
      stands:
        `The hire of ${who} is done${ended}${number === null ? '' : `: employee ${number}`}, written back and ` +
        'verified; nothing to do.',
      next: 'Nothing more is written. If the person leaves the hiring stage, hirebridge asks what to do.',
    };
  if (state === 'before-go-live')
    return {
      stands: `The hire of ${who} was ${tellBeginning(hire)}; nothing to do.`,
      next: `Nothing starts by itself. To start it: hirebridge hire start ${tenantId} ${id} --adopt`,
    };
  return { stands: `The hire of ${who} ended${ended} as ${state}; nothing to do.`, next: ENDED[state] };
}

/** The HR system accepted the employee, and has yet to say what came of it. */
function isUnconfirmed({ verb, outcome, result }: HireRecords['intents'][number]): boolean {
  if (verb !== 'create-employee' || outcome !== 'done' || result === null) return false;
  return (JSON.parse(result) as { kind?: string } | null)?.kind === 'pending';
}

const ENDED: Record<'left' | 'cancelled' | 'kept', string> = {
  left: 'The person left. If they come back, a new hire starts.',
  cancelled: 'Somebody ended it. Nothing starts again by itself while the person stays in the stage.',
  kept: 'Somebody ended it and left everything as it is. Nothing starts again by itself.',
};

const STEPS: Record<HireStep, { stands: (who: string, until: string) => string; next: string }> = {
  enrol: {
    stands: (who) => `The onboarding of ${who} is about to begin; nothing to do.`,
    next: 'Both sides are read; then the person is enrolled, unless the onboarding is skipped.',
  },
  're-enrol': {
    stands: (who) => `The onboarding of ${who} is about to begin again; nothing to do.`,
    next: 'Then it waits for the onboarding.',
  },
  'await-credits': {
    stands: (who) => `Waiting for onboarding credits for ${who}.`,
    next: 'Top them up in the dashboard of the hiring platform; it continues once an enrolment is possible again.',
  },
  onboard: {
    stands: (who, until) => `Waiting for ${who} to finish the onboarding${until}; nothing to do.`,
    next: 'Once it is finished, the employee is created in the HR system.',
  },
  employ: {
    stands: (who) => `The employee for ${who} is being created in the HR system; nothing to do.`,
    next: 'hirebridge searches the HR system, saves a plan, and writes the employee once.',
  },
  'write-back': {
    stands: (who) => `The employee for ${who} exists, and the Employee ID is being written back; nothing to do.`,
    next: 'The hiring platform gets the Employee ID, which is then read back.',
  },
  'confirm-left': {
    stands: (who) => `It seems that ${who} left the hiring stage; nothing to do yet.`,
    next: 'The next reading decides whether the person left.',
  },
  cancel: {
    stands: (who) => `The hire of ${who} is being ended; nothing to do.`,
    next: 'Its enrolment is ended, and no employee is created.',
  },
  'watch-done': {
    stands: (who) => `The hire of ${who} is done and watched; nothing to do.`,
    next: 'If the person leaves the hiring stage, hirebridge asks what to do.',
  },
  'end-employment': {
    stands: (who) => `The employment of ${who} is being ended; nothing to do.`,
    next: 'The employment ends in the HR system.',
  },
  'hand-over': {
    stands: (who) => `The employee of ${who} goes to the next hire of this person; nothing to do.`,
    next: 'The next hire of this person takes the employee.',
  },
  ended: { stands: (who) => `The hire of ${who} is over; nothing to do.`, next: 'Nothing more is done.' },
};

const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' });
const ENDINGS: Readonly<Record<Intl.LDMLPluralRule, string>> = {
  one: 'st',
  two: 'nd',
  few: 'rd',
  other: 'th',
  zero: 'th',
  many: 'th',
};

function ordinal(count: number): string {
  return { 2: 'second', 3: 'third' }[count] ?? `${count}${ENDINGS[ORDINALS.select(count)]}`;
}

/** `23 December`, with the year if it is not the current one; UTC. */
function day(ms: number): string {
  const at = new Date(Number(ms));
  const year = at.getUTCFullYear() === new Date().getUTCFullYear() ? {} : ({ year: 'numeric' } as const);
  return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', ...year, timeZone: 'UTC' });
}

function utc(ms: number): string {
  return new Date(Number(ms)).toISOString();
}

const EVENT_IS: Readonly<Record<InboxState, string>> = {
  relayed: '',
  ignored: ', which changes nothing here',
  waiting: ', not read yet',
  undeliverable: ', given up after ten tries',
  unknown: ', unknown to hirebridge',
  'other-company': ', of another company',
};

function tellEvents({ deliveries }: HireRecords): Told[] {
  return deliveries.map(({ event, state, received_at: at }) => ({ at, kind: 'event', text: event + EVENT_IS[state] }));
}

function tellCourse({ hire, links }: HireRecords): Told[] {
  const { state, onboarding_status: onboarding, onboarding_read_at: readAt } = hire;
  const ended = state === 'done' ? 'done: written back, and read again as written' : `ended: ${state}`;
  const made = links.map(
    (link): Told => ({
      at: link.linked_at,
      kind: 'link',
      text: `is employee ${link.employee_id}, number ${link.employee_number ?? 'not given yet'}`,
    }),
  );
  return [
    { at: hire.opened_at, kind: 'hire', text: tellBeginning(hire) },
    ...(onboarding === null ? [] : [{ at: readAt, kind: 'read' as const, text: `onboarding is ${onboarding}` }]),
    ...made,
    ...(state === 'before-go-live' ? [] : [{ at: hire.ended_at, kind: 'hire' as const, text: ended }]),
  ];
}

function tellBeginning({ state, period, observed, passed_over: passedOver }: HireRecords['hire']): string {
  if (state !== 'before-go-live') return `read as hired; opened, period ${period}`;
  if (observed !== null) return `observed as hired; would ${describeObserved(JSON.parse(observed) as Observed)}`;
  if (passedOver !== null) return `recorded as hired, and not started: ${passedOver}`;
  return 'recorded as hired before go-live';
}

function tellCalls({ intents }: HireRecords): Told[] {
  return intents.flatMap(({ verb, attempt, sent_at: sentAt, decided_at: decidedAt, outcome, result }): Told[] => [
    { at: sentAt, kind: 'call', text: `${verb}, attempt ${attempt}: about to be sent` },
    {
      at: decidedAt,
      kind: 'call',
      text: [`${verb}, attempt ${attempt}: ${outcome}`, inWords(JSON.parse(result ?? 'null') as Json)]
        .filter(Boolean)
        .join(', '),
    },
  ]);
}

type Json = string | number | boolean | null | { [name: string]: Json };

/** A call's outcome: names and values, as `id 7, ref: connection hr, number 000126`. */
function inWords(value: Json): string {
  if (typeof value !== 'object' || value === null) return String(value ?? '');
  const entries = Object.entries(value).filter(([, one]) => one !== null);
  return entries.map(([name, one]) => `${name}${typeof one === 'object' ? ':' : ''} ${inWords(one)}`).join(', ');
}

function tellPlans({ plans }: HireRecords): Told[] {
  return plans.flatMap(
    ({ plan_id: id, mapping_hash: mapping, planned_at: plannedAt, applied_at: appliedAt }): Told[] => [
      {
        at: plannedAt,
        kind: 'plan',
        text: `person and HR system read; ${id} saved, by mapping ${shortVersion(mapping)}`,
      },
      { at: appliedAt, kind: 'plan', text: `${id} applied` },
    ],
  );
}

/** A line for each document: its name, its state and reason, and its bytes as a hash. */
function tellDocuments({ hire, documents }: HireRecords): Told[] {
  return documents.map(({ document, state, attempt, sha256, reason, sent_at: sentAt, read_back_at: readBackAt }) => {
    const [bytes, why] = [sha256 === null ? '' : `, sha256 ${sha256}`, reason === null ? '' : `. ${reason}`];
    const seen = readBackAt === null ? '' : ' and read back';
    const text = `${document}, attempt ${attempt}: ${state}${seen}${bytes}${why}`;
    return { at: sentAt ?? hire.ended_at, kind: 'document', text };
  });
}

function tellAccounts({ steps }: HireRecords): Told[] {
  return steps.map((step) => {
    const { destination, state, account_id: account, code, reason } = step;
    const which = account === null ? '' : `, account ${account}`;
    const how = decisionOf(step);
    const why = reason === null ? '' : `. ${reason} [${code ?? ''}]`;
    const text = `${destination}: ${state}${which}${how === undefined ? '' : ` (${how})`}${why}`;
    return { at: step.done_at ?? step.updated_at, kind: 'account', text };
  });
}

/** The decision of a step's plan: create, link, or none if a person wanted no account. */
export function decisionOf({ plan }: Pick<HireStepRow, 'plan'>): string | undefined {
  return plan === null ? undefined : (JSON.parse(plan) as { kind: string }).kind;
}

function tellHolds({ holds }: HireRecords): Told[] {
  return holds.flatMap((hold): Told[] => {
    const ids = (JSON.parse(hold.answer_arguments ?? '[]') as string[]).join(' ');
    const answer = [hold.answer ?? '', ids].join(' ').trim();
    const next = hold.closed_at === null ? ` See: hirebridge hold show ${hold.hold_id}` : '';
    return [
      { at: hold.opened_at, kind: 'hold', text: `${hold.code}: ${hold.message}${next}` },
      { at: hold.answered_at, kind: 'answer', text: `${hold.code}: ${answer}, by ${hold.answered_by ?? 'unknown'}` },
      { at: hold.closed_at, kind: 'hold', text: `${hold.code} closed` },
    ];
  });
}

interface StartedHire {
  workflowId: string;
  /** False if there was nothing to start: the hire is in progress or over. */
  started: boolean;
  /** The hire before; absent at its first start. */
  hire?: HireView;
}

/**
 * Starts one hire by hand. `adopt` also allows one from the baseline, or one that a person ended.
 * @throws ConnectorError PERSON_ERASED, TENANT_REMOVED, TENANT_OBSERVES
 */
export async function startHire(
  { store, hires, tenants }: OperatorParts,
  { tenantId, jobCandidateId, adopt, by }: { tenantId: string; jobCandidateId: string; adopt: boolean; by: string },
): Promise<StartedHire> {
  knownTenant(tenants, tenantId);
  await assertWrites(store, tenantId);
  // Check before recording anything: the audit trail would name the erased person again.
  const row = await latestHire(store, tenantId, jobCandidateId);
  if (await isOfErased(store, tenantId, jobCandidateId, row))
    throw rejected(
      'PERSON_ERASED',
      `The person of this application was erased from ${tenantId} on request, so none of their hires starts. ` +
        'If they are hired after all, create the employee in the HR system by hand.',
    );
  const startable = row === undefined || row.state === 'left' || (adopt && isResting(row.state));
  if (startable) {
    await audit(store, {
      by,
      tenantId,
      act: 'hire-started',
      details: `job candidate ${jobCandidateId}${adopt ? ', adopted' : ''}`,
    });
    await signalHire(hires, { tenantId, jobCandidateId }, 'person', { start: true, adopt });
  }
  const workflowId = hireWorkflowId(store.installationId, tenantId, jobCandidateId);
  return { workflowId, started: startable, ...(row === undefined ? {} : { hire: viewHire(row) }) };
}

/**
 * Whether the application is of somebody erased, who may have applied anew: then only the hiring platform knows whose
 * it is. It is asked only where anybody was erased; if it does not answer, the hire's first step decides.
 */
async function isOfErased(store: Store, tenantId: string, jobCandidateId: string, row: HireRow | undefined) {
  const erasureOf = await erasureLookup(store, tenantId);
  if (erasureOf === undefined) return false;
  if (erasureOf({ kind: 'job-candidate', id: jobCandidateId }) !== undefined) return true;
  const candidateId =
    row?.candidate_id ?? (await readCandidateId(store, tenantId, jobCandidateId).catch(unlessUnanswered));
  return candidateId !== undefined && erasureOf({ kind: 'candidate', id: candidateId }) !== undefined;
}

async function readCandidateId(store: Store, tenantId: string, id: string): Promise<string | undefined> {
  const { openPartner } = await import('./open-tenant.ts');
  const partner = openPartner(await readAppliedTenant(store, tenantId));
  try {
    const body = { jobCandidateIds: [id] };
    return (await partner.readAll(contract.jobCandidates.bulkFetch, { body }, { priority: 'live' })).items[0]
      ?.candidateId;
  } finally {
    await partner.close();
  }
}

function unlessUnanswered(error: unknown): undefined {
  if (!isConnectorError(error)) throw error;
}
