import { setTimeout as pause } from 'node:timers/promises';
import type { OwnEmployee } from '../../counterparts/hris-sources.ts';
import type { PartnerClient } from '../../partner/client/create-partner-client.ts';
import { contract } from '../../partner/contract/index.ts';
import type { ControlClient } from '../../sandbox/control/client.ts';
import type { LedgerRow } from '../../sandbox/records/ledger.ts';
import { renderTable } from '../command.ts';

/** HR systems for the demo's customer: `sql` is a SQLite file, and all others are started beside the demo. */
export const DEMO_KINDS = [
  'sql',
  'postgresql',
  'mariadb',
  'tryton',
  'ldap',
  'sftp',
  'bamboohr',
  'scim',
  'odoo',
] as const;

export type DemoKind = (typeof DEMO_KINDS)[number];

/** The HRIS's own record, without personal data. */
export type EmployeeRow = Omit<OwnEmployee, 'email'>;

/** The HRIS's own tables, read and edited as its users would. */
export interface HrisTables {
  employees(): Promise<EmployeeRow[]>;
  count(table: string): Promise<number>;
  rows(table: string): Promise<Record<string, unknown>[]>;
  readCity(id: string): Promise<unknown>;
  /** HR corrects a number, and edits the city as well. */
  edit(id: string, values: { number: string; city: string }): Promise<void>;
  close(): Promise<void>;
}

/** The progress of one hire, by the partner's ledger and the HRIS's table. */
export interface HireView {
  jobCandidateId: string;
  /** Epoch ms by the sandbox's clock. */
  hiredAt: number;
  enrolmentIds: string[];
  stepsVerified: number;
  onboardingDone: boolean;
  employees: EmployeeRow[];
  /** The Employee ID at the partner. */
  writtenBack?: string;
  /** When it was written. */
  writtenAt?: number;
  /** The connector read the enrolment again after it wrote the ID. */
  readBack: boolean;
  /** There is one employee, the partner holds exactly its number, and the connector read that back. */
  verified: boolean;
}

/** Candidate ids by job candidate id, from the partner's API. */
type People = ReadonlyMap<string, string>;

const READY: ReadonlySet<unknown> = new Set(['final_handoff', 'completed']);

/** Made before the connector starts, because its tenant file names the assessment. */
export interface StoryFacts {
  jobId: number;
  /** A stage of the job without people, so that everybody who is invited belongs to the story. */
  stageType: 'SHORTLISTED' | 'SCREEN' | 'ASSESSMENT';
  assessmentId: string;
  bookingScheduleId: string;
}

interface Judged {
  what: string;
  /** Its value in the partner's own records. */
  partner: string;
  /** Its value in the HR system's tables; the expected value if only the partner has it. */
  hris: string;
  agrees: boolean;
}

/** The hiring platform, as the people in the story use it. */
interface Platform {
  control: ControlClient;
  partner: PartnerClient;
  company: string;
}

interface StoryPlay {
  stage: Platform;
  facts: StoryFacts;
  tables: HrisTables;
  stop: AbortSignal;
  say: (line: string) => void;
}

/**
 * How long the demo waits for one thing that must come. A slow or busy machine needs minutes where an idle one needs
 * seconds; Ctrl-C ends the demo at once.
 */
export const PATIENCE_MS = 600_000;
const SCORE = 86;
const EMAIL = 'story@example.com';

/**
 * Plays one person from application to employment. Each step waits until its effect shows on the other side; if it
 * never does, the judges report it. Returns the judges' findings.
 */
