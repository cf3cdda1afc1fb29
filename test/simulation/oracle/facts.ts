import { type LedgerRow, readLedger } from '../../../src/sandbox/records/ledger.ts';
import type { HoldRow } from '../../../src/store/schema.ts';
import type { Employee } from '../hris-double.ts';
import { type Customer, humanOf, served, takes, type World } from '../world.ts';

/** One enrolment as the sandbox holds it. */
export interface EnrolmentFact {
  /** The sandbox's id. */
  id: string;
  seq: number;
  email: string;
  ref: string | null;
  status: string;
  external: { status?: string; employeeId?: string };
  /** The candidate it really is of. */
  candidateId: string;
}

/** One application to judge: who, where they stand now, and what a person decided about it. */
export interface HireFact {
  customer: Customer;
  tenantId: string;
  jobCandidateId: string;
  candidateId: string;
  human: string;
  hiredNow: boolean;
  openHolds: HoldRow[];
  everHeld: boolean;
  answers: string[];
}

/** Everything the oracle judges by: the sandbox's ledger and tables, and the HRIS. Holds only say who is excused. */
export interface Facts {
  hires: HireFact[];
  /** By human: `<company>:<candidate>`. */
  employees: Map<string, Employee[]>;
  enrolments: Map<number, EnrolmentFact[]>;
  effects: LedgerRow[];
}

export function gatherFacts(world: World): Facts {
  const customers = served(world);
  const employees = new Map<string, Employee[]>();
  for (const hris of new Set(customers.flatMap((one) => one.systems)))
    for (const employee of hris.employees)
      employees.set(employee.human, [...(employees.get(employee.human) ?? []), employee]);
  return {
    hires: customers.flatMap((customer) => hiresOf(world, customer)),
    employees,
    enrolments: new Map(customers.map((customer) => [customer.companyId, enrolmentsOf(world, customer)])),
    effects: readLedger(world.state, { kind: 'effect' }),
  };
}

function hiresOf(world: World, customer: Customer): HireFact[] {
  const tenantId = customer.tenant.tenant;
  const holds = world.store.all<HoldRow>('select * from holds where tenant_id = ?', tenantId);
  const asked = holds
    .filter((hold) => hold.job_candidate_id === null && hold.closed_at === null)
    .flatMap((hold) =>
      ((JSON.parse(hold.details) as { jobCandidateIds?: string[] }).jobCandidateIds ?? []).map((id) => ({ id, hold })),
    );
  const company = world.state.all<{ id: number }>('select id from candidates where company_id = ?', customer.companyId);
  const here = new Set(company.map(({ id }) => String(id)));
  const ever = world.state.all<{ subject: string }>(
    "select distinct subject from ledger where kind = 'effect' and name in ('stage-move', 'job-candidate') and " +
      'company_id = ?',
    customer.companyId,
  );
  const moved = new Set(ever.map(({ subject }) => subject));
  return [...world.people]
    .filter(([id, candidateId]) => here.has(candidateId) || moved.has(id))
    .filter(([id]) => takes(customer, world.jobs.get(id) ?? ''))
    .map(([jobCandidateId, candidateId]) => {
      const own = holds.filter((hold) => hold.job_candidate_id === jobCandidateId);
      return {
        customer,
        tenantId,
        jobCandidateId,
        candidateId,
        human: humanOf(world, customer.companyId, candidateId),
        hiredNow: isHiredNow(world, customer, jobCandidateId),
        openHolds: [
          ...own.filter((hold) => hold.closed_at === null),
          ...asked.filter(({ id }) => id === jobCandidateId).map(({ hold }) => hold),
        ],
        everHeld: own.length > 0,
        answers: world.given.filter((one) => one.jobCandidateId === jobCandidateId).map((one) => one.answer),
      };
    });
}

function isHiredNow(world: World, { companyId }: Customer, jobCandidateId: string): boolean {
  return (
    world.state.one(
      'select 1 from job_candidates j join stages s on s.id = j.stage_id where j.id = ? and j.company_id = ? and ' +
        "s.type = 'HIRED' and j.rejected = 0",
      Number(jobCandidateId),
      companyId,
    ) !== undefined
  );
}

function enrolmentsOf(world: World, { companyId }: Customer): EnrolmentFact[] {
  const rows = world.state.all<{
    id: string;
    seq: number;
    email: string;
    ref: string | null;
    status: string;
    external: string | null;
  }>(
    'select id, seq, email, external_ref as ref, overall_status as status, external from onboarding_candidates ' +
      'where company_id = ? order by seq',
    companyId,
  );
  return rows.map((row) => ({
    ...row,
    external: JSON.parse(row.external ?? '{}') as EnrolmentFact['external'],
    candidateId: candidateOf(world, companyId, row),
  }));
}

/** By our reference, or for one made by hand by its e-mail. */
function candidateOf(world: World, companyId: number, row: { ref: string | null; email: string }): string {
  const jobCandidateId = row.ref?.split(':')[1];
  if (jobCandidateId !== undefined) return world.people.get(jobCandidateId) ?? '';
  return world.emails.get(`${companyId} ${row.email}`) ?? '';
}

/** The value of the Employee ID field of a candidate, as the sandbox holds it. */
export function idFieldOf(world: World, { customer, candidateId }: HireFact): string | undefined {
  const row = world.state.one<{ value: string }>(
    'select value from custom_field_values where custom_field_id = ? and entity_id = ?',
    customer.idField,
    candidateId,
  );
  return row === undefined ? undefined : String(JSON.parse(row.value));
}
