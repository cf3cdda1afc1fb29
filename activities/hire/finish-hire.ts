import { ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import { inActivity } from '../../src/failpoint.ts';
import { type Employee, type EmployeeFields, employeeIn, type HireRef } from '../../src/hire/hire.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import { type Held, held, holdOf, reasonOf } from '../../src/hire/holds.ts';
import { urlOfEmployee } from '../../src/hris/option-types.ts';
import type { EmployeeRecord } from '../../src/hris/port.ts';
import { foldLabel } from '../../src/in-words.ts';
import { type BackValue, evaluateBack } from '../../src/mapping/evaluate.ts';
import type { CustomField } from '../../src/partner/contract/custom-fields.ts';
import { contract } from '../../src/partner/contract/index.ts';
import {
  employeeIdToWrite,
  isShown,
  mappedTargets,
  missingTargets,
  type TargetValue,
  targetAfterRefusal,
  targetOf,
  unreadableForMs,
} from '../../src/plan/plan-write-back.ts';
import { settleWrites, verifyWrites } from '../../src/store/foreign-writes.ts';
import { endHire, ownTimeOf } from '../../src/store/hire-states.ts';
import { employeeOf, hireBehind, readHireRow } from '../../src/store/hires.ts';
import { holdsOfHire } from '../../src/store/holds.ts';
import { changePerson, findPerson } from '../../src/store/persons.ts';
import { afterHireNames } from '../../src/streams/streams.ts';
import { type ActivityDeps, type Connection, hintRunning } from '../connections.ts';
import { encodeTargets, ownValues } from '../fields/custom-fields.ts';
import type { OwnRecord } from '../own-hris.ts';
import { hasOtherName, isOfAnother, readEmployee } from './read-employee.ts';
import {
  employeeReference,
  formerHris,
  type HireContext,
  type HireWrite,
  newValues,
  noteHire,
  noteWrites,
  personOf,
  reread,
  sensitiveFields,
  withHireOrHeld,
} from './with-hire.ts';
import { assertFresh } from './write-once.ts';

type Finished = ReturnType<HireActivities['finishHire']>;

/** Writes back, reads the written values, and ends the hire once the partner shows the ID. */
export function finishHire(deps: ActivityDeps, given: HireRef): Finished {
  const writeAndVerify = async (hire: HireContext): Finished => {
    // An earlier attempt reached the end of the hire, but its result was lost.
    if (hire.row.state === 'done') return { verdict: 'verified' };
    const employed = await readEmployed(hire);
    if ('verdict' in employed) return employed;
    await awaitNumber(employed.hire);
    const written = await inActivity('writeBack', () => writeBack(employed.hire, employed.shown));
    return written.verdict === 'hold' ? written : inActivity('verify', () => verifyAndEnd(employed.hire));
  };
  return withHireOrHeld(deps, given, writeAndVerify, 'after-employee');
}

/** How long an HR system may take to number a new employee before a person is asked. */
const NUMBERED_MS = 15 * 60_000;
const ASK_NUMBER_MS = 10_000;

/** @throws ConnectorError EMPLOYEE_NUMBER_PENDING while the HR system may still give the number */
async function awaitNumber(hire: HireContext): Promise<void> {
  const { row, connection } = hire;
  if (connection.tenant.writeBack.employeeId === 'id' || row.employee_number !== null) return;
  if ((await unshownForMs(hire, NUMBERED_MS)) === 0) return;
  throw new ConnectorError({
    code: 'EMPLOYEE_NUMBER_PENDING',
    action: 'retry',
    message: `The HR system gave employee ${row.employee_id} no number yet. It is asked again.`,
    retryAfterMs: ASK_NUMBER_MS,
  });
}

interface Employed {
  hire: HireContext;
  /** Absent if the HR system may show the employee late. */
  shown?: EmployeeRecord;
}

/**
 * Reads the employee before the partner is told: since it was made, somebody may have merged or deleted the record, and
 * the HR system may have assigned a number.
 */
async function readEmployed(hire: HireContext): Promise<Employed | Held> {
  const { store, connection, ref, row, decisions } = hire;
  const { hris, tenant } = connection;
  const { jobCandidateId } = ref;
  if (row.employee_id === null) throw hireBehind(ref);
  const employee = employeeIn(tenant.hris.connection, row.employee_id);
  const whose = personOf(tenant, row.candidate_id ?? '');
  const isElsewhere = formerHris(hire) !== undefined;
  const shown = isElsewhere ? undefined : await readEmployee(hris, employee);
  if (shown !== undefined && (await isTheirs(hire, employee, shown))) {
    const { number = null } = shown.ref;
    if (number === null || number === row.employee_number) return { hire, shown };
    const is = { employee, number };
    await changePerson(store, whose, { kind: 'link', hire: ref, candidate: whose.candidate, is, ...FOUND });
    return { hire: await reread(hire), shown };
  }
  // An employee made a moment ago may be shown late.
  if (shown === undefined && !isElsewhere && (await unshownForMs(hire)) > 0) return { hire };
  if (decisions.link === undefined || (decisions.link === employee.id && !isElsewhere))
    return held('EMPLOYEE_GONE', { jobCandidateId, employeeId: employee.id, isChanged: shown !== undefined });
  const named = await readEmployee(hris, employeeIn(tenant.hris.connection, decisions.link));
  if (named === undefined) return held('EMPLOYEE_GONE', { jobCandidateId, employeeId: decisions.link });
  if (await hasOtherName(hire, named)) return held('RELINK_OTHER_NAME', { jobCandidateId, employeeId: named.ref.id });
  const { refusal } = await changePerson(store, whose, {
    kind: 'link',
    hire: ref,
    candidate: whose.candidate,
    ...FOUND,
    insteadOf: employeeOf(row) ?? employee,
    is: { employee: named.ref, number: named.ref.number ?? null },
  });
  if (refusal?.reason === 'of-another')
    return held('EMPLOYEE_GONE', { jobCandidateId, employeeId: named.ref.id, other: refusal.other.hire });
  return { hire: await reread(hire), shown: named };
}

/** Whether the record still has our reference, or a person said that it is theirs. */
async function isTheirs(hire: HireContext, employee: Employee, shown: OwnRecord): Promise<boolean> {
  const { connection, row, decisions } = hire;
  // The usual case, told apart without a query.
  if (shown.reference === employeeReference(connection.tenant, row.candidate_id ?? '')) return true;
  return decisions.link === employee.id || !(await isOfAnother(hire, employee, shown));
}

const FOUND = { how: 'linked', shownAfterMs: 0 } as const;

async function verifyAndEnd(hire: HireContext): Finished {
  const { deps, ref } = hire;
  const verified = await verify(hire);
  if (verified.verdict !== 'verified') return verified;
  await tellWhyHeld(hire, 'over');
  const tookMs = await ownTimeOf(deps.store, ref);
  if (await endHire(deps.store, ref, 'done')) deps.hired?.(tookMs);
  deps.log.info(ref, 'hire done');
  for (const stream of afterHireNames) await hintRunning(hire, stream, [ref.jobCandidateId]);
  return verified;
}

/**
 * Writes to the candidate why the hire is held, or empties that field. Reads first, then writes like any other value:
 * noted before, read back after. A refusal by the partner is logged and stops no hire.
 */
export async function tellWhyHeld(hire: HireContext, now: 'as it stands' | 'over'): Promise<void> {
  const { deps, store, connection, ref, row } = hire;
  const { holdReason: customFieldId } = connection.tenant.writeBack;
  if (customFieldId === undefined || row.candidate_id === null) return;
  const holds = await holdsOfHire(store, ref);
  if (holds.length === 0) return;
  const standing = now === 'over' ? undefined : holds.findLast(({ closed_at: closedAt }) => closedAt === null);
  const details = JSON.parse(standing?.details ?? '{}') as Record<string, unknown>;
  const value = standing === undefined ? '' : reasonOf({ ...standing, details });
  const isThere = async (): Promise<boolean> => {
    const shown = (await readShown(hire, [{ customFieldId, value }])).get(customFieldId);
    return (shown ?? '') === value;
  };
  try {
    if (await isThere()) return;
    const batchId = await upsertValues(hire, [{ customFieldId, value }]);
    const isShown = await isThere();
    await settleWrites(store, batchId, isShown ? 'done' : 'absent');
    if (!isShown) deps.log.warn({ ...ref, customFieldId }, 'reason of the hold not shown');
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    const { code } = error;
    deps.log.warn({ ...ref, customFieldId, code, reason: error.withoutWords() }, 'reason of the hold refused');
  }
}

/**
 * Writes status, Employee ID and the mapped custom field values to the partner. Writing the same values again is
 * harmless. `shown`: the employee as read a moment ago.
 */
async function writeBack(hire: HireContext, shown?: EmployeeRecord): Promise<{ verdict: 'written' } | Held> {
  await noteHire(hire, { step: 'write-back' });
  const employeeId = employeeIdOf(hire);
  const target = await writeEmployeeId(hire, employeeId);
  if (target.verdict === 'hold') return target;
  const values = await readMappedValues(hire, shown);
  if (target.verdict === 'custom-field') values.push({ customFieldId: target.customField, value: employeeId });
  if (values.length > 0) await upsertValues(hire, values);
  return { verdict: 'written' };
}

export function employeeIdOf({ connection, row }: HireContext): string {
  const employee = { id: row.employee_id, number: row.employee_number };
  return employeeIdToWrite(connection.tenant.writeBack.employeeId, employee);
}

/** Writes to the enrolment, or returns the custom field that takes the ID instead. */
export async function writeEmployeeId(
  hire: HireContext,
  employeeId: string,
  status = hire.connection.tenant.writeBack.status,
): Promise<{ verdict: 'written' } | { verdict: 'custom-field'; customField: string } | Held> {
  const { tenant, partner } = hire.connection;
  const { ref, row } = hire;
  const { customField } = tenant.writeBack;
  const target = targetOf({ ...ref, onboardingCandidateId: row.onboarding_candidate_id }, customField);
  if (target.verdict !== 'enrolment') return target;
  const { onboardingCandidateId } = target;
  const changes = newValues({ status, employeeId });
  const write = { target: 'external-status', foreignId: onboardingCandidateId, kind: 'update' as const, changes };
  const batchId = await noteWrites(hire, [{ ...write, sensitive: [] }]);
  try {
    const input = { params: { onboardingCandidateId }, body: { status, employeeId } };
    const beforeWrite = (): Promise<void> => assertUnchanged(hire);
    await partner.onboarding.setExternalStatus(input, { priority: 'live', beforeWrite });
    return { verdict: 'written' };
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    await settleWrites(hire.store, batchId, 'refused');
    const refused = { onboardingCandidateId, refusal: error.code, status: row.onboarding_status };
    return targetAfterRefusal(refused, customField);
  }
}

/** What a hire's writes to the partner say, and of whom. */
const WRITTEN_OF = [
  'state',
  'candidate_id',
  'connection',
  'employee_id',
  'employee_number',
  'onboarding_candidate_id',
] as const;

/**
 * Lets nothing leave on an old reading: after a stall, another worker may have ended the hire, or found that the
 * employee is somebody else. @throws ConnectorError READ_TOO_LONG_AGO
 */
async function assertUnchanged({ deps, store, ref, row, sinceRead }: HireContext): Promise<void> {
  const now = await readHireRow(store, ref);
  const isChanged = WRITTEN_OF.some((key) => now[key] !== row[key]);
  assertFresh(deps.limits, () => (isChanged ? Number.POSITIVE_INFINITY : sinceRead()));
}

/**
 * Upserts these custom field values of the candidate, encoded for their fields. Returns the batch id of the stored
 * note.
 */
export async function upsertValues(hire: HireContext, values: readonly TargetValue[]): Promise<string> {
  const { partner } = hire.connection;
  const entityId = hire.row.candidate_id ?? '';
  const encoded = await encodeTargets(hire, values);
  const batchId = await noteWrites(hire, [customFieldWrite(hire, values)]);
  const body = encoded.map((value) => ({ ...value, entityType: 'candidate' as const, entityId }));
  const options = { priority: 'live', beforeWrite: () => assertUnchanged(hire) } as const;
  const outcomes = await partner.inChunks(contract.customFieldValues.upsertBulk, { body }, options);
  const errors = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.error]));
  const [first] = errors;
  if (first === undefined) return batchId;
  // One row stands for all chunks, so it counts as refused only if every chunk was refused.
  const areRefused = errors.every((error) => isConnectorError(error) && error.action === 'reject');
  if (errors.length === outcomes.length && areRefused) await settleWrites(hire.store, batchId, 'refused');
  throw first;
}

