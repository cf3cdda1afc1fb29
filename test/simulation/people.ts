import { ApiError } from '../../src/sandbox/context.ts';
import { drawOne, has } from './scenario.ts';
import { type Customer, humanOf, served, takes, type World } from './world.ts';

/** Somebody on a job, as the sandbox holds them. */
export interface Applicant {
  id: number;
  candidateId: number;
  jobId: number;
  email: string;
}

const TERMINAL = new Set(['completed', 'rejected', 'failed', 'terminated', 'final_handoff']);

/**
 * Recruiters and new colleagues of every company, from the moment the baselines of all its tenants are taken: who is
 * hired before that on a job of another tenant is a hire of before its go-live.
 */
export function sendPeople(world: World): void {
  for (const customer of served(world)) {
    const plan = planOf(world, customer);
    const colleagues = served(world).filter(({ companyId }) => companyId === customer.companyId);
    const wait = (): void => {
      if (!colleagues.every((one) => hasBaseline(world, one))) world.timeline.at(world.timeline.now() + 1_000, wait);
      else {
        for (const { at, what } of plan) willDo(world, at, what);
        if (has(world, 'hired-before')) moveOldHires(world, customer);
      }
    };
    wait();
  }
  for (const customer of new Map(served(world).map((one) => [one.companyId, one])).values())
    workOnOnboardings(world, customer);
}

function hasBaseline({ store }: World, { tenant }: Customer): boolean {
  return store
    .all<{ done: number | null }>('select baseline_done_at as done from tenants where tenant_id = ?', tenant.tenant)
    .some(({ done }) => done !== null);
}

interface Deed {
  at: number;
  what: () => void;
}

/** Drawn at once and before anything happens, so that a day without faults sees the same people do the same. */
function planOf(world: World, customer: Customer): Deed[] {
  const { scenario, whims: random } = world;
  const deeds: Deed[] = [];
  const everyone = applicants(world, customer).filter(({ jobId }) => takes(customer, jobId));
  for (const person of everyone) {
    const hiredAt = 2_000 + random() * 200_000;
    const moveTo = (id: number, stageType: string) => move(world, customer, id, stageType);
    outcomes(world).set(person.email, drawOutcome(world));
    if (scenario.enrolledByHand && random() < 0.5) deeds.push(byHand(world, customer, person, hiredAt - 1_500));
    if (scenario.sameEmail && random() < 0.5)
      customer.hris.add('stranger', { email: person.email, givenName: 'Sam', familyName: 'Stranger' });
    const second =
      scenario.doubleApplications && random() < 0.7 ? secondApplication(world, customer, person) : undefined;
    if (scenario.stagesApart && random() < 0.5)
      deeds.push({ at: hiredAt - Math.max(1, random() ** 2 * hiredAt), what: () => moveTo(person.id, 'OFFER') });
    deeds.push({ at: hiredAt, what: () => moveTo(person.id, 'HIRED') });
    if (second !== undefined) deeds.push({ at: hiredAt + random() * 1_000, what: () => moveTo(second, 'HIRED') });
    if (random() < 0.3)
      deeds.push({
        at: hiredAt + random() * 200_000,
        what: () => world.act('announceHired', customer, { jobCandidateIds: [person.id] }),
      });
    if (scenario.edits && random() < 0.5)
      deeds.push({ at: hiredAt + random() * 250_000, what: () => rename(world, customer, person.candidateId) });
    if (scenario.changesOfMind && random() < 0.6) deeds.push(...changeMind(world, customer, person, hiredAt));
    if (has(world, 'merged-candidates') && random() < 0.6) deeds.push(...applyAgain(world, customer, person));
  }
  return deeds;
}

/** A recruiter moves somebody. */
export function move(world: World, customer: Customer, id: number, stageType: string): void {
  world.act('move', customer, { jobCandidateIds: [id], stageType });
}

/** Somebody new applies for a job. */
export function addApplicant(
  world: World,
  customer: Customer,
  applicant: {
    candidate: { email: string; firstName?: string | undefined; lastName?: string | undefined };
    jobId: number;
  },
): Pick<Applicant, 'candidateId'> & { jobCandidateId: number } {
  const added = world.act('addCandidate', customer, applicant) as { jobCandidateId: number; candidateId: number };
  world.people.set(String(added.jobCandidateId), String(added.candidateId));
  const email = `${customer.companyId} ${applicant.candidate.email}`;
  if (!world.emails.has(email)) world.emails.set(email, String(added.candidateId));
  world.jobs.set(String(added.jobCandidateId), String(applicant.jobId));
  return added;
}

