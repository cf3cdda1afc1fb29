import type { EmployeeFields, KnownEmployee } from './employee.ts';

/** One write of a plan. Holds personal data: it stays in the store. */
export type Change =
  | { kind: 'create'; fields: EmployeeFields; reference: string }
  | { kind: 'link'; employee: KnownEmployee }
  /** A former employee becomes an active one. */
  | { kind: 'rehire'; employee: KnownEmployee; fields: EmployeeFields }
  | { kind: 'update'; employee: KnownEmployee; fields: EmployeeFields };
