import { ConnectorError, isConnectorError, rejected, unlessRefused } from '../../errors.ts';
import type { EmployeeFields, EmployeeRef, FindKey, Found } from '../../hire/hire.ts';
import type { Amendment, CreateResult, EmployeeRecord, WriteOptions } from '../port.ts';
import { cellText } from '../read-cell.ts';
import { alreadyExists, fieldsToAmend, fitsKey, foldText, foundBy, isEmpty, refOf } from '../records.ts';
import { assertOneBelow, type Below, fieldsIn, readBelow, withBelow, writeBelow } from './below.ts';
import type { Values } from './expression.ts';
import { type Answer, type Defined, unlessAbsent, unreadable } from './line.ts';
import type { CallPlan, HttpDefinition, WritePlan } from './load-definition.ts';
import { type Comparison, type Hits, NOBODY, searchByValue, searchEverybody } from './look-through.ts';
import {
  assertTakes,
  idOf,
  listsAddress,
  recordOf,
  takeSteps,
  toEmployee,
  unlessThere,
  withFields,
  yesOrNo,
} from './record.ts';

/** A record in the system's form, and as an employee. */
interface Held {
  raw: unknown;
  /** As the hook made it: expressions read it so. */
  seen: unknown;
  record: EmployeeRecord;
  version: unknown;
  below: Below;
}

const ADDRESSES = ['email', 'workEmail'];
const NAMES = ['name', 'givenName', 'familyName', 'birthDate'];
/** Fields that a hit is compared by, for each kind of search. */
const COMPARED = { reference: [], number: [], email: ADDRESSES, person: NAMES, name: NAMES } as const;

/** Finds an employee; every hit is compared again here. */
export async function findEmployee(defined: Defined, key: FindKey, signal: AbortSignal): Promise<Found> {
  const { definition } = defined;
  if (!isKept(definition, key.by)) return { kind: 'none', trusted: false };
  const whole = key.by === 'person' ? { fullName: `${key.givenName} ${key.familyName}` } : {};
  const values = 'value' in key ? { value: key.value } : { ...key, ...('parts' in key ? key.parts : {}), ...whole };
  const isListed = key.by === 'email' ? listsAddress(definition, ADDRESSES, key.value) : () => false;
  const fits: Comparison['fits'] = (record, raw) => fitsKey(record, key, ADDRESSES) || isListed(raw);
  const search = { plan: definition.search[key.by], values, compared: COMPARED[key.by], wanted: wantedBy(key), fits };
  // A mere name is not worth reading everybody, and proves nothing.
  const { refs, isWhole } = await searchFor(defined, search, signal, key.by !== 'name');
  return foundBy(key, refs, isWhole && key.by !== 'name');
}

/** What a record must have to be the one. For a mere name, which proves nothing, no summary is read. */
function wantedBy(key: FindKey): Comparison['wanted'] {
  if (key.by === 'reference') return { reference: key.value };
  if (key.by === 'number') return { number: key.value };
  if (key.by === 'email') return { fields: Object.fromEntries(ADDRESSES.map((name) => [name, key.value])) };
  if (key.by === 'name') return {};
  const { givenName, familyName, birthDate } = key;
  return { fields: { name: `${givenName} ${familyName}`, givenName, familyName, birthDate } };
}

/**
 * Whether anybody has this value in a field, ignoring case. If there is a search for it and there are too many to read
 * them all, relies on the search alone.
 * @throws ConnectorError HRIS_TOO_MANY or HRIS_UNREADABLE_ANSWER (reject)
 */
export async function isTaken(defined: Defined, field: string, value: string, signal: AbortSignal): Promise<boolean> {
  const { taken, name } = defined.definition;
  const fits = ({ fields }: EmployeeRecord): boolean => foldText(cellText(fields[field])) === foldText(value);
  const plan = taken.get(field);
  const search = { plan, values: { value }, compared: [field], wanted: { fields: { [field]: value } }, fits };
  const { refs, isWhole, isSeen } = await searchFor(defined, search, signal);
  if (refs.length > 0 || isWhole || isSeen) return refs.length > 0;
  if (plan !== undefined)
    throw rejected(
      'HRIS_UNREADABLE_ANSWER',
      `${name} does not show who has the ${field}, neither in its answer to ${plan.what} nor in a list of ` +
        `everybody. Check "${plan.purpose}" of the definition.`,
    );
  throw rejected(
    'HRIS_TOO_MANY',
    `${name} has too many employees to read them all, and the definition has no search for ${field}. Add ` +
      `find.taken.${field} to the definition.`,
  );
}

