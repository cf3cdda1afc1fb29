import type { OwnEmployee } from '../../counterparts/hris-sources.ts';

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
