import pLimit from 'p-limit';
import { isConnectorError } from '../../src/errors.ts';
import { employeeIn } from '../../src/hire/hire.ts';
import type { ChangedEmployees, EmployeeRecord } from '../../src/hris/port.ts';
import { readApart, sortRead } from '../../src/hris/read-many.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { employeeIdToWrite, isShown, missingTargets } from '../../src/plan/plan-write-back.ts';
import {
  type ConnectionKey,
  type Employment,
  linkedEmployees,
  noteTold,
  readChangeCursor,
  readEmployments,
  saveChangeCursor,
} from '../../src/store/employments.ts';
import type { NewWrite } from '../../src/store/foreign-writes.ts';
import { addHints, clearHints, type Hint, readHints } from '../../src/store/hints.ts';
import { WHOLE_LIST } from '../../src/streams/stream.ts';
import { hintRunning } from '../connections.ts';
import { encodeTargets, ownValues } from '../fields/custom-fields.ts';
import { isOfAnother, OF_ANOTHER } from '../hire/read-employee.ts';
import {
  assertOurs,
  createFailures,
  type Failures,
  noted,
  type PushContext,
  tell,
  type Verdict,
} from '../push/push-context.ts';

/** The stream that exchanges fields; it gets hints about employees to read again. */
const FIELDS = 'employees';
const PAGE = 100;
const READ_MS = 60_000;
/** How many employees are read at once. */
const AT_ONCE = 8;

/**
 * Handles the employees that changed in the HRIS page by page, or all linked employees if the HRIS does not report
 * changes. Another stream exchanges their fields and gets hints about which employees to read again.
 */
export async function pushEmployment(context: PushContext): Promise<void> {
  const { verdicts } = context;
  const failures = createFailures();
  for await (const page of pagesOf(context)) {
    await assertOurs(context);
    for (const id of page.gone) tell(context, id, 'skipped', 'deleted in the HR system');
    for (const verdict of await pushPage(context, page, failures)) {
      // Hints and the list of changes may name the same employee, or the list twice.
      const isSeenAgain = verdict.kind === 'unchanged' && verdicts.get(verdict.id)?.kind === 'updated';
      if (!isSeenAgain) verdicts.set(verdict.id, verdict);
    }
    await page.done();
    context.beat();
  }
  failures.end();
}

interface Page extends Pick<ChangedEmployees, 'employees' | 'gone' | 'unread'> {
  /**
   * The page lists real changes. A pass over everybody shows no changes, and the exchange of fields has its own full
   * passes.
   */
  isNews: boolean;
  /** To be called once the page is done. */
  done(): Promise<void>;
}

/** A run that a hint started takes only the employees that hints name, unless one names nobody. */
async function* pagesOf(context: PushContext): AsyncGenerator<Page> {
  const { deps, key, hinted } = context;
  const hints = await readHints(deps.store, key.tenantId, key.stream);
  yield* hintedPages(context, hints);
  if (hinted && !hints.some(({ recordId }) => recordId === WHOLE_LIST)) return;
  yield* context.connection.hris.changes === undefined ? everyPage(context) : changedPages(context);
}

/** Employees that an earlier run left out, or whom the HR system named since: it names everybody's. */
async function* hintedPages(context: PushContext, hints: readonly Hint[]): AsyncGenerator<Page> {
  const { deps, connection, key } = context;
  for (let from = 0; from < hints.length; from += PAGE) {
    const some = hints.slice(from, from + PAGE);
    const named = some.map(({ recordId }) => recordId);
    const known = await readEmployments(deps.store, whereOf(context), named);
    const ids = known.map(({ employee }) => employee.id);
    // An employee left out again got a new hint, which stays.
    const done = (): Promise<void> => clearHints(deps.store, key.tenantId, key.stream, some);
    yield { ...(await readEach(connection, ids)), isNews: false, done };
  }
}

