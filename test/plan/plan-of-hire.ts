import { type Decisions, decide, undecided } from '../../src/hire/answers.ts';
import type { Change } from '../../src/hire/hire.ts';
import type { Held } from '../../src/hire/holds.ts';
import type { Finding } from '../../src/plan/identity-ladder.ts';
import { type KnownPerson, type LinkedPerson, planEmployee, readingFor } from '../../src/plan/plan-employee.ts';
import { inHr } from './findings.ts';

/** What a hire sees: its person, the HR system, and whom employees are linked to. */
export interface World extends Partial<KnownPerson> {
  findings?: readonly Finding[];
  links?: readonly LinkedPerson[];
  /** The ids that the HR system can read. */
  employees?: readonly string[];
}

/** What a person answers, and what has changed in the world by then. */
export interface Answered {
  answer: string;
  argument?: string;
  meanwhile?: World;
}

export const ada: KnownPerson = {
  ref: { tenantId: 'acme', jobCandidateId: '5012', period: 1 },
  candidateId: '88',
  fields: { givenName: 'Ada', workEmail: 'ada@acme.example', title: 'Engineer', startDate: '2026-12-01' },
  ofJob: { title: 'Engineer', startDate: '2026-12-01' },
  problems: [],
  own: undefined,
  before: undefined,
  reference: 'acme:88',
  unsettledCreate: false,
};

/** The employee is another person, or Ada. */
export function linkedTo(employeeId: string, whom: 'somebody' | 'ada'): LinkedPerson {
  const hire = { tenantId: 'acme', jobCandidateId: '4001', period: 1 };
  return { employeeId, isThisPerson: whom === 'ada', hire };
}

/** Reads only what the plan asks for, then plans. */
export function planIn(world: World, decided: Partial<Decisions> = {}): Change | Held {
  const { findings, links = [], employees = [], ...known } = world;
  const person = { ...ada, ...known };
  const decisions = { ...undecided, ...decided };
  const reading = readingFor(person, decisions);
  if (reading === 'none') return planEmployee(person, decisions);
  if (reading === 'ladder') return planEmployee({ ...person, findings: findings ?? [], links }, decisions);
  const named = employees.includes(decisions.link ?? '') ? inHr(decisions.link ?? '') : undefined;
  return planEmployee({ ...person, named, links }, decisions);
}

/** A plan in a word or two: `create`, `link 7`, `update 3`, or the code of the hold. */
export function inWords(planned: Change | Held): string {
  if ('verdict' in planned) return planned.hold.code;
  return planned.kind === 'create' ? 'create' : `${planned.kind} ${planned.employee.id}`;
}

/** What is planned at first and after each answer; nobody is asked once a change is planned. */
export function story(world: World, answers: readonly Answered[]): string[] {
  const given: Array<Parameters<typeof decide>[0][number]> = [];
  const told: string[] = [];
  let [seen, planned] = [world, planIn(world)];
  for (const { answer, argument, meanwhile = {} } of answers) {
    if (!('verdict' in planned)) throw new Error(`nobody is asked after ${inWords(planned)}`);
    if (!(planned.hold.answers as readonly string[]).includes(answer)) throw new Error(`${answer} is not accepted`);
    told.push(inWords(planned));
    given.push({ answer, argument, details: planned.hold.details ?? {} });
    seen = { ...seen, ...meanwhile };
    planned = planIn(seen, decide(given));
  }
  return [...told, inWords(planned)];
}
