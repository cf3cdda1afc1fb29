import { type ConnectorError, isConnectorError } from '../../src/errors.ts';
import { type Decisions, decide } from '../../src/hire/answers.ts';
import type { EmployeeFields, HireRef } from '../../src/hire/hire.ts';
import { type Held, type refusalAnswers, refusalHold } from '../../src/hire/holds.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { Candidate } from '../../src/person/person.ts';
import { BY_ITSELF, type FieldChange, type NewWrite, recordWrites } from '../../src/store/foreign-writes.ts';
import { type HireChange, readHireRow, updateHire } from '../../src/store/hires.ts';
import { answersOf, keepRefusal } from '../../src/store/holds.ts';
import { latestIntent, type OpenIntent } from '../../src/store/intents.ts';
import type { Store } from '../../src/store/open-store.ts';
import { mergeCandidates } from '../../src/store/people.ts';
import type { HireRow } from '../../src/store/schema.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import { guarded } from '../guarded.ts';
import { type Elapsed, startClock } from './write-once.ts';

/** One hire at work: the tenant's two sides, and what the store held of the hire when it was read. */
export interface HireContext {
  deps: ActivityDeps;
  store: Store;
  connection: Connection;
  ref: HireRef;
  row: HireRow;
  /** Every answer given in this period, oldest first. Read each time, so that answers outlive every workflow. */
  answers: Awaited<ReturnType<typeof answersOf>>;
  decisions: Decisions;
  /** The mapping the person was mapped with, if it is not the current one. */
  mapping?: Mapping;
  /** The newest attempt to make the employee. */
  creation: OpenIntent | undefined;
  /** Time since all this was read. */
  sinceRead: Elapsed;
}

/**
 * The HR system that this hire's employee is in, if the tenant now has another one. The id means another person there,
 * so nothing is read or written with it.
 */
export function formerHris({ connection, row }: Pick<HireContext, 'connection' | 'row'>): string | undefined {
  if (row.employee_id === null || row.connection === null) return undefined;
  return row.connection === connection.tenant.hris.connection ? undefined : row.connection;
}

/** Runs one activity of a hire; see `guarded`. */
export function withHire<T>(deps: ActivityDeps, ref: HireRef, work: (hire: HireContext) => Promise<T>): Promise<T> {
  return guarded(deps, ref.tenantId, async (connection) => work(await read(deps, connection, ref)));
}

/**
 * The same, but a refusal that only a person can fix becomes a hold. Words of the HR system about it wait in the store
 * until the hold is opened, because what an activity returns appears in workflow histories.
 */
export async function withHireOrHeld<T>(
  deps: ActivityDeps,
  ref: HireRef,
  work: (hire: HireContext) => Promise<T>,
  when: keyof typeof refusalAnswers = 'before-employee',
): Promise<T | Held> {
  try {
    return await withHire(deps, ref, work);
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    return holdWithout(deps.store, ref, error, (message) => refusalHold(error, when, message));
  }
}

/** The question about a refusal, as a workflow may see it; the store keeps the question with the other side's words. */
export async function holdWithout(
  store: Store,
  ref: HireRef,
  error: ConnectorError,
  ask: (message: string) => Held,
): Promise<Held> {
  const [told, { hold }] = [ask(error.withoutWords()), ask(error.message)];
  if (told.hold.message !== hold.message) await keepRefusal(store, ref, hold);
  return told;
}

/**
 * The question that somebody answered and no run has taken yet, for a run that waits for something else: the run that
 * asked may be lost, and what the hire does next must not pass over the answer. See `openHold`.
 */
export function heldByAnswer({ answers }: HireContext): Held | undefined {
  const last = answers.at(-1);
  if (last?.isTaken !== false) return undefined;
  return { verdict: 'hold', hold: { code: last.code ?? '', message: 'Somebody answered this question.', answers: [] } };
}

/** Updates an open hire's row, unless the row as read shows the change already: each write waits for a disk. */
export async function noteHire({ store, ref, row }: HireContext, change: HireChange): Promise<void> {
  const shown: HireChange = row;
  const differs = (Object.keys(change) as (keyof HireChange)[]).some((key) => change[key] !== shown[key]);
  if (differs) await updateHire(store, ref, change);
}

/** Notes whose application this is, and on which job. Another candidate than before: the partner merged the two. */
export async function notePerson(
  hire: HireContext,
  { candidateId, jobId }: { candidateId: string; jobId: string },
): Promise<void> {
  const { store, ref, row, connection } = hire;
  await noteMerge(store, connection.tenant, { ...ref, candidateId }, row.candidate_id);
  const noted = { candidate_id: candidateId, job_id: jobId };
  await noteHire(hire, noted);
  // The steps after this one name the person by it: by the earlier candidate, their employee would be another person's.
  Object.assign(row, noted);
}

