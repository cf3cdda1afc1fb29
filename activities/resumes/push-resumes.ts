import { randomBytes } from 'node:crypto';
import { type ConnectorError, rejected, unlessRefused } from '../../src/errors.ts';
import { holdOf } from '../../src/hire/holds.ts';
import type { ListedResume } from '../../src/hris/port.ts';
import { count } from '../../src/in-words.ts';
import { isRefusedOfRecord } from '../../src/partner/client/read-answer.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { recordWrites, settleSomeWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import { clearHints } from '../../src/store/hints.ts';
import { closeTenantHolds, openHold } from '../../src/store/holds.ts';
import { erasedOf } from '../../src/store/person-marks.ts';
import type { ResumeRow } from '../../src/store/push-tables.ts';
import {
  type ResumeToSend,
  readResumes,
  refuseResume,
  resumeKey,
  sendResumes,
  settleResumes,
} from '../../src/store/resumes.ts';
import { forgetAllowed } from '../../src/store/streams.ts';
import { WHOLE_LIST } from '../../src/streams/stream.ts';
import { isInScope } from '../hire/read-sources.ts';
import { newValues } from '../hire/with-hire.ts';
import { guardFor, startClock } from '../hire/write-once.ts';
import {
  assertAnswered,
  assertFew,
  assertOurs,
  creditsOf,
  isHeldBack,
  leftMs,
  originOf,
  type PushContext,
  sendOnce,
  tell as tellOf,
  type Verdict,
} from '../push/push-context.ts';
import { readShownHints } from '../streams/reading.ts';

/**
 * Makes candidates of a job from files that the customer lists, once per file and job: commits the intent, sends one
 * request for a job's files, and follows its batch. If the answer is lost, nothing names the batch (section 4.3), so
 * each file is searched by its address: in the batches that events name, and among the job's candidates. A file that is
 * not found is sent again only if a person asks for it.
 */
export async function pushResumes(context: PushContext): Promise<boolean> {
  const { deps, connection, key } = context;
  const { resumes } = connection.hris;
  if (resumes === undefined)
    throw rejected(
      'RESUMES_UNCONFIGURED',
      `No list of resumes is configured for ${key.tenantId}. Add "resumes: { table: resumes }" to hris or ` +
        'landing of kind sql, or "resumes: { folder: resumes }" to hris of kind sftp, and apply it.',
    );
  const hints = await readShownHints(context);
  const run: Run = { ...context, isOutOfCredits: false };
  const named = hints.map(({ recordId }) => recordId).filter((id) => id !== WHOLE_LIST);
  const isWhole = !context.hinted || named.length < hints.length;
  await followBatches(run, new Set(named));
  if (isWhole) await sendListed(run, await resumes.list(AbortSignal.timeout(LIST_MS)));
  assertAnswered(run, 'A batch of resumes');
  await clearHints(deps.store, key.tenantId, key.stream, hints);
  const { rows } = await readResumes(deps.store, key.tenantId);
  for (const row of rows.values()) {
    const reason = REASONS[row.code ?? ''] ?? `the hiring platform refused it: ${row.code ?? 'no reason given'}`;
    if (row.state === 'refused' && !isOfFormerHris(run, row)) tell(run, row, 'quarantined', `${reason}; ${AGAIN}`);
  }
  if (isWhole && !isHeldBack(run)) await forgetAllowed(deps.store, key);
  return isWhole;
}

interface Run extends PushContext {
  isOutOfCredits: boolean;
}

const LIST_MS = 120_000;
const NO_CREDITS = 'RESUME_CREDITS';

function tell(run: Run, row: Pick<ResumeRow, 'resume_id' | 'job_id'>, kind: Verdict['kind'], reason?: string): void {
  tellOf(run, resumeKey({ resumeId: row.resume_id, jobId: row.job_id }), kind, reason);
}

const AGAIN = 'once that is fixed, `hirebridge sync TENANT resumes --full` sends it again';

