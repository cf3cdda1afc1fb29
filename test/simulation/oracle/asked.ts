import { type Employee, UNSEEN_MS } from '../hris-double.ts';
import { has } from '../scenario.ts';
import { humanOf, isForgotten, type World } from '../world.ts';
import type { Facts, HireFact } from './facts.ts';
import { isExcusedByLoss } from './finished.ts';
import { membershipOf, wasHired } from './memberships.ts';
import { madeApart } from './once.ts';

/** An employee may be made so long after its person was last seen in the stage. */
const SLACK_MS = 90_000;

/** What only a person may decide was decided by a person, and what is ours to decide was not asked. */
export function checkAsked(world: World, facts: Facts): string[] {
  return [
    ...checkStale(world, facts),
    ...checkNames(world, facts),
    ...checkAdopted(world, facts),
    ...checkSamePerson(world, facts),
    ...checkOwnEndings(world, facts),
    ...checkVerdicts(world, facts),
    ...checkEnded(facts),
    ...checkOrphans(world, facts),
    ...checkTransfers(world, facts),
  ];
}

/** Answers by which another hire takes the employee up, and writes its own job. */
const LINKS = new Set(['link', 'link-anyway', 'same-person']);

/** An employee who took another job has what the mapping makes of that job, and nothing that only the old one had. */
function checkTransfers(world: World, { employees, hires }: Facts): string[] {
  if (!has(world, 'conditions')) return [];
  return hires.flatMap((hire) => {
    const [employee, ...others] = (employees.get(hire.human) ?? []).filter((one) => one.reference !== undefined);
    const moved = world.given.findLast(
      (one) => one.human === hire.human && one.answer === 'transfer' && !isForgotten(world, one.at),
    );
    const isOver = world.given.some(
      (one) => one.human === hire.human && LINKS.has(one.answer) && one.at > (moved?.at ?? 0),
    );
    const isLast = moved?.jobCandidateId === hire.jobCandidateId && hire.answers.at(-1) === 'transfer' && !isOver;
    if (employee === undefined || others.length > 0 || !hire.hiredNow || !isLast) return [];
    if (hires.some((one) => one.human === hire.human && one.openHolds.length > 0)) return [];
    const row = world.state.one<{ body: string }>(
      'select body from jobs where id = ?',
      Number(world.jobs.get(hire.jobCandidateId)),
    );
    const { title, city, country } = JSON.parse(row?.body ?? '{}') as Record<string, string>;
    const isHere = country === 'Germany';
    const right = { title, workplace: isHere ? city : null, employmentType: isHere ? 'permanent' : null };
    return Object.entries(right)
      .filter(([field, value]) => (employee.fields[field] ?? null) !== value)
      .map(([field]) => `I5 ${field} of ${hire.human}, who took another job, is not that job's`);
  });
}

/** What somebody says of an employee whose person is not hired any more. */
const SETTLES = new Set(['keep', 'left', 'no-show', 'moved', 'ended', 'cancel', 'same-employee', 'transfer']);

/**
 * Made after the backup that was restored, or before the store was lost, and nothing tells of them: without onboarding,
 * or with an enrolment that somebody made by hand, none carries our reference; an HR system that keeps no reference
 * shows nobody as ours, one whose reads lag does not show them yet, and nobody looks in one that was given up.
 */
function isUntold(world: World, { jobCandidateId, customer }: HireFact, made: readonly Employee[]): boolean {
  const { scenario } = world;
  if (!made.every(({ createdAt }) => isForgotten(world, createdAt))) return false;
  const ends = world.store.all<{ ended_at: number | null }>(
    'select ended_at from hires where tenant_id = ? and job_candidate_id = ?',
    customer.tenant.tenant,
    jobCandidateId,
  );
  // Their hire was over before the HR system showed them, whose first reads after a restore must wait for that.
  const isUnseen = ends.some(({ ended_at: at }) =>
    made.every(({ createdAt }) => at !== null && at <= createdAt + UNSEEN_MS[scenario.profile]),
  );
  const isGivenUp = made.every((one) => !customer.hris.employees.includes(one));
  const enrolment = world.state.one(
    'select 1 from onboarding_candidates where company_id = ? and external_ref like ?',
    customer.companyId,
    `hirebridge:${jobCandidateId}:%`,
  );
  return scenario.profile === 'careless' || isGivenUp || isUnseen || (enrolment === undefined && ends.length === 0);
}

