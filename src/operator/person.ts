import { setTimeout as pause } from 'node:timers/promises';
import type { Connection } from '../../activities/connections.ts';
import { alarmOf, carryOutErasure } from '../../activities/erase/carry-out.ts';
import { assertTablesAnswer, readLanded, withRecords } from '../../activities/erase/landed-rows.ts';
import { isStrangerTo, OF_ANOTHER } from '../../activities/hire/read-employee.ts';
import { fetchJobCandidates } from '../../activities/presence/fetch-job-candidates.ts';
import { type Places, readConfig } from '../config.ts';
import { ConnectorError, isConnectorError, rejected } from '../errors.ts';
import { employeeIn } from '../hire/hire.ts';
import { count } from '../in-words.ts';
import { createLogger } from '../log.ts';
import { contract } from '../partner/contract/index.ts';
import { listAlarms } from '../store/alarms.ts';
import { findAppliedTenant, isApplied } from '../store/applied-tenants.ts';
import { audit } from '../store/audit.ts';
import {
  askErasure,
  askTenantErasure,
  changeLegalHold,
  type ErasureReceipt,
  isTenantSubject,
  listErasures,
  type TenantSubject,
} from '../store/erasures.ts';
import type { Store } from '../store/open-store.ts';
import { completeIds, findPersonRows, type Subject } from '../store/person-data.ts';
import {
  EVERYBODY,
  idsOf,
  legalHoldOf,
  nameOf,
  type PersonId,
  type PersonIds,
  recordDigest,
  sizeOf,
} from '../store/person-marks.ts';
import { decideCases, listCases } from '../store/privacy-cases.ts';
import type { ErasureRow } from '../store/tenant-tables.ts';
import { forgettingIn } from '../temporal/forget-hire.ts';
import type { HireClient } from '../temporal/hire-client.ts';
import { type OpenTenant, patiently, withTenant } from './open-tenant.ts';
import { tenantNotApplied } from './tenants.ts';

/** What the `person` commands work on. */
export interface PersonParts {
  store: Store;
  places: Places;
  tenantId: string;
  by: string;
}

interface PersonPlace {
  place: string;
  count: number;
}

export interface FoundPerson {
  tenantId: string;
  candidates: string[];
  jobCandidates: string[];
  enrolments: string[];
  employees: string[];
  legalHold?: { by: string; about: string };
  places: PersonPlace[];
  /** Sides that could not be asked, and why. */
  notAsked: string[];
}

const KINDS = ['candidate', 'application', 'employee', 'email'] as const;
type Kind = (typeof KINDS)[number];
const PREFIXED = /^(candidate|application|employee|email):(.+)$/;

/** Finds the places that hold data of a person. Returns only ids. */
export async function findPerson(parts: PersonParts, who: string): Promise<FoundPerson> {
  return withEndsIfAny(parts, async (open, notAsked) => {
    const subject = await resolve(parts, who, open);
    await audit(parts.store, { ...parts, act: 'person-found', ...(await about(parts.store, subject)) });
    const places = (await findPersonRows(parts.store, subject)).map(({ place, count }) => ({ place, count }));
    const landed = open === undefined ? [] : await readLanded(subject, open.connection);
    const legalHold = await legalHoldOf(parts.store, parts.tenantId, idsOf(subject));
    return {
      ...viewIds(subject),
      ...(legalHold === undefined ? {} : { legalHold }),
      places: [
        ...places,
        ...landed.map(({ stream, rows }) => ({ place: `landing table of ${stream}`, count: rows.length })),
      ],
      notAsked,
    };
  });
}

function viewIds({ tenantId, candidates, jobCandidates, enrolments, employees }: Subject) {
  const known = employees.map(({ connection, id }) => `${connection}/${id}`);
  return { tenantId, candidates, jobCandidates, enrolments, employees: known };
}

/** The audit trail names nobody who may ask for erasure; a keyed hash says whom the act was about. */
async function about(store: Store, subject: Subject): Promise<{ details: string; subject?: string }> {
  const details = `${count(sizeOf(subject), 'id')} of one person`;
  const [of] = idsOf(subject);
  return of === undefined ? { details } : { details, subject: await recordDigest(store, subject.tenantId, of) };
}