export function setStartDate(world: World, customer: Customer, candidateId: number, value: string): void {
  world.act('setCustomFieldValue', customer, {
    customFieldId: customer.startDateField,
    entityType: 'candidate',
    entityId: candidateId,
    value,
  });
}

function applicants(world: World, customer: Customer): Applicant[] {
  return world.state.all<Applicant>(
    `select j.id, j.candidate_id as candidateId, j.job_id as jobId, c.email
       from job_candidates j join candidates c on c.id = j.candidate_id
     join stages s on s.id = j.stage_id where j.company_id = ? and s.type <> 'HIRED' order by j.id`,
    customer.companyId,
  );
}

function secondApplication(world: World, customer: Customer, person: Applicant): number | undefined {
  const other = otherJob(world, customer, person);
  if (other === undefined) return undefined;
  const added = world.act('addCandidate', customer, { candidate: { email: person.email }, jobId: other.id });
  const { jobCandidateId } = added as { jobCandidateId: number };
  world.people.set(String(jobCandidateId), String(person.candidateId));
  world.jobs.set(String(jobCandidateId), String(other.id));
  return jobCandidateId;
}

function otherJob({ state }: World, { companyId }: Customer, { jobId }: Applicant): { id: number } | undefined {
  return state.one('select id from jobs where company_id = ? and id <> ?', companyId, jobId);
}

/** The same human applies by another address, and at some time a recruiter merges the two profiles into one of them. */
function applyAgain(world: World, customer: Customer, person: Applicant): Deed[] {
  const { whims: random, aliases, merged } = world;
  const other = otherJob(world, customer, person);
  const human = humanOf(world, customer.companyId, String(person.candidateId));
  if (other === undefined || merged.has(human)) return [];
  const candidate = { email: `again.${person.email}`, ...namesOf(world, person) };
  const { candidateId, jobCandidateId } = addApplicant(world, customer, { candidate, jobId: other.id });
  aliases.set(`${customer.companyId}:${candidateId}`, human);
  merged.set(human, Number.POSITIVE_INFINITY);
  setStartDate(world, customer, candidateId, '2026-03-02');
  const [from, to] = random() < 0.5 ? [candidateId, person.candidateId] : [person.candidateId, candidateId];
  const hired = { at: 2_000 + random() * 250_000, what: () => move(world, customer, jobCandidateId, 'HIRED') };
  const together = { at: 1_000 + random() * 300_000, what: () => mergeCandidates(world, customer, from, to) };
  return random() < 0.8 ? [together, hired] : [together];
}

/**
 * All applications of the one are the other's now, and so is what the other's profile lacked; the first profile is
 * gone. No event tells of it.
 */
function mergeCandidates(world: World, customer: Customer, from: number, to: number): void {
  const { state, people, merged, timeline } = world;
  const jobsOf = (id: number) =>
    state.all<{ id: number; jobId: number }>(
      'select id, job_id as jobId from job_candidates where candidate_id = ?',
      id,
    );
  const [moved, kept] = [jobsOf(from), jobsOf(to)];
  const isThere = [from, to].every((id) => state.count('candidates', 'id = ?', id) === 1);
  if (!isThere || moved.some(({ jobId }) => kept.some((one) => one.jobId === jobId))) return;
  state.run('update job_candidates set candidate_id = ? where candidate_id = ?', to, from);
  state.run(
    "update or ignore custom_field_values set entity_id = ? where entity_type = 'candidate' and entity_id = ?",
    String(to),
    String(from),
  );
  for (const { id } of moved) people.set(String(id), String(to));
  merged.set(humanOf(world, customer.companyId, String(to)), timeline.now());
  world.act('deleteCandidate', customer, { candidateIds: [from] });
}

function byHand(world: World, customer: Customer, person: Applicant, at: number): Deed {
  const { flowId } = customer;
  return {
    at,
    what: () => world.act('enrol', customer, { flowId, firstName: 'By', lastName: 'Hand', email: person.email }),
  };
}

