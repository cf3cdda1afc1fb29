import { isConnectorError } from '../../src/errors.ts';
import { answerHold, type HoldAnswer } from '../../src/operator/holds.ts';
import { listHolds } from '../../src/store/holds.ts';
import type { HoldRow } from '../../src/store/schema.ts';
import type { HireClient } from '../../src/temporal/hire-client.ts';
import { rename } from './people.ts';
import { drawOne, has } from './scenario.ts';
import { policies } from './tenants.ts';
import { type Customer, humanOf, served, takes, type World } from './world.ts';

/**
 * Somebody who looks before they answer: who is an employee is read from the HRIS itself. Answers every open hold, or
 * while the
 * storm is on only those that are a minute old. Says how many.
 */
export async function answerHolds(world: World): Promise<number> {
  const { given } = world;
  let count = 0;
  for (const hold of await listHolds(world.outside)) {
    const accepted = JSON.parse(hold.answers) as string[];
    if (hold.answered_at !== null || accepted.length === 0) continue;
    if (!world.calm && world.timeline.now() - hold.opened_at < 60_000) continue;
    const customer = served(world).find(({ tenant }) => tenant.tenant === hold.tenant_id)!;
    const candidate = Number(world.people.get(String(hold.job_candidate_id)));
    if (world.scenario.edits && candidate > 0 && world.whims() < 0.4) rename(world, customer, candidate);
    const [answer, args] = decide(world, customer, hold, accepted);
    given.push({
      tenantId: hold.tenant_id,
      jobCandidateId: hold.job_candidate_id,
      period: hold.period,
      code: hold.code,
      answer,
      named: args,
      human: ownerOf(world, customer, hold),
      at: world.timeline.now(),
    });
    for (const id of answer === 'adopt' && hold.job_candidate_id === null ? args : [])
      given.push({
        tenantId: hold.tenant_id,
        jobCandidateId: id,
        period: 1,
        code: hold.code,
        answer: 'adopt',
        named: [],
        human: '',
        at: world.timeline.now(),
      });
    if (has(world, 'wrong-answers') && (await answerWrongly(world, hold, answer))) {
      count += 1;
      continue;
    }
    count += await give(world, { holdId: hold.hold_id, answer, arguments: args });
    if (has(world, 'wrong-answers')) count += await give(world, { holdId: hold.hold_id, answer, arguments: args });
  }
  return count;
}

/** Once a question somebody answers with an id that is nobody's. True where that was taken. */
async function answerWrongly(world: World, hold: HoldRow, answer: string): Promise<boolean> {
  const wrong = WRONG[answer];
  const key = `${hold.tenant_id} ${hold.job_candidate_id} ${hold.code}`;
  if (wrong === undefined || world.answeredWrongly.has(key)) return false;
  world.answeredWrongly.add(key);
  return (await give(world, { holdId: hold.hold_id, answer, arguments: [wrong] })) > 0;
}

const WRONG: Readonly<Record<string, string>> = { link: 'e999', adopt: '999999' };

/** 1 where the answer was taken. Whoever is refused, or hears nothing back, has said it all the same. */
async function give(world: World, given: Omit<HoldAnswer, 'by'>): Promise<number> {
  try {
    await answerHold({ store: world.outside, hires: hireClient(world) }, { ...given, by: 'somebody' });
    return 1;
  } catch (error) {
    if (!has(world, 'wrong-answers') && !has(world, 'unheard-answers')) throw error;
    return isConnectorError(error, 'HOLD_ANSWERED') ? 0 : 1;
  }
}

type Choice = [answer: string, args: string[]];

function decide(world: World, customer: Customer, hold: HoldRow, accepted: string[]): Choice {
  const wish = byCode[hold.code] ?? (accepted.includes('link') ? linkOrCreate : undefined);
  const choice = wish?.(world, customer, hold) ?? [accepted.includes('retry') ? 'retry' : accepted[0]!, []];
  if (accepted.includes(choice[0])) return choice;
  return [accepted[0]!, []];
}

type Wish = (world: World, customer: Customer, hold: HoldRow) => Choice;

function linkOrCreate(world: World, customer: Customer, hold: HoldRow): Choice {
  const human = ownerOf(world, customer, hold);
  const employee = customer.hris.employees.find((one) => one.human === human);
  return employee === undefined ? ['create', []] : ['link', [employee.id]];
}

const shownOrOther: Wish = (world, customer, hold) => {
  const choice = linkOrCreate(world, customer, hold);
  const { employeeId } = JSON.parse(hold.details) as { employeeId: string };
  return choice[0] === 'link' && choice[1][0] === employeeId ? ['link-anyway', []] : choice;
};

const adoptOwn: Wish = (world, customer, hold) => {
  const [own] = world.state.all<{ id: string }>(
    `select o.id from onboarding_candidates o
       join candidates c on c.email = o.email join job_candidates j on j.candidate_id = c.id
     where j.id = ? and o.company_id = ? and o.external_ref is null order by o.seq desc`,
    Number(hold.job_candidate_id),
    customer.companyId,
  );
  return own === undefined ? ['skip-onboarding', []] : ['adopt', [own.id]];
};

const onboarding: Wish = ({ whims }) => [drawOne(whims, ['re-enrol', 'create-anyway', 'cancel']), []];

