/**
 * A field's value as sent to an HRIS. Dates `YYYY-MM-DD`, instants UTC ISO text, phones E.164, countries ISO 3166-1
 * alpha-2.
 */
export type FieldValue = string | number | boolean | string[] | null;

/** An employee's fields as the mapping made them: canonical field name -> value. */
export type EmployeeFields = Record<string, FieldValue>;

declare const IN_HRIS: unique symbol;

/** An employee of one HR system. An id alone is not enough: another HR system may use it for another person. */
export interface Employee {
  /** Name of the connection to the HR system. */
  readonly connection: string;
  readonly id: string;
  readonly [IN_HRIS]: true;
}

/** An employee with the number people use; absent until the HR system assigns one. */
export interface KnownEmployee extends Employee {
  readonly number?: string;
}

export function employeeIn(connection: string, id: string): Employee {
  return { connection, id } as Employee;
}

/** Makes an employee from an HR system's answer about one of its own. */
export function knownIn(connection: string, { id, number }: EmployeeRef): KnownEmployee {
  const employee = employeeIn(connection, id);
  return number === undefined ? employee : { ...employee, number };
}

export function isSameEmployee(one: Employee, other: Employee): boolean {
  return one.connection === other.connection && one.id === other.id;
}

/** An employee as one HR system names it: `id` is its immutable internal key, `number` the number people use. */
export interface EmployeeRef {
  id: string;
  number?: string;
}

/** A name split into two fields. */
export interface NameParts {
  familyName: string;
  givenName: string;
}

/** Ways to look a person up, strongest first (identity ladder). */
export type FindKey =
  | { by: 'reference'; value: string }
  | { by: 'number'; value: string }
  | { by: 'email'; value: string }
  | { by: 'person'; familyName: string; givenName: string; birthDate: string }
  /**
   * Same name, but one side has no birth date, so only a person can tell whether it is them. `parts` is absent if the
   * HR system has one field for the whole name.
   */
  | { by: 'name'; fullName: string; parts?: NameParts; birthDate?: string };

/** `trusted: false`: an empty answer to this search proves nothing. */
export type Found<Ref = EmployeeRef> =
  | { kind: 'none'; trusted: boolean }
  | { kind: 'one'; ref: Ref; by: FindKey['by'] }
  | { kind: 'many'; refs: Ref[]; by: FindKey['by'] };

/** All fields that a change writes; names made by rule are added to a new employee's fields. */
export function allFields(change: Exclude<Change, { kind: 'link' }>): EmployeeFields {
  return { ...change.fields, ...('names' in change ? change.names : {}) };
}

/** One write of a plan. Holds personal data, so it never leaves the store. */
export type Change =
  /** `names`: user name and work e-mail made by rule, which say nothing about who the person is. */
  | { kind: 'create'; fields: EmployeeFields; names?: EmployeeFields; reference: string }
  | { kind: 'link'; employee: KnownEmployee }
  /** Reactivates a former employee. */
  | { kind: 'rehire'; employee: KnownEmployee; fields: EmployeeFields }
  | { kind: 'update'; employee: KnownEmployee; fields: EmployeeFields };
