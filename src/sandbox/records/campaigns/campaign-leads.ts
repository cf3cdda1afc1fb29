import type { LeadInput } from '../../../partner/contract/campaign.ts';
import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { notFound } from '../../errors.ts';

/** Statuses are not shown (M1, assumed): name to label. */
export const LEAD_LABELS = {
  PENDING: 'Pending',
  CALLED: 'Called',
  NO_ANSWER: 'No answer',
  COMPLETED: 'Completed',
} as const;
export type LeadStatus = keyof typeof LEAD_LABELS;

export interface Lead {
  leadId: number;
  status: LeadStatus;
}

export function addLeads(ctx: Context, campaignId: number, leads: readonly LeadInput[]): Lead[] {
  const first = ctx.state.nextId('campaign-lead', 40_001, leads.length);
  return leads.map((lead, index) => {
    const leadId = first + index;
    ctx.state.run(
      `insert into campaign_leads (id, company_id, campaign_id, status, created_at, body)
        values (?, ?, ?, 'PENDING', ?, ?)`,
      leadId,
      ctx.company.id,
      campaignId,
      ctx.now,
      JSON.stringify(lead),
    );
    effect(ctx, 'campaign-lead', leadId);
    return { leadId, status: 'PENDING' };
  });
}

export function listLeads(ctx: Context, campaignId: number): Lead[] {
  return ctx.state.all<Lead>(
    'select id as leadId, status from campaign_leads where campaign_id = ? and company_id = ? order by id',
    campaignId,
    ctx.company.id,
  );
}

export function setLeadStatus(ctx: Context, leadId: number, status: LeadStatus): Lead {
  const changed = ctx.state.run(
    'update campaign_leads set status = ? where id = ? and company_id = ?',
    status,
    leadId,
    ctx.company.id,
  );
  if (changed === 0) throw notFound('Lead');
  effect(ctx, 'campaign-lead-status', leadId, { status });
  return { leadId, status };
}

export function renderLead({ leadId, status }: Lead): Record<string, unknown> {
  return { leadId, status, statusLabel: LEAD_LABELS[status] };
}