/** Why no candidate was read from a file. */
const REASONS: Readonly<Record<string, string>> = {
  BAD_JOB: 'its job is no id of a job of the hiring platform',
  BAD_URL: 'its address is no public http or https address',
  NO_FILE: 'it names neither a file nor an address',
  NO_ADDRESS: 'the tenant file does not say where the hiring platform reaches `serve`: set resumes.publicUrl',
  NO_PDF: 'the file is no PDF',
  TOO_LONG: 'the file is empty, or longer than 10 MB',
  UNREADABLE: 'the file cannot be read where the list says it is',
  NOT_FOUND: 'the hiring platform has no such job',
  NOT_READ: 'the hiring platform found nobody in it: no resume, somebody of another file, or no credits left',
  BATCH_FAILED: 'the hiring platform failed before it read the batch: its job or the subscription ended',
  UNCLEAR: 'the hiring platform does not show whether it found a known person in it, or nobody: check the job',
};

// Outcomes of earlier requests.

async function followBatches(run: Run, named: ReadonlySet<string>): Promise<void> {
  const { rows, now } = await readResumes(run.deps.store, run.key.tenantId);
  const open = [...rows.values()].filter(({ state }) => state === 'sent' || state === 'taken');
  const taken = open.filter(({ state }) => state === 'taken');
  for (const [batchId, some] of Map.groupBy(taken, (row) => row.batch_id ?? ''))
    await settleBatch(run, { batchId, rows: some, isOver: named.has(batchId) });
  const sent = open.filter(({ state }) => state === 'sent');
  const waits = sent.map((row) => leftMs(run, row, now));
  run.waitMs = Math.max(0, ...waits);
  const due = sent.filter((_, index) => (waits[index] ?? 0) <= 0);
  const known = new Set(taken.map((row) => row.batch_id));
  for (const some of Map.groupBy(due, (row) => row.write_id ?? '').values())
    await findRequest(run, some, new Set([...named].filter((id) => !known.has(id))));
}

interface Batch {
  people: { id: string; resume: unknown }[];
  /** Undefined if the partner does not say; assumed (C16). */
  isOver: boolean | undefined;
  hasFailed: boolean;
}

async function readBatch({ connection: { partner } }: Run, batchId: string): Promise<Batch | undefined> {
  const input = { params: { batchId } };
  const answer = await partner.candidates.getBatch(input).catch(unlessRefused);
  if (answer === undefined) return undefined;
  // After the status: if the batch is over by then, nobody is added to its list.
  const { items, unreadable } = await partner.readAll(contract.candidates.getBatch, input);
  const status = answer.data.status ?? undefined;
  const isOver = status === undefined ? undefined : status === 'completed' || status === 'failed';
  const people = [...items, ...unreadable].map(({ id, ...one }) => ({
    id: String(id),
    resume: 'resume' in one ? one.resume : undefined,
  }));
  return { people, isOver, hasFailed: status === 'failed' };
}

/**
 * If a candidate carries a file's address, that file made the candidate. A candidate the partner knew before keeps the
 * address of an earlier file, so for several such files only their number is known, not which is which.
 */
async function settleBatch(
  run: Run,
  { batchId, rows, isOver }: { batchId: string; rows: readonly ResumeRow[]; isOver: boolean },
): Promise<void> {
  const { store } = run.deps;
  const batch = await readBatch(run, batchId);
  run.beat();
  if (batch === undefined) {
    for (const row of rows) tell(run, row, 'quarantined', 'the hiring platform does not show its batch');
    return;
  }
  const byUrl = new Map(batch.people.map(({ id, resume }) => [resume, id]));
  const [found, left] = [rows.filter(({ url }) => byUrl.has(url)), rows.filter(({ url }) => !byUrl.has(url))];
  await settleFound(run, found, ({ url }) => byUrl.get(url));
  for (const row of rows) tell(run, row, 'unchanged');
  if (!(batch.isOver ?? isOver)) return;
  const urls = new Set(rows.map(({ url }) => url));
  const others = batch.people.filter(({ resume }) => typeof resume !== 'string' || !urls.has(resume));
  if (others.length > 0 && others.length === left.length)
    return settleFound(run, left, () => (others.length === 1 ? others[0]?.id : undefined));
  const code = batch.hasFailed && batch.people.length === 0 ? 'BATCH_FAILED' : 'NOT_READ';
  await settleResumes(store, left, { state: 'refused', code: others.length === 0 ? code : 'UNCLEAR' });
}