interface Search extends Comparison {
  plan: HttpDefinition['search']['email'];
  values: Values;
}

/**
 * Searches, and reads all employees if that finds nobody and proves nothing. `isWhole`: nobody was left out, so that an
 * empty result is a proof. `isSeen`: the search itself was read to its end, and showed what was searched for.
 */
async function searchFor(
  defined: Defined,
  search: Search,
  signal: AbortSignal,
  mayReadAll = true,
): Promise<Hits & { isSeen: boolean }> {
  const { plan, values } = search;
  const { everybody } = defined.definition;
  const { value } = values;
  const isPlain = typeof value === 'string' && /^[\x20-\x7e]*$/.test(value);
  const isTrusted = plan?.trusted === true || (plan?.trusted === 'ascii' && isPlain);
  // Who may not be shown stays unclear, and stops no search.
  const read = (id: string): Promise<Held | undefined> => readHeld(defined, id, signal).catch(unlessRefused);
  const call = plan && { plan, values, signal, accepts: plan.absent };
  const asked = call && (await searchByValue(defined, call, search, { isTrusted, read }));
  const { refs, isWhole: isSeen } = asked ?? { refs: [], isWhole: false };
  if (refs.length > 0 || (isTrusted && isSeen) || everybody === undefined || !mayReadAll)
    return { refs, isWhole: isTrusted && isSeen, isSeen };
  return { ...(await searchEverybody(defined, { plan: everybody, signal }, search, read)), isSeen };
}

/** Whether records contain what this search compares. */
function isKept({ record, fields }: HttpDefinition, by: FindKey['by']): boolean {
  const has = (key: string): boolean => fields.some((field) => field.key === key);
  if (by === 'reference') return record.reference !== undefined;
  if (by === 'number') return record.number !== undefined;
  if (by === 'email') return ADDRESSES.some(has);
  return (has('name') || (has('givenName') && has('familyName'))) && (by === 'name' || has('birthDate'));
}

export async function readEmployee(
  defined: Defined,
  id: string,
  signal: AbortSignal,
): Promise<EmployeeRecord | undefined> {
  const record = (await readHeld(defined, id, signal))?.record;
  if (record === undefined || record.ref.number !== undefined) return record;
  return { ...record, ref: await askNumber(defined, id, signal) };
}

async function readHeld(defined: Defined, id: string, signal: AbortSignal): Promise<Held | undefined> {
  if (!isAddressable(id)) return undefined;
  const held = await readAt(defined, id, signal);
  if (held === undefined || held.record.ref.id === id) return held;
  // A merged record answers as the one it became, each time. A definition that asks wrongly gets somebody for any id.
  const again = await readAt(defined, id, signal);
  const isMerged = again?.record.ref.id === held.record.ref.id;
  if (isMerged && (await readAt(defined, NOBODY, signal).catch(unlessRefused)) === undefined) return undefined;
  const { what } = defined.definition.reading;
  throw unreadable(what, 'with a different employee than the one requested', '"read"', held.requestId);
}

/** The employee that the HR system shows at an id. */
async function readAt(
  defined: Defined,
  id: string,
  signal: AbortSignal,
): Promise<(Held & { requestId: string }) | undefined> {
  const { definition, line } = defined;
  const plan = definition.reading;
  const answer = await line.send({ plan, values: { id }, signal, accepts: plan.absent }).catch(unlessAbsent);
  if (answer === undefined || plan.absent.includes(answer.status)) return undefined;
  const given = await plan.item(answer.body);
  const raw: unknown = Array.isArray(given) ? given[0] : given;
  // Some systems answer with an empty list if the employee does not exist.
  if (Array.isArray(given) && given.length === 0) return undefined;
  const plain = definition.hooks.record(raw);
  const below = await readBelow(defined, id, signal);
  const seen = withBelow(defined, plain, below);
  const record = await toEmployee(definition, seen);
  const { requestId } = answer.at;
  if (record === undefined)
    throw unreadable(plan.what, 'without an employee', '"read.item" and "record.id"', requestId);
  const version = await (plan.version === undefined ? definition.record.version?.(seen) : plan.version(answer));
  return { raw, seen, record, version, below, requestId };
}