/** @param before The candidate whose application this was */
export async function noteMerge(
  store: Store,
  tenant: Tenant,
  { candidateId, ...application }: { tenantId: string; jobCandidateId: string; candidateId: string },
  before: string | null,
): Promise<void> {
  if (before === null || before === candidateId) return;
  const { connection, candidate: to } = personOf(tenant, candidateId);
  await mergeCandidates(store, application, { connection, from: personOf(tenant, before).candidate, to });
}

/** Reads the hire from the store again, before steps that cannot be undone. */
export function reread({
  deps,
  connection,
  ref,
}: Pick<HireContext, 'deps' | 'connection' | 'ref'>): Promise<HireContext> {
  return read(deps, connection, ref);
}

async function read(deps: ActivityDeps, connection: Connection, given: HireRef): Promise<HireContext> {
  const { store } = deps;
  const { tenantId, jobCandidateId, period } = given;
  const ref = { tenantId, jobCandidateId, period };
  const sinceRead = startClock();
  const [row, answers, creation] = await Promise.all([
    readHireRow(store, ref),
    answersOf(store, ref),
    latestIntent(store, ref, CREATE_VERB),
  ]);
  return { deps, store, connection, ref, row, answers, decisions: decide(answers), creation, sinceRead };
}

const PREFIX = 'hirebridge';

/**
 * The externalRef of an enrolment: `hirebridge:<jobCandidateId>:<period>`, followed by the enrolment's number from the
 * second enrolment of a period on.
 */
export function enrolmentReference({ jobCandidateId, period }: HireRef, enrolment: number): string {
  const base = `${PREFIX}:${jobCandidateId}:${period}`;
  return enrolment > 1 ? `${base}:${enrolment}` : base;
}

/** Parses a reference of ours; undefined for any other. */
export function readEnrolmentReference(
  reference: string | null | undefined,
): { jobCandidateId: string; period: number; enrolment: number } | undefined {
  const match = /^hirebridge:([^:]+):(\d+)(?::(\d+))?$/.exec(reference ?? '');
  if (match === null) return undefined;
  return { jobCandidateId: match[1] ?? '', period: Number(match[2]), enrolment: Number(match[3] ?? 1) };
}

/** The partner company, as HRIS references and person keys name it. */
function partnerCompanyOf(tenant: Tenant): string {
  return tenant.partner.company ?? tenant.tenant;
}

/** A candidate as a person of the tenant's HR system. */
export function personOf(tenant: Tenant, candidateId: string): { connection: string; candidate: Candidate } {
  return { connection: tenant.hris.connection, candidate: { company: partnerCompanyOf(tenant), candidateId } };
}

/** Our reference in the HRIS: `<partner company>:<candidateId>`; a further employment of the person adds its hire. */
export function employeeReference(tenant: Tenant, candidateId: string, further?: HireRef): string {
  const base = `${partnerCompanyOf(tenant)}:${candidateId}`;
  return further === undefined ? base : `${base}:${further.jobCandidateId}:${further.period}`;
}

/** Verbs of the intents that concern an employee. */
export const CREATE_VERB = 'create-employee';
export const REHIRE_VERB = 'rehire-employee';
export const END_VERB = 'terminate-employee';

/** What a write that a hire must not make twice begins with; `readLagMs` by default that of the HR system. */
export function onceOf(
  { store, ref: key, deps, connection }: HireContext,
  verb: string,
  readLagMs = connection.hris.capabilities.readLagMs,
) {
  return { store, key, verb, giveUpMs: deps.limits.giveUpMs, readLagMs };
}

/** A write of a hire, before record id and period are filled in. */
export type HireWrite = Omit<NewWrite, 'recordId' | 'period'>;

/** Stores what a hire is about to write. Returns the batch id. */
export function noteWrites(
  { deps, connection, ref, mapping }: HireContext,
  writes: readonly HireWrite[],
  intent?: { verb: string; attempt: number },
): Promise<string> {
  const { runId, by } = deps.actor ?? { runId: 'hire', by: BY_ITSELF };
  const origin = { tenantId: ref.tenantId, runId, by, mappingHash: (mapping ?? connection.mapping).hash };
  return recordWrites(
    deps.store,
    intent === undefined ? origin : { ...origin, intent },
    writes.map((write) => ({ ...write, recordId: ref.jobCandidateId, period: ref.period })),
  );
}

/** Changes to new values; the old values are unknown, or absent if the record is new. */
export function newValues(fields: EmployeeFields): Record<string, FieldChange> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { new: value }]));
}

/** Fields of an employee that are shown masked. */
export function sensitiveFields({ connection, mapping = connection.mapping }: HireContext): string[] {
  return mapping.fields.filter((field) => field.sensitive).map((field) => field.target);
}
