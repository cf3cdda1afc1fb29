import { has, inTransaction, readClock, readInBatches, type Store } from './open-store.ts';
import type { SourcedLeadRow } from './push-tables.ts';
import { refuseOnce, sendOnce, sentNow } from './send-once.ts';

/** A lead, and the job that a rule brings it into. */
export interface LeadOfJob {
  leadId: string;
  jobId: string;
}

/** Records of these leads, by `sourcedKey`, and the database's clock. */
export async function readSourcedLeads(
  store: Store,
  tenantId: string,
  leads: readonly LeadOfJob[],
): Promise<{ rows: Map<string, SourcedLeadRow>; now: number }> {
  const ids = [...new Set(leads.map(({ leadId }) => leadId))];
  const own = store.kysely.selectFrom('sourced_leads').selectAll().where('tenant_id', '=', tenantId);
  const found = await readInBatches(ids, (some) => own.where('lead_id', 'in', some).execute());
  const rows = new Map(found.map((row) => [sourcedKey({ leadId: row.lead_id, jobId: row.job_id }), row]));
  return { rows, now: await readClock(store) };
}

/** A lead that was sent without an answer, and the campaign that it was in at the time. */
export interface SentLead extends LeadOfJob {
  campaignId: string | undefined;
}

export async function readSentLeads({ kysely }: Store, tenantId: string): Promise<SentLead[]> {
  const rows = await kysely
    .selectFrom('sourced_leads as l')
    .leftJoin('foreign_writes as w', 'w.batch_id', 'l.write_id')
    .select(['l.tenant_id', 'l.lead_id', 'l.job_id', 'w.changes'])
    .where(has({ 'l.tenant_id': tenantId, 'l.state': 'sent' }))
    .orderBy('l.lead_id')
    .execute();
  return rows.map(({ lead_id: leadId, job_id: jobId, changes }) => {
    const { campaignId } = JSON.parse(changes ?? '{}') as { campaignId?: { new?: string } };
    return { leadId, jobId, campaignId: campaignId?.new };
  });
}

/** A key for maps; ids contain no blanks. */
export function sourcedKey({ leadId, jobId }: LeadOfJob): string {
  return `${leadId} ${jobId}`;
}

/**
 * Commits that a lead is about to become a candidate of the job. Undefined if another process handles it: the row is
 * changed only if it is as it was when this was decided.
 */
export async function sendLead(
  store: Store,
  tenantId: string,
  lead: LeadOfJob & { before: SourcedLeadRow | undefined },
  { writeId, budgetMs }: { writeId: string | null; budgetMs: number },
): Promise<SourcedLeadRow | undefined> {
  const { leadId, jobId, before } = lead;
  const key = { tenant_id: tenantId, lead_id: leadId, job_id: jobId };
  return inTransaction(store, async (trx) => {
    const sent = { ...(await sentNow(trx, budgetMs)), write_id: writeId, code: null, decided_at: null };
    return sendOnce(trx, 'sourced_leads', { key, sent, before });
  });
}

/** Records the outcome for a lead; one that was decided, or sent anew, stays as it is. */
export async function settleLead(
  { kysely, now }: Store,
  { tenant_id, lead_id, job_id, attempt }: Pick<SourcedLeadRow, 'tenant_id' | 'lead_id' | 'job_id' | 'attempt'>,
  change: Partial<Pick<SourcedLeadRow, 'candidate_id' | 'job_candidate_id' | 'code'>> & Pick<SourcedLeadRow, 'state'>,
): Promise<void> {
  await kysely
    .updateTable('sourced_leads')
    .set({ code: null, ...change, decided_at: now })
    .where(has({ tenant_id, lead_id, job_id, attempt, state: 'sent' }))
    .execute();
}

/** Records that nothing is sent for a lead, unless a person asks for it again. */
export function refuseLead(
  store: Store,
  tenantId: string,
  { leadId, jobId, before }: LeadOfJob & { before: SourcedLeadRow | undefined },
  code: string,
): Promise<void> {
  const key = { tenant_id: tenantId, lead_id: leadId, job_id: jobId };
  return refuseOnce(store, 'sourced_leads', { key, before }, { code });
}
