import { type Employee, type HrisProfile, UNSEEN_MS } from '../hris-double.ts';
import { has } from '../scenario.ts';
import { policies } from '../tenants.ts';
import { humanOf, served, type World } from '../world.ts';
import type { Facts } from './facts.ts';
import { isForgottenHire } from './finished.ts';
import { membershipOf, wasHired } from './memberships.ts';

/** A request may be carried out so long after its sender last looked. */
const SLACK_MS = 60_000;

/** I2: one employee a person, and one more for each new employment somebody asked for; nobody gets another's number. */
export function checkEmployees(world: World, { employees, hires, enrolments }: Facts): string[] {
  const broken: string[] = [];
  for (const [human, records] of employees) {
    if (human === 'stranger') continue;
    const anew = world.given.filter((one) => one.human === human && one.answer === 'new-employment').length;
    for (const hris of new Set(served(world).flatMap((one) => one.systems))) {
      const here = records.filter((one) => hris.employees.includes(one));
      const ours = here.filter((one) => one.reference !== undefined);
      const made = ours.length;
      const forgotten = hires.some((hire) => hire.human === human && isForgottenHire(world, hire.jobCandidateId));
      const unseen = madeUnseen(world, hris.profile, ours);
      const apart = Math.max(0, madeApart(world, human, ours) - 1);
      const right = (here.length > made ? 0 : 1) + anew + (forgotten ? 1 : 0) + unseen + apart;
      if (made > right) broken.push(`I2 ${made} employees were made for ${human}, ${right} are right`);
    }
  }
  for (const [human, records] of employees) {
    const made = records.filter((one) => one.reference !== undefined);
    const at = served(world).filter(({ hris }) => hris.employees.some((one) => made.includes(one)));
    const here = new Set(at.map(({ hris }) => hris)).size;
    // Of whom a tenant made an employee in its former HR system, somebody says that they are to be one in the new one.
    const moved = new Set(served(world).flatMap(({ systems, tenant }) => (systems.length > 1 ? [tenant.tenant] : [])));
    const said = world.given.some(
      (one) =>
        one.human === human &&
        (one.answer === 'here-too' || (one.code === 'PERSON_RECORDED' && moved.has(one.tenantId))),
    );
    // Across HR systems a person is their candidate id: with a new profile nothing but an address tells who they are.
    const isKnownTwice = [...world.aliases.values()].includes(human);
    if (has(world, 'shared-company') && here > 1 && !said && !isKnownTwice && !isUnknownElsewhere(world, human, made))
      broken.push(`I2 ${human} was made an employee in ${here} HR systems and nobody was asked`);
  }
  const owners = new Map([...employees].flatMap(([human, records]) => records.map((one) => [one.number, human])));
  for (const { customer } of new Map(hires.map((hire) => [hire.customer.companyId, hire])).values())
    for (const { id, external, candidateId } of enrolments.get(customer.companyId) ?? []) {
      if (external.employeeId === undefined) continue;
      const owner = owners.get(external.employeeId);
      // Two HR systems give the same numbers; the owner is then any of theirs.
      const human = humanOf(world, customer.companyId, candidateId);
      const right = (employees.get(human) ?? []).some((one) => one.number === external.employeeId);
      if (!right) broken.push(`I2 enrolment ${id} of ${candidateId} shows the Employee ID of ${owner ?? 'nobody'}`);
    }
  return broken;
}

/**
 * The backup, or a store that was built anew, did not know the first employee when the second one was made: nobody
 * looks into the HR system of another tenant. backup.md says so.
 */
function isUnknownElsewhere(world: World, human: string, made: readonly Employee[]): boolean {
  const { storeLostAt, storeSavedAt, storeRestoredAt, store } = world;
  const candidateId = human.split(':')[1] ?? '';
  return made.some(({ id, createdAt: at }) => {
    const isBackup = storeSavedAt < at && at <= storeRestoredAt;
    if (!isBackup && at > storeLostAt) return false;
    const later = made.filter(({ createdAt }) => createdAt > (isBackup ? storeRestoredAt : storeLostAt));
    const linked = store.all<{ at: number }>(
      "select at from person_keys where kind = 'employee' and candidate_id = ? and value = ?",
      candidateId,
      id,
    );
    return later.length > 0 && later.every(({ createdAt }) => linked.every((one) => one.at >= createdAt));
  });
}

/**
 * How many were made for a person whose first employee the backup did not know yet, and the HR system did not show yet:
 * nothing could tell. operations.md says so.
 */
function madeUnseen({ storeSavedAt, storeRestoredAt }: World, profile: HrisProfile, made: readonly Employee[]): number {
  const isUnseen = (first: Employee, later: Employee): boolean =>
    storeSavedAt < first.createdAt &&
    first.createdAt <= storeRestoredAt &&
    storeRestoredAt < later.createdAt &&
    later.createdAt - first.createdAt <= UNSEEN_MS[profile];
  return made.filter((later) => made.some((first) => isUnseen(first, later))).length;
}