/** Searches for a request without an answer, after its deadline. */
async function findRequest(run: Run, rows: readonly ResumeRow[], batches: ReadonlySet<string>): Promise<void> {
  const { store } = run.deps;
  const urls = new Set(rows.map(({ url }) => url));
  const [first] = rows;
  if (first === undefined) return;
  for (const batchId of batches) {
    const batch = await readBatch(run, batchId);
    if (batch?.people.every(({ resume }) => !urls.has(resume as string | null)) !== false) continue;
    await settleResumes(store, rows, { state: 'taken', batch_id: batchId });
    if (first.write_id !== null) await settleWrites(store, first.write_id, 'done');
    const taken = rows.map((row) => ({ ...row, state: 'taken' as const, batch_id: batchId }));
    return settleBatch(run, { batchId, rows: taken, isOver: true });
  }
  const after = new Date(Number(first.sent_at) - DAY_MS).toISOString();
  const query = { jobIds: [Number(first.job_id)], createdAtMin: after };
  const { items } = await run.connection.partner.readAll(contract.candidates.list, { query });
  run.beat();
  const byUrl = new Map(items.map(({ id, resume }) => [resume, String(id)]));
  const [found, missing] = [rows.filter(({ url }) => byUrl.has(url)), rows.filter(({ url }) => !byUrl.has(url))];
  for (const row of missing) {
    const reason = 'a request for it got no answer, and nobody from it is shown in the job yet: check the job';
    tell(run, row, 'quarantined', `${reason}; if it is not there, --full sends it again`);
  }
  await settleFound(run, found, ({ url }) => byUrl.get(url));
  for (const row of found) {
    if (row.write_id !== null) await settleSomeWrites(store, row.write_id, [row.resume_id], 'done');
    tell(run, row, 'created');
  }
}

/** Records whom the partner made of files, but nobody who was erased while they were read. */
async function settleFound(
  { deps: { store }, key }: Run,
  rows: readonly ResumeRow[],
  idOf: (row: ResumeRow) => string | undefined,
): Promise<void> {
  const candidateOf = (row: ResumeRow) => ({ kind: 'candidate', id: idOf(row) ?? '' }) as const;
  const isErased = await erasedOf(store, key.tenantId, rows.map(candidateOf));
  const linked = (row: ResumeRow) => (isErased(candidateOf(row)) ? undefined : idOf(row));
  for (const [id = null, some] of Map.groupBy(rows, linked))
    await settleResumes(store, some, { state: 'done', candidate_id: id });
}

/** Clocks differ, and a lower bound that is too early costs only a page. */
const DAY_MS = 86_400_000;

// The request to send.

/** Most addresses per request (section 8), and most bytes of files that we serve. */
const MOST = { urls: 5_000, bytes: 64_000_000, fileBytes: 10_000_000 };