/** The number, if only a call of its own tells it. */
async function askNumber({ definition, line }: Defined, id: string, signal: AbortSignal): Promise<EmployeeRef> {
  const { numbering: plan } = definition;
  if (plan === undefined) return { id };
  const answer = await line.send({ plan, values: { id }, signal, accepts: plan.absent });
  return refOf(id, plan.absent.includes(answer.status) ? undefined : idOf(await plan.item(answer.body)));
}

/** Changes only the values that this was decided from; in a system with versions no other edit can come between. */
export async function amendEmployee(
  defined: Defined,
  id: string,
  { from, ...amendment }: Omit<Amendment, 'from'> & Partial<Amendment>,
  options: WriteOptions,
): Promise<void> {
  const { definition } = defined;
  assertTakes(definition, amendment.fields, false);
  const held = await heldOf(defined, id, options.signal);
  await assertOneBelow(defined, amendment.fields, held.below);
  const fields = fieldsToAmend(amendment, held.record);
  await writeEmployee(defined, definition.updating, { id, fields, held, values: { from } }, options);
}

export async function terminateEmployee(
  defined: Defined,
  plan: WritePlan,
  { id, lastDay }: { id: string; lastDay: string },
  options: WriteOptions,
): Promise<void> {
  const { definition } = defined;
  if (!plan.takesDay && lastDay > defined.today())
    throw rejected(
      'HRIS_NO_LAST_DAY',
      `${definition.name} ends an employment at once and keeps no last day, but ${lastDay} is in the future. ` +
        'Answer again on that day, or end the employment there.',
    );
  await writeEmployee(defined, plan, { id, fields: {}, values: { lastDay } }, options);
}

/** A request that only says that somebody is back does not lose the fields: an update follows. */
export async function rehireEmployee(
  defined: Defined,
  plan: WritePlan,
  what: { id: string; fields: EmployeeFields },
  options: WriteOptions,
): Promise<void> {
  const { updating, fields: known } = defined.definition;
  const own = { ...what, fields: fieldsIn(known, what.fields, undefined) };
  // Who shows as active again has the fields already: no repeat would write them.
  if (!plan.sends) await writeEmployee(defined, updating, own, options);
  await writeEmployee(defined, plan, what, options);
  if (plan.sends && !plan.sendsFields) await writeEmployee(defined, updating, own, options);
}

/** Writes only the given fields, by the plan of an update, a rehire or an end. */
export async function writeEmployee(
  defined: Defined,
  plan: WritePlan,
  what: { id: string; fields: EmployeeFields; held?: Held; values?: Values },
  { signal, beforeSend }: WriteOptions,
): Promise<void> {
  const { definition, line } = defined;
  const { id, fields } = what;
  assertTakes(definition, fields, false);
  if (plan === definition.updating && Object.keys(fields).length === 0) return;
  if (!isAddressable(id)) throw notFound(definition);
  const isBelow = tellsBelow(definition, plan, fields);
  const isHeld = isBelow || needsRaw(definition, plan, fields);
  const held = what.held ?? (isHeld ? await heldOf(defined, id, signal) : undefined);
  if (plan.needsVersion) assertVersion(definition.reading, held?.version);
  const reference = plan.isByReference ? referenceOf(definition, plan, held) : undefined;
  const steps = held === undefined ? {} : await takeSteps(defined, { fields, raw: held.seen }, { signal, beforeSend });
  const { version } = held ?? {};
  const known = { ...generalOf(defined, fields, what.values), ...steps, id, reference, version };
  const told = { plan, fields, values: withFields(fields, known) };
  const below = held && isBelow ? await writeBelow(defined, { ...told, held }, { signal, beforeSend }) : {};
  const isSaid =
    plan === definition.updating && Object.keys(fieldsIn(definition.fields, fields, undefined)).length === 0;
  if (below === undefined || !plan.sends || isSaid) return;
  const values = { ...told.values, ...below };
  const record = recordOf(definition, plan, { fields, values, raw: held?.raw });
  await line
    .send({ plan, values: { ...values, record }, sent: fields, signal, beforeSend })
    .catch(async (error: unknown) => {
      const isConflict = plan.isConditional && isConnectorError(error) && error.status === 409;
      if (!isConflict || (await heldOf(defined, id, signal)).version === held?.version) throw error;
      const { status, requestId } = error;
      const message = `${plan.what} was answered ${status}: somebody has changed the record.`;
      throw new ConnectorError({ code: 'STALE', action: 'retry', message, status, requestId, cause: error });
    });
}

