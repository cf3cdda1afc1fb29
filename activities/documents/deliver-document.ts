import { createHash } from 'node:crypto';
import { type ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import type { EmployeeFile, EmployeeFiles } from '../../src/hris/port.ts';
import { type DownloadedFile, downloadFile } from '../../src/partner/client/download-file.ts';
import type { HireDocumentRow } from '../../src/store/document-tables.ts';
import { BY_ITSELF, recordWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import { sendDocument, settleDocument } from '../../src/store/hire-documents.ts';
import { guardFor, type SendGuard, startClock } from '../hire/write-once.ts';
import type { PushContext } from '../push/push-context.ts';
import type { ListedDocument } from './list-documents.ts';

/** One document on its way to one employee. */
export interface Delivery {
  context: PushContext;
  files: EmployeeFiles;
  ref: HireRef;
  employeeId: string;
  document: ListedDocument;
  /** As it was when the database's clock showed `now`. */
  row: HireDocumentRow | undefined;
  now: number;
}

/** waiting: it may be on its way; nothing is sent before that time is over. */
export type Delivered =
  | { kind: 'created' | 'unchanged' }
  | { kind: 'skipped' | 'quarantined'; reason: string }
  | { kind: 'waiting'; waitMs: number };

const DOWNLOAD_MS = 60_000;
/** An upload takes longer than other calls. */
const BUDGETS = 2;

/** Brings a document into the employee's record at most once: what was sent without an answer is looked for first. */
export async function deliverDocument(delivery: Delivery): Promise<Delivered> {
  const { context, row, now, document } = delivery;
  if (row?.state === 'delivered') return { kind: 'unchanged' };
  const { readLagMs } = context.connection.hris.capabilities;
  const waitMs = row?.state === 'sent' ? (row.give_up_at ?? 0) + readLagMs - now : 0;
  if (waitMs > 0) return { kind: 'waiting', waitMs };
  try {
    const { tenant } = context.connection;
    const allowPrivate = tenant.partner.allowPrivateAddress;
    const file = await downloadFile(document.url, { allowPrivate, signal: AbortSignal.timeout(DOWNLOAD_MS) });
    return await send(delivery, file);
  } catch (error) {
    if (!isConnectorError(error) || !error.code.startsWith('FILE_')) throw error;
    if (error.action === 'retry') return { kind: 'skipped', reason: error.message };
    return refuse(delivery, row?.attempt ?? 0, error);
  }
}

async function send(delivery: Delivery, { bytes, mediaType }: DownloadedFile): Promise<Delivered> {
  const { context, ref, row, document, files, employeeId } = delivery;
  const { store, limits } = context.deps;
  const budgetMs = BUDGETS * limits.giveUpMs;
  const clock = startClock();
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const sending = { ...ref, document: document.key, sha256, runId: context.runId };
  if (!(await sendDocument(store, sending, row, budgetMs))) return { kind: 'waiting', waitMs: budgetMs };
  const batchId = await note(delivery, sha256);
  const attempt = (row?.attempt ?? 0) + 1;
  const guard = watched(guardFor('deliver', budgetMs, clock, clock));
  const file: EmployeeFile = { name: `${document.title}.${endings[mediaType] ?? 'bin'}`, mediaType, bytes };
  try {
    await files.deliver(employeeId, file, guard);
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    return settle(delivery, { error, left: guard.left(), attempt, batchId, budgetMs });
  }
  await settleDocument(store, { ...ref, document: document.key, attempt }, { state: 'delivered', reason: null });
  await settleWrites(store, batchId, 'done');
  return { kind: 'created' };
}

interface Failed {
  error: ConnectorError;
  /** Bytes may have left. */
  left: boolean;
  attempt: number;
  batchId: string;
  budgetMs: number;
}

/** Once it left, only a refusal proves that it did not arrive: a repeat is safe, so no answer counts as "try again". */
async function settle(delivery: Delivery, { error, left, attempt, batchId, budgetMs }: Failed): Promise<Delivered> {
  const { store } = delivery.context.deps;
  const isUnknown = error.action === 'unknown' || error.action === 'retry';
  if (left && isUnknown) return { kind: 'waiting', waitMs: budgetMs };
  await settleWrites(store, batchId, error.action === 'reject' ? 'refused' : 'absent');
  if (error.action === 'reject') return refuse(delivery, attempt, error);
  const document = { ...delivery.ref, document: delivery.document.key, attempt };
  await settleDocument(store, document, { state: 'absent', reason: null });
  throw error;
}

async function refuse(
  { context, ref, document }: Delivery,
  attempt: number,
  error: ConnectorError,
): Promise<Delivered> {
  const reason = error.message;
  await settleDocument(context.deps.store, { ...ref, document: document.key, attempt }, { state: 'refused', reason });
  return { kind: 'quarantined', reason };
}

function note({ context, ref, document, employeeId }: Delivery, sha256: string): Promise<string> {
  const { tenantId, jobCandidateId: recordId, period } = ref;
  const origin = { tenantId, runId: context.runId, by: BY_ITSELF, mappingHash: null };
  const changes = { [document.key]: { new: `sha256:${sha256}` } };
  return recordWrites(context.deps.store, origin, [
    { target: 'documents', recordId, period, foreignId: employeeId, kind: 'create', changes, sensitive: [] },
  ]);
}

/** Remembers whether the bytes were let go. */
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

/** Endings by which people open a file. */
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