async function* changedPages(context: PushContext): AsyncGenerator<Page> {
  const { deps, connection, full } = context;
  const { changes } = connection.hris;
  const { wholeWithin } = connection.tenant.streams.employment;
  const where = whereOf(context);
  const saved = full ? undefined : await readChangeCursor(deps.store, where);
  let cursor = saved === undefined || saved.ageMs > wholeWithin ? undefined : saved.cursor;
  const isNews = cursor !== undefined;
  for (let more = changes !== undefined; more && changes !== undefined; ) {
    const begins = cursor === undefined;
    const page = await changes.since(cursor, AbortSignal.timeout(READ_MS));
    cursor = page.next;
    more = page.more;
    yield { ...page, isNews, done: () => saveChangeCursor(deps.store, where, page.next, begins) };
  }
}

async function* everyPage(context: PushContext): AsyncGenerator<Page> {
  const { deps, connection } = context;
  for (let after = ''; ; ) {
    const ids = await linkedEmployees(deps.store, whereOf(context), after, PAGE);
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
    yield { ...(await readEach(connection, ids)), isNews: false, done: async () => undefined };
  }
}

async function readEach(
  { hris, tenant }: PushContext['connection'],
  ids: readonly string[],
): Promise<Pick<Page, 'employees' | 'gone' | 'unread'>> {
  const limit = pLimit(AT_ONCE);
  const read = (id: string) =>
    limit(() => hris.employees.read(employeeIn(tenant.hris.connection, id), AbortSignal.timeout(READ_MS)));
  const given = await readApart(ids, read, async () => (await hris.probe(AbortSignal.timeout(READ_MS))).ok);
  return sortRead(ids, given);
}

/** Adds a hint for each employee left out, so that the next run looks again even if the HRIS reports no change. */
async function pushPage(
  context: PushContext,
  { employees, unread = [], isNews }: Page,
  failures: Failures,
): Promise<Verdict[]> {
  const { store } = context.deps;
  const { tenantId, stream } = context.key;
  const ids = [...employees.map(({ ref }) => ref.id), ...unread.map(({ id }) => id)];
  const known = await readEmployments(store, whereOf(context), ids);
  const linked = new Map(known.map((one) => [one.employee.id, one]));
  if (isNews) {
    await addHints(store, tenantId, FIELDS, [...linked.keys()]);
    await hintRunning(context, FIELDS, [...linked.keys()]);
  }
  const verdicts: Verdict[] = unread.filter(({ id }) => linked.has(id)).map((one) => ({ ...one, kind: 'quarantined' }));
  for (const employee of employees) {
    const { id } = employee.ref;
    const employment = linked.get(id);
    if (employment === undefined) continue;
    const one = await failures.tryOne(() => pushOne(context, employment, employee));
    const verdict = 'done' in one ? one.done : { kind: 'skipped' as const, reason: one.failed.message };
    verdicts.push({ id, ...verdict });
  }
  const leftOut = verdicts.filter(({ reason }) => reason !== undefined).map(({ id }) => id);
  await addHints(store, tenantId, stream, leftOut);
  return verdicts;
}

async function pushOne(
  context: PushContext,
  employment: Employment,
  employee: EmployeeRecord,
): Promise<Omit<Verdict, 'id'>> {
  const { deps, connection } = context;
  const { writeBack } = connection.tenant;
  if (employment.hire.state === 'open')
    return { kind: 'skipped', reason: 'its hire is under way, and writes back by itself' };
  try {
    if (await isOfAnother({ store: deps.store, connection }, employment.employee, employee))
      return { kind: 'quarantined', reason: OF_ANOTHER };
    const { ref, former = false } = employee;
    const wanted: ToldEmployment = {
      employeeId: employeeIdToWrite(writeBack.employeeId, { id: ref.id, number: ref.number ?? null }),
      status: former ? writeBack.leftStatus : writeBack.status,
    };
    // The partner may know this already, from this stream or from the hire's verified write-back.
    const { employee_id: id, employee_number: number } = employment.hire;
    const hired = { written_id: writeBack.employeeId === 'id' ? id : number, status: writeBack.status };
    const before = employment.told ?? hired;
    if (before.written_id === wanted.employeeId && before.status === wanted.status) return { kind: 'unchanged' };
    const told = await tellEmployment(context, employment, wanted);
    if (told === 'no-target')
      return { kind: 'quarantined', reason: 'there is no enrolment and no writeBack.customField' };
    if (told === 'unseen') return { kind: 'skipped', reason: 'written, but the hiring platform does not show it yet' };
    const { employeeId: writtenId, status } = wanted;
    await noteTold(deps.store, employment, { writtenId, status, number: employee.ref.number ?? null });
    return { kind: told === 'written' ? 'updated' : 'unchanged' };
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    return { kind: 'quarantined', reason: error.message };
  }
}

