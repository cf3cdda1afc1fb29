import { batchesOf, has, inTransaction, readClock, type Store } from './open-store.ts';
import type { ResumeRow } from './push-tables.ts';
import { refuseOnce, sendOnce, sentNow } from './send-once.ts';

// Files of a customer that become candidates of a job, and the addresses from which the partner reads them.

interface ResumeOfJob {
  resumeId: string;
  jobId: string;
}

/** All columns except the file itself. */
const COLUMNS = [
  ...(['tenant_id', 'resume_id', 'job_id', 'state', 'attempt', 'url', 'batch_id', 'candidate_id'] as const),
  ...(['connection', 'write_id', 'code', 'sent_at', 'give_up_at', 'decided_at'] as const),
] as const;

/** Every file of a tenant so far, by `resumeKey`, and the database's clock. */
export async function readResumes(
  store: Store,
  tenantId: string,
): Promise<{ rows: Map<string, ResumeRow>; now: number }> {
  const own = store.kysely.selectFrom('resumes').select(COLUMNS).where('tenant_id', '=', tenantId);
  const all = await own.orderBy('resume_id').orderBy('job_id').execute();
  const rows = new Map(all.map((row) => [resumeKey({ resumeId: row.resume_id, jobId: row.job_id }), row]));
  return { rows, now: await readClock(store) };
}

export function resumeKey({ resumeId, jobId }: ResumeOfJob): string {
  return `${resumeId} to job ${jobId}`;
}

/** A file that the partner is about to be asked to read. */
export interface ResumeToSend extends ResumeOfJob {
  url: string;
  /** Set for a file that we serve. */
  served?: { token: string; content: string };
  before: ResumeRow | undefined;
}

/**
 * Commits that the partner is about to be asked to read these. Leaves out files that another process handles: a row is
 * changed only if it is as it was when this was decided.
 */
export async function sendResumes(
  store: Store,
  tenantId: string,
  some: readonly ResumeToSend[],
  { writeId, budgetMs, connection }: { writeId: string; budgetMs: number; connection: string },
): Promise<ResumeRow[]> {
  return inTransaction(store, async (trx) => {
    const none = { batch_id: null, candidate_id: null, code: null, decided_at: null };
    const now = { ...(await sentNow(trx, budgetMs)), write_id: writeId, connection, ...none };
    const rows: ResumeRow[] = [];
    for (const { resumeId, jobId, url, served, before } of some) {
      const key = { tenant_id: tenantId, resume_id: resumeId, job_id: jobId };
      const file = { url, token: served?.token ?? null, content: served?.content ?? null };
      const row = await sendOnce(trx, 'resumes', { key, sent: { ...now, ...file }, before });
      if (row === undefined) continue;
      // Without the file, which may be large.
      const { token: _secret, content: _file, ...rest } = row;
      rows.push(rest);
    }
    return rows;
  });
}

/**
 * Records the outcome of files that were sent or taken; decided ones, and those sent anew, stay as they are. A decided
 * file is no longer served at its address.
 */
export async function settleResumes(
  { kysely, now }: Store,
  rows: readonly ResumeRow[],
  change: Partial<Pick<ResumeRow, 'batch_id' | 'candidate_id' | 'code'>> & Pick<ResumeRow, 'state'>,
): Promise<void> {
  const over = { url: null, token: null, content: null, decided_at: now };
  const isOver = change.state !== 'sent' && change.state !== 'taken';
  for (const some of batchesOf(rows, 200))
    await kysely
      .updateTable('resumes')
      .set({ code: null, ...change, ...(isOver ? over : {}) })
      .where('state', 'in', ['sent', 'taken'])
      .where((eb) =>
        eb.or(
          some.map(({ tenant_id, resume_id, job_id, attempt }) => eb.and({ tenant_id, resume_id, job_id, attempt })),
        ),
      )
      .execute();
}

/** Records that no request is made for a file, unless a person wants it again. */
export function refuseResume(
  store: Store,
  tenantId: string,
  { resumeId, jobId, before }: ResumeOfJob & { before: ResumeRow | undefined },
  change: { code: string; connection: string },
): Promise<void> {
  const key = { tenant_id: tenantId, resume_id: resumeId, job_id: jobId };
  return refuseOnce(store, 'resumes', { key, before }, change);
}

/** The file behind an address of ours; undefined once it is decided, or if its tenant was removed. */
export async function readResumeFile({ kysely }: Store, token: string): Promise<Buffer | undefined> {
  const found = await kysely
    .selectFrom('resumes')
    .innerJoin('tenants', 'tenants.tenant_id', 'resumes.tenant_id')
    .select('content')
    .where(has({ token, 'tenants.removed_at': null }))
    .executeTakeFirst();
  return typeof found?.content === 'string' ? Buffer.from(found.content, 'base64') : undefined;
}