/** A value from a sensitive employee field is just as sensitive at the candidate. */
export function customFieldWrite(hire: HireContext, values: readonly TargetValue[]): HireWrite {
  const foreignId = hire.row.candidate_id ?? '';
  const hidden = new Set(sensitiveFields(hire));
  const { values: mapped } = hire.connection.tenant.writeBack;
  const sensitive = mapped.filter(({ field }) => hidden.has(field)).map(({ customFieldId }) => customFieldId);
  const changes = newValues(Object.fromEntries(values.map(({ customFieldId, value }) => [customFieldId, value])));
  return { target: 'custom-fields', foreignId, kind: 'update', changes, sensitive };
}

/**
 * The values that the tenant's files write back besides the ID, as the HR system holds them now. `shown`: the employee,
 * if read a moment ago.
 */
export async function readMappedValues(hire: HireContext, shown?: EmployeeRecord): Promise<TargetValue[]> {
  return [...(await readFieldValues(hire, shown)), ...urlToWrite(hire)];
}

/** The employee's address in the HR system, if a custom field takes it. Needs no call. */
function urlToWrite(hire: HireContext): TargetValue[] {
  const { connection, row } = hire;
  const { employeeUrl: customFieldId } = connection.tenant.writeBack;
  if (customFieldId === undefined || row.employee_id === null || formerHris(hire) !== undefined) return [];
  const { employee_id: id, employee_number: number } = row;
  const value = urlOfEmployee(connection.hris.capabilities.employeeUrl, { id, ...(number !== null && { number }) });
  return value === undefined ? [] : [{ customFieldId, value }];
}

