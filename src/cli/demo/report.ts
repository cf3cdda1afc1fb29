import type { OwnEmployee } from '../../counterparts/hris-sources.ts';
import type { LedgerRow } from '../../sandbox/records/ledger.ts';

/** HR systems for the demo's customer: `sql` is a SQLite file, and all others are started beside the demo. */
export const DEMO_KINDS = ['sql', 'postgresql', 'mariadb', 'tryton', 'sftp', 'bamboohr', 'scim', 'odoo'] as const;

export type DemoKind = (typeof DEMO_KINDS)[number];

/** The HRIS's own record, without personal data. */
export type EmployeeRow = Omit<OwnEmployee, 'email'>;

/** The HRIS's own tables, read and edited as its users would. */
export interface HrisTables {
  employees(): Promise<EmployeeRow[]>;
  count(table: string): Promise<number>;
  rows(table: string): Promise<Record<string, unknown>[]>;
  readCity(id: string): Promise<unknown>;
  /** HR corrects a number, and edits the city as well. */
  edit(id: string, values: { number: string; city: string }): Promise<void>;
  close(): Promise<void>;
}

/** The progress of one hire, by the partner's ledger and the HRIS's table. */
export interface HireView {
  jobCandidateId: string;
  /** Epoch ms by the sandbox's clock. */
  hiredAt: number;
  enrolmentIds: string[];
  stepsVerified: number;
  onboardingDone: boolean;
  employees: EmployeeRow[];
  /** The Employee ID at the partner. */
  writtenBack?: string;
  /** When it was written. */
  writtenAt?: number;
  /** The connector read the enrolment again after it wrote the ID. */
  readBack: boolean;
  /** There is one employee, the partner holds exactly its number, and the connector read that back. */
  verified: boolean;
}

/** Candidate ids by job candidate id, from the partner's API. */
type People = ReadonlyMap<string, string>;

const READY: ReadonlySet<unknown> = new Set(['final_handoff', 'completed']);

/**
 * Combines what both sides show about every hire: people moved into a hiring stage (earlier hires never moved), their
 * enrolments and their employees, both found by our reference. Reads nothing from our own store.
 */
export function observeHires(
  ledger: readonly LedgerRow[],
  employees: readonly EmployeeRow[],
  people: People,
  company: string,
): HireView[] {
  const hiredAt = new Map<string, number>();
  for (const row of effects(ledger, 'stage-move').filter(({ detail }) => detail['type'] === 'HIRED')) {
    const id = text(row.subject);
    if (!hiredAt.has(id)) hiredAt.set(id, row.at);
  }
  return [...hiredAt].map(([jobCandidateId, at]) => {
    const reference = `${company}:${people.get(jobCandidateId) ?? ''}`;
    const mine = employees.filter((employee) => employee.reference === reference);
    const onboarding = observeOnboarding(ledger, jobCandidateId);
    const verified = mine.length === 1 && onboarding.readBack && mine[0]?.number === onboarding.writtenBack;
    return { jobCandidateId, hiredAt: at, employees: mine, ...onboarding, verified };
  });
}

function observeOnboarding(ledger: readonly LedgerRow[], jobCandidateId: string) {
  const enrolmentIds = effects(ledger, 'enrolment').flatMap((row) =>
    isFor(row, jobCandidateId) ? [text(row.subject)] : [],
  );
  const mine = ledger.filter((row) => enrolmentIds.includes(text(row.subject)));
  const written = effects(mine, 'external-status').findLast((row) => row.detail['employeeId'] !== undefined);
  const readBack =
    written !== undefined && mine.some((row) => row.name === 'onboarding.getCandidate' && row.seq > written.seq);
  const verifiedSteps = effects(mine, 'onboarding-step').filter((row) => row.detail['status'] === 'verified');
  return {
    enrolmentIds,
    stepsVerified: new Set(verifiedSteps.map((row) => row.detail['stepKey'])).size,
    onboardingDone: effects(mine, 'onboarding-status').some((row) => READY.has(row.detail['to'])),
    readBack,
    ...(written === undefined ? {} : { writtenBack: text(written.detail['employeeId']), writtenAt: written.at }),
  };
}

function effects(ledger: readonly LedgerRow[], name: string): LedgerRow[] {
  return ledger.filter((row) => row.kind === 'effect' && row.name === name);
}

/** Our enrolments carry `hirebridge:<jobCandidateId>:<period>` as externalRef. */
function isFor(row: LedgerRow, jobCandidateId: string): boolean {
  return text(row.detail['externalRef']).split(':')[1] === jobCandidateId;
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