/** Out, out and back, rejected, removed or deleted, at any moment. */
function changeMind(
  { whims: random, ...world }: World,
  customer: Customer,
  person: Applicant,
  hiredAt: number,
): Deed[] {
  const at = hiredAt + random() ** 2 * 260_000;
  const act = (name: string, input: object) => (): void => void world.act(name, customer, input);
  const ids = { jobCandidateIds: [person.id] };
  const kinds: Record<string, () => Deed[]> = {
    out: () => [{ at, what: act('move', { ...ids, stageType: 'SHORTLISTED' }) }],
    back: () => [
      { at, what: act('move', { ...ids, stageType: 'SHORTLISTED' }) },
      { at: at + random() ** 2 * 150_000, what: act('move', { ...ids, stageType: 'HIRED' }) },
    ],
    stale: () => [
      { at, what: act('move', { ...ids, stageType: 'SHORTLISTED' }) },
      { at: at + 40_000 + random() * 60_000, what: act('announceHired', ids) },
    ],
    rejected: () => [{ at, what: act('reject', ids) }],
    removed: () => [{ at, what: act('deleteJobCandidate', ids) }],
    deleted: () => [{ at, what: act('deleteCandidate', { candidateIds: [person.candidateId] }) }],
  };
  return kinds[drawOne(random, Object.keys(kinds))]?.() ?? [];
}

/** A recruiter corrects somebody's name, or fills it in. */
export function rename(
  world: World,
  customer: Customer,
  candidateId: number,
  filled: { firstName?: string } = {},
): void {
  const id = String(candidateId);
  const names = world.names.get(id) ?? [];
  const familyName = `Corrected ${'I'.repeat(names.length + 1)}`;
  attempt(() => {
    world.act('editCandidate', customer, { candidateId, fields: { ...filled, lastName: familyName } });
    world.names.set(id, [...names, { at: world.timeline.now(), familyName }]);
  });
}

/** How a person's onboarding goes, by e-mail: outcome and how long it takes. */
const planned = new WeakMap<World['state'], Map<string, { outcome: string; takesMs: number }>>();

function outcomes(world: World): Map<string, { outcome: string; takesMs: number }> {
  const known = planned.get(world.state) ?? new Map<string, { outcome: string; takesMs: number }>();
  planned.set(world.state, known);
  return known;
}

function drawOutcome({ whims: random, scenario }: World): { outcome: string; takesMs: number } {
  const good = drawOne(random, ['completed', 'completed', 'final_handoff']);
  const bad = drawOne(random, ['rejected', 'failed', 'terminated', 'under_review']);
  const takesMs = 3_000 + random() ** 2 * 120_000;
  return { outcome: scenario.changesOfMind && random() < 0.2 ? bad : good, takesMs };
}

/** New colleagues fill in their forms; a second enrolment always goes well. */
function workOnOnboardings(world: World, customer: Customer): void {
  let seen = 0;
  const counts = new Map<string, number>();
  world.onEnrolled.push(() => {
    const rows = world.state.all<{ id: string; email: string; seq: number }>(
      'select id, email, seq from onboarding_candidates where company_id = ? and seq > ? order by seq',
      customer.companyId,
      seen,
    );
    for (const { id, email, seq } of rows) {
      seen = seq;
      const nth = (counts.get(email) ?? 0) + 1;
      counts.set(email, nth);
      const { outcome, takesMs } = outcomes(world).get(email) ?? { outcome: 'completed', takesMs: 5_000 };
      willDo(world, takesMs, () => finish(world, customer, id, nth > 1 ? 'completed' : outcome));
    }
  });
}

function finish(world: World, customer: Customer, onboardingCandidateId: string, overallStatus: string): void {
  const row = world.state.one<{ status: string }>(
    'select overall_status as status from onboarding_candidates where id = ?',
    onboardingCandidateId,
  );
  if (row === undefined || TERMINAL.has(row.status)) return;
  attempt(() => world.act('setOnboardingStatus', customer, { onboardingCandidateId, overallStatus }));
}

function willDo(world: World, ms: number, what: () => void): void {
  const at = world.timeline.now() + ms;
  world.lastDeedAt = Math.max(world.lastDeedAt, at);
  world.timeline.at(at, () => attempt(what));
}

