import type { Employee } from '../hris-double.ts';
import type { World } from '../world.ts';
import { type EnrolmentFact, type Facts, gatherFacts, type HireFact, idFieldOf } from './facts.ts';
import { isExcusedByLoss } from './finished.ts';

/**
 * How one application ended, as text: with HRIS and partner, and in our store. Ids that are given in order of time
 * stand as names.
 */
interface End {
  human: string;
  outside: string;
  store: string;
}

export interface Ends {
  byJobCandidate: Map<string, End>;
  /** Humans somebody was asked about: their end is a person's decision. */
  asked: Set<string>;
  storeLost: boolean;
}

/** What a seed ended with, at rest and before anybody answered what is still asked. */
export function gatherEnds(world: World): Ends {
  const facts = gatherFacts(world);
  const asked = facts.hires.filter((hire) => isAsked(hire) || isExcusedByLoss(world, hire));
  return {
    byJobCandidate: new Map(facts.hires.map((hire) => [hire.jobCandidateId, endOf(world, facts, hire)])),
    asked: new Set(asked.map((hire) => hire.human)),
    storeLost: world.storeLost,
  };
}

/**
 * I5: with everything that broke, HRIS, partner and store end as on a day when nothing breaks. Compared are seeds
 * without a change of
 * mind, and people about whom nobody was asked on either day (issue 4). A store that was deleted cannot be the same
 * afterwards; what it
 * led to outside can. The text is compared, not its hash: it says what differs.
 */
export function compareEnds(broken: Ends, quiet: Ends): { compared: number; violations: string[] } {
  const ours = [...quiet.byJobCandidate].filter(([, { human }]) => !broken.asked.has(human) && !quiet.asked.has(human));
  const parts = broken.storeLost ? (['outside'] as const) : (['outside', 'store'] as const);
  const violations = ours.flatMap(([id, right]) => {
    const found = broken.byJobCandidate.get(id);
    return parts
      .filter((part) => found?.[part] !== right[part])
      .map((part) => `I5 job candidate ${id} ended ${part} as ${found?.[part]}, and without faults as ${right[part]}`);
  });
  return { compared: ours.length, violations };
}

function isAsked(hire: HireFact): boolean {
  return hire.everHeld || hire.openHolds.length > 0 || hire.answers.length > 0;
}

function endOf(world: World, { employees, enrolments }: Facts, hire: HireFact): End {
  const records = employees.get(hire.human) ?? [];
  const nameOf = (id: string | undefined | null): string | null => {
    if (id === undefined || id === null) return null;
    const own = records.findIndex((one) => one.number === id || one.id === id);
    return own < 0 ? `not theirs: ${id}` : `employee ${own + 1}`;
  };
  const enrolled = (enrolments.get(hire.customer.companyId) ?? []).filter(
    (one) => one.candidateId === hire.candidateId,
  );
  const outside = {
    hired: hire.hiredNow,
    employees: records.map((one) => employeeEnd(world, hire, one)),
    enrolments: enrolled.map((one) => enrolmentEnd(one, nameOf)),
    shownId: nameOf(idFieldOf(world, hire)),
  };
  const store = {
    hires: periodsOf(world, hire).map(({ employeeId, ...row }) => ({ ...row, employee: nameOf(employeeId) })),
    made: madeFor(world, hire),
    links: linksOf(world, hire).map(nameOf),
  };
  return { human: hire.human, outside: JSON.stringify(outside), store: JSON.stringify(store) };
}

/** A name that recruiters corrected while the hire was under way depends on the moment; asked.ts judges it. */
function employeeEnd({ names }: World, { candidateId }: HireFact, { fields, reference }: Employee): object {
  const { familyName, ...others } = fields;
  return { reference, ...others, familyName: names.has(candidateId) ? 'corrected' : familyName };
}

function enrolmentEnd(
  { ref, status, external }: EnrolmentFact,
  nameOf: (number: string | undefined) => string | null,
): object {
  return { ref, status, external: { status: external.status, employee: nameOf(external.employeeId) } };
}

interface HireEnd {
  period: number;
  state: string;
  step: string;
  enrolment: number;
  reference: string | null;
  onboarding: string | null;
  employeeId: string | null;
}

function periodsOf({ store }: World, { tenantId, jobCandidateId }: HireFact): HireEnd[] {
  return store.all<HireEnd>(
    `select period, state, step, enrolment, onboarding_reference as reference, onboarding_status as onboarding,
       employee_id as employeeId
     from hires where tenant_id = ? and job_candidate_id = ? order by period`,
    tenantId,
    jobCandidateId,
  );
}

function madeFor({ store }: World, { tenantId, jobCandidateId }: HireFact): string[] {
  const rows = store.all<{ verb: string }>(
    "select distinct verb from intents where tenant_id = ? and job_candidate_id = ? and outcome = 'done' order by verb",
    tenantId,
    jobCandidateId,
  );
  return rows.map(({ verb }) => verb);
}

function linksOf({ store }: World, { customer, candidateId }: HireFact): string[] {
  const rows = store.all<{ id: string }>(
    "select value as id from person_keys where kind = 'employee' and company = ? and candidate_id = ?",
    String(customer.companyId),
    candidateId,
  );
  return rows.map(({ id }) => id);
}