/** The options, {today}, and {from}: the day from which a write counts. */
function generalOf({ own, today }: Defined, { startDate }: EmployeeFields, given: Values = {}): Values {
  const day = today();
  return { ...own, ...given, today: day, from: given['from'] ?? given['lastDay'] ?? startDate ?? day };
}

/** Without its version the request would overwrite whatever was edited meanwhile. */
function assertVersion({ what, purpose }: CallPlan, version: unknown): void {
  if (version !== undefined && version !== null && version !== '') return;
  const record = purpose === 'read' ? 'record' : 'requisitions';
  throw rejected(
    'HRIS_UNREADABLE_ANSWER',
    `${what} was answered without a version, and nothing was written: it could overwrite an edit. Check ` +
      `"${purpose}.version" or "${record}.version" of the definition; "unversioned: true" of the write allows it.`,
  );
}

/** Without it the request would be about somebody else, or about nobody. */
function referenceOf({ name }: HttpDefinition, { what }: CallPlan, held: Held | undefined): string {
  const { reference } = held?.record ?? {};
  if (reference !== undefined) return reference;
  throw rejected(
    'HRIS_UNREADABLE_ANSWER',
    `${what} was not sent, because it names employees by our reference, and ${name} shows none for this one: ` +
      'hirebridge did not make the record, or "record.reference" of the definition is wrong. Make the change there.',
  );
}

/** Other ids would change the address. */
function isAddressable(id: string): boolean {
  return id !== '' && id !== '.' && id !== '..' && !id.includes('\0');
}

async function heldOf(defined: Defined, id: string, signal: AbortSignal): Promise<Held> {
  const held = await readHeld(defined, id, signal);
  if (held === undefined) throw notFound(defined.definition);
  return held;
}

function notFound({ name }: HttpDefinition): ConnectorError {
  return rejected('EMPLOYEE_NOT_FOUND', `${name} has no employee with this id.`);
}

/** ALREADY_EXISTS (ignore, details: the ref) if the reference is taken. */
export async function createEmployee(
  defined: Defined,
  fields: EmployeeFields,
  reference: string,
  { signal, beforeSend }: WriteOptions,
): Promise<CreateResult> {
  const { definition, line } = defined;
  assertTakes(definition, fields, true);
  const write = { signal, beforeSend };
  const assertAbsent = async (): Promise<undefined> => {
    const known = await findOurs(defined, reference, signal);
    if (known === undefined) return;
    await makeWhole(defined, known.id, fields, write);
    throw alreadyExists(`${definition.name} already has an employee with this reference.`, known);
  };
  await assertAbsent();
  const plan = definition.creating;
  const steps = await takeSteps(defined, { fields, reference }, write);
  const values = withFields(fields, { ...defined.own, ...steps, reference });
  const record = recordOf(definition, plan, { fields, values, reference });
  const call = { plan, values: { ...values, record }, idempotent: false, sent: fields, makes: true, ...write };
  const answer = await line.send(call).catch((error: unknown) => unlessThere<Answer>(error, assertAbsent));
  const made = await resultOf(defined, answer, { reference, fields, signal });
  if (made.kind === 'created') await makeWhole(defined, made.ref.id, fields, write);
  return made;
}

async function findOurs(defined: Defined, reference: string, signal: AbortSignal): Promise<EmployeeRef | undefined> {
  if (defined.definition.record.reference === undefined) return undefined;
  const found = await findEmployee(defined, { by: 'reference', value: reference }, signal);
  return found.kind === 'one' ? found.ref : undefined;
}

/** Writes what the request of a create leaves to records below the employee, who is there already: no fault is "no". */
async function makeWhole(defined: Defined, id: string, fields: EmployeeFields, write: WriteOptions): Promise<void> {
  const { definition } = defined;
  if (!definition.isMadeInParts) return;
  try {
    const held = await heldOf(defined, id, write.signal);
    const values = withFields(fields, { ...generalOf(defined, fields), id, reference: held.record.reference });
    if (held.record.former !== true)
      await writeBelow(defined, { plan: definition.creating, fields, values, held }, write);
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    throw error.but({ action: 'unknown' });
  }
}

interface Sent {
  reference: string;
  fields: EmployeeFields;
  signal: AbortSignal;
}