const byCode: Record<string, Wish> = {
  ONBOARDING_REJECTED: onboarding,
  ONBOARDING_FAILED: onboarding,
  ONBOARDING_TERMINATED: onboarding,
  ONBOARDING_DEADLINE: onboarding,
  PERSON_HIRED_BEFORE: ({ whims }) => [drawOne(whims, ['same-employee', 'transfer', 'new-employment']), []],
  PERSON_RECORDED(world, customer, hold) {
    const choice = linkOrCreate(world, customer, hold);
    return choice[0] === 'link' ? choice : ['new-employment', []];
  },
  PERSON_HIRED_ELSEWHERE: ({ whims }) => [drawOne(whims, ['here-too', 'cancel']), []],
  JOB_LEFT_SCOPE: () => ['cancel', []],
  // Somebody whose profile was deleted applied again with an e-mail alone: the question asks for their name.
  ENROLMENT_INCOMPLETE(world, customer, hold) {
    const person = world.state.one<{ id: number }>(
      'select candidate_id as id from job_candidates where id = ?',
      Number(hold.job_candidate_id),
    );
    if (person === undefined) return ['cancel', []];
    rename(world, customer, person.id, { firstName: 'Filled' });
    return ['retry', []];
  },
  // The same person's new profile has no start date, and nobody knows one.
  MAPPING_INCOMPLETE: () => ['cancel', []],
  ENROLLED_ELSEWHERE: adoptOwn,
  ENROLMENT_COMPLETED_ELSEWHERE: adoptOwn,
  ADOPT_NOT_FOUND: adoptOwn,
  ADOPT_OTHER_EMAIL: () => ['skip-onboarding', []],
  ADOPT_MISFIT: () => ['skip-onboarding', []],
  TOO_MANY_CANCELLATIONS: (world, _customer, hold) => [isHired(world, hold.job_candidate_id) ? 'retry' : 'cancel', []],
  NOT_FOUND: (world, _customer, hold) => [isHired(world, hold.job_candidate_id) ? 'retry' : 'keep', []],
  LEFT_AFTER_EMPLOYEE: (world, _customer, hold) => [isHired(world, hold.job_candidate_id) ? 'keep' : 'left', []],
  LEFT_BEFORE_START: (world, _customer, hold) => [
    isHired(world, hold.job_candidate_id) ? 'keep' : drawOne(world.whims, ['no-show', 'moved', 'keep']),
    [],
  ],
  EMPLOYMENT_NOT_ENDED: () => ['ended', []],
  // Nobody ends the employment at HR, without which a retry asks the same again.
  EMPLOYEE_EXISTS: () => ['keep', []],
  // Once everything has arrived there: whoever HR shows is the employee, and otherwise nothing is left to withdraw.
  LEFT_WHILE_PENDING(world, customer, hold) {
    if (!world.calm) return ['retry', []];
    const choice = linkOrCreate(world, customer, hold);
    return choice[0] === 'link' ? choice : ['cancel', []];
  },
  CREDITS_USED_UP(world, customer) {
    world.act('setCredits', customer, { onboardingCredits: 100 });
    return ['retry', []];
  },
  // Told that the one whom they named is another hire's, nobody names them again.
  EMPLOYEE_GONE(world, customer, hold) {
    const choice = linkOrCreate(world, customer, hold);
    return 'other' in JSON.parse(hold.details) || choice[0] !== 'link' ? ['keep', []] : choice;
  },
  EMPLOYEE_OF_ANOTHER(world, customer, hold) {
    const choice = linkOrCreate(world, customer, hold);
    const { employeeIds } = JSON.parse(hold.details) as { employeeIds: string[] };
    return choice[0] === 'link' && choice[1][0] === employeeIds[0] ? ['same-person', []] : choice;
  },
  LINK_OTHER_NAME: shownOrOther,
  RELINK_OTHER_NAME(world, customer, hold) {
    const choice = shownOrOther(world, customer, hold);
    return choice[0] === 'create' ? ['keep', []] : choice;
  },
  HIRES_NOT_RESTORED: () => ['dismiss', []],
  REBUILT_BASELINE(world, customer, hold) {
    const { jobCandidateIds } = JSON.parse(hold.details) as { jobCandidateIds: string[] };
    const meant = jobCandidateIds.filter(
      (id) => isHired(world, id) && !world.hiredBefore.has(id) && takes(customer, world.jobs.get(id) ?? ''),
    );
    return meant.length === 0 ? ['dismiss', []] : ['adopt', meant];
  },
};

/** In a hiring stage now, by the sandbox's own tables. */
export function isHired(world: World, jobCandidateId: string | null): boolean {
  return (
    world.state.one(
      "select 1 from job_candidates j join stages s on s.id = j.stage_id where j.id = ? and s.type = 'HIRED' and " +
        'j.rejected = 0',
      Number(jobCandidateId),
    ) !== undefined
  );
}

function ownerOf(world: World, customer: Customer, hold: HoldRow): string {
  const row = world.people.get(String(hold.job_candidate_id));
  return row === undefined ? '' : humanOf(world, customer.companyId, row);
}

function hireClient(world: World): HireClient {
  const { temporal } = world;
  const client = {
    workflow: {
      signalWithStart: async (
        type: string,
        options: { workflowId: string; args: unknown[]; signalArgs: unknown[] },
      ) => {
        if (has(world, 'unheard-answers') && world.random() < 0.2) throw new Error('Temporal is away');
        temporal.signalWithStart(options.workflowId, type, options.args[0], { name: 'hint', args: options.signalArgs });
      },
    },
  };
  const timing = {
    heartbeatMs: policies.heartbeatMs,
    attemptMs: policies.giveUpMs * 2 + 60_000,
    retryMs: policies.retryMs,
  };
  return { client, installationId: 'hbsimulation', timing } as unknown as HireClient;
}
