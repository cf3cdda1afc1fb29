/** Section 4.10: company campaigns and sites. Section 6 has no campaign events, so none are sent. */
import { addLeads, listLeads, renderLead } from '../records/campaigns/campaign-leads.ts';
import { createCampaign, findCampaign, listCampaigns, renderCampaign } from '../records/campaigns/campaigns.ts';
import { linkedSites } from '../records/campaigns/sites.ts';
import { limitPagination, type OperationTree } from './operation.ts';

export const sites = {
  list: (ctx) => ({ body: { sites: linkedSites(ctx) } }),
} satisfies OperationTree['sites'];

export const campaigns = {
  list(ctx, { query: { page, limit, ...filters } }) {
    const found = listCampaigns(ctx, filters, limit, (page - 1) * limit);
    const shown = found.campaigns.map((one) => renderCampaign(one, false));
    return { body: { campaigns: shown, pagination: limitPagination(page, limit, found.total) } };
  },

  get: (ctx, { params }) => ({ body: { campaign: renderCampaign(findCampaign(ctx, params.campaignId), true) } }),

  create: (ctx, { body }) => ({ body: { campaign: renderCampaign(createCampaign(ctx, body), true) } }),

  addLeads(ctx, { params, body }) {
    const { id } = findCampaign(ctx, params.campaignId);
    return { body: { leads: addLeads(ctx, id, body.leads).map(({ leadId }) => ({ leadId })) } };
  },

  listLeads(ctx, { params }) {
    const { id } = findCampaign(ctx, params.campaignId);
    return { body: { leads: listLeads(ctx, id).map(renderLead) } };
  },
} satisfies OperationTree['campaigns'];