async function sendListed(run: Run, listed: readonly ListedResume[]): Promise<void> {
  const { deps, connection, key } = run;
  const { atOnce } = connection.tenant.resumes;
  const { rows, now } = await readResumes(deps.store, key.tenantId);
  const wanted = new Map<string, Wanted>();
  const fileOf = ({ id }: ListedResume) => ({ kind: 'record', id: `${key.stream}/${id}` }) as const;
  const isErased = await erasedOf(deps.store, key.tenantId, listed.map(fileOf));
  // Nothing is told of files of erased people: a verdict is stored, and a file may have its person's name.
  for (const one of listed.filter((file) => !isErased(fileOf(file)))) {
    const id = resumeKey({ resumeId: one.id, jobId: one.jobId });
    const before = rows.get(id);
    const isUnanswered = before?.state === 'sent' && run.full && leftMs(run, before, now) <= 0;
    const isDecided = before?.state === 'done' || before?.state === 'refused';
    const isOther = isDecided && isOfFormerHris(run, before);
    const isWanted = before === undefined || before.state === 'absent' || (run.full && before.state === 'refused');
    if (isWanted || isOther || isUnanswered) wanted.set(id, { listed: one, before });
    else if (before.state === 'done') tell(run, before, 'unchanged');
  }
  const message =
    `${count(wanted.size, 'resume')} would be sent in one run, more than ${atOnce} (resumes.atOnce in the tenant ` +
    'file). None of them was.';
  await assertFew(run, { fresh: wanted.size, most: atOnce, code: 'MASS_RESUMES', message });
  const credits = await creditsOf(run, { code: NO_CREDITS, table: 'resumes' });
  run.isOutOfCredits = credits.isOut;
  for (const [jobId, all] of Map.groupBy(wanted.values(), (one) => one.listed.jobId))
    for (let rest = all; rest.length > 0; ) {
      if (run.isOutOfCredits && !credits.mayTry) {
        for (const one of rest) tellHeld(run, { resume_id: one.listed.id, job_id: jobId });
        break;
      }
      // While credits are missing, send one file and no more until it is accepted.
      const some = run.isOutOfCredits ? rest.splice(0, 1) : rest.splice(0, MOST.urls);
      const { ready, later } = await prepare(run, some);
      rest = [...later, ...rest];
      await assertOurs(run);
      credits.mayTry = ready.length === 0;
      if (ready.length > 0) await send(run, jobId, ready);
      run.beat();
    }
}

/** Whether another HR system than the present one, which gives its ids to other files, listed this file. */
function isOfFormerHris({ connection: { tenant } }: Run, { connection }: ResumeRow): boolean {
  return connection !== null && connection !== tenant.hris.connection && tenant.landing?.resumes === undefined;
}

function tellHeld(run: Run, row: Pick<ResumeRow, 'resume_id' | 'job_id'>): void {
  tell(run, row, 'held', 'the hiring platform has no credits for resumes');
}

interface Wanted {
  listed: ListedResume;
  before: ResumeRow | undefined;
}

/** Prepares files until they are too big for one request; `later` holds the rest. */
async function prepare(run: Run, wanted: readonly Wanted[]): Promise<{ ready: ResumeToSend[]; later: Wanted[] }> {
  const ready: ResumeToSend[] = [];
  let bytes = 0;
  const { connection } = run.connection.tenant.hris;
  for (const [index, { listed, before }] of wanted.entries()) {
    if (bytes > MOST.bytes) return { ready, later: wanted.slice(index) };
    const resume = { resumeId: listed.id, jobId: listed.jobId, before };
    if (!/^\d+$/.test(listed.jobId) || (await isInScope(run.deps.store, run.connection, listed.jobId))) {
      const placed = await place(run, listed);
      if ('code' in placed) await refuseResume(run.deps.store, run.key.tenantId, resume, { ...placed, connection });
      else ready.push({ ...resume, ...placed });
      if ('served' in placed) bytes += placed.served?.content.length ?? 0;
    } else tell(run, { resume_id: listed.id, job_id: listed.jobId }, 'skipped', 'its job is not in `scope`');
  }
  return { ready, later: [] };
}

