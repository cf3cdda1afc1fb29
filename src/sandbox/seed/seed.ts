import type { Context } from '../context.ts';
import { createRandom, pick, type Random } from '../random.ts';
import { formOf } from '../records/applications.ts';
import { createSchedule, type Location, type Question } from '../records/booking-schedules.ts';
import { createSite, setNumberVerified } from '../records/campaigns.ts';
import { type Candidate, createCandidate } from '../records/candidates.ts';
import { addToJob, type JobCandidate } from '../records/job-candidates.ts';
import { createJob, type Job, listJobs } from '../records/pipelines.ts';
import { writeScore } from '../records/rescoring.ts';
import { OWN_RESUME } from '../records/resumes.ts';
import { createTeam, createUser } from '../records/users.ts';
import { job, person } from './people.ts';
import { type Richness, seedEvents, seededStatus, seedOffers, seedOutcomes } from './richness.ts';

export interface SeedOrder {
  jobs?: number | undefined;
  /** People spread over the company's jobs and their stages before HIRED; without jobs they are profiles only. */
  candidates?: number | undefined;
  /** People hired before the sandbox started. */
  hired?: number | undefined;
}

export interface Seeded {
  jobIds: number[];
  /** Ids of at most the first 1,000 of each kind. */
  candidateIds: number[];
  jobCandidateIds: number[];
  hiredJobCandidateIds: number[];
}

const SHOWN = 1000;
const EARLY_STAGES = ['SOURCED', 'APPLIED', 'ASSESSMENT', 'SCREEN', 'SHORTLISTED'] as const;
const DAY_MS = 86_400_000;

/**
 * Fills a company, silently: no events, the same for the same seed. The caller's transaction makes 100,000 people a
 * matter of seconds.
 */
export function seedCompany(ctx: Context, order: SeedOrder): Seeded {
  const nth = ctx.state.nextId(`seeding-${String(ctx.company.id)}`);
  const random = createRandom(ctx.state.seed * 7919 + ctx.company.id * 31 + nth);
  const quiet: Context = { ...ctx, now: ctx.now - 30 * DAY_MS, origin: 'seed' };
  const result: Seeded = { jobIds: [], candidateIds: [], jobCandidateIds: [], hiredJobCandidateIds: [] };
  const richness = nth === 1 ? richnessOf(ctx.state.seed * 104_729 + ctx.company.id, order) : undefined;
  seedJobs(quiet, { random, richness, count: order.jobs ?? 0, result });
  const jobs = jobsOf(quiet);
  seedPeople(quiet, { random, richness, count: order.candidates ?? 0, jobs, result });
  seedHired(quiet, { random, count: order.hired ?? 0, jobs, result });
  if (nth === 1) seedOutcomes(quiet, { jobs, jobCandidateIds: result.jobCandidateIds });
  if (nth === 1) seedOffers(quiet, result.jobCandidateIds);
  if (richness !== undefined) seedEvents(quiet, richness, { jobs, ...result });
  return result;
}

interface Part {
  random: Random;
  count: number;
  result: Seeded;
}

function seedJobs(ctx: Context, { random, count, result, richness }: Part & { richness: Richness | undefined }): void {
  for (let n = 0; n < count; n += 1) {
    const fields = job(random, n);
    const { id } =
      richness === undefined
        ? createJob(ctx, fields)
        : createJob(cameAt(ctx, n, count), { ...fields, ...seededStatus(richness, n) });
    result.jobIds.push(id);
  }
}

function seedPeople(
  ctx: Context,
  { random, count, result, richness, jobs }: Part & { richness: Richness | undefined; jobs: readonly Job[] },
): void {
  for (let n = 0; n < count; n += 1) {
    const stageType = EARLY_STAGES[Math.floor(random() ** 2 * EARLY_STAGES.length)] ?? 'SOURCED';
    const profile = person(random, ctx.state.nextId('person'));
    const added =
      richness === undefined
        ? addPerson(ctx, profile, { jobs, n, stageType, result })
        : addPerson(
            cameAt(ctx, n, count),
            { ...profile, ...seededResume(richness) },
            {
              jobs,
              n,
              stageType,
              result,
              richness,
            },
          );
    note(result, 'jobCandidateIds', added);
  }
}

