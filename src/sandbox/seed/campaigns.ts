import type { Context } from '../context.ts';
import { addLeads, LEAD_LABELS, type LeadStatus, setLeadStatus } from '../records/campaigns/campaign-leads.ts';
import { createCampaign, setCampaign } from '../records/campaigns/campaigns.ts';
import { linkedSites, verifiedNumbers } from '../records/campaigns/sites.ts';
import { findCandidate } from '../records/candidates/candidates.ts';

const CAMPAIGNS = [
  { title: 'Finish your first interview', status: 'RUNNING' },
  { title: 'Autumn intake: last call', status: 'COMPLETED' },
  { title: 'Night shift, second round', status: 'PAUSED' },
  { title: 'Spring intake', status: 'DRAFT' },
] as const;
const LEADS = 8;
const STATUSES = Object.keys(LEAD_LABELS) as LeadStatus[];

/** Reminder campaigns in each status, with leads of each but in the draft. */
export function seedCampaigns(ctx: Context, candidateIds: readonly number[]): void {
  const [site] = linkedSites(ctx);
  const [phoneNumber] = verifiedNumbers(ctx);
  if (site === undefined || phoneNumber === undefined) return;
  for (const [index, { title, status }] of CAMPAIGNS.entries()) {
    const { id } = createCampaign(ctx, {
      title,
      timezone: 'Europe/London',
      companySiteId: site.id,
      phoneNumber,
      openingMessage: 'Hello, this is about your application.',
      closingMessage: 'Thank you, and goodbye.',
      purposeType: 'ASSESSMENT_REMINDER',
      jobDetails: { assessmentName: 'First interview', assessmentFirstReminderDelayHours: 24 },
      status: status === 'DRAFT' ? 'DRAFT' : 'RUNNING',
    });
    if (status === 'DRAFT') continue;
    seedLeads(ctx, id, candidateIds.slice(index * LEADS, (index + 1) * LEADS));
    if (status !== 'RUNNING') setCampaign(ctx, id, { status });
  }
}

function seedLeads(ctx: Context, campaignId: number, candidateIds: readonly number[]): void {
  if (candidateIds.length === 0) return;
  const leads = candidateIds.map((id) => {
    const { firstName, lastName, phone, email } = findCandidate(ctx, id);
    return { firstName: firstName ?? '', lastName: lastName ?? '', phone: phone ?? '', email };
  });
  for (const [index, { leadId }] of addLeads(ctx, campaignId, leads).entries())
    setLeadStatus(ctx, leadId, STATUSES[index % STATUSES.length] ?? 'PENDING');
}
