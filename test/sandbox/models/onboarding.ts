/** What is done to onboarding, in the sandbox and in the model. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Answer, Company, Json } from './in-memory-sandbox.ts';
import { accepted, chosen, type Family, pick, refusedAs, step } from './model-run.ts';
import {
  becomes,
  begin,
  compare,
  type Flow,
  flowId,
  idOf,
  type Onboarding,
  overallOf,
  readOne,
  TERMINAL,
} from './onboarding-model.ts';

const person = fc.record({
  firstName: fc.constant('Ada'),
  lastName: fc.oneof({ weight: 9, arbitrary: fc.constant('Lovelace') }, fc.constant('')),
  email: fc.constantFrom(
    'ada@example.org',
    'Ada@example.org',
    'bo@example.org',
    'cy@example.org',
    'dee@example.org',
    'no e-mail',
  ),
  externalRef: fc.constantFrom<Array<string | undefined>>(undefined, undefined, 'r1', 'r2', 'r3', 'x'.repeat(256)),
});

type Person = typeof person extends fc.Arbitrary<infer One> ? One : never;

const enrol = step('enrol', fc.record({ flow: pick, person }), (model: Onboarding, company, drawn) => {
  const flow = chosen(model.flows, drawn.flow);
  const answer = company.api('POST', `/onboarding/flows/${flowId(model, drawn.flow)}/candidates`, drawn.person);
  const refusal = judge(model, flow, [drawn.person]);
  if (flow === undefined || refusal !== undefined) return isRefused(model, company, answer, refusal, 1);
  const made = accepted(answer, 201, 'an enrolment');
  assert.ok(/^https?:/.test(made.journeyUrl) && typeof made.enrolledAt === 'number');
  enter(model, company, flow, [drawn.person], [made]);
});

const enrolMany = step(
  'enrol many',
  fc.record({ flow: pick, people: fc.array(person, { maxLength: 4 }) }),
  (model: Onboarding, company, drawn) => {
    const flow = chosen(model.flows, drawn.flow);
    const path = `/onboarding/flows/${flowId(model, drawn.flow)}/candidates/bulk`;
    const answer = company.api('POST', path, { candidates: drawn.people });
    const refusal = judge(model, flow, drawn.people);
    if (flow === undefined || refusal !== undefined)
      return isRefused(model, company, answer, refusal, drawn.people.length);
    enter(model, company, flow, drawn.people, accepted(answer, 201, 'enrolments').enrolled);
  },
);

/** Order of checks: resource, body, state, credits (G26, O13); nothing of a refused batch is kept (O3, O7). */
function judge(model: Onboarding, flow: Flow | undefined, people: readonly Person[]): string | undefined {
  if (flow === undefined) return 'NOT_FOUND';
  const wrong = people.some(
    ({ lastName, email, externalRef }) => lastName === '' || !email.includes('@') || (externalRef?.length ?? 0) > 255,
  );
  if (people.length === 0 || wrong || !flow.active) return 'INVALID_REQUEST';
  const live = model.enrolments.filter((one) => one.flowId === flow.id && !TERMINAL.has(one.overallStatus));
  const emails = [...live.map((one) => one.email), ...people.map((one) => one.email.toLowerCase())];
  const refs = [...live, ...people].flatMap(({ externalRef }) => (externalRef ? [externalRef] : []));
  const before =
    new Set(live.map((one) => one.email)).size + new Set(live.flatMap((one) => one.externalRef ?? [])).size;
  const among = live.length + live.filter((one) => one.externalRef !== null).length;
  assert.equal(before, among, 'the active enrolments of a flow are of different people');
  if (new Set(emails).size < emails.length || new Set(refs).size < refs.length) return 'DUPLICATE_ENROLLMENT';
  return people.length > model.credits ? 'INSUFFICIENT_ONBOARDING_CREDITS' : undefined;
}