async function readFieldValues(hire: HireContext, shown?: EmployeeRecord): Promise<TargetValue[]> {
  const { connection, ref, row } = hire;
  const { tenant, hris, mapping } = connection;
  const { values } = tenant.writeBack;
  if (values.length === 0 && mapping.back.length === 0) return [];
  const employee = employeeOf(row);
  const record = shown ?? (employee && (await readEmployee(hris, employee)));
  if (record !== undefined)
    return [...mappedTargets(values, record.fields), ...(await valuesBack(connection, record.fields))];
  const waitMs = await unshownForMs(hire);
  const { employee_id: employeeId } = row;
  if (waitMs > 0)
    throw new ConnectorError({
      code: 'EMPLOYEE_NOT_SHOWN_YET',
      action: 'retry',
      message: `The HR system does not show employee ${employeeId} yet.`,
      retryAfterMs: waitMs + 50,
    });
  throw rejected(
    'EMPLOYEE_NOT_FOUND',
    `The HR system shows no employee ${employeeId}, so the values to be written back for job candidate ` +
      `${ref.jobCandidateId} cannot be read. Look there, then answer retry; or keep to end the hire as it is.`,
  );
}

/**
 * How much longer, in ms, the HR system may not show the employee this hire made. The hire was read before the record,
 * so a record due by the hire's clock was already due when it was read.
 */