/** What the sandbox refuses a person is no defect: they come too late. */
function attempt(what: () => unknown): void {
  try {
    what();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

export function hiredNow(world: World, customer: Customer): Applicant[] {
  const rows = world.state.all<Applicant>(
    `select j.id, j.candidate_id as candidateId, j.job_id as jobId, c.email
       from job_candidates j join candidates c on c.id = j.candidate_id
     join stages s on s.id = j.stage_id where j.company_id = ? and s.type = 'HIRED' order by j.id`,
    customer.companyId,
  );
  return rows.filter(({ jobId }) => takes(customer, jobId));
}

/** Somebody who is hired leaves, or takes another job. */
export function moveOn(world: World, customer: Customer, person: Applicant): void {
  const { random } = world;
  const kind = drawOne(random, ['leaves', 'other job', 'second job'] as const);
  if (kind !== 'second job') willDo(world, random() * 100_000, () => move(world, customer, person.id, 'SHORTLISTED'));
  if (kind === 'leaves') return;
  attempt(() => {
    const other = secondApplication(world, customer, person);
    if (other !== undefined) willDo(world, random() * 100_000, () => move(world, customer, other, 'HIRED'));
  });
}

/** People hired before go-live have employees whom HR made by hand, with the company's own address. */
export function employByHand(world: World, customer: Customer): void {
  const rows = world.state.all<{ id: number; first: string; last: string }>(
    `select c.id, c.body ->> 'firstName' as first, c.body ->> 'lastName' as last from candidates c
       join job_candidates j on j.candidate_id = c.id join stages s on s.id = j.stage_id
     where j.company_id = ? and s.type = 'HIRED' order by c.id`,
    customer.companyId,
  );
  for (const { id, first, last } of rows)
    customer.hris.add(`${customer.companyId}:${id}`, {
      email: `${first}.${last}@company.example`.toLowerCase(),
      givenName: first,
      familyName: last,
    });
}

/** Those who were hired before go-live are dragged out and back, and take other jobs. */
function moveOldHires(world: World, customer: Customer): void {
  const { whims: random } = world;
  const old = hiredNow(world, customer);
  for (const person of old.filter(({ id }) => world.hiredBefore.has(String(id)))) {
    const at = 5_000 + random() * 200_000;
    const kind = drawOne(random, ['dragged', 'dragged', 'second job', 'other job', 'leaves'] as const);
    if (kind !== 'second job') willDo(world, at, () => move(world, customer, person.id, 'SHORTLISTED'));
    if (kind === 'dragged')
      willDo(world, at + 5_000 + random() * 250_000, () => move(world, customer, person.id, 'HIRED'));
    if (kind === 'second job' || kind === 'other job') {
      const other = secondApplication(world, customer, person);
      if (other !== undefined)
        willDo(world, at + (random() - 0.3) * 150_000, () => move(world, customer, other, 'HIRED'));
    }
  }
}

/**
 * Somebody leaves at the moment at which their employee is made, and may come by another way: on another job, or as a
 * new candidate of the same address.
 */
export function leaveEarly(world: World, customer: Customer, human: string): void {
  const { random, timeline } = world;
  if (world.calm || !has(world, 'early-leavers') || random() > 0.6 || world.gone.has(human)) return;
  const person = hiredNow(world, customer).find(({ candidateId }) => String(candidateId) === human.split(':')[1]);
  if (person === undefined) return;
  world.gone.add(human);
  const how = drawOne(random, ['leaves', 'leaves', 'other job', 'added again'] as const);
  const leavesAt = random() < 0.5 ? 0 : random() * 20_000;
  willDo(world, leavesAt, () => {
    if (how === 'added again') attempt(() => addAgain(world, customer, person));
    else move(world, customer, person.id, 'SHORTLISTED');
  });
  if (how !== 'other job') return;
  timeline.at(timeline.now() + leavesAt + 1, () =>
    attempt(() => {
      const other = secondApplication(world, customer, person);
      if (other !== undefined) willDo(world, random() * 120_000, () => move(world, customer, other, 'HIRED'));
    }),
  );
}

/** The candidate is deleted and added anew: another id at the partner, the same human. */
function addAgain(world: World, customer: Customer, person: Applicant): void {
  const { candidateId, jobId, email } = person;
  const candidate = { email, ...namesOf(world, person) };
  world.act('deleteCandidate', customer, { candidateIds: [candidateId] });
  const added = addApplicant(world, customer, { candidate, jobId });
  world.aliases.set(`${customer.companyId}:${added.candidateId}`, `${customer.companyId}:${candidateId}`);
  setStartDate(world, customer, added.candidateId, '2026-03-02');
  willDo(world, world.random() * 120_000, () => move(world, customer, added.jobCandidateId, 'HIRED'));
}

function namesOf({ state }: World, { candidateId }: Applicant) {
  const row = state.one<{ first: string; last: string }>(
    "select body ->> 'firstName' as first, body ->> 'lastName' as last from candidates where id = ?",
    candidateId,
  );
  return { firstName: row?.first, lastName: row?.last };
}
