/**
 * A field's value as sent to an HRIS. Dates `YYYY-MM-DD`, instants UTC ISO text, phones E.164, countries ISO 3166-1
 * alpha-2.
 */
export type FieldValue = string | number | boolean | string[] | null;

/** An employee as the mapping made it: canonical field name -> value. */
export type EmployeeFields = Record<string, FieldValue>;

declare const IN_HRIS: unique symbol;

/** An employee of one HR system: the same id may be somebody else's in another one, so an id alone is none. */
export interface Employee {
  /** The HR system, by the name of its connection. */
  readonly connection: string;
  readonly id: string;
  readonly [IN_HRIS]: true;
}

/** With the human employee number; absent until the HR system assigned it. */
export interface KnownEmployee extends Employee {
  readonly number?: string;
}

export function employeeIn(connection: string, id: string): Employee {
  return { connection, id } as Employee;
}

/** What an HR system says of one of its own. */
export function knownIn(connection: string, { id, number }: EmployeeRef): KnownEmployee {
  const employee = employeeIn(connection, id);
  return number === undefined ? employee : { ...employee, number };
}

export function isSameEmployee(one: Employee, other: Employee): boolean {
  return one.connection === other.connection && one.id === other.id;
}

/** What one HR system itself says: `id` is its immutable internal key, `number` the human employee number. */
export interface EmployeeRef {
  id: string;
  number?: string;
}

/** A name in two fields. */
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
  /** The same name where one side has no birth date: whose record it is, only a person can tell.
   * `parts` are absent where the HR system has one field for the whole name. */
  | { by: 'name'; fullName: string; parts?: NameParts; birthDate?: string };

/** `trusted: false`: an empty answer of this filter proves nothing. */
export type Found<Ref = EmployeeRef> =
  | { kind: 'none'; trusted: boolean }
  | { kind: 'one'; ref: Ref; by: FindKey['by'] }
  | { kind: 'many'; refs: Ref[]; by: FindKey['by'] };

/** What a change writes: names by rule join what a new employee is made of. */
export function allFields(change: Exclude<Change, { kind: 'link' }>): EmployeeFields {
  return { ...change.fields, ...('names' in change ? change.names : {}) };
}

/** One write of a plan. Holds personal data: it stays in the store. */
export type Change =
  /** `names`: user name and work e-mail by rule, which say nothing of who somebody is. */
  | { kind: 'create'; fields: EmployeeFields; names?: EmployeeFields; reference: string }
  | { kind: 'link'; employee: KnownEmployee }
  /** A former employee becomes an active one. */
  | { kind: 'rehire'; employee: KnownEmployee; fields: EmployeeFields }
  | { kind: 'update'; employee: KnownEmployee; fields: EmployeeFields };