/** All data held about a person: rows of the store, landed rows, and their employee. */
export interface PersonExport extends Omit<FoundPerson, 'places'> {
  exportedAt: string;
  store: Record<string, Record<string, unknown>[]>;
  /** Rows that also name other people are counted, not shown. */
  shared: PersonPlace[];
  landed: Record<string, unknown[]>;
  hris: unknown[];
}

export async function exportPerson(parts: PersonParts, who: string): Promise<PersonExport> {
  return withEndsIfAny(parts, async (open, notAsked) => {
    const subject = await resolve(parts, who, open);
    await audit(parts.store, { ...parts, act: 'person-exported', ...(await about(parts.store, subject)) });
    const found = await findPersonRows(parts.store, subject);
    const landed = open === undefined ? [] : await readLanded(subject, open.connection);
    const { hris, leftOut } = open === undefined ? NOT_READ : await readEmployees(subject, open.connection);
    return {
      ...viewIds(subject),
      exportedAt: new Date().toISOString(),
      notAsked: [...notAsked, ...leftOut],
      store: Object.fromEntries(found.map(({ place, rows }) => [place, rows.map(readable)])),
      shared: found
        .map(({ place, count, rows }) => ({ place, count: count - rows.length }))
        .filter(({ count }) => count > 0),
      landed: Object.fromEntries(
        landed.map(({ stream, rows }) => [stream, rows.map(({ id, fields }) => ({ id, ...fields }))]),
      ),
      hris,
    };
  });
}

interface ReadEmployees {
  hris: unknown[];
  /** Why a record is left out: it may be somebody else's by now. */
  leftOut: string[];
}

const NOT_READ: ReadEmployees = { hris: [], leftOut: [] };

async function readEmployees(subject: Subject, connection: Connection): Promise<ReadEmployees> {
  const { hris, tenant } = connection;
  const read: ReadEmployees = { hris: [], leftOut: [] };
  for (const one of subject.employees) {
    if (one.connection !== tenant.hris.connection) continue;
    const employee = employeeIn(one.connection, one.id);
    const record = await patiently(() => hris.employees.read(employee, AbortSignal.timeout(CALL_MS)));
    if (record === undefined) continue;
    if (isStrangerTo(subject, one, connection, record)) read.leftOut.push(`employee ${one.id}: ${OF_ANOTHER}`);
    else read.hris.push({ employee: record.ref, fields: record.fields });
  }
  return read;
}

const CALL_MS = 30_000;
const TIMES = /(_at|^at|_until)$/;