function seedHired(ctx: Context, { random, count, result, jobs }: Part & { jobs: readonly Job[] }): void {
  for (let n = 0; n < count && jobs.length > 0; n += 1) {
    const longAgo = { ...ctx, now: ctx.now - Math.floor(random() * 700) * DAY_MS };
    const profile = person(random, ctx.state.nextId('person'));
    note(result, 'hiredJobCandidateIds', addPerson(longAgo, profile, { jobs, n, stageType: 'HIRED', result }));
  }
}

interface Place {
  jobs: readonly Job[];
  n: number;
  stageType: string;
  result: Seeded;
  richness?: Richness;
}

function addPerson(
  ctx: Context,
  profile: Record<string, unknown> & { email: string },
  { jobs, n, stageType, result, richness }: Place,
): JobCandidate | undefined {
  const created = createCandidate(ctx, profile);
  if (result.candidateIds.length < SHOWN) result.candidateIds.push(created.id);
  const job = jobs[n % jobs.length];
  if (job === undefined) return undefined;
  return richness === undefined
    ? addToJob(ctx, created.id, job, stageType)
    : addApplicant(ctx, richness, { person: created, job, stageType });
}

function note(
  result: Seeded,
  key: 'jobCandidateIds' | 'hiredJobCandidateIds',
  jobCandidate: JobCandidate | undefined,
): void {
  if (jobCandidate !== undefined && result[key].length < SHOWN) result[key].push(jobCandidate.id);
}

function jobsOf(ctx: Context): Job[] {
  return listJobs(ctx, { status: 'ACTIVE', perPage: 1000, pageNumber: 1 }).jobs.reverse();
}

/**
 * A company's data before anybody uses the API: people, teams, sites, a number to call from. The first user is the API
 * key's.
 */
export function seedWorkspace(ctx: Context): void {
  const at = `company-${String(ctx.company.id)}.example`;
  const owner = createUser(ctx, {
    email: `olivia.hart@${at}`,
    firstName: 'Olivia',
    lastName: 'Hart',
    status: 'ACTIVE',
    role: 'Super Admin',
    isCompanyAdmin: true,
  });
  const [care, hotels] = ['Care', 'Hotels'].map((name) => createTeam(ctx, name, owner.id).id) as [string, string];
  const admin = createUser(ctx, {
    email: `mateo.ruiz@${at}`,
    firstName: 'Mateo',
    lastName: 'Ruiz',
    status: 'ACTIVE',
    role: 'Admin',
    isCompanyAdmin: true,
    invitedById: owner.id,
    teamIds: [care, hotels],
    reportingManagerId: owner.id,
  });
  const invited = { role: 'Recruiter', invitedById: admin.id, reportingManagerId: admin.id };
  createUser(ctx, {
    ...invited,
    email: `aiko.tanaka@${at}`,
    firstName: 'Aiko',
    lastName: 'Tanaka',
    status: 'ACTIVE',
    teamIds: [care],
  });
  createUser(ctx, { ...invited, email: `noah.becker@${at}`, firstName: 'Noah', lastName: 'Becker', teamIds: [hotels] });
  createUser(ctx, { ...invited, email: `lina.osei@${at}`, role: null, status: 'EXPIRED' });
  createSite(ctx, { name: 'Head office', timezone: 'Europe/London', linked: true });
  createSite(ctx, { name: 'Manila', timezone: 'Asia/Manila', linked: true });
  createSite(ctx, { name: 'Warehouse', timezone: 'Europe/Berlin', linked: false });
  // A range reserved for fiction: it reaches nobody.
  setNumberVerified(ctx, '+442079460000', true);
}

const WEEKDAYS = [1, 2, 3, 4, 5];

const PLACES: Location[] = [
  {
    type: 'in_person',
    label: 'Head office',
    details: '1 Example Street, London',
    instructions: 'Ask for the hiring team at the desk.',
    lat: 51.5072,
    lng: -0.1276,
    photoUrls: ['https://photos.example.com/head-office.jpg'],
  },
  { type: 'video', label: 'Video call', details: 'https://video.example.com/open-day' },
];

const QUESTIONS: Question[] = [
  { id: 'shift', type: 'single_choice', label: 'Which shift suits you?', required: true, options: ['Day', 'Night'] },
  {
    id: 'languages',
    type: 'multi_choice',
    label: 'What do you speak?',
    required: false,
    options: ['English', 'Tagalog'],
  },
  { id: 'phone', type: 'phone', label: 'How do we reach you on the day?', required: true },
  { id: 'notes', type: 'textarea', label: 'Anything we should know?', required: false, maxLength: 500 },
];

