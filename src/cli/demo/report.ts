import type { LedgerRow } from '../../sandbox/records/platform/ledger.ts';
import type { EmployeeRow } from './hris-tables.ts';
import type { HireView } from './observe-hires.ts';

/** What the demo did, counted from the sandbox's ledger and the HRIS's tables, never from the connector's store. */
export interface DemoReport {
  hires: number;
  enrolments: number;
  creditsSpent: number;
  employees: number;
  distinctEmployeeNumbers: number;
  writeBacksVerified: number;
  seconds: { temporalCli: number; ready: number; hires: number };
}

export function countReport(
  ledger: readonly LedgerRow[],
  employees: readonly EmployeeRow[],
  hires: readonly HireView[],
  seconds: DemoReport['seconds'],
): DemoReport {
  const count = (name: string) => ledger.filter((row) => row.kind === 'effect' && row.name === name).length;
  return {
    hires: hires.length,
    enrolments: count('enrolment'),
    creditsSpent: count('onboarding-credit'),
    employees: employees.length,
    distinctEmployeeNumbers: new Set(employees.map((employee) => employee.number)).size,
    writeBacksVerified: hires.filter((hire) => hire.verified).length,
    seconds,
  };
}

/** Exactly one of each for every hire that was played. */
export function isAsPlayed(report: DemoReport, played: number): boolean {
  const { seconds: _seconds, ...counts } = report;
  return Object.values(counts).every((count) => count === played);
}
