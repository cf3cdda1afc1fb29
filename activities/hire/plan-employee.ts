import { dayBefore } from '../../src/day-of.ts';
import {
  type Change,
  type Employee,
  type EmployeeFields,
  employeeIn,
  isSameEmployee,
  type KnownEmployee,
} from '../../src/hire/hire.ts';
import type { Held } from '../../src/hire/holds.ts';
import { readsSource } from '../../src/mapping/compile-rule.ts';
import { decidedAbout, type Employed, isSameCandidate } from '../../src/person/person.ts';
import type { Finding } from '../../src/plan/identity-ladder.ts';
import {
  type EmployeeObservation,
  isGivenUp,
  type KnownPerson,
  type LinkedPerson,
  planEmployee as plan,
  readingFor,
} from '../../src/plan/plan-employee.ts';
import { employeeOf } from '../../src/store/hires.ts';
import { giveUpEmployee } from '../../src/store/people.ts';
import { findPerson } from '../../src/store/persons.ts';
import { insertPlan } from '../../src/store/plans.ts';
import { timezoneOf } from '../../src/tenants/schema.ts';
import { keepMapping } from '../connections.ts';
import { claimPerson } from './ask-person.ts';
import { madeId } from './pending-create.ts';
import {
  createReference,
  findByReference,
  hasOtherName,
  isFormer,
  latestRehire,
  readEmployee,
  readFindings,
} from './read-employee.ts';
import { heldOutsideScope, readSources, readToldId, type Seen, type Sources } from './read-sources.ts';
import { nameEmployee } from './unique-names.ts';
import { CREATE_VERB, type HireContext, noteHire, personOf, REHIRE_VERB, reread } from './with-hire.ts';

/** A saved plan and what it was made from. */
export interface Planned {
  verdict: 'plan';
  planId: string;
  change: Change;
  sources: Sources;
}

/**
 * Reads the person unless they were `seen` a moment ago, claims them, climbs the identity ladder, and saves what should
 * be written and why.
 */
export async function planEmployee(
  hire: HireContext,
  seen?: Seen,
): Promise<Planned | { verdict: 'left' } | { verdict: 'not-yet' } | Held> {
  const [rehire] = await Promise.all([latestRehire(hire), noteHire(hire, { step: 'employ' })]);
  // The person was reactivated but not linked yet: if they leave now, the employee exists all the same.
  const isRehiring = rehire?.outcome === 'open' || (rehire?.outcome === 'done' && hire.row.employee_id === null);
  const anyStage = hire.creation?.outcome === 'open' || isRehiring;
  const read = await readSources(hire, { anyStage, seen });
  if (read.verdict !== 'read') return read;
  const { sources } = read;
  // If a create or rehire was sent, its outcome comes first.
  const isUnderWay = hire.creation !== undefined || isRehiring;
  const outside = isUnderWay ? undefined : await heldOutsideScope(hire, sources.jobId, sources.job);
  if (outside !== undefined) return outside;
  const claimed = await claimPerson(hire, sources.candidateId);
  if (claimed.verdict === 'hold') return claimed;
  const person = decidedAbout(claimed.before, hire.decisions);
  const decided = { ...hire, decisions: { ...hire.decisions, person } };
  const now = await withoutTakenOver(decided, claimed.before);
  const known = knownPerson(now, sources, claimed.before);
  // Questions before a rehire were answered before it was sent.
  const observed = await observe(now, isRehiring ? { ...known, startLimit: undefined } : known);
  let change = plan(observed, now.decisions);
  if ('verdict' in change) return change;
  const { mapping, names } = sources;
  // Rules give names only to new employees.
  if (change.kind === 'create' && names.length > 0) {
    const given = await nameEmployee(now, names);
    if (given.verdict === 'hold') return given;
    change = { ...change, names: given.names };
  }
  await keepMapping(now.store, now.connection.tenant, { subject: 'employee', mapping });
  const planId = await insertPlan(now.store, now.ref, { mappingHash: mapping.hash, change });
  return { verdict: 'plan', planId, change, sources };
}

/** The hire without the employee that another hire took over, if a person said that it gets one of its own. */
async function withoutTakenOver(hire: HireContext, before: Employed | undefined): Promise<HireContext> {
  const own = employeeOf(hire.row);
  if (own === undefined || !isGivenUp({ own, before: before?.employee }, hire.decisions)) return hire;
  await giveUpEmployee(hire.store, hire.ref, own, [CREATE_VERB, REHIRE_VERB]);
  return { ...(await reread(hire)), decisions: hire.decisions };
}

