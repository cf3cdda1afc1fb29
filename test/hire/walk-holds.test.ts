import { isDeepStrictEqual } from 'node:util';
import pino from 'pino';
import { expect, test } from 'vitest';
import { openHold, takeAnswer } from '../../activities/hire/hold-hire.ts';
import { type Answer, type Decisions, decide, entryOf, undecided } from '../../src/hire/answers.ts';
import { holdCatalogue, type tenantHolds as ofTenant } from '../../src/hire/hold-catalogue.ts';
import { type HoldCode, type HoldRequest, holdOf, refusalAnswers } from '../../src/hire/holds.ts';
import { changePerson, type Person, unknownPerson } from '../../src/person/person.ts';
import { type Finding, judgeCreate } from '../../src/plan/identity-ladder.ts';
import { type EmployeeObservation, planEmployee } from '../../src/plan/plan-employee.ts';
import { judgeAdoption, planEnrolment } from '../../src/plan/plan-enrolment.ts';
import { insertHires, latestHire } from '../../src/store/hires.ts';
import { answerHold, answersOf, listHolds } from '../../src/store/holds.ts';
import type { Store } from '../../src/store/open-store.ts';
import { inHr } from '../plan/findings.ts';
import { freshStore } from '../store/stores.ts';

const ref = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };
const other = { tenantId: 'acme', jobCandidateId: '4001', period: 1 };
const { jobCandidateId } = ref;

/** What an answer that takes an id is given, and what the world then shows under it. */
const NAMED = { id: 'oc-right', employeeId: 'right' };

/** Everything that led to one hold, and what comes of the same facts once somebody has answered. */
interface Case {
  hold: HoldRequest;
  before?: Partial<Decisions>;
  /** The step that held, over unchanged facts. Absent where each answer ends the hire or only looks again. */
  again?: (decisions: Decisions) => unknown;
}

const observed: EmployeeObservation = {
  ref,
  candidateId: '88',
  fields: {},
  ofJob: {},
  problems: [],
  own: undefined,
  before: undefined,
  reference: 'acme:88',
  unsettledCreate: false,
};

function plan(facts: Partial<EmployeeObservation>): (decisions: Decisions) => unknown {
  return (decisions) => {
    const named = decisions.link === NAMED.employeeId ? { named: inHr(NAMED.employeeId) } : {};
    return planEmployee({ ...observed, ...facts, ...named }, decisions);
  };
}

/** The hire asks for its person. */
function hold(known: Partial<Person>, decided: Decisions, elsewhere?: typeof other): unknown {
  const subject = { ...unknownPerson('p1', 'hr', [{ company: '17', candidateId: '88' }]), ...known };
  const event = { kind: 'hold', hire: ref, decided, isUnderWay: false, company: '* sandbox here' } as const;
  const row = { isOpen: true, isDone: false, isServed: true, employee: undefined };
  return changePerson({ subject, others: [] }, event, { now: 1, hire: row, elsewhere, unsettled: () => undefined });
}

function employedBy(hire: typeof other): Person['employees'][number] {
  const candidate = { company: '17', candidateId: '88' };
  return { employee: inHr('7'), number: null, candidate, hire, how: 'made', since: 0 };
}

function enrol(decisions: Decisions): unknown {
  const planned = planEnrolment({ flow: '7' }, decisions);
  if (planned.kind === 'enrol') return 'the partner answers as before';
  if (planned.kind !== 'adopt') return planned;
  const { onboardingCandidateId } = planned;
  const emailConfirmed = decisions.adoptAnyway === onboardingCandidateId;
  if (onboardingCandidateId === 'oc-wrong') return judgeAdoption({ ...adoption, otherHire: '4001', emailConfirmed });
  const email = { shown: onboardingCandidateId === 'oc-other' ? 'bob@acme.example' : 'a@b.c', wanted: 'a@b.c' };
  return judgeAdoption({ ...adoption, onboardingCandidateId, email, emailConfirmed });
}

const adoption = {
  jobCandidateId,
  onboardingCandidateId: 'oc-wrong',
  otherHire: undefined,
  flow: { shown: '7', wanted: '7' },
  email: { shown: undefined, wanted: undefined },
  emailConfirmed: false,
};