async function unshownForMs(
  { store, connection, row, creation }: HireContext,
  lagMs = connection.hris.capabilities.readLagMs,
): Promise<number> {
  const employee = employeeOf(row);
  const { employees } = employee === undefined ? { employees: [] } : await findPerson(store, { employee });
  const since = employees.find((one) => one.employee.id === employee?.id)?.since;
  return unreadableForMs(creation, lagMs, since);
}

/** Values for the candidate's custom fields from the mapping's rules to the partner; no call without such rules. */
export async function valuesBack({ mapping, partner }: Connection, fields: EmployeeFields): Promise<TargetValue[]> {
  if (mapping.back.length === 0) return [];
  const { values, problems } = evaluateBack(mapping, fields);
  const reasons = problems.map(({ code, text }) => `${text} [${code}]`).join(' ');
  if (problems.length > 0)
    throw rejected(
      'VALUE_NOT_REVERSIBLE',
      `A value of the employee cannot be written back: ${reasons} Then answer retry; or keep to end the hire as it is.`,
    );
  if (values.length === 0) return [];
  const query = { entityType: 'candidate' } as const;
  const { items } = await partner.readAll(contract.customFields.list, { query }, { priority: 'live' });
  return values.map(({ path, value }) => ({ customFieldId: customFieldOf(path, items), value }));
}

