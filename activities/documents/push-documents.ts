import { createHash } from 'node:crypto';
import { type ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import type { Employee, HireRef } from '../../src/hire/hire.ts';
import type { EmployeeFile } from '../../src/hris/port.ts';
import { downloadFile } from '../../src/partner/client/create-partner-client.ts';
import type { UnreadableItem } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { stepKeys } from '../../src/partner/contract/onboarding.ts';
import { recordWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import { clearHints } from '../../src/store/hints.ts';
import {
  documentsToTell,
  hiresDueForDocuments,
  noteDocumentLook,
  readHireDocuments,
  type SettledDocument,
  sendDocument,
  settleDocument,
} from '../../src/store/hire-documents.ts';
import { employeeOf } from '../../src/store/hires.ts';
import type { HireDocumentRow } from '../../src/store/push-tables.ts';
import type { HireRow } from '../../src/store/schema.ts';
import { hasNoConsent } from '../../src/streams/consents.ts';
import type { DocumentKind } from '../../src/tenants/schema.ts';
import type { Connection } from '../connections.ts';
import { becameAnother } from '../hire/read-employee.ts';
import { guardFor, type SendGuard, startClock } from '../hire/write-once.ts';
import type { OwnHris } from '../own-hris.ts';
import {
  assertAnswered,
  assertOurs,
  createFailures,
  hiresDue,
  MOST_HINTS,
  originOf,
  type PushContext,
  tell,
  waitFor,
} from '../push/push-context.ts';
import { readShownHints } from '../streams/reading.ts';

interface DocumentRun extends PushContext {
  files: NonNullable<OwnHris['files']>;
  kinds: readonly DocumentKind[];
  /** Records that a person asked for again. */
  named: ReadonlySet<string>;
}

/**
 * Copies documents of finished hires into the records of their employees. Looks at a hire when it has ended, whenever
 * an event reports a signed or verified document, and once per `wholeWithin` for thirty days.
 */
export async function pushDocuments(context: PushContext): Promise<void> {
  const { store } = context.deps;
  const hints = await readShownHints(context, MOST_HINTS);
  const named = new Set(hints.map(({ recordId }) => recordId));
  const run: DocumentRun = { ...context, ...wanted(context), named };
  // Verdicts from the store, so that a repeated attempt also counts what the attempt before it delivered.
  for (const one of await documentsToTell(run.deps.store, run.key.tenantId, run.runId)) {
    const kind = one.state === 'delivered' ? 'created' : 'quarantined';
    tell(run, `${one.job_candidate_id}/${one.document}`, kind, one.reason ?? undefined);
  }
  const failures = createFailures();
  const failed = new Set<string | null>();
  const hinted = hints.map(({ recordId }) => hireOfHint(recordId));
  for await (const hire of hiresDue(run, hints, hinted, (due, after) => hiresDueForDocuments(store, due, after))) {
    const one = await failures.tryOne(() => pushHire(run, hire));
    if ('failed' in one) failed.add(hire.job_candidate_id).add(hire.onboarding_candidate_id);
  }
  const done = hints.filter(({ recordId }) => !failed.has(hireOfHint(recordId)));
  await clearHints(store, context.key.tenantId, context.key.stream, done);
  assertAnswered(run, 'A document was sent');
  failures.end();
}

function wanted({ connection, key }: PushContext): Pick<DocumentRun, 'files' | 'kinds'> {
  const { files } = connection.hris;
  const { documents: kinds, hris } = connection.tenant;
  if (kinds === undefined) throw unconfigured(key.tenantId, 'the tenant file does not say which ("documents")');
  if (files === undefined)
    throw unconfigured(key.tenantId, `an HR system of kind ${hris.kind} takes none as configured`);
  return { files, kinds };
}

/** A hint names one document by its hire and its key. */
const hireOfHint = (recordId: string): string => recordId.split('/')[0] ?? recordId;

async function pushHire(run: DocumentRun, hire: HireRow): Promise<void> {
  const { store } = run.deps;
  await assertOurs(run);
  const ref = { tenantId: hire.tenant_id, jobCandidateId: hire.job_candidate_id, period: hire.period };
  const listed = await listDocuments(run.connection, hire, run.kinds).catch((error: unknown) => {
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    return error;
  });
  if (isConnectorError(listed)) {
    // If the documents of one hire cannot be listed, the other hires go on.
    tell(run, ref.jobCandidateId, 'quarantined', listed.message);
    return noteDocumentLook(store, ref, true);
  }
  let again = listed.unread.length > 0;
  for (const { key, reason } of listed.unread) tell(run, documentId(ref, key), 'quarantined', reason);
  for (const document of listed.documents) {
    await assertOurs(run);
    const delivered = await deliverOne(run, { hire, ref, document });
    run.beat();
    again ||= delivered.kind === 'waiting' || delivered.kind === 'skipped';
    const id = documentId(ref, document.key);
    if (delivered.kind === 'waiting') waitFor(run, delivered.waitMs);
    else if (delivered.kind !== 'unchanged' || !run.verdicts.has(id)) run.verdicts.set(id, { id, ...delivered });
  }
  const unlisted = await leaveUnlisted(run, ref, listed.documents);
  await noteDocumentLook(store, ref, again || unlisted);
}

const UNLISTED =
  'It was sent, but the hiring platform stopped listing it before it was read back, so it is unknown whether it ' +
  'arrived whole. Check the record in the HR system.';

/** Gives up documents that were sent but are not read back nor listed any more. Returns whether some still wait. */
async function leaveUnlisted(run: DocumentRun, ref: HireRef, listed: readonly ListedDocument[]): Promise<boolean> {
  const { deps, connection } = run;
  const { rows, now } = await readHireDocuments(deps.store, ref);
  const keys = new Set(listed.map(({ key }) => key));
  const left = [...rows.values()].filter(
    ({ state, document }) => (state === 'taken' || state === 'sent') && !keys.has(document),
  );
  const over = left.filter((row) => (row.give_up_at ?? 0) + connection.hris.capabilities.readLagMs <= now);
  for (const { document, attempt } of over) {
    await settleDocument(deps.store, { ...ref, document, attempt }, { state: 'unlike', reason: UNLISTED });
    tell(run, documentId(ref, document), 'quarantined', UNLISTED);
  }
  return left.length > over.length;
}

function documentId({ jobCandidateId }: HireRef, document: string): string {
  return `${jobCandidateId}/${document}`;
}

async function deliverOne(
  context: DocumentRun,
  { hire, ref, document }: { hire: HireRow; ref: HireRef; document: ListedDocument },
): Promise<Delivered> {
  const { files, named } = context;
  const { rows, now } = await readHireDocuments(context.deps.store, ref);
  const row = rows.get(document.key);
  const employee = employeeOf(hire);
  if (employee === undefined) throw new Error(`job candidate ${ref.jobCandidateId} is due without an employee`);
  const isNamed = named.has(documentId(ref, document.key));
  return deliverDocument({ context, files, ref, employee, document, row, now, isNamed });
}

function unconfigured(tenantId: string, why: string): ConnectorError {
  return rejected(
    'DOCUMENTS_UNCONFIGURED',
    `Documents of ${tenantId} cannot go into the HR system: ${why}. Correct the tenant file and apply it.`,
  );
}

/** One document on its way to one employee. */
interface Delivery {
  context: PushContext;
  files: NonNullable<OwnHris['files']>;
  ref: HireRef;
  employee: Employee;
  document: ListedDocument;
  /** The stored row at the time `now` on the database's clock. */
  row: HireDocumentRow | undefined;
  now: number;
  /** A person asked for this very document again. */
  isNamed: boolean;
}

/** waiting: the document may be on its way or not be shown yet, so nothing is sent until that time is over. */
type Delivered =
  | { kind: 'created' | 'unchanged' }
  | { kind: 'skipped' | 'quarantined'; reason: string }
  | { kind: 'waiting'; waitMs: number };

const DOWNLOAD_MS = 60_000;
const READ_BACK_MS = 60_000;
/** An upload takes longer than other calls. */
const BUDGETS = 2;

/** Puts a document into the employee's record at most once: first looks for one that was sent without an answer. */
async function deliverDocument(delivery: Delivery): Promise<Delivered> {
  const { context, row, now, document, isNamed } = delivery;
  if (row?.state === 'delivered') return { kind: 'unchanged' };
  if (row?.state === 'unlike' && (!isNamed || row.run_id === context.runId))
    return { kind: 'quarantined', reason: row.reason ?? NOT_READ_BACK };
  const { readLagMs } = context.connection.hris.capabilities;
  const waitMs = row?.state === 'sent' ? (row.give_up_at ?? 0) + readLagMs - now : 0;
  if (waitMs > 0) return { kind: 'waiting', waitMs };
  // A document that the HR system accepted must not be recorded as never sent.
  const state = row?.state === 'taken' || row?.state === 'unlike' ? 'unlike' : 'refused';
  const attempt = row?.attempt ?? 0;
  const reason = document.isUnsure === true ? STEP_NOT_TOLD : await becameAnother(context, delivery.employee);
  if (reason !== undefined) return leave(delivery, attempt, { state, reason });
  try {
    const { allowPrivateAddress: allowPrivate } = context.connection.tenant.partner;
    const loaded = await downloadFile(document.url, { allowPrivate, signal: AbortSignal.timeout(DOWNLOAD_MS) });
    const name = `${document.title}.${endings[loaded.mediaType] ?? 'bin'}`;
    const file = { name, document: document.key, ...loaded };
    return row?.state === 'taken' ? await lookAgain(delivery, row, file) : await send(delivery, file);
  } catch (error) {
    if (!isConnectorError(error) || !error.code.startsWith('FILE_')) throw error;
    if (error.action === 'retry') return { kind: 'skipped', reason: error.message };
    return leave(delivery, attempt, { state, reason: error.message });
  }
}

async function send(delivery: Delivery, file: EmployeeFile): Promise<Delivered> {
  const { context, ref, row, document, files, employee } = delivery;
  const { store, limits } = context.deps;
  const budgetMs = BUDGETS * limits.giveUpMs;
  const clock = startClock();
  const sha256 = hashOf(file);
  const sending = { ...ref, document: document.key, sha256, runId: context.runId };
  if (!(await sendDocument(store, sending, row, budgetMs))) return { kind: 'waiting', waitMs: budgetMs };
  const changes = { [document.key]: { new: `sha256:${sha256}` } };
  const { jobCandidateId: recordId, period } = ref;
  const write = { target: 'documents', recordId, period, foreignId: employee.id, kind: 'create' as const, changes };
  const batchId = await recordWrites(store, originOf(context), [{ ...write, sensitive: [] }]);
  const attempt = (row?.attempt ?? 0) + 1;
  const guard = watched(guardFor('deliver', budgetMs, clock, clock));
  let said: 'delivered' | 'there';
  try {
    said = await files.deliver(employee, file, guard);
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    return settle(delivery, { error, left: guard.left(), attempt, batchId, budgetMs });
  }
  await settleWrites(store, batchId, 'done');
  // The adapter compared the bytes before it answered `there`.
  if (said === 'there') return deliveredAs(delivery, attempt, files.holds !== undefined);
  return readBack(delivery, file, { attempt, leftMs: context.connection.hris.capabilities.readLagMs });
}

async function deliveredAs(delivery: Delivery, attempt: number, isReadBack: boolean): Promise<Delivered> {
  return settledAs(delivery, attempt, { state: 'delivered', reason: null, isReadBack }, { kind: 'created' });
}

async function settledAs(
  { context, ref, document }: Delivery,
  attempt: number,
  settled: SettledDocument,
  delivered: Delivered,
): Promise<Delivered> {
  await settleDocument(context.deps.store, { ...ref, document: document.key, attempt }, settled);
  return delivered;
}

const NOT_READ_BACK =
  'The HR system accepted it but shows it with other bytes or not at all. Look at the record there. hirebridge ' +
  'does not send it again by itself, because it might then be there twice: remove the wrong copy, then run ' +
  'hirebridge retry TENANT documents RECORD, with the record as hirebridge failed names it.';

/** Checks that the accepted file is there, byte for byte, while it may not be shown yet. */
async function readBack(
  delivery: Delivery,
  file: EmployeeFile,
  { attempt, leftMs }: { attempt: number; leftMs: number },
): Promise<Delivered> {
  const { files, employee } = delivery;
  if (files.holds === undefined) return deliveredAs(delivery, attempt, false);
  const taken = { state: 'taken', reason: null } as const;
  let isHeld: boolean;
  try {
    isHeld = await files.holds(employee, file, AbortSignal.timeout(READ_BACK_MS));
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    if (error.action === 'reject') return leave(delivery, attempt, { state: 'unlike', reason: error.message });
    await settledAs(delivery, attempt, taken, { kind: 'unchanged' });
    throw error;
  }
  if (isHeld) return deliveredAs(delivery, attempt, true);
  if (leftMs <= 0) return leave(delivery, attempt, { state: 'unlike', reason: NOT_READ_BACK });
  return settledAs(delivery, attempt, taken, { kind: 'waiting', waitMs: leftMs });
}

async function lookAgain(delivery: Delivery, row: HireDocumentRow, file: EmployeeFile): Promise<Delivered> {
  const { context, now } = delivery;
  const leftMs = (row.give_up_at ?? 0) + context.connection.hris.capabilities.readLagMs - now;
  if (hashOf(file) === row.sha256) return readBack(delivery, file, { attempt: row.attempt, leftMs });
  const why = 'It changed at the hiring platform before it was read back, so the two cannot be compared.';
  return leave(delivery, row.attempt, { state: 'unlike', reason: `${why} ${NOT_READ_BACK}` });
}

/** Leaves the document to a person and says why. */
function leave(
  delivery: Delivery,
  attempt: number,
  { state, reason }: { state: 'refused' | 'unlike'; reason: string },
): Promise<Delivered> {
  return settledAs(delivery, attempt, { state, reason }, { kind: 'quarantined', reason });
}

function hashOf({ bytes }: EmployeeFile): string {
  return createHash('sha256').update(bytes).digest('hex');
}

interface Failed {
  error: ConnectorError;
  /** Bytes may have been sent. */
  left: boolean;
  attempt: number;
  batchId: string;
  budgetMs: number;
}

/** Once bytes left, only a refusal proves that they did not arrive. No answer means "try again": a repeat is safe. */
async function settle(delivery: Delivery, { error, left, attempt, batchId, budgetMs }: Failed): Promise<Delivered> {
  const { store } = delivery.context.deps;
  const isUnknown = error.action === 'unknown' || error.action === 'retry';
  if (left && isUnknown) return { kind: 'waiting', waitMs: budgetMs };
  await settleWrites(store, batchId, error.action === 'reject' ? 'refused' : 'absent');
  if (error.action === 'reject') return leave(delivery, attempt, { state: 'refused', reason: error.message });
  const document = { ...delivery.ref, document: delivery.document.key, attempt };
  await settleDocument(store, document, { state: 'absent', reason: null });
  throw error;
}

/** Remembers whether bytes were sent. */
function watched(guard: SendGuard): SendGuard & { left(): boolean } {
  let left = false;
  return {
    ...guard,
    beforeSend() {
      guard.beforeSend();
      left = true;
    },
    left: () => left,
  };
}

/** File name endings by media type, so that people can open the files. */
const endings: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.oasis.opendocument.text': 'odt',
  'application/rtf': 'rtf',
  'text/rtf': 'rtf',
  'text/plain': 'txt',
  'image/jpeg': 'jpg',
  'image/png': 'png',
};

/** A document of a hire, as the partner shows it now. */
interface ListedDocument {
  /** `resume`, `onboarding:<id>` or `offer:<id>`. */
  key: string;
  /** Name of the file in the employee's record, without its ending. */
  title: string;
  /** Valid for a limited time. */
  url: string;
  /** It cannot be told whether the tenant wants this document. */
  isUnsure?: boolean;
}

/** What there is of a hire. `unread`: documents that are there and cannot be taken, with the reason. */
interface ListedDocuments {
  documents: ListedDocument[];
  unread: { key: string; reason: string }[];
}

/** Lists the documents of the kinds that the tenant sends, with fresh URLs. */
async function listDocuments(
  connection: Connection,
  hire: HireRow,
  kinds: readonly DocumentKind[],
): Promise<ListedDocuments> {
  const asked = new Set(kinds);
  const none: ListedDocuments = { documents: [], unread: [] };
  const isOfFlow = asked.has('onboarding') || asked.has('medical');
  const onboarding = isOfFlow ? await listOnboarding(connection, hire, asked) : none;
  const offers = asked.has('offers') ? await listOffers(connection, hire) : none;
  return {
    documents: [
      ...(asked.has('resume') ? await listResume(connection, hire) : []),
      ...onboarding.documents,
      ...offers.documents,
      ...(asked.has('consent') ? await listConsent(connection, hire) : []),
    ],
    unread: [...onboarding.unread, ...offers.unread],
  };
}

function unreadOf(what: string, unreadable: readonly UnreadableItem[]): ListedDocuments['unread'] {
  return unreadable.map(({ id, index, reason }) => ({ key: `${what} ${id ?? index + 1}`, reason }));
}

async function listResume({ partner }: Connection, { candidate_id: candidateId }: HireRow): Promise<ListedDocument[]> {
  if (candidateId === null) return [];
  const { resume } = (await partner.candidates.get({ params: { candidateId } })).data;
  return resume ? [{ key: 'resume', title: 'Resume', url: resume }] : [];
}

/** Nobody has a consent document who applied outside the hosted page, or without consent. */
async function listConsent({ partner }: Connection, hire: HireRow): Promise<ListedDocument[]> {
  const params = { jobCandidateId: Number(hire.job_candidate_id) };
  try {
    const { pdfUrl } = (await partner.jobCandidates.getConsentDocument({ params })).data.document;
    return pdfUrl ? [{ key: 'consent', title: 'Privacy consent', url: pdfUrl }] : [];
  } catch (error) {
    if (hasNoConsent(error)) return [];
    throw error;
  }
}

/** A document that the partner rejected is not the employee's; whether the list says so is not specified. */
async function listOnboarding(
  { partner }: Connection,
  hire: HireRow,
  asked: ReadonlySet<DocumentKind>,
): Promise<ListedDocuments> {
  const { onboarding_candidate_id: onboardingCandidateId } = hire;
  if (onboardingCandidateId === null) return { documents: [], unread: [] };
  const params = { onboardingCandidateId };
  const { items, unreadable } = await partner.readAll(contract.onboarding.listDocuments, { params });
  const documents = items.flatMap(({ documentId, name, stepKey, status, pdfUrl }) => {
    const kind = kindOf(stepKey);
    const isUnsure = kind === undefined && !(asked.has('onboarding') && asked.has('medical'));
    if (!pdfUrl || status === 'rejected' || (kind !== undefined && !asked.has(kind))) return [];
    const id = String(documentId);
    return [{ key: `onboarding:${id}`, title: titled(name ?? 'Document', id), url: pdfUrl, isUnsure }];
  });
  return { documents, unread: unreadOf('onboarding document', unreadable) };
}

const MEDICAL_STEP = 'pre_employment_medical_test' satisfies (typeof stepKeys)[number];

const STEP_NOT_TOLD =
  'The hiring platform does not say which onboarding step this comes from, so it may be from the medical test. ' +
  'To deliver such documents, name both in the tenant file, "documents: [onboarding, medical]", apply it, and ' +
  'run hirebridge sync TENANT documents --full. If only the field of the step has another name, set it in ' +
  'partner.overrides.fieldNames (onboarding.listDocuments, stepKey).';

/**
 * Documents of the medical test go nowhere unless the tenant lists them. The specification does not show which step a
 * document comes from (DOCUMENTS), and neither its type nor its name proves it. Undefined if the partner names no step,
 * or an unknown one.
 */
function kindOf(stepKey: unknown): DocumentKind | undefined {
  if (stepKey === MEDICAL_STEP) return 'medical';
  return stepKeys.some((known) => known === stepKey) ? 'onboarding' : undefined;
}

const OFFER_WITHOUT_FILE =
  'The hiring platform says that it is completed, and shows no signed PDF of it. If only the field has another ' +
  'name, set it in partner.overrides.fieldNames (onboarding.listOffers, signedPdfUrl).';
const OFFER_OF_NO_APPLICATION =
  'The hiring platform names its candidate and no application, so it may be of another job: look at it there, and ' +
  'file it by hand. If only the field has another name, set it in partner.overrides.fieldNames ' +
  '(onboarding.listOffers, jobCandidateId).';

async function listOffers({ partner }: Connection, hire: HireRow): Promise<ListedDocuments> {
  const query = { jobCandidateId: Number(hire.job_candidate_id) };
  const { items, unreadable } = await partner.readAll(contract.onboarding.listOffers, { query });
  const documents: ListedDocument[] = [];
  const unread = unreadOf('offer', unreadable);
  for (const { offerId, status, candidateId, jobCandidateId, signedPdfUrl } of items) {
    const key = `offer:${String(offerId)}`;
    // A partner that does not know the filter would list everybody's offers.
    const isOwn = String(jobCandidateId) === hire.job_candidate_id;
    const isNameless = (jobCandidateId ?? null) === null && String(candidateId) === hire.candidate_id;
    if (isOwn && signedPdfUrl)
      documents.push({ key, title: titled('Signed offer', String(offerId)), url: signedPdfUrl });
    else if ((isOwn || isNameless) && status === 'completed')
      unread.push({ key, reason: isOwn ? OFFER_WITHOUT_FILE : OFFER_OF_NO_APPLICATION });
  }
  return { documents, unread };
}

/** Two documents may have the same name, so the end of the id is added. */
function titled(name: string, id: string): string {
  const plain = name
    .replaceAll(/[^\p{L}\p{N} ._-]/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return `${plain.slice(0, 80).trim() || 'Document'} ${id.replaceAll(/\W/g, '').slice(-8)}`;
}
