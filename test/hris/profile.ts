import { isConnectorError } from '../../src/errors.ts';
import type { EmployeeFields, EmployeeRef } from '../../src/hire/employee.ts';
import type { CreateResult, WriteOptions } from '../../src/hris/port.ts';

/** What tests write into an HRIS of one kind, in the words of its fields. */
export interface HrisProfile {
  /** A complete employee, whose e-mail and name are the tag's own, so that tests share an HRIS without meeting. */
  employee(tag: string, changes?: EmployeeFields): EmployeeFields;
  /** A required field that holds any text. */
  nameField: string;
  /** A field that may change at any time, and what it is changed to. */
  edit: EmployeeFields;
  /** A field that must not be empty, but is. */
  missing: EmployeeFields;
  /** What numbers look like. */
  number: RegExp;
  /** Hostile texts that it refuses in a name, instead of keeping them as they are. */
  refuses: readonly string[];
  /** Whether it is known that nobody has an e-mail with letters beyond ASCII: whose case not every database folds. */
  foldsEveryLetter: boolean;
  /** Whether people are found by name and birth date. */
  findsPersons: boolean;
  /** What stands between decodes every body as text, so files must be ASCII. */
  textOnly?: boolean;
}

/** Never stops: how long a test may take is the runner's to say. */
export const signal = new AbortController().signal;
export const write: WriteOptions = { signal, beforeSend: () => undefined, remainingMs: () => 20_000 };

/** A complete employee; the e-mail and name are the tag's own, so that tests share a table without meeting. */
export function employee(tag: string, changes: EmployeeFields = {}): EmployeeFields {
  return {
    givenName: 'Ana',
    familyName: `Reyes ${tag}`,
    email: `${tag}@example.org`,
    title: 'Cook',
    startDate: '2026-02-01',
    birthDate: '1990-05-17',
    ...changes,
  };
}

/** An employees table as we would make it. */
export const sqlProfile: HrisProfile = {
  employee,
  nameField: 'familyName',
  edit: { title: 'Chef' },
  missing: { startDate: null },
  number: /^0\d{5}$/,
  refuses: [],
  foldsEveryLetter: false,
  findsPersons: true,
};

/** The new employee; a pending create would fail the test. */
export function created(result: CreateResult): EmployeeRef {
  if (result.kind !== 'created') throw new Error(`expected an employee at once, got ${result.kind}`);
  return result.ref;
}

/** What the call was refused with. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ code: string; action: string; details: Record<string, unknown> | undefined; message: string }> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isConnectorError(error)) throw new Error(`expected a ConnectorError, got ${String(error)}`);
  return { code: error.code, action: error.action, details: error.details, message: error.message };
}