/** Finds the field by id, or by its label if only one field has it. */
function customFieldOf(path: BackValue['path'], definitions: readonly CustomField[]): string {
  const wanted = 'customField' in path ? path.customField : path.text;
  const ofCandidates = definitions.filter(({ entityType }) => entityType === 'candidate');
  const byId = ofCandidates.find(({ id }) => id === wanted);
  const label = foldLabel(wanted);
  const hits = byId ? [byId] : ofCandidates.filter(({ fieldLabel }) => foldLabel(fieldLabel) === label);
  const [only] = hits;
  if (only !== undefined && hits.length === 1) return only.id;
  const found = hits.length === 0 ? 'no candidate custom field has' : `${hits.length} candidate custom fields have`;
  throw rejected(
    'CUSTOM_FIELD_UNCLEAR',
    `The mapping writes ${path.text} at the partner, where ${found} that label. Write its id in the mapping, ` +
      'or define the field there; then answer retry.',
  );
}

/** Reads every target of the write-back again, because a 200 alone has been wrong before. */
async function verify(hire: HireContext): Finished {
  const employeeId = employeeIdOf(hire);
  const onEnrolment = await isOnEnrolment(hire, employeeId);
  const expected = await readMappedValues(hire);
  const customFieldId = hire.connection.tenant.writeBack.customField ?? '';
  if (!onEnrolment) expected.push({ customFieldId, value: employeeId });
  const missing = missingTargets(expected, await readShown(hire, expected));
  // A partner may show a write late, so the workflow writes and reads a few more times before a person is asked.
  if (missing.length > 0) {
    const { jobCandidateId } = hire.ref;
    const targets = missing.map((field) => field || 'external status');
    return { verdict: 'differs', hold: holdOf('WRITE_BACK_NOT_VERIFIED', { jobCandidateId, targets }) };
  }
  await verifyWrites(hire.store, hire.ref);
  return { verdict: 'verified' };
}

/** Whether the enrolment shows the status and the Employee ID. */
export async function isOnEnrolment({ connection, row }: HireContext, employeeId: string): Promise<boolean> {
  const id = row.onboarding_candidate_id;
  if (id === null) return false;
  const params = { onboardingCandidateId: id };
  const { data } = await connection.partner.onboarding.getCandidate({ params }, { priority: 'live' });
  return isShown(data.externalStatus, { status: connection.tenant.writeBack.status, employeeId });
}

/** The candidate's custom fields; makes no call if no value is expected there. */
export async function readShown(
  { connection, row }: HireContext,
  expected: readonly TargetValue[],
): Promise<ReadonlyMap<string, unknown>> {
  if (expected.length === 0) return new Map();
  const query = { entityType: 'candidate' as const, entityId: row.candidate_id ?? '' };
  const { items } = await connection.partner.readAll(contract.customFieldValues.list, { query }, { priority: 'live' });
  return new Map(ownValues(items).map((item) => [String(item.customFieldId), item.value]));
}
