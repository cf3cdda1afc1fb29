import { z } from 'zod';
import { campaignPurposes } from '../../partner/contract/campaign.ts';
import { LEAD_LABELS, type LeadStatus, setLeadStatus } from '../records/campaigns/campaign-leads.ts';
import { enablePurposes, setCampaign } from '../records/campaigns/campaigns.ts';
import { defineAction } from './action.ts';

const campaign = { campaignId: z.int() };

export const campaigns = {
  enableCampaignPurposes: defineAction({
    summary: 'Configure which purposes the workspace accepts; only ASSESSMENT_REMINDER at first',
    input: z.strictObject({ purposes: z.array(z.enum(campaignPurposes)).default([...campaignPurposes]) }),
    run: (ctx, { purposes }) => ({ purposes: enablePurposes(ctx, purposes) }),
  }),

  setCampaign: defineAction({
    summary: 'Pause or complete a campaign, or make it one that is not of the whole company: the API then answers 404',
    input: z.strictObject({
      ...campaign,
      status: z.enum(['DRAFT', 'RUNNING', 'PAUSED', 'COMPLETED']).optional(),
      accessLevel: z.enum(['COMPANY', 'USER']).optional(),
    }),
    run(ctx, { campaignId, ...to }) {
      setCampaign(ctx, campaignId, to);
      return { campaignId, ...to };
    },
  }),

  deleteCampaign: defineAction({
    summary: 'Delete a campaign',
    input: z.strictObject(campaign),
    run(ctx, { campaignId }) {
      setCampaign(ctx, campaignId, { deleted: true });
      return { deleted: campaignId };
    },
  }),

  setLeadStatus: defineAction({
    summary: 'What became of a lead',
    input: z.strictObject({ leadId: z.int(), status: z.enum(Object.keys(LEAD_LABELS) as [LeadStatus]) }),
    run: (ctx, { leadId, status }) => setLeadStatus(ctx, leadId, status),
  }),
};