const weak: Finding[] = [
  { by: 'reference', found: { kind: 'none', trusted: true } },
  { by: 'email', found: { kind: 'one', ref: inHr('wrong'), by: 'email' } },
];
const anothers: Partial<EmployeeObservation> = {
  named: inHr('wrong'),
  findings: weak,
  links: [{ employeeId: 'wrong', isThisPerson: false, hire: other }],
};
const lost = { attempt: 1, outcome: 'open' as const };

function create(decisions: Decisions): unknown {
  if (decisions.link !== undefined) return plan({ findings: weak })(decisions);
  return judgeCreate(weak, lost, decisions);
}

const rejected = { jobCandidateId, status: 'rejected' };
/** Their answers lead to steps of their own: another enrolment, the employee, the end. */
const onboard = (decisions: Decisions): unknown => decisions.createAnyway ?? 'waits as before';

/** They are no hire's. */
type OfTenant = keyof typeof ofTenant;

const cases: Record<Exclude<HoldCode, OfTenant>, Case> = {
  ENROLMENT_UNKNOWN: { hold: holdOf('ENROLMENT_UNKNOWN', { jobCandidateId, reference: 'r' }), again: enrol },
  ENROLLED_ELSEWHERE: { hold: holdOf('ENROLLED_ELSEWHERE', { jobCandidateId }), again: enrol },
  ENROLMENT_COMPLETED_ELSEWHERE: {
    hold: holdOf('ENROLMENT_COMPLETED_ELSEWHERE', { jobCandidateId, onboardingCandidateIds: ['oc-right'] }),
    again: enrol,
  },
  ADOPT_NOT_FOUND: {
    hold: holdOf('ADOPT_NOT_FOUND', { onboardingCandidateId: 'oc-wrong' }),
    before: { adopt: 'oc-wrong' },
    again: enrol,
  },
  ADOPT_MISFIT: {
    hold: holdOf('ADOPT_MISFIT', { jobCandidateId, onboardingCandidateId: 'oc-wrong', misfit: 'belongs elsewhere' }),
    before: { adopt: 'oc-wrong' },
    again: enrol,
  },
  ADOPT_OTHER_EMAIL: {
    hold: holdOf('ADOPT_OTHER_EMAIL', { jobCandidateId, onboardingCandidateId: 'oc-other' }),
    before: { adopt: 'oc-other' },
    again: enrol,
  },
  ENROLMENT_GONE: { hold: holdOf('ENROLMENT_GONE', { jobCandidateId, onboardingCandidateId: 'oc' }), again: onboard },
  ONBOARDING_REJECTED: { hold: holdOf('ONBOARDING_REJECTED', rejected), again: onboard },
  ONBOARDING_FAILED: { hold: holdOf('ONBOARDING_FAILED', rejected), again: onboard },
  ONBOARDING_TERMINATED: { hold: holdOf('ONBOARDING_TERMINATED', rejected), again: onboard },
  ONBOARDING_DEADLINE: { hold: holdOf('ONBOARDING_DEADLINE', { jobCandidateId }), again: onboard },
  JOB_LEFT_SCOPE: {
    hold: holdOf('JOB_LEFT_SCOPE', { jobCandidateId, jobId: '501' }),
    again: (decisions) => decisions.takeAnyway ?? 'held as before',
  },
  JOB_NOT_SHOWN: {
    hold: holdOf('JOB_NOT_SHOWN', { jobCandidateId, jobId: '501' }),
    again: (decisions) => decisions.jobAsKnown ?? 'held as before',
  },
  START_DATE_PAST: {
    hold: holdOf('START_DATE_PAST', { jobCandidateId, source: 'job.startDate', days: 30 }),
    again: (decisions) => decisions.startInPast ?? 'held as before',
  },
  PERSON_HIRED_BEFORE: {
    hold: holdOf('PERSON_HIRED_BEFORE', { jobCandidateId, other }),
    again: (decisions) => hold({ owner: other, employees: [employedBy(other)] }, decisions),
  },
  PERSON_RECORDED: {
    hold: holdOf('PERSON_RECORDED', { jobCandidateId, other }),
    again: (decisions) => hold({ recorded: { ...other, how: 'baseline' } }, decisions),
  },
  PERSON_BEING_HIRED: { hold: holdOf('PERSON_BEING_HIRED', { jobCandidateId, other }) },
  PERSON_HIRED_ELSEWHERE: {
    hold: holdOf('PERSON_HIRED_ELSEWHERE', { jobCandidateId, other }),
    again: (decisions) => hold({}, decisions, other),
  },
  MAPPING_INCOMPLETE: { hold: holdOf('MAPPING_INCOMPLETE', { jobCandidateId, problems: '', fields: {} }) },
  NAMES_USED_UP: { hold: holdOf('NAMES_USED_UP', { jobCandidateId, fields: [], most: 99 }) },
  IDENTITY_AMBIGUOUS: {
    hold: holdOf('IDENTITY_AMBIGUOUS', {
      jobCandidateId,
      reason: 'weak-evidence',
      keys: ['email'],
      employeeIds: ['wrong'],
    }),
    again: plan({ findings: weak }),
  },
  EMPLOYEE_TOLD: {
    hold: holdOf('EMPLOYEE_TOLD', { jobCandidateId, told: '1007' }),
    again: plan({ findings: [{ by: 'reference', found: { kind: 'none', trusted: true } }], told: '1007' }),
  },
  EMPLOYEE_OF_ANOTHER: {
    hold: holdOf('EMPLOYEE_OF_ANOTHER', { jobCandidateId, employeeIds: ['wrong'], other }),
    before: { link: 'wrong' },
    again: plan(anothers),
  },
  FORMER_EMPLOYEE: {
    hold: holdOf('FORMER_EMPLOYEE', { jobCandidateId, employeeIds: ['wrong'] }),
    again: plan({ findings: [{ by: 'reference', found: { kind: 'one', by: 'reference', ref: inHr('wrong') } }] }),
  },
  LINK_NOT_FOUND: {
    hold: holdOf('LINK_NOT_FOUND', { jobCandidateId, employeeId: 'wrong' }),
    before: { link: 'wrong' },
    again: plan({ findings: [] }),
  },
  LINK_OTHER_NAME: {
    hold: holdOf('LINK_OTHER_NAME', { jobCandidateId, employeeId: 'wrong' }),
    before: { link: 'wrong' },
    again: (decisions) => {
      const isOtherName = decisions.link === 'wrong' && decisions.linkAnyway !== 'wrong';
      return plan({ findings: [], named: inHr('wrong'), isOtherName })(decisions);
    },
  },
  CREATE_UNKNOWN: {
    hold: holdOf('CREATE_UNKNOWN', { jobCandidateId, attempt: 1, employeeIds: ['wrong'] }),
    again: create,
  },
  EMPLOYEE_PENDING: {
    hold: holdOf('EMPLOYEE_PENDING', { jobCandidateId, ticket: 't', days: 14 }),
    again: (decisions) => decisions.link ?? 'waits as before',
  },
  REQUEST_LOST: {
    hold: holdOf('REQUEST_LOST', { jobCandidateId, ticket: 't', attempt: 1, employeeIds: ['7'] }),
    again: (decisions) => decisions.link ?? (decisions.neverHappened.has(1) ? 'created' : 'held as before'),
  },
  EMPLOYEE_GONE: {
    hold: holdOf('EMPLOYEE_GONE', { jobCandidateId, employeeId: '7' }),
    again: (decisions) => decisions.link ?? 'held as before',
  },
  RELINK_OTHER_NAME: {
    hold: holdOf('RELINK_OTHER_NAME', { jobCandidateId, employeeId: 'wrong' }),
    before: { link: 'wrong' },
    again: ({ link, linkAnyway }) => (link === 'wrong' && linkAnyway !== 'wrong' ? 'held as before' : link),
  },
  WRITE_BACK_TARGET_MISSING: { hold: holdOf('WRITE_BACK_TARGET_MISSING', { jobCandidateId }) },
  WRITE_BACK_REFUSED: {
    hold: holdOf('WRITE_BACK_REFUSED', { onboardingCandidateId: 'oc', refusal: 'CONFLICT', status: null }),
  },
  WRITE_BACK_NOT_VERIFIED: { hold: holdOf('WRITE_BACK_NOT_VERIFIED', { jobCandidateId, targets: [] }) },
  TOO_MANY_CANCELLATIONS: { hold: holdOf('TOO_MANY_CANCELLATIONS', { jobCandidateId, most: 5 }) },
  TERMINATE_REFUSED: {
    hold: holdOf('TERMINATE_REFUSED', { jobCandidateId, onboardingCandidateIds: ['oc'], refusal: 'X', said: '' }),
  },
  LEFT_AFTER_EMPLOYEE: { hold: holdOf('LEFT_AFTER_EMPLOYEE', { jobCandidateId, employeeId: '7' }) },
  LEFT_BEFORE_START: { hold: holdOf('LEFT_BEFORE_START', { jobCandidateId, employeeId: '7' }) },
  LEFT_WHILE_PENDING: {
    hold: holdOf('LEFT_WHILE_PENDING', { jobCandidateId }),
    again: (decisions) => decisions.link ?? 'waits as before',
  },
  EMPLOYMENT_NOT_ENDED: { hold: holdOf('EMPLOYMENT_NOT_ENDED', { jobCandidateId, employeeId: '7', said: '' }) },
};