async function resultOf(defined: Defined, answer: Answer, sent: Sent): Promise<CreateResult> {
  const { definition } = defined;
  const { reference, signal } = sent;
  const { creating, asking, record } = definition;
  const isMoved = answer.status === 301 || answer.status === 302;
  const ticket = isMoved ? undefined : idOf(await creating.ticket?.({ ...answer, reference }));
  if (ticket !== undefined && asking !== undefined) return { kind: 'pending', ticket, nextCheckMs: asking.every };
  const raw = seenOf(definition, creating.item === undefined ? answer.body : await creating.item(answer));
  const id = idOf(await (creating.id === undefined ? record.id(raw) : creating.id(answer)));
  const { status } = answer;
  const { requestId } = answer.at;
  const unclear = (message: string): ConnectorError =>
    new ConnectorError({ code: 'HRIS_UNREADABLE_ANSWER', action: 'unknown', message, status, requestId });
  // RFC 9110, section 15.3.3: 202 says that nothing is done yet, and its id may be that of a job.
  const isMade = (status < 300 && status !== 202) || (await isOurs(defined, { id: id ?? '', status, ...sent }));
  if (status >= 300 && !isMade)
    throw unclear(
      `${creating.what} was answered ${status} with an address that is not known to be the new employee's: it may ` +
        'have been carried out or not. The employee is looked up before anything is sent again. If this means that ' +
        'nobody was created, as with a login page, add a row for this status to "errors" of the definition; if the ' +
        'HR system has moved, correct hris.url.',
    );
  if (!isMade)
    throw unclear(
      `${creating.what} was answered 202, and the new employee is not known to be at its id, which may be that of ` +
        'a job. The employee is looked up before anything is sent again. Say how its outcome is asked for: ' +
        '"create.ticket" and "pending" of the definition.',
    );
  if (id === undefined)
    throw unclear(
      `${creating.what} was answered ${status} without the id of an employee. The employee is looked up before ` +
        'anything is sent again. Check "create.id" of the definition.',
    );
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

/**
 * A redirect may lead to the new employee, somebody else or a login page; only a 303 says that it was carried out. The
 * id in a 202 may be that of a job and of somebody else. Without our reference, they are known by what was sent.
 */
async function isOurs(
  defined: Defined,
  { id, status, reference, fields, signal }: Sent & { id: string; status: number },
): Promise<boolean> {
  const found = await readEmployee(defined, id, signal).catch(() => undefined);
  if (defined.definition.record.reference !== undefined) return found?.reference === reference;
  if (status !== 202) return found !== undefined && status === 303;
  const told = [...NAMES, ...ADDRESSES].filter((key) => !isEmpty(fields[key]));
  const isTold = (key: string): boolean => foldText(cellText(found?.fields[key])) === foldText(cellText(fields[key]));
  return told.length > 0 && told.every(isTold);
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
  if (yesOrNo(await plan.refused?.(body), 'pending.refused') === true) {
    // The caller knows the values that were sent, and cuts them out.
    const said = await line.words(answer);
    throw rejected(
      'HIRE_REJECTED',
      `${definition.name} refused the new employee for good. Ask the people there why, and correct the data.` +
        (said === '' ? '' : ` It said: "${said}"`),
      { said },
    );
  }
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
  const message = `${what} was answered ${status}, so it is unknown what became of the request for the new employee.`;
  return rejected('REQUEST_UNKNOWN', message, { status, requestId, cause });
}

/** Whether a write needs records below the employee. */
function tellsBelow({ fields: known }: Defined['definition'], plan: WritePlan, fields: EmployeeFields): boolean {
  const isSet = plan.names.length > 0 || plan.set.some(({ below }) => below !== undefined);
  return isSet || known.some(({ key, below }) => below !== undefined && key in fields);
}

/** Whether a write must read the record first, because lists in it are written as a whole. */
function needsRaw(definition: HttpDefinition, plan: WritePlan, fields: EmployeeFields): boolean {
  if (plan.as === 'put' || plan.isConditional || plan.isByReference) return true;
  if (definition.steps.some((step) => step.fields.some((key) => key in fields))) return true;
  if (plan.as === 'flat') return false;
  const paths = definition.fields.filter(({ key }) => key in fields).map(({ path }) => path);
  return [...paths, ...plan.set.map(({ path }) => path)].some((path) => path.some((step) => 'where' in step));
}