function isRefused(model: Onboarding, company: Company, answer: Answer, code: string | undefined, count: number): void {
  refusedAs(answer, [code ?? ''], 'the enrolment');
  assert.deepEqual(company.events(), [], 'nobody is told of a refusal');
  if (code === 'INSUFFICIENT_ONBOARDING_CREDITS')
    assert.deepEqual(answer.body.error.details, { requiredCredits: count, availableCredits: model.credits });
}

function enter(
  model: Onboarding,
  company: Company,
  flow: Flow,
  people: readonly Person[],
  made: readonly Json[],
): void {
  assert.deepEqual(
    made.map((one) => [one.email?.toLowerCase(), one.externalRef ?? null]),
    people.map((one) => [one.email.toLowerCase(), one.externalRef ?? null]),
  );
  model.credits -= people.length;
  const events = company.events().map(([name, data]) => [name, data.onboardingCandidateId]);
  assert.deepEqual(
    events,
    made.map((one) => ['onboarding.candidate.enrolled', one.onboardingCandidateId]),
  );
  for (const [at, { email, externalRef }] of people.entries())
    model.enrolments.push({
      id: made[at].onboardingCandidateId,
      flowId: flow.id,
      email: email.toLowerCase(),
      externalRef: externalRef ?? null,
      overallStatus: 'not_started',
      steps: flow.steps.map((stepKey) => ({ stepKey, status: 'pending' })),
      external: {},
    });
}

const terminate = step(
  'terminate',
  fc.record({ enrolment: pick, reason: fc.boolean() }),
  (model: Onboarding, company, drawn) => {
    const enrolment = chosen(model.enrolments, drawn.enrolment);
    const path = `/onboarding/candidates/${idOf(model, drawn.enrolment)}/terminate`;
    const answer = company.api('POST', path, drawn.reason ? { reason: 'left' } : undefined);
    if (enrolment === undefined) return refusedAs(answer, ['NOT_FOUND'], 'the termination');
    if (TERMINAL.has(enrolment.overallStatus)) return refusedAs(answer, ['ALREADY_TERMINAL'], 'the termination');
    assert.equal(accepted(answer, 200, 'a termination').overallStatus, 'terminated');
    becomes(company, enrolment, 'terminated');
  },
);

const setExternal = step(
  'set external status',
  fc.record({
    enrolment: pick,
    status: fc.constantFrom('hired', undefined),
    employeeId: fc.constantFrom('000123', '7', undefined),
  }),
  (model: Onboarding, company, { enrolment: which, ...body }) => {
    const enrolment = chosen(model.enrolments, which);
    const answer = company.api('PATCH', `/onboarding/candidates/${idOf(model, which)}/external-status`, body);
    const given = Object.entries(body).filter(([, value]) => value !== undefined);
    const broken = [
      ...(enrolment === undefined ? ['NOT_FOUND'] : []),
      ...(given.length === 0 ? ['INVALID_REQUEST'] : []),
    ];
    if (enrolment === undefined || broken.length > 0) return refusedAs(answer, broken, 'the external status');
    accepted(answer, 200, 'an external status');
    // What is kept of an earlier one under keys not sent is not described: only the last is held to.
    enrolment.external = Object.fromEntries(given) as Record<string, string>;
  },
);

const workOnStep = step(
  'work on a step',
  fc.record({ enrolment: fc.nat(9), nth: fc.nat(3), status: fc.constantFrom('in_progress', 'submitted', 'verified') }),
  (model: Onboarding, company, drawn) => {
    const enrolment = model.enrolments[drawn.enrolment % Math.max(1, model.enrolments.length)];
    const worked = enrolment?.steps[drawn.nth % enrolment.steps.length];
    // Which moves of a step are allowed is not described; these go forward.
    const ranks = ['pending', 'in_progress', 'submitted', 'verified'];
    if (enrolment === undefined || worked === undefined || TERMINAL.has(enrolment.overallStatus)) return;
    if (ranks.indexOf(drawn.status) <= ranks.indexOf(worked.status)) return;
    if (enrolment.overallStatus === 'final_handoff') return;
    company.act('submitStep', { onboardingCandidateId: enrolment.id, stepKey: worked.stepKey, status: drawn.status });
    worked.status = drawn.status;
    const names = company.events();
    const right = overallOf(enrolment.steps.map(({ status }) => status));
    const told = names.filter(([name]) => name === 'onboarding.candidate.status_changed');
    const now = readOne(company, enrolment.id).overallStatus as string;
    assert.ok(right.includes(now), `${now} is ${right.join(' or ')}`);
    assert.equal(told.length, now === enrolment.overallStatus ? 0 : 1, 'a change is told once');
    enrolment.overallStatus = now;
  },
);