const tenantHolds = Object.entries(holdCatalogue).filter(([, { scope }]) => scope === 'tenant');
const refusals = Object.entries(refusalAnswers).map(([when, accepted]): [string, Case] => [
  `a refusal (${when})`,
  { hold: { code: 'FLOW_INACTIVE', message: 'm', answers: accepted } },
]);
const walked = [...Object.entries(cases), ...refusals];

test('the walk passes every hold of the catalogue', () => {
  const codes = [...Object.keys(cases), ...tenantHolds.map(([code]) => code)];
  expect(codes.toSorted()).toEqual(Object.keys(holdCatalogue).toSorted());
});

test.each(walked)('%s: a person may have it looked at again, and may end it', (_, { hold }) => {
  expect(hold.answers).toContain('retry');
  expect(entryOf('retry')).toMatchObject({ next: 'same' });
  const ends = hold.answers.filter((answer) => endOf(answer) !== undefined);
  expect(ends).not.toEqual([]);
});

/** What ends a hire at once, or the step that does; should that be refused, the refusal's own hold ends it at once. */
function endOf(answer: Answer): string | undefined {
  const { ends, next } = entryOf(answer) ?? {};
  return ends ?? (next === 'cancel' ? next : undefined);
}

/** Steps that begin anew, or end the hire. */
const steps: ReadonlySet<string> = new Set(['cancel', 're-enrol', 'end-employment', 'hand-over']);