/** Parses JSON columns, and formats times for people. */
function readable(row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(row).filter(([, value]) => value !== null && value !== '');
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (TIMES.test(name) && Number(value) > 0) return [name, new Date(Number(value)).toISOString()];
      return [name, typeof value === 'string' && /^[[{]/.test(value) ? parsed(value) : value];
    }),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

interface Erasing {
  who: string;
  reason: string;
  employee: ErasureRow['employee'];
}

/**
 * Requests the erasure of a person and carries it out; a worker continues if this is interrupted. The two sides may be
 * closed only if the tenant was removed: otherwise data that they alone show would stay behind a signed receipt.
 */
export async function erasePerson(
  parts: PersonParts & { hires: HireClient },
  { who, reason, employee }: Erasing,
): Promise<ErasureReceipt> {
  const { store, tenantId, by } = parts;
  return withEndsIfAny(parts, async (open, _notAsked, why) => {
    const isRemoved = async () => (await findAppliedTenant(store, tenantId))?.state === 'removed';
    if (why !== undefined && !(await isRemoved())) throw notOpened(tenantId, why);
    const whom = await whomToErase(parts, who, open);
    if ('erasure_id' in whom && whom.employee !== employee) throw otherwiseUnderWay(whom);
    const row = 'erasure_id' in whom ? whom : await askErasure(store, { subject: whom, by, reason, employee });
    return carryOut(parts, open, row.erasure_id);
  });
}

function notOpened(tenantId: string, why: ConnectorError): ConnectorError {
  const message =
    `Nothing was erased: hiring platform and HR system of tenant ${tenantId} could not be opened. ${why.message} If ` +
    'the workers have what is missing, give the command where they run.';
  return why.but({ message });
}

/** What was asked for stays: an ending may have been sent already, or the receipt be about to be signed. */
function otherwiseUnderWay({ erasure_id: erasureId, employee }: ErasureRow): ConnectorError {
  const does = employee === 'keep' ? 'keeps the employee' : "ends the employee's employment";
  const next =
    employee === 'keep' ? 'Once it is done, end the employment in the HR system.' : 'It cannot be taken back.';
  return rejected(
    'ERASURE_UNDER_WAY',
    `Erasure ${erasureId} of this person is under way, and it ${does}, as was asked. Nothing was changed. To go on ` +
      `with it, give --employee ${employee}. ${next}`,
  );
}

/** The unfinished erasure to continue, or the person to erase. */
async function whomToErase(
  parts: PersonParts,
  who: string,
  open: OpenTenant | undefined,
): Promise<ErasureRow | Subject> {
  const asked = (await listErasures(parts.store, parts.tenantId)).filter((row) => row.done_at === null);
  const subjectOf = ({ subject }: ErasureRow) => JSON.parse(subject) as Subject | TenantSubject;
  const named = asked.find((row) => isNamedIn(subjectOf(row), who));
  if (named !== undefined && PREFIXED.test(who)) return named;
  try {
    // A number without its kind may be an id of the erased person and another person's id of another kind.
    const subject = await resolve(parts, who, open);
    const same = asked.find((row) => isWithin(subject, subjectOf(row)));
    if (same === undefined && named !== undefined) throw ambiguous(who, ['candidate', 'application', 'employee']);
    return same ?? subject;
  } catch (error) {
    // Nothing but the request tells who that was.
    if (named !== undefined && isConnectorError(error, 'PERSON_UNKNOWN')) return named;
    throw error;
  }
}

/** Whether an erasure of `whole` erases all of this person. */
function isWithin(person: Subject, whole: Subject | TenantSubject): boolean {
  if (isTenantSubject(whole)) return false;
  const ids = new Set(idsOf(whole).map(nameOf));
  return idsOf(person).every((one) => ids.has(nameOf(one)));
}

function isNamedIn(subject: Subject | TenantSubject, who: string): boolean {
  if (isTenantSubject(subject)) return false;
  const [, prefix, bare = who] = PREFIXED.exec(who) ?? [];
  const meant = prefix === 'application' ? 'job-candidate' : prefix;
  return idsOf(subject).some(
    ({ kind, id }) => (meant ?? kind) === kind && (id === bare || (kind === 'employee' && id.endsWith(`/${bare}`))),
  );
}

/** Waits for the receipt: a worker that does the erasure now finishes it within its lease. */
async function carryOut(
  { store, places: { dataDir }, hires }: PersonParts & { hires: HireClient },
  open: OpenTenant | undefined,
  erasureId: string,
): Promise<ErasureReceipt> {
  const { HIREBRIDGE_GIVE_UP_MS: giveUpMs, HIREBRIDGE_PARTNER_LAG_MS: partnerLagMs } = readConfig();
  const outside = { store, log: createLogger('command'), limits: { giveUpMs, partnerLagMs, pausedMs: 0 } };
  const sides = { dataDir, ...forgettingIn(hires), connect: async () => open?.connection };
  for (;;) {
    const receipt = await carryOutErasure({ ...(open?.deps ?? outside), ...sides }, erasureId);
    if (receipt !== undefined) return receipt;
    await pause(1_000);
  }
}

/**
 * Removes a tenant and erases all its data; a worker continues if this is interrupted.
 * @throws ConnectorError TENANT_UNKNOWN, LEGAL_HOLD, LANDING_UNREACHABLE
 */
export async function eraseTenant(
  parts: PersonParts & { hires: HireClient },
  { reason, landing }: { reason: string; landing: TenantSubject['landing'] },
): Promise<ErasureReceipt> {
  const { store, tenantId, by } = parts;
  if (!(await isApplied(store, tenantId))) throw await tenantNotApplied(store, tenantId);
  if (landing === 'delete') await assertTablesAnswer(store, tenantId);
  const row = await askTenantErasure(store, { tenantId, by, reason, landing });
  return carryOut(parts, undefined, row.erasure_id);
}

/** Receipts of a tenant's erasures, latest first; an unfinished erasure has none, but the reason why it fails. */
export async function listReceipts(store: Store, tenantId: string) {
  const alarms = new Map((await listAlarms(store, tenantId)).map((alarm) => [alarm.subject, alarm]));
  return (await listErasures(store, tenantId)).map((row) => ({
    erasure: row.erasure_id,
    askedAt: new Date(Number(row.asked_at)).toISOString(),
    by: row.by,
    state: row.done_at === null ? ('under way' as const) : ('done' as const),
    failing: alarms.get(alarmOf(tenantId, row.erasure_id).subject)?.message,
    receipt: row.receipt === null ? undefined : (JSON.parse(row.receipt) as ErasureReceipt),
  }));
}

/** People to whom `policies.privacy` applies, with cause and reason for the wait. */
export async function listDue({ store, tenantId }: Pick<PersonParts, 'store' | 'tenantId'>) {
  return (await listCases(store, tenantId)).map((row) => ({
    candidate: row.candidate_id,
    cause: row.cause,
    state: row.state,
    why: row.why,
    since: new Date(Number(row.since)).toISOString(),
    ...(row.decided_by === null ? {} : { decidedBy: row.decided_by }),
  }));
}

/**
 * Erases or keeps the person who waits; `all`: everybody who waits to be decided.
 * @throws ConnectorError NOBODY_WAITS
 */
export async function decideDue(
  { store, tenantId, by }: PersonParts,
  who: string,
  decision: 'erase' | 'keep',
): Promise<number> {
  const candidateId = who === 'all' ? undefined : who.replace(/^candidate:/, '');
  const count = await decideCases(store, { tenantId, candidateId, by }, decision === 'erase' ? 'allowed' : 'kept');
  if (count > 0) return count;
  throw rejected(
    'NOBODY_WAITS',
    `No person with that id is waiting for a decision. See who is: hirebridge person due ${tenantId}`,
  );
}

/**
 * Puts a legal hold on a person, or on all people of the tenant (`all`), or releases it. Returns in `erasing` the
 * unfinished erasures requested before; the hold stops them where they are.
 */
export async function holdPerson(
  parts: PersonParts,
  who: string,
  given: { reason: string } | { release: true },
): Promise<{ changed: boolean; erasing: string[] }> {
  const { store, tenantId } = parts;
  const ids =
    who === 'all' ? EVERYBODY : await withEndsIfAny(parts, async (open) => idsOf(await resolve(parts, who, open)));
  const changed = await changeLegalHold(parts, ids, given);
  const open = (await listErasures(store, tenantId)).filter(({ done_at: doneAt }) => doneAt === null);
  const erasing = open.filter(({ subject }) => isOf(JSON.parse(subject) as Subject | TenantSubject, ids));
  return { changed, erasing: erasing.map((row) => row.erasure_id) };
}

function isOf(subject: Subject | TenantSubject, ids: readonly PersonId[] | typeof EVERYBODY): boolean {
  if (ids === EVERYBODY || isTenantSubject(subject)) return true;
  const theirs = new Set(idsOf(subject).map(nameOf));
  return ids.some((one) => theirs.has(nameOf(one)));
}

/** Opens both sides of the tenant if possible; otherwise only the store is asked, and `why` tells the reason. */
async function withEndsIfAny<T>(
  parts: PersonParts,
  use: (open: OpenTenant | undefined, notAsked: string[], why?: ConnectorError) => Promise<T>,
): Promise<T> {
  let isOpen = false;
  try {
    return await withTenant(parts, async (open) => {
      isOpen = true;
      return use(open, []);
    });
  } catch (error) {
    if (isOpen || !(error instanceof ConnectorError) || error.action === 'retry') throw error;
    return use(undefined, [`hiring platform and HR system: ${error.message}`], error);
  }
}

/** The person whom these words name. @throws ConnectorError PERSON_UNKNOWN, PERSON_AMBIGUOUS */
async function resolve({ store, tenantId }: PersonParts, who: string, open: OpenTenant | undefined): Promise<Subject> {
  const [, prefix, rest] = PREFIXED.exec(who) ?? [];
  const kind = (prefix ?? (who.includes('@') ? 'email' : undefined)) as Kind | undefined;
  const id = (rest ?? who).trim();
  const found = new Map<Kind, Subject>();
  for (const one of kind === undefined ? KINDS : [kind]) {
    if (one === 'email' && kind === undefined) continue;
    const subject = await completeIds(store, tenantId, await startFrom(one, id, { store, tenantId, open }));
    if (kind !== undefined ? sizeOf(subject) > 0 : await isKnown(store, subject, open)) found.set(one, subject);
  }
  const people = new Map(
    [...found].map(([one, subject]) => [
      JSON.stringify(idsOf(subject).toSorted((a, b) => (a.id < b.id ? -1 : 1))),
      one,
    ]),
  );
  if (people.size > 1) throw ambiguous(id, [...people.values()]);
  const [subject] = found.values();
  if (subject === undefined) throw unknownPerson(tenantId);
  return open === undefined ? subject : asShown(store, subject, open.connection);
}

/**
 * Also what both sides show. Nothing but the hiring platform, or a landed application, names the candidate of somebody
 * who was never hired.
 */
async function asShown(store: Store, subject: Subject, connection: Connection): Promise<Subject> {
  const of = await withRecords(subject, connection);
  const asked = of.candidates.length > 0 ? [] : await fetchJobCandidates(connection, of.jobCandidates);
  const candidates = [...of.candidates, ...asked.flatMap(({ jobCandidate }) => jobCandidate?.candidateId ?? [])];
  if (candidates.length === subject.candidates.length) return of;
  return withRecords(await completeIds(store, of.tenantId, { ...of, candidates }), connection);
}

async function isKnown(store: Store, subject: Subject, open: OpenTenant | undefined): Promise<boolean> {
  if (sizeOf(subject) > 1 || (await findPersonRows(store, subject)).length > 0) return true;
  const landed = open === undefined ? [] : await readLanded(subject, open.connection);
  return landed.some(({ rows }) => rows.length > 0);
}

const NOBODY: PersonIds = { candidates: [], jobCandidates: [], enrolments: [], employees: [] };

async function startFrom(
  kind: Kind,
  id: string,
  { store, tenantId, open }: { store: Store; tenantId: string; open: OpenTenant | undefined },
): Promise<PersonIds> {
  if (kind === 'candidate') return { ...NOBODY, candidates: [id] };
  if (kind === 'application') return { ...NOBODY, jobCandidates: [id] };
  if (kind === 'employee') return { ...NOBODY, employees: await employeesCalled(store, { tenantId, open }, id) };
  return open === undefined ? NOBODY : { ...NOBODY, candidates: await candidatesWith(open.connection, id) };
}

/** Finds employees by the HR system's id or by employee number. */
async function employeesCalled(
  { kysely }: Store,
  { tenantId, open }: { tenantId: string; open: OpenTenant | undefined },
  id: string,
): Promise<PersonIds['employees']> {
  const rows = await kysely
    .selectFrom('hires')
    .select(['connection', 'employee_id'])
    .where('tenant_id', '=', tenantId)
    .where((eb) => eb.or([eb('employee_id', '=', id), eb('employee_number', '=', id)]))
    .execute();
  const own = open?.tenant.hris.connection;
  const known = rows.flatMap(({ connection, employee_id: employee }) =>
    connection === null || employee === null ? [] : [{ connection, id: employee }],
  );
  return known.length > 0 || own === undefined ? known : [{ connection: own, id }];
}

/** Candidates at the hiring platform with exactly this address. */
async function candidatesWith({ partner }: Connection, email: string): Promise<string[]> {
  const found: string[] = [];
  const options = { priority: 'live' as const, size: 100 };
  for await (const { items } of partner.pages(contract.candidates.list, { query: { candidateEmail: email } }, options))
    for (const item of items)
      if (String(item.email ?? '').toLowerCase() === email.toLowerCase()) found.push(String(item.id));
  return found;
}

function ambiguous(id: string, kinds: readonly string[]): ConnectorError {
  return rejected(
    'PERSON_AMBIGUOUS',
    `That id belongs to different people. Say which: ${kinds.map((kind) => `${kind}:${id}`).join(' or ')}.`,
  );
}

function unknownPerson(tenantId: string): ConnectorError {
  return rejected(
    'PERSON_UNKNOWN',
    `Tenant ${tenantId} holds nothing about a person with that id. Give a candidate id, an e-mail address, or ` +
      'an employee id or number; candidate:ID, application:ID, employee:ID and email:ADDRESS say which it is.',
  );
}