/** Gone from the partner as well: a question of the tenant names them. */
function isNamed(world: World, { jobCandidateId }: HireFact): boolean {
  const holds = world.store.all<{ details: string }>("select details from holds where code = 'HIRES_NOT_RESTORED'");
  return holds.some(({ details }) =>
    (JSON.parse(details) as { jobCandidateIds: string[] }).jobCandidateIds.includes(jobCandidateId),
  );
}

/** An employee that was made for somebody who is not hired any more is asked about. */
function checkOrphans(world: World, { employees, hires }: Facts): string[] {
  return [...employees].flatMap(([human, records]) => {
    const made = records.filter((one) => one.reference !== undefined && one.lastDay === undefined);
    const own = hires.filter((hire) => hire.human === human);
    if (made.length === 0 || own.some((hire) => hire.hiredNow || hire.openHolds.length > 0)) return [];
    if (own.some((hire) => isExcusedByLoss(world, hire))) return [];
    if (own.some((hire) => isUntold(world, hire, made) || isNamed(world, hire))) return [];
    const settled = world.given.some(
      (one) => one.human === human && SETTLES.has(one.answer) && one.at >= (made[0]?.createdAt ?? 0),
    );
    // Who leaves after the first day has worked there: HR ends that, and nobody is asked.
    const worked = made.some((one) => String(one.fields['startDate']) < new Date(one.createdAt).toISOString());
    return settled || worked ? [] : [`I2 the employee of ${human}, who left, is an orphan: nobody was asked`];
  });
}

/** Nobody becomes an employee who was not hired at that time. */
function checkStale(world: World, { employees, hires }: Facts): string[] {
  return [...employees.values()].flat().flatMap(({ reference, human, createdAt }) => {
    if (reference === undefined) return [];
    const own = hires.filter((hire) => hire.human === human);
    const hired = own.some((hire) =>
      wasHired(membershipOf(world, hire.jobCandidateId), createdAt - SLACK_MS, createdAt),
    );
    return hired ? [] : [`I2 ${human} was made an employee although not hired any more`];
  });
}

/** An employee is made of what the partner holds now, not of what it held when somebody was asked. */
function checkNames(world: World, { employees }: Facts): string[] {
  return [...employees.values()].flat().flatMap(({ reference, human, createdAt, madeAs }) => {
    // A human whose profile was deleted is a candidate of their own when they apply again, under whatever name.
    const candidateId = reference?.split(':')[1] ?? '';
    const names = world.names.get(candidateId) ?? [];
    const settled = names.findLast((one) => one.at <= createdAt - SLACK_MS);
    if (reference === undefined || settled === undefined) return [];
    const later = names.filter((one) => one.at >= settled.at).map((one) => one.familyName);
    // Of two profiles that the partner merged, the name is that of the one that stayed.
    const isMerged = (world.merged.get(human) ?? Number.POSITIVE_INFINITY) <= createdAt;
    const isOfOther = isMerged && world.state.count('candidates', 'id = ?', Number(candidateId)) === 0;
    return isOfOther || later.includes(madeAs) ? [] : [`I2 ${human} was made an employee with an old name`];
  });
}

/** An enrolment made by hand is taken only by somebody's word. */
function checkAdopted(world: World, { enrolments, hires }: Facts): string[] {
  return [...enrolments].flatMap(([companyId, all]) =>
    all.flatMap(({ id, ref, external, candidateId }) => {
      if (ref !== null || external.employeeId === undefined) return [];
      // It may be of an earlier profile of theirs.
      const human = humanOf(world, companyId, candidateId);
      const asked = hires.some((hire) => hire.human === human && hire.answers.includes('adopt'));
      return asked ? [] : [`I2 enrolment ${id}, made by hand, was taken without asking`];
    }),
  );
}

const PERSON = new Set(['same-employee', 'same-person', 'transfer', 'new-employment', 'here-too']);

interface DoneHire {
  id: string;
  hris: string;
  employee: string;
}

/**
 * Two applications of one person are one question. With a new profile, or one that was merged after the first hire was
 * done, nothing but what one HR system compares tells who they are.
 */