const answered = walked.flatMap(([name, one]) =>
  one.hold.answers.filter((answer) => answer !== 'retry').map((answer) => [name, answer, one] as const),
);

type Answered = (typeof answered)[number];

/** Whether the hire goes on somewhere else once its hold is opened and answered, and the answer is taken. */
async function leadsOn(store: Store, jobCandidateId: string, [, answer, one]: Answered): Promise<boolean> {
  const { hold, before = {}, again } = one;
  const own = { ...ref, jobCandidateId };
  const parts = { store, log: pino({ level: 'silent' }), limits: { giveUpMs: 60_000 } };
  const deps = parts as unknown as Parameters<typeof takeAnswer>[0];
  await insertHires(store, [{ ...own, state: 'open' }]);
  const { holdId } = await openHold(deps, { ...own, hold });
  const takes = entryOf(answer)?.takes as keyof typeof NAMED | undefined;
  const given = { answer, arguments: takes === undefined ? [] : [NAMED[takes]], by: 'somebody' };
  const isGiven = await answerHold(store, holdId, given);
  const taken = await takeAnswer(deps, { ...own, holdId });
  if (!isGiven || taken.verdict !== 'answered' || (await listHolds(store)).length > 0) return false;
  if (taken.ends !== undefined) return (await latestHire(store, 'acme', jobCandidateId))?.state === taken.ends;
  if (steps.has(taken.next)) return true;
  // Back at the step that held, the answer must have decided something.
  const decisions = { ...undecided, ...before, ...decide(await answersOf(store, own)) };
  return again !== undefined && !isDeepStrictEqual(again(decisions), again({ ...undecided, ...before }));
}

test.each(answered)('%s answered %s leads somewhere else', async (...one) => {
  const { store } = await freshStore('sqlite');
  expect(await leadsOn(store, '5012', one)).toBe(true);
});

test('and so does each word in Postgres', async () => {
  const { store } = await freshStore('postgres');
  const words = [...new Map(answered.map((one) => [one[1], one])).values()];
  const astray: string[] = [];
  for (const [nth, one] of words.entries())
    if (!(await leadsOn(store, String(nth), one))) astray.push(`${one[0]} answered ${one[1]}`);
  expect(astray).toEqual([]);
});