export async function playStory({ stage, facts, tables, stop, say }: StoryPlay): Promise<Judged[]> {
  const { control, partner } = stage;
  const { jobId, stageType, assessmentId, bookingScheduleId } = facts;
  const began = performance.now();
  const tell = (line: string): void => {
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    say(`${seconds.padStart(6)} s  ${line}`);
  };
  const landed = async (what: string, look: () => Promise<boolean>): Promise<void> => {
    const since = performance.now();
    while (!(await look())) {
      if (stop.aborted || performance.now() > since + PATIENCE_MS) return tell(`          ${what}: nothing came`);
      await pause(100);
    }
    tell(`          ${what}`);
  };
  const rowOf = async (table: string, column: string, value: string) => {
    const rows = await tables.rows(`partner_${table}`);
    return rows.find((row) => String(row[column]) === value);
  };

  tell(`Somebody applies for job ${jobId} on the hosted page and consents.`);
  const candidate = { email: EMAIL, firstName: 'Story', lastName: 'Teller', city: 'Berlin', country: 'Germany' };
  const applied = await control.act('apply', { jobId, candidate: { ...candidate, phone: '+4930901820' } });
  const { jobCandidateId, candidateId } = applied as { jobCandidateId: number; candidateId: number };
  const id = String(jobCandidateId);
  await setStartDate(partner, { jobCandidateId, candidateId, story: '' });
  await landed('partner_candidates and partner_applications have them', async () => {
    const isThere = (await rowOf('applications', 'partner_id', id)) !== undefined;
    return isThere && (await rowOf('candidates', 'partner_id', String(candidateId))) !== undefined;
  });

  tell(`The recruiter moves them into ${stageType}. A rule of the tenant file invites everybody who comes there.`);
  await control.act('move', { jobCandidateIds: [jobCandidateId], stageType });
  await landed('the hiring platform has invited them', async () => (await invitedTo(stage, facts)) > 0);

  tell('They take the interview.');
  const isInvited = (await invitedTo(stage, facts)) > 0;
  if (isInvited) await control.act('takeInterview', { assessmentId, jobCandidateId, score: SCORE });
  await landed('partner_interviews has their score', async () => {
    return Number((await rowOf('interviews', 'job_candidate_id', id))?.['score']) === SCORE;
  });

  tell('They are sent a link, and book a slot for the second interview.');
  const link = await control.act('sendBookingLink', { bookingScheduleId, jobCandidateId });
  const [from, to] = [dayIn(1), dayIn(15)];
  const slots = await partner.readAll(contract.bookingSchedules.listSlots, {
    params: { bookingScheduleId },
    query: { from, to },
  });
  const scheduledStartAt = String(slots.items[0]?.startAt);
  await control.act('bookThroughLink', { bookingLinkId: String(link['id']), scheduledStartAt });
  await landed('partner_bookings has the slot', async () => (await rowOf('bookings', 'entity_id', id)) !== undefined);

  tell('They get an offer, and everybody signs it.');
  const { offerId } = await control.act('createOffer', { jobCandidateId });
  await control.act('completeOffer', { offerId });

  tell('They are hired.');
  await hire(control, [{ jobCandidateId, candidateId, story: '' }]);
  await landed('onboarded, employed, written back and verified', async () => {
    const view = await viewOf(stage, tables, { id, candidateId });
    if (view !== undefined && !view.verified) await playOnboarding(control, partner, [view]);
    return view?.verified === true;
  });
  return judge(await readRecords({ stage, facts, tables }, { jobCandidateId, candidateId, scheduledStartAt }));
}