/** The address where the partner reads a file: the customer's own, or one of ours that nobody can guess. */
async function place(
  { connection }: Run,
  { jobId, url, file }: ListedResume,
): Promise<Pick<ResumeToSend, 'url' | 'served'> | { code: string }> {
  if (!/^\d+$/.test(jobId)) return { code: 'BAD_JOB' };
  if (url !== undefined && url !== '') {
    const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    return isWeb ? { url } : { code: 'BAD_URL' };
  }
  const { read } = connection.hris.resumes ?? {};
  if (file === undefined || file === '' || read === undefined) return { code: 'NO_FILE' };
  const { publicUrl } = connection.tenant.resumes;
  if (publicUrl === undefined) return { code: 'NO_ADDRESS' };
  // A missing file can only be corrected in the list; other errors are tried again.
  const bytes = await read(file, AbortSignal.timeout(LIST_MS)).catch(unlessRefused);
  if (bytes === undefined) return { code: 'UNREADABLE' };
  if (bytes.length === 0 || bytes.length > MOST.fileBytes) return { code: 'TOO_LONG' };
  if (bytes.subarray(0, 5).toString('latin1') !== '%PDF-') return { code: 'NO_PDF' };
  const token = randomBytes(32).toString('base64url');
  const address = `${publicUrl.replace(/\/+$/, '')}/resumes/${token}.pdf`;
  return { url: address, served: { token, content: bytes.toString('base64') } };
}

/**
 * Sends one request for some files of a job. A request refused as a whole is split in halves until the bad file is
 * found.
 */
async function send(run: Run, jobId: string, ready: readonly ResumeToSend[]): Promise<void> {
  const { deps, key, connection } = run;
  const { store, limits } = deps;
  const clock = startClock();
  const writes = ready.map(({ resumeId: recordId }) => {
    return { target: 'resume', recordId, kind: 'create' as const, changes: newValues({ jobId }), sensitive: [] };
  });
  const writeId = await recordWrites(store, originOf(run), writes);
  const how = { writeId, budgetMs: limits.giveUpMs, connection: connection.tenant.hris.connection };
  const rows = await sendResumes(store, key.tenantId, ready, how);
  if (rows.length === 0) return settleWrites(store, writeId, 'absent');
  const { signal, beforeSend } = guardFor('send resumes', limits.giveUpMs, clock, clock);
  const body = { jobId: Number(jobId), resumeURLs: rows.map(({ url }) => url ?? '') };
  const sent = await sendOnce(run, writeId, () =>
    connection.partner.jobCandidates.uploadResumes({ body }, { signal, beforeSend }),
  );
  if (sent === undefined) return;
  if ('error' in sent) return settleRefused(run, jobId, { rows, ready, error: sent.error });
  await settleResumes(store, rows, { state: 'taken', batch_id: sent.answer.data.batchId });
  await settleWrites(store, writeId, 'done');
  for (const row of rows) tell(run, row, 'created');
  if (run.isOutOfCredits) await closeTenantHolds(store, key.tenantId, NO_CREDITS);
  run.isOutOfCredits = false;
}

interface Refused {
  rows: readonly ResumeRow[];
  ready: readonly ResumeToSend[];
  error: ConnectorError;
}

/** The partner took none of the files. */
async function settleRefused(run: Run, jobId: string, { rows, ready, error }: Refused): Promise<void> {
  const { store } = run.deps;
  const { tenantId } = run.key;
  if (error.status === 402) {
    await settleResumes(store, rows, { state: 'absent', code: NO_CREDITS });
    await openHold(store, { tenantId, ...holdOf(NO_CREDITS, { jobId }) });
    run.isOutOfCredits = true;
    for (const row of rows) tellHeld(run, row);
    return;
  }
  const isOfFiles = isRefusedOfRecord(error);
  const isOfJob = ![400, 413, 422].includes(error.status ?? 0);
  if (isOfFiles && (rows.length === 1 || isOfJob))
    return settleResumes(store, rows, { state: 'refused', code: error.code });
  await settleResumes(store, rows, { state: 'absent', code: error.code });
  if (!isOfFiles) throw error;
  const before = new Map(rows.map((row) => [row.resume_id, { ...row, state: 'absent' as const }]));
  const again = ready.flatMap((one) => {
    const row = before.get(one.resumeId);
    return row === undefined ? [] : [{ ...one, before: row }];
  });
  const half = Math.ceil(again.length / 2);
  for (const some of [again.slice(0, half), again.slice(half)]) await send(run, jobId, some);
}