function whereOf({ connection, key }: PushContext): ConnectionKey {
  return { tenantId: key.tenantId, connection: connection.tenant.hris.connection };
}

/** unchanged: the partner holds it already. unseen: it was written but a read does not show it yet. */
type Told = 'unchanged' | 'written' | 'unseen' | 'no-target';

/**
 * Writes status and Employee ID to the enrolment. If there is no enrolment, or a terminal one refuses, the Employee ID
 * goes to the custom field that the tenant named. Reads before writing and again after it.
 */
async function tellEmployment(context: PushContext, employment: Employment, wanted: ToldEmployment): Promise<Told> {
  const { onboarding_candidate_id: enrolment } = employment.hire;
  const { customField } = context.connection.tenant.writeBack;
  try {
    if (enrolment !== null) return await tellEnrolment(context, employment, { enrolment, wanted });
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject' || customField === undefined) throw error;
  }
  return customField === undefined ? 'no-target' : tellCustomField(context, employment, { customField, wanted });
}

async function tellEnrolment(
  context: PushContext,
  employment: Employment,
  { enrolment, wanted }: { enrolment: string; wanted: ToldEmployment },
): Promise<Told> {
  const { onboarding } = context.connection.partner;
  const params = { onboardingCandidateId: enrolment };
  const shown = (await onboarding.getCandidate({ params })).data.externalStatus;
  if (isShown(shown, wanted)) return 'unchanged';
  const before = (shown ?? {}) as Partial<Record<keyof ToldEmployment, unknown>>;
  const changes = {
    status: { old: before.status, new: wanted.status },
    employeeId: { old: before.employeeId, new: wanted.employeeId },
  };
  const write = writeOf(employment, { target: 'external-status', foreignId: enrolment, changes });
  await noted(context, [write], () => onboarding.setExternalStatus({ params, body: { ...wanted } }), REFUSED_BY);
  return isShown((await onboarding.getCandidate({ params })).data.externalStatus, wanted) ? 'written' : 'unseen';
}

async function tellCustomField(
  context: PushContext,
  employment: Employment,
  { customField, wanted }: { customField: string; wanted: ToldEmployment },
): Promise<Told> {
  const { partner } = context.connection;
  const entityId = employment.candidate.candidateId;
  const entity = { entityType: 'candidate' as const, entityId };
  const read = async (): Promise<ReadonlyMap<string, unknown>> => {
    const { items } = await partner.readAll(contract.customFieldValues.list, { query: entity });
    return new Map(ownValues(items).map((item) => [String(item.customFieldId), item.value]));
  };
  const told = { customFieldId: customField, value: wanted.employeeId };
  const shown = await read();
  if (missingTargets([told], shown).length === 0) return 'unchanged';
  // A field of numbers takes and shows the ID as a number.
  const [sent = told] = await encodeTargets(context, [told], { maxAgeMs: 60_000 });
  if (missingTargets([sent], shown).length === 0) return 'unchanged';
  const changes = { [customField]: { old: shown.get(customField), new: wanted.employeeId } };
  const write = writeOf(employment, { target: 'custom-fields', foreignId: entityId, changes });
  await noted(context, [write], () => partner.customFieldValues.upsert({ body: { ...entity, ...sent } }), REFUSED_BY);
  return missingTargets([sent], await read()).length === 0 ? 'written' : 'unseen';
}

/** A refused key counts as a refusal too: nothing was written. */
const REFUSED_BY = ['reject', 'reauthorize'] as const;

function writeOf({ hire }: Employment, write: Pick<NewWrite, 'target' | 'foreignId' | 'changes'>): NewWrite {
  return { recordId: hire.job_candidate_id, period: hire.period, kind: 'update', sensitive: [], ...write };
}

/** The values that the partner should hold about an employee. */
interface ToldEmployment {
  employeeId: string;
  status: string;
}