function dayIn(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

/** Invitations to the story's assessment in the partner's ledger. */
async function invitedTo({ control }: Platform, { assessmentId }: StoryFacts): Promise<number> {
  const invites = await control.ledger({ kind: 'effect', name: 'invite' });
  return invites.filter(({ detail }) => detail['assessmentId'] === assessmentId).length;
}

async function viewOf(
  { control, company }: Platform,
  tables: HrisTables,
  { id, candidateId }: { id: string; candidateId: number },
) {
  const people = new Map([[id, String(candidateId)]]);
  const views = observeHires(await control.ledger({}), await tables.employees(), people, company);
  return views.find((view) => view.jobCandidateId === id);
}

interface Person {
  jobCandidateId: number;
  candidateId: number;
  scheduledStartAt: string;
}

/** What the own records of both sides show about the person; nothing is read from the connector's store. */
export interface Records {
  candidateId: number;
  consent: boolean;
  /** Rows of partner_applications, and invitations and enrolments in the partner's ledger. */
  counts: { applications: number; invitations: number; enrolments: number };
  /** Reference of the partner's interview. */
  reference: string;
  scores: { partner: string; hris: string };
  /** The chosen slot, and the booking on each side. */
  slots: { chosen: string; partner: string; hris: string };
  offers: string;
  employeeNumbers: { partner: string; hris: string };
  readBack: boolean;
}

async function readRecords(
  { stage, facts, tables }: Pick<StoryPlay, 'stage' | 'facts' | 'tables'>,
  { jobCandidateId, candidateId, scheduledStartAt }: Person,
): Promise<Records> {
  const { partner } = stage;
  const id = String(jobCandidateId);
  const rows = async (table: string, column: string) =>
    (await tables.rows(`partner_${table}`)).filter((row) => String(row[column]) === id);
  const { data: application } = await partner.jobCandidates.getApplication({ params: { jobCandidateId } });
  const { assessmentId } = facts;
  const taken = await partner.readAll(contract.assessments.listCandidates, { params: { assessmentId } });
  const bookings = await partner.readAll(contract.bookings.list, {});
  const booked = bookings.items.filter(({ entityId }) => String(entityId) === id);
  const offers = await partner.readAll(contract.onboarding.listOffers, { query: { jobCandidateId } });
  const view = await viewOf(stage, tables, { id, candidateId });
  return {
    candidateId,
    consent: (application.consent ?? null) !== null,
    counts: {
      applications: (await rows('applications', 'partner_id')).length,
      invitations: await invitedTo(stage, facts),
      enrolments: view?.enrolmentIds.length ?? 0,
    },
    reference: taken.items.map(({ externalRef }) => externalRef ?? 'none').join(),
    scores: { partner: scores(taken.items), hris: scores(await rows('interviews', 'job_candidate_id')) },
    slots: {
      chosen: instant(scheduledStartAt),
      partner: booked.map((one) => instant(one.scheduledStartAt)).join(),
      hris: (await rows('bookings', 'entity_id')).map((row) => instant(row['starts_at'])).join(),
    },
    offers: offers.items.map(({ status }) => String(status)).join(),
    employeeNumbers: {
      partner: view?.writtenBack ?? 'none',
      hris: view?.employees.map(({ number }) => number).join() ?? 'none',
    },
    readBack: view?.verified === true,
  };
}

/** Compares both sides, record by record. */
export function judge({ counts, scores: score, slots, employeeNumbers, ...records }: Records): Judged[] {
  return [
    same('consent given', yes(records.consent), 'yes'),
    same('applications', '1', String(counts.applications)),
    same('invitations', String(counts.invitations), '1'),
    same('reference of the invitation', records.reference, `hirebridge-invite:${records.candidateId}`),
    same('score', score.partner, score.hris),
    same('booked slot', slots.partner, slots.chosen),
    same('slot landed', slots.partner, slots.hris),
    same('offer', records.offers, 'completed'),
    same('enrolments', String(counts.enrolments), '1'),
    same('employee number', employeeNumbers.partner, employeeNumbers.hris),
    same('read back after it was written', yes(records.readBack), 'yes'),
  ];
}

function yes(isSo: boolean): string {
  return isSo ? 'yes' : 'no';
}

function same(what: string, partner: string, hris: string): Judged {
  return { what, partner, hris, agrees: partner === hris };
}

function scores(records: readonly Readonly<Record<string, unknown>>[]): string {
  return records.map((record) => String(Number(record['score']))).join() || 'none';
}

function instant(value: unknown): string {
  const at = value instanceof Date ? value : new Date(String(value));
  return Number.isNaN(at.getTime()) ? 'none' : at.toISOString();
}

/** The judges' findings, as a table. */
export function describeStory(judged: readonly Judged[]): string {
  const lines = judged.map(({ what, partner, hris, agrees }) => [what, partner, hris, agrees ? 'yes' : 'NO']);
  return renderTable(['judged', 'hiring platform', 'HR system, or expected', 'agrees'], lines);
}

interface Recruit {
  jobCandidateId: number;
  candidateId: number;
  /** What is special about this hire. */
  story: string;
}

const STORIES = {
  plain: 'hired',
  together: 'hired in the same event',
  twice: 'announced three times',
  workerDead: 'hired while the worker is dead',
  noStartDate: 'lacks a start date',
} as const;

export type Cast = Record<keyof typeof STORIES, Recruit>;

const START_DATE = 'Start date';
const SEEDED_STAGES = ['SHORTLISTED', 'SCREEN', 'ASSESSMENT', 'APPLIED', 'SOURCED'] as const;

/** Chooses five people who are not hired yet, creates the start date field, and fills it for four of them. */
export async function castHires(partner: PartnerClient): Promise<Cast> {
  const people = await findPeople(partner, Object.keys(STORIES).length);
  const names = Object.keys(STORIES) as (keyof typeof STORIES)[];
  const cast = Object.fromEntries(
    names.map((name, index) => [
      name,
      { ...(people[index] ?? { jobCandidateId: 0, candidateId: 0 }), story: STORIES[name] },
    ]),
  ) as Cast;
  await partner.customFields.create({ body: { entityType: 'candidate', fieldLabel: START_DATE, fieldType: 'date' } });
  for (const recruit of Object.values(cast)) {
    if (recruit !== cast.noStartDate) await setStartDate(partner, recruit);
  }
  return cast;
}

/** People not hired yet, with people of one job first: two are hired by one event, and an event covers one job. */
async function findPeople(partner: PartnerClient, wanted: number): Promise<Omit<Recruit, 'story'>[]> {
  const found: (Omit<Recruit, 'story'> & { jobId: number })[] = [];
  for (const stageType of SEEDED_STAGES) {
    const { items } = await partner.readAll(contract.jobCandidates.listByStageType, { query: { stageType } });
    for (const { jobCandidateDetails, candidate_details: candidate } of items) {
      // The sandbox's control plane takes ids as numbers.
      const { id, jobId } = jobCandidateDetails;
      found.push({ jobCandidateId: Number(id), candidateId: Number(candidate.id), jobId: Number(jobId) });
    }
  }
  if (found.length < wanted)
    throw new Error(`The sandbox has only ${found.length} people to hire; the demo needs ${wanted}.`);
  return found.sort((a, b) => a.jobId - b.jobId || a.jobCandidateId - b.jobCandidateId).slice(0, wanted);
}

/** The first of a month, two months ahead: a valid start date whenever the demo runs. */
export async function setStartDate(partner: PartnerClient, recruit: Recruit): Promise<void> {
  const { items } = await partner.readAll(contract.customFields.list, { query: { entityType: 'candidate' } });
  const field = items.find((item) => item.fieldLabel === START_DATE);
  const now = new Date();
  const day = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 2, 1)).toISOString().slice(0, 10);
  const { candidateId: entityId } = recruit;
  await partner.customFieldValues.upsertBulk({
    body: [{ customFieldId: field?.id ?? '', entityType: 'candidate', entityId, value: day }],
  });
}

