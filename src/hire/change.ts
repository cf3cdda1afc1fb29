import type { EmployeeFields, EmployeeRef } from './employee.ts';

/** One write of a plan. Holds personal data: it stays in the store. */
export type Change =
  | { kind: 'create'; fields: EmployeeFields; reference: string }
  | { kind: 'link'; employee: EmployeeRef }
  /** A former employee becomes an active one. */
  | { kind: 'rehire'; employee: EmployeeRef; fields: EmployeeFields }
  | { kind: 'update'; employee: EmployeeRef; fields: EmployeeFields };