const finish = step(
  'a person decides',
  fc.record({ enrolment: fc.nat(9), status: fc.constantFrom('completed', 'rejected', 'failed', 'under_review') }),
  (model: Onboarding, company, drawn) => {
    const enrolment = model.enrolments[drawn.enrolment % Math.max(1, model.enrolments.length)];
    if (enrolment === undefined || TERMINAL.has(enrolment.overallStatus)) return;
    company.act('setOnboardingStatus', { onboardingCandidateId: enrolment.id, overallStatus: drawn.status });
    becomes(company, enrolment, drawn.status);
  },
);

const list = step(
  'list',
  fc.record({
    flow: fc.option(fc.nat(3)),
    status: fc.constantFrom('not_started', 'terminated', undefined),
    ref: fc.constantFrom('r1', undefined),
    page: fc.integer({ min: 0, max: 3 }),
  }),
  (model: Onboarding, company, drawn) => {
    const flow = drawn.flow === null ? undefined : model.flows[drawn.flow % model.flows.length];
    const filter = { flowId: flow?.id, status: drawn.status, externalRef: drawn.ref };
    const given = Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [`&${name}=${value}`]));
    const answer = company.api('GET', `/onboarding/candidates?limit=2&page=${drawn.page}${given.join('')}`);
    if (drawn.page === 0) return refusedAs(answer, ['INVALID_REQUEST'], 'page 0');
    const right = model.enrolments.filter(
      (one) =>
        one.flowId === (flow?.id ?? one.flowId) &&
        one.overallStatus === (drawn.status ?? one.overallStatus) &&
        one.externalRef === (drawn.ref ?? one.externalRef),
    );
    const { candidates, pagination } = accepted(answer, 200, 'a list');
    assert.deepEqual(pagination, {
      page: drawn.page,
      limit: 2,
      total: right.length,
      totalPages: Math.ceil(right.length / 2),
    });
    assert.equal(candidates.length, Math.max(0, Math.min(2, right.length - 2 * (drawn.page - 1))));
    const ids = right.map(({ id }) => id);
    for (const one of candidates) assert.ok(ids.includes(one.onboardingCandidateId) && !('stepProgress' in one));
  },
);

const setCredits = step(
  'set credits',
  fc.record({ onboardingCredits: fc.nat(5) }),
  (model: Onboarding, company, drawn) => {
    company.act('setCredits', drawn);
    model.credits = drawn.onboardingCredits;
  },
);

const setFlow = step(
  'set flow',
  fc.record({ flow: fc.nat(3), active: fc.boolean() }),
  (model: Onboarding, company, drawn) => {
    const flow = model.flows[drawn.flow % model.flows.length] as Flow;
    company.act('setOnboardingFlowStatus', { flowId: flow.id, status: drawn.active ? 'ACTIVE' : 'INACTIVE' });
    flow.active = drawn.active;
  },
);

const rare = [list, setCredits, setFlow];

export const onboarding: Family<Onboarding> = {
  name: 'onboarding',
  begin,
  // Repeated steps are drawn more often.
  steps: [enrol, enrol, enrol, enrolMany, terminate, setExternal, workOnStep, workOnStep, finish].concat(rare),
  compare,
};