/**
 * How many were made while nothing told that they are one human: the partner showed two candidates, or their names
 * differ and the merge of somebody who was done is seen once everybody is listed again, within a day.
 */
export function madeApart({ merged }: World, human: string, made: readonly Employee[]): number {
  const at = merged.get(human);
  if (at === undefined) return 0;
  const isOther = ({ madeAs }: Employee): boolean => madeAs !== made[0]?.madeAs;
  return made.filter((one) => one.createdAt <= at + SLACK_MS || isOther(one)).length;
}

/**
 * A person's owner is a hire that works or has their employee: one that is never released would hold them for ever.
 */
export function checkClaims({ store }: World): string[] {
  return store
    .all<{ id: string; state: string }>(
      `select p.job_candidate_id as id, h.state from persons p left join hires h on h.tenant_id = p.tenant_id
       and h.job_candidate_id = p.job_candidate_id and h.period = p.period
       where p.tenant_id is not null and (h.state is null
         or (h.state in ('left', 'cancelled', 'kept', 'before-go-live') and h.employee_id is null))`,
    )
    .map(({ id, state }) => `I10 job candidate ${id} is ${state} without an employee and still owns the person`);
}

/** Answers by which nobody takes up a hire of before go-live. */
const TAKES_NOBODY_UP = new Set(['retry', 'cancel', 'keep', 'left']);

/** I3: one credit an enrolment, one enrolment a reference, and as many references as there were reasons. */
export function checkEnrolments(world: World, { effects, hires }: Facts): string[] {
  const broken: string[] = [];
  const enrolled = effects.filter((row) => row.name === 'enrolment');
  const credits = effects.filter((row) => row.name === 'onboarding-credit').length;
  if (credits !== enrolled.length) broken.push(`I3 ${credits} credits for ${enrolled.length} enrolments`);
  const ours = enrolled.filter((row) => row.origin === 'api');
  const byReference = Map.groupBy(ours, (row) => String(row.detail['externalRef']));
  for (const [reference, rows] of byReference)
    if (rows.length > 1) broken.push(`I3 ${rows.length} enrolments with the reference ${reference}`);
  const known = new Map(hires.map((hire) => [hire.jobCandidateId, hire]));
  for (const [id, rows] of Map.groupBy(ours, (row) => String(row.detail['externalRef']).split(':')[1] ?? '')) {
    const memberships = membershipOf(world, id);
    const again = known.get(id)?.answers.filter((answer) => answer === 're-enrol').length ?? 0;
    if (rows.length > memberships.length + again)
      broken.push(
        `I3 ${rows.length} credits for job candidate ${id}, hired ${memberships.length} times and enrolled anew ` +
          `${again} times`,
      );
    const isKnown = world.hiredBefore.has(id) && !isForgottenHire(world, id);
    const hire = known.get(id);
    // Somebody said of another application of theirs that the next hire takes the employee over.
    const isMoved = world.given.some(({ human, answer }) => human === hire?.human && answer === 'moved');
    if (isKnown && !isMoved && !hire?.answers.some((answer) => !TAKES_NOBODY_UP.has(answer)))
      broken.push(`I3 job candidate ${id} was hired before go-live and was enrolled`);
    for (const row of rows)
      if (!wasHired(memberships, row.at - SLACK_MS, row.at))
        broken.push(`I3 job candidate ${id} was enrolled although not hired for a minute`);
  }
  return broken;
}

/** Nothing is cancelled on a guess: who is terminated by us has been out for the grace, or somebody asked for it. */
export function checkTerminations(world: World, { effects, enrolments, hires }: Facts): string[] {
  const all = [...enrolments.values()].flat();
  const known = new Map(hires.map((hire) => [hire.jobCandidateId, hire]));
  return effects
    .filter((row) => row.name === 'termination' && row.origin === 'api')
    .flatMap((row) => {
      const enrolment = all.find((one) => one.id === row.subject);
      const id = enrolment?.ref?.split(':')[1] ?? '';
      const answers = known.get(id)?.answers ?? [];
      if (enrolment?.ref === null || answers.includes('re-enrol') || answers.includes('cancel')) return [];
      // A return may be over unread: in a second, or without webhooks between two reads, a grace apart.
      const unseenMs = world.scenario.webhooks === 'none' ? policies.graceMs : 1_500;
      const memberships = membershipOf(world, id).filter(({ from, to }) => to - from > unseenMs);
      const inAll = wasHired(memberships, row.at - policies.graceMs + 2_000, row.at - 20_000);
      return inAll ? [`I1 the enrolment of ${id} was terminated although hired within the grace`] : [];
    });
}