/** Moves people into the hiring stage in the dashboard; one event covers all people of a job. */
export async function hire(control: ControlClient, recruits: readonly Recruit[]): Promise<void> {
  await control.act('move', { jobCandidateIds: recruits.map((one) => one.jobCandidateId), stageType: 'HIRED' });
}

/** Plays the new employees and reviewers in onboarding: one small step for each enrolment per turn. */
export async function playOnboarding(
  control: ControlClient,
  partner: PartnerClient,
  views: readonly HireView[],
): Promise<void> {
  for (const view of views) {
    const [onboardingCandidateId] = view.enrolmentIds;
    if (onboardingCandidateId === undefined || view.onboardingDone) continue;
    const { data } = await partner.onboarding.getCandidate({ params: { onboardingCandidateId } });
    const open = data.stepProgress?.find((step) => step.status !== 'verified');
    if (open === undefined) await control.act('finishOnboarding', { onboardingCandidateId });
    else if (open.status === 'submitted')
      await control.act('verifyStep', { onboardingCandidateId, stepKey: open.stepKey as never });
    else await control.act('submitStep', { onboardingCandidateId, stepKey: open.stepKey as never });
  }
}

/**
 * Combines what both sides show about every hire: people moved into a hiring stage (earlier hires never moved), their
 * enrolments and their employees, both found by our reference. Reads nothing from our own store.
 */
export function observeHires(
  ledger: readonly LedgerRow[],
  employees: readonly EmployeeRow[],
  people: People,
  company: string,
): HireView[] {
  const hiredAt = new Map<string, number>();
  for (const row of effects(ledger, 'stage-move').filter(({ detail }) => detail['type'] === 'HIRED')) {
    const id = text(row.subject);
    if (!hiredAt.has(id)) hiredAt.set(id, row.at);
  }
  return [...hiredAt].map(([jobCandidateId, at]) => {
    const reference = `${company}:${people.get(jobCandidateId) ?? ''}`;
    const mine = employees.filter((employee) => employee.reference === reference);
    const onboarding = observeOnboarding(ledger, jobCandidateId);
    const verified = mine.length === 1 && onboarding.readBack && mine[0]?.number === onboarding.writtenBack;
    return { jobCandidateId, hiredAt: at, employees: mine, ...onboarding, verified };
  });
}

function observeOnboarding(ledger: readonly LedgerRow[], jobCandidateId: string) {
  const enrolmentIds = effects(ledger, 'enrolment').flatMap((row) =>
    isFor(row, jobCandidateId) ? [text(row.subject)] : [],
  );
  const mine = ledger.filter((row) => enrolmentIds.includes(text(row.subject)));
  const written = effects(mine, 'external-status').findLast((row) => row.detail['employeeId'] !== undefined);
  const readBack =
    written !== undefined && mine.some((row) => row.name === 'onboarding.getCandidate' && row.seq > written.seq);
  const verifiedSteps = effects(mine, 'onboarding-step').filter((row) => row.detail['status'] === 'verified');
  return {
    enrolmentIds,
    stepsVerified: new Set(verifiedSteps.map((row) => row.detail['stepKey'])).size,
    onboardingDone: effects(mine, 'onboarding-status').some((row) => READY.has(row.detail['to'])),
    readBack,
    ...(written === undefined ? {} : { writtenBack: text(written.detail['employeeId']), writtenAt: written.at }),
  };
}

function effects(ledger: readonly LedgerRow[], name: string): LedgerRow[] {
  return ledger.filter((row) => row.kind === 'effect' && row.name === name);
}

/** Our enrolments carry `hirebridge:<jobCandidateId>:<period>` as externalRef. */
function isFor(row: LedgerRow, jobCandidateId: string): boolean {
  return text(row.detail['externalRef']).split(':')[1] === jobCandidateId;
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
