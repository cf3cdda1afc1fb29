import { dayOf } from '../../day-of.ts';
import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields, EmployeeRef, FindKey, Found } from '../../hire/hire.ts';
import type { Amendment, EmployeeRecord, WriteOptions } from '../port.ts';
import { cellText } from '../read-cell.ts';
import { fieldsToAmend, fitsKey, foldText, foundBy, hasEnded } from '../records.ts';
import type { Defined } from './line.ts';
import type { CallPlan, HttpDefinition, SearchPlan, WritePlan } from './load-definition.ts';
import { type Comparison, type Hits, NOBODY, searchByValue, searchEverybody } from './look-through.ts';
import { assertFits, hasAddress, idOf, needsRaw, recordOf, toEmployee } from './record.ts';
import { takeSteps, withFields } from './steps.ts';
import type { Values } from './template.ts';
import { unlessAbsent, unlessRefused, unreadable } from './unreadable.ts';

/** A record in the system's form, and as an employee. */
interface Held {
  raw: unknown;
  /** As the hook made it: expressions read it so. */
  seen: unknown;
  record: EmployeeRecord;
  version: unknown;
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
  const fits: Comparison['fits'] = (record, raw) =>
    fitsKey(record, key, ADDRESSES) || (key.by === 'email' && hasAddress(definition, ADDRESSES, raw, key.value));
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
  plan: SearchPlan | undefined;
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
  { definition, line }: Defined,
  id: string,
  signal: AbortSignal,
): Promise<(Held & { requestId: string }) | undefined> {
  const plan = definition.reading;
  const answer = await line.send({ plan, values: { id }, signal, accepts: plan.absent }).catch(unlessAbsent);
  if (answer === undefined || plan.absent.includes(answer.status)) return undefined;
  const given = await plan.item(answer.body);
  const raw: unknown = Array.isArray(given) ? given[0] : given;
  // Some systems answer with an empty list if the employee does not exist.
  if (Array.isArray(given) && given.length === 0) return undefined;
  const seen = definition.hooks.record(raw);
  const record = await toEmployee(definition, seen);
  const { requestId } = answer.at;
  if (record === undefined)
    throw unreadable(plan.what, 'without an employee', '"read.item" and "record.id"', requestId);
  const version = await (plan.version === undefined ? definition.record.version?.(seen) : plan.version(answer));
  return { raw, seen, record, version, requestId };
}

/** The number, if only a call of its own tells it. */
export async function askNumber({ definition, line }: Defined, id: string, signal: AbortSignal): Promise<EmployeeRef> {
  const { numbering: plan } = definition;
  if (plan === undefined) return { id };
  const answer = await line.send({ plan, values: { id }, signal, accepts: plan.absent });
  const number = plan.absent.includes(answer.status) ? undefined : idOf(await plan.item(answer.body));
  return { id, ...(number === undefined ? {} : { number }) };
}

/** Changes only the values that this was decided from; in a system with versions no other edit can come between. */
export async function amendEmployee(
  defined: Defined,
  id: string,
  amendment: Omit<Amendment, 'from'>,
  options: WriteOptions,
): Promise<void> {
  assertFits(defined.definition, amendment.fields, false);
  const held = await heldOf(defined, id, options.signal);
  const fields = fieldsToAmend(amendment, held.record);
  await writeEmployee(defined, defined.definition.updating, { id, fields, held }, options);
}

export async function terminateEmployee(
  defined: Defined,
  plan: WritePlan,
  { id, lastDay }: { id: string; lastDay: string },
  options: WriteOptions,
): Promise<void> {
  const { definition } = defined;
  if (!plan.takesDay && !hasEnded(lastDay) && lastDay !== dayOf(Date.now()))
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
  await writeEmployee(defined, plan, what, options);
  if (!plan.sendsFields) await writeEmployee(defined, defined.definition.updating, what, options);
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
  assertFits(definition, fields, false);
  if (plan === definition.updating && Object.keys(fields).length === 0) return;
  if (!isAddressable(id)) throw notFound(definition);
  const held = what.held ?? (needsRaw(definition, plan, fields) ? await heldOf(defined, id, signal) : undefined);
  if (plan.needsVersion) assertVersion(definition.reading, held?.version);
  const steps = held === undefined ? {} : await takeSteps(defined, { fields, raw: held.seen }, { signal, beforeSend });
  const values = withFields(fields, { ...steps, ...what.values, id, version: held?.version, today: dayOf(Date.now()) });
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
