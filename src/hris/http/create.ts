import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields } from '../../hire/hire.ts';
import type { CreateResult, WriteOptions } from '../port.ts';
import { askNumber, findEmployee, readEmployee } from './employees.ts';
import type { Answer, Defined } from './line.ts';
import type { HttpDefinition } from './load-definition.ts';
import { assertFits, idOf, recordOf, yesOrNo } from './record.ts';
import { takeSteps, unlessThere, withFields } from './steps.ts';

/** ALREADY_EXISTS (ignore, details: the ref) if the reference is taken. */
export async function createEmployee(
  defined: Defined,
  fields: EmployeeFields,
  reference: string,
  { signal, beforeSend }: WriteOptions,
): Promise<CreateResult> {
  const { definition, line } = defined;
  assertFits(definition, fields, true);
  await assertNew(defined, reference, signal);
  const plan = definition.creating;
  const steps = await takeSteps(defined, { fields, reference }, { signal, beforeSend });
  const values = withFields(fields, { ...steps, reference });
  const record = recordOf(definition, plan, { fields, values, reference });
  const write = { plan, values: { ...values, record }, idempotent: false, sent: fields, makes: true };
  const answer = await line
    .send({ ...write, signal, beforeSend })
    .catch((error: unknown) => unlessThere<Answer>(error, () => assertNew(defined, reference, signal)));
  return resultOf(defined, answer, { reference, signal });
}

async function assertNew(defined: Defined, reference: string, signal: AbortSignal): Promise<undefined> {
  if (defined.definition.search.reference === undefined) return undefined;
  const found = await findEmployee(defined, { by: 'reference', value: reference }, signal);
  if (found.kind !== 'one') return undefined;
  throw new ConnectorError({
    code: 'ALREADY_EXISTS',
    action: 'ignore',
    message: `${defined.definition.name} already has the employee of this reference.`,
    details: { ...found.ref },
  });
}

async function resultOf(
  defined: Defined,
  answer: Answer,
  { reference, signal }: { reference: string; signal: AbortSignal },
): Promise<CreateResult> {
  const { definition } = defined;
  const { creating, asking, record } = definition;
  const isMoved = answer.status === 301 || answer.status === 302;
  const ticket = isMoved ? undefined : idOf(await creating.ticket?.(answer));
  if (ticket !== undefined && asking !== undefined) return { kind: 'pending', ticket, nextCheckMs: asking.every };
  const raw = seenOf(definition, creating.item === undefined ? answer.body : await creating.item(answer));
  const id = idOf(await (creating.id === undefined ? record.id(raw) : creating.id(answer)));
  const { status } = answer;
  const { requestId } = answer.at;
  if (status >= 300 && !(await isOurs(defined, { id: id ?? '', status, reference, signal })))
    throw new ConnectorError({
      code: 'HRIS_UNREADABLE_ANSWER',
      action: 'unknown',
      message:
        `${creating.what} was answered ${status} with an address that is not known to be the new employee's: it may ` +
        'have been carried out or not. The employee is looked up before anything is sent again. If this means that ' +
        'nobody was created, as with a login page, add a row for this status to "errors" of the definition; if the ' +
        'HR system has moved, correct hris.url.',
      status,
      requestId,
    });
  if (id === undefined)
    throw new ConnectorError({
      code: 'HRIS_UNREADABLE_ANSWER',
      action: 'unknown',
      message:
        `${creating.what} was answered ${status} without the id of an employee. The employee is looked up ` +
        'before anything is sent again. Check "create.id" of the definition.',
      status,
      requestId,
    });
  const number = idOf(await (creating.number === undefined ? record.number?.(raw) : creating.number(answer)));
  return created(defined, { id, number }, signal);
}

/** A create may be answered with less than a record, which the hook need not understand. */
function seenOf({ hooks }: HttpDefinition, given: unknown): unknown {
  try {
    return hooks.record(given);
  } catch {
    return given;
  }
}

/** A redirect may lead to the new employee, somebody else or a login page; only a 303 says that it was carried out. */
async function isOurs(
  defined: Defined,
  { id, status, reference, signal }: { id: string; status: number; reference: string; signal: AbortSignal },
): Promise<boolean> {
  const found = await readEmployee(defined, id, signal).catch(() => undefined);
  if (defined.definition.record.reference !== undefined) return found?.reference === reference;
  return found !== undefined && status === 303;
}

async function created(
  defined: Defined,
  { id, number }: { id: string; number: string | undefined },
  signal: AbortSignal,
): Promise<CreateResult> {
  if (number !== undefined) return { kind: 'created', ref: { id, number } };
  // The system may assign the number itself; a failed read does not undo the create.
  const asked =
    defined.definition.record.number === undefined
      ? askNumber(defined, id, signal)
      : readEmployee(defined, id, signal).then((read) => read?.ref);
  return { kind: 'created', ref: (await asked.catch(() => undefined)) ?? { id } };
}

export async function askCreate(defined: Defined, ticket: string, signal: AbortSignal): Promise<CreateResult> {
  const { definition, line } = defined;
  const plan = definition.asking;
  if (plan === undefined) throw new Error('nothing is pending here');
  const answer = await line.send({ plan, values: { ticket }, signal, accepts: [303] }).catch((error: unknown) => {
    throw isConnectorError(error) && isGone(error) ? requestUnknown(plan.what, error) : error;
  });
  const { body, status, at } = answer;
  if (status === 303) {
    // RFC 9110, section 15.4.4: it names what the request made.
    const made = idOf(await definition.creating.id?.(answer));
    if (made === undefined) throw requestUnknown(plan.what, at);
    return created(defined, { id: made, number: undefined }, signal);
  }
  if (yesOrNo(await plan.refused?.(body), 'pending.refused') === true)
    throw rejected(
      'HIRE_REJECTED',
      `${definition.name} refused the new employee for good. Ask the people there why, and correct the data.`,
    );
  if (yesOrNo(await plan.done(body), 'pending.done') !== true)
    return { kind: 'pending', ticket, nextCheckMs: plan.every };
  const id = idOf(await plan.id(body));
  if (id === undefined)
    throw new ConnectorError({
      code: 'HRIS_UNREADABLE_ANSWER',
      action: 'retry',
      message: `${plan.what} says the employee was created, but gives no id. Check "pending.id" of the definition.`,
    });
  return created(defined, { id, number: idOf(await plan.number?.(body)) }, signal);
}

/** By the status of a GET, or by a row of the definition. */
function isGone({ status, code }: ConnectorError): boolean {
  return code === 'EMPLOYEE_NOT_FOUND' || code === 'NOT_FOUND' || (status === 410 && code === 'GONE');
}

function requestUnknown(what: string, cause: Pick<ConnectorError, 'status' | 'requestId'>): ConnectorError {
  const { status, requestId } = cause;
  const message = `${what} was answered ${status}: nobody is told what became of the request for the new employee.`;
  return rejected('REQUEST_UNKNOWN', message, { status, requestId, cause });
}