/** What is known of the person before the HR system is asked. */
export function knownPerson(
  hire: HireContext,
  sources: Pick<Sources, 'candidateId' | 'job' | 'fields' | 'problems' | 'mapping'>,
  before: Employed | undefined,
): KnownPerson {
  const { ref, row, connection, creation } = hire;
  const { candidateId, fields, problems, mapping } = sources;
  const { past } = connection.tenant.policies.startDate;
  const startLimit = {
    earliest: dayBefore(Date.now(), past, timezoneOf(connection.tenant)),
    days: Math.floor(past / 86_400_000),
    source: mapping.fields.find(({ target }) => target === 'startDate')?.where ?? 'the mapping',
  };
  return {
    ref,
    candidateId,
    fields,
    ofJob: fieldsOfJob(sources),
    problems,
    own: known(employeeOf(row), row.employee_number),
    before: known(before?.employee, before?.number),
    reference: createReference(hire, candidateId, before !== undefined),
    unsettledCreate: creation?.outcome === 'open',
    made: madeId(creation),
    startLimit,
    canRehire: connection.hris.employees.rehire !== undefined,
  };
}

/**
 * The start date, and every field whose rule reads the job or the application. A field without a value is emptied,
 * unless its rule has a default or reads a job that is not shown.
 */
function fieldsOfJob({ mapping, fields, job }: Pick<Sources, 'mapping' | 'fields' | 'job'>): EmployeeFields {
  const ofJob: EmployeeFields = {};
  for (const field of mapping.fields) {
    const { target, fallback, unique } = field;
    if (unique === true) continue;
    const readsJob = readsSource([field], 'job');
    const isOfJob = readsJob || ['jobCandidate', 'application'].some((source) => readsSource([field], source));
    const value = fields[target];
    if (value !== undefined && (isOfJob || target === 'startDate')) ofJob[target] = value;
    if (value === undefined && isOfJob && fallback === undefined && (job !== undefined || !readsJob))
      ofJob[target] = null;
  }
  return ofJob;
}

/** Asks the HR system only for what the plan still needs. */
export async function observe(hire: HireContext, person: KnownPerson): Promise<EmployeeObservation> {
  const observed = await identify(hire, person);
  const change = plan(observed, hire.decisions);
  if ('verdict' in change) return observed;
  if (change.kind === 'create')
    return person.unsettledCreate ? observed : { ...observed, told: await readToldId(hire) };
  if (change.employee.id === person.own?.id) return observed;
  const { employee } = change;
  return { ...observed, former: (await isFormer(hire, employee)) ? employee.id : undefined };
}

async function identify(hire: HireContext, person: KnownPerson): Promise<EmployeeObservation> {
  const reading = readingFor(person, hire.decisions);
  if (reading === 'none') return person;
  if (reading === 'named') {
    const { connection, decisions } = hire;
    const meant = employeeIn(connection.tenant.hris.connection, decisions.link ?? '');
    const shown = await readEmployee(connection.hris, meant);
    const named = shown?.ref;
    const links = await readLinks(hire, person.candidateId, named === undefined ? [] : [named.id]);
    const isTheirs = links.some((one) => one.isThisPerson);
    const isOtherName = shown !== undefined && !isTheirs && (await hasOtherName(hire, shown, person.candidateId));
    return { ...person, named, isOtherName, links };
  }
  const { reference, findings } = await climb(hire, person);
  return {
    ...person,
    reference,
    findings,
    links: await readLinks(hire, person.candidateId, findings.flatMap(foundIds)),
  };
}

/**
 * If an employee that a person denied carries our reference, this hire uses a reference of its own. So it does if
 * somebody carries that one: a restored store may have forgotten that the person was employed before.
 */
async function climb(
  hire: HireContext,
  { candidateId, reference, fields }: KnownPerson,
): Promise<{ reference: string; findings: Finding[] }> {
  const findings = await readFindings(hire, reference, fields);
  const { notThese } = hire.decisions;
  const isDenied = findings.some((one) => one.by === 'reference' && foundIds(one).some((id) => notThese.has(id)));
  const own = createReference(hire, candidateId, true);
  if (own === reference || findings.every(({ found }) => found.kind === 'none')) return { reference, findings };
  if (!isDenied && (await findByReference(hire, own)) === undefined) return { reference, findings };
  return { reference: own, findings: await readFindings(hire, own, fields) };
}

function foundIds({ found }: Finding): string[] {
  if (found.kind === 'none') return [];
  return found.kind === 'one' ? [found.ref.id] : found.refs.map(({ id }) => id);
}

/** The persons these employees are already linked to. */
async function readLinks(
  { store, connection: { tenant } }: HireContext,
  candidateId: string,
  ids: readonly string[],
): Promise<LinkedPerson[]> {
  const links: LinkedPerson[] = [];
  for (const employeeId of new Set(ids)) {
    const employee = employeeIn(tenant.hris.connection, employeeId);
    const { employees, candidates } = await findPerson(store, { employee });
    const known = employees.find((one) => isSameEmployee(one.employee, employee));
    if (known === undefined) continue;
    const own = personOf(tenant, candidateId).candidate;
    links.push({ employeeId, isThisPerson: candidates.some((one) => isSameCandidate(one, own)), hire: known.hire });
  }
  return links;
}

function known(employee: Employee | undefined, number: string | null | undefined): KnownEmployee | undefined {
  return employee && (typeof number === 'string' ? { ...employee, number } : employee);
}