function checkSamePerson(world: World, { hires, employees }: Facts): string[] {
  const done = new Map(
    world.store
      .all<DoneHire>(
        "select job_candidate_id as id, connection as hris, employee_id as employee from hires where state = 'done'",
      )
      .map((hire) => [hire.id, hire]),
  );
  const isOneQuestion = (one: HireFact, other: HireFact): boolean => {
    if (one === other) return false;
    if (one.candidateId === other.candidateId && !world.merged.has(one.human)) return true;
    const [first, second] = [done.get(one.jobCandidateId)!, done.get(other.jobCandidateId)!];
    const records = employees.get(one.human) ?? [];
    const isAnswered = isToldApart(world, first, second, records) || isToldApart(world, second, first, records);
    return first.hris === second.hris && !isAnswered;
  };
  return [
    ...Map.groupBy(
      hires.filter((hire) => done.has(hire.jobCandidateId)),
      (hire) => hire.human,
    ),
  ].flatMap(([human, own]) =>
    madeApart(world, human, employees.get(human) ?? []) > 1 ||
    !own.some((one) => own.some((other) => isOneQuestion(one, other))) ||
    own.some((hire) =>
      hire.answers.some((answer) => PERSON.has(answer) || (world.merged.has(human) && answer === 'link')),
    )
      ? []
      : [`I2 ${human} was hired on ${own.length} jobs and nobody was asked`],
  );
}

/**
 * Somebody was asked who the one is, when the other's employee was there already, and named another record of the same
 * human: one from before us, say. The hire has the one they named.
 */
function isToldApart({ given }: World, one: DoneHire, other: DoneHire, records: readonly Employee[]): boolean {
  const others = records.filter(({ id }) => id === other.employee);
  return (
    one.employee !== other.employee &&
    others.length > 0 &&
    given.some(
      ({ jobCandidateId, answer, named, at }) =>
        jobCandidateId === one.id &&
        answer === 'link' &&
        named.includes(one.employee) &&
        others.every(({ createdAt }) => createdAt <= at),
    )
  );
}

/** No employment ends without somebody's word. */
function checkEnded({ employees, hires }: Facts): string[] {
  const saidSo = new Set(hires.filter(({ answers }) => answers.includes('no-show')).map(({ human }) => human));
  return [...employees.values()]
    .flat()
    .filter(({ lastDay, human }) => lastDay !== undefined && !saidSo.has(human))
    .map(({ human }) => `I2 the employment of ${human} was ended without asking`);
}

/**
 * Back after a cancellation is a new period with a new enrolment, not a question about the one we ended. A store that
 * was restored from before, or that is new, does not know who ended it.
 */
function checkOwnEndings(world: World, { effects, hires, enrolments }: Facts): string[] {
  const all = [...enrolments.values()].flat();
  const held = new Set(
    world.store
      .all<{ id: string }>("select job_candidate_id as id from holds where code = 'ONBOARDING_TERMINATED'")
      .map(({ id }) => id),
  );
  return hires
    .filter((hire) => held.has(hire.jobCandidateId))
    .flatMap((hire) => {
      const own = new Set(all.filter((one) => one.candidateId === hire.candidateId).map((one) => one.id));
      const ends = effects.filter(
        ({ name, subject, detail }) =>
          name === 'onboarding-status' && own.has(String(subject)) && detail['to'] === 'terminated',
      );
      const byOthers = ends.some(({ origin }) => origin === 'dashboard');
      // Made by hand and adopted by two hires of one human: one of them ended it when somebody said so.
      const adopters = hires.filter((one) => one.human === hire.human && one.answers.includes('adopt'));
      const isByHand = ends.some(({ subject }) => all.some((one) => one.id === subject && one.ref === null));
      const isOfBoth = isByHand && adopters.includes(hire) && adopters.length > 1;
      const isLost = world.storeLost && ends.some(({ at }) => at <= world.storeLostAt);
      return byOthers || isOfBoth || isLost || has(world, 'restored-store')
        ? []
        : [`I10 job candidate ${hire.jobCandidateId} is held for an enrolment that we ended ourselves`];
    });
}

const VERDICTS: Record<string, string> = { ONBOARDING_REJECTED: 'rejected', ONBOARDING_FAILED: 'failed' };

/** A status that is no verdict asks nobody: somebody is asked of a rejection only when there was one. */
function checkVerdicts(world: World, { effects, hires, enrolments }: Facts): string[] {
  return world.store
    .all<{ id: string; code: string }>('select distinct job_candidate_id as id, code from holds')
    .flatMap(({ id, code }) => {
      const verdict = VERDICTS[code];
      const human = hires.find((hire) => hire.jobCandidateId === id)?.human;
      if (verdict === undefined || human === undefined) return [];
      // A person may have adopted the enrolment of another application of the same human.
      const own = new Set(
        [...enrolments].flatMap(([companyId, some]) =>
          some.filter((one) => humanOf(world, companyId, one.candidateId) === human).map((one) => one.id),
        ),
      );
      const given = effects.some(
        (row) => row.name === 'onboarding-status' && own.has(String(row.subject)) && row.detail['to'] === verdict,
      );
      return given ? [] : [`I10 job candidate ${id} is held by ${code}, and their onboarding never was ${verdict}`];
    });
}