/** One schedule of each profile, with free slots on every weekday. */
export function seedBooking(ctx: Context): void {
  createSchedule(ctx, {
    name: 'First interview',
    description: 'Half an hour with a recruiter.',
    durationMinutes: 30,
    timezone: 'Europe/London',
    bookingMode: 'ONLINE',
    scheduleProfile: 'INTERVIEW',
    visibleDaysAhead: 30,
    rescheduleCutoffHours: 24,
    availability: { days: WEEKDAYS, from: '09:00', to: '17:00', capacity: 1 },
  });
  createSchedule(ctx, {
    name: 'Open day',
    durationMinutes: 120,
    timezone: 'Asia/Manila',
    bookingMode: 'BOTH',
    scheduleProfile: 'EVENT',
    visibleDaysAhead: 60,
    allowCandidateReschedule: false,
    availability: { days: WEEKDAYS, from: '10:00', to: '14:00', capacity: 25 },
    locations: PLACES,
    questions: QUESTIONS,
  });
}

/** From this many people on, a company looks like two years of work. */
const RICH_FROM = 30;

/** Undefined for a company with few people, which tests count one by one. */
function richnessOf(
  seed: number,
  { candidates = 0, jobs = 0 }: { candidates?: number | undefined; jobs?: number | undefined },
): Richness | undefined {
  return candidates < RICH_FROM ? undefined : { random: createRandom(seed), jobs };
}

/** How many of a stage came through the hosted page; of later stages every second. */
const APPLIED_SHARE: Record<string, number> = { SOURCED: 0, APPLIED: 0.9 };

/** Puts a person into a job, as soon as there was one: most have applied, and most of those are scored. */
function addApplicant(
  ctx: Context,
  { random }: Richness,
  { person, job, stageType }: { person: Candidate; job: Job; stageType: string },
): JobCandidate {
  const then = { ...ctx, now: Math.max(ctx.now, job.createdAt) };
  const hasApplied = random() < (APPLIED_SHARE[stageType] ?? 0.5);
  const added = addToJob(then, person.id, job, stageType, hasApplied ? seededForm(then, random, person) : undefined);
  if (stageType !== 'SOURCED' && random() < 0.8) writeScore(then, added, '');
  return added;
}

const NOTICE = ['Immediately', '2 weeks', '1 month', '3 months'];

const ANSWERS: [string, readonly string[]][] = [
  ['When could you start?', ['Next Monday', 'Next month', 'After my notice period']],
  ['Do you have experience with shifts?', ['Yes, for two years', 'Only at weekends', 'Not yet']],
  ['Why do you apply?', ['A friend works with you', 'I want to learn more', 'Your shop is near my home']],
];

/** A person's entries on the hosted page: nine in ten with consent and a resume. */
function seededForm(ctx: Context, random: Random, person: Candidate) {
  const expected = 24_000 + Math.floor(random() * 30) * 1000;
  return formOf(ctx, person, {
    consent: random() < 0.9,
    policyVersion: random() < 0.3 ? '2024-06' : '2025-01',
    resume: random() < 0.9,
    application: {
      currentJobTitle: person['currentJobTitle'],
      company: person['currentCompany'],
      noticePeriod: pick(random, NOTICE),
      isWillingToRelocate: random() < 0.4,
      expectedCTC: expected,
      currencyExpectedCTC: 'USD',
      expectedCTCPeriod: 'YEARLY',
      currentCTC: expected - 3000,
      currencyCurrentCTC: 'USD',
      currentCTCPeriod: 'YEARLY',
      gender: person['gender'],
      dateOfBirth: person['dateOfBirth'],
      nationality: person['nationality'],
      screeningQuestionAnswer: ANSWERS.map(([question, answers]) => ({ question, answer: pick(random, answers) })),
      otherFiles: random() < 0.2 ? [{ name: 'References' }] : [],
    },
  });
}

/** Seven in ten left a resume. */
function seededResume({ random }: Richness): { resume?: string } {
  return random() < 0.7 ? { resume: OWN_RESUME } : {};
}

const SPAN_MS = 730 * 86_400_000;

/** When the nth of this many arrived: one after another for two years. */
function cameAt(ctx: Context, n: number, count: number): Context {
  return { ...ctx, now: Math.floor(ctx.now - SPAN_MS * (1 - (n + 1) / count)) };
}
