/** Section 4.10: company campaigns and sites. The campaign update has no route: undefined-endpoints.ts. */
import { z } from 'zod';
import { Campaign, CampaignInput, CampaignLead, CompanySite, LeadInput } from './campaign.ts';
import { defineEndpoint } from './endpoint.ts';
import { keyedList } from './envelopes.ts';
import { errorsOf, notFound, refusal } from './errors.ts';
import { pathInteger, queryInteger } from './shapes.ts';

const params = z.object({ campaignId: pathInteger() });
const unknownCampaign = refusal('NOT_FOUND', "id invalid, deleted, other company's, or not a COMPANY campaign", {
  field: 'campaignId',
});

/** `{ campaign }`; a bare campaign and `{ data }` are read too (M10). */
const CampaignBody = z.preprocess(wrapCampaign, z.looseObject({ campaign: Campaign }));

function wrapCampaign(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || 'campaign' in body) return body;
  if ('data' in body) return wrapCampaign(body.data);
  return 'id' in body ? { campaign: body } : body;
}

export const sites = {
  list: defineEndpoint({
    id: 'sites.list',
    method: 'GET',
    path: '/company-sites',
    section: '4.10',
    summary: "Sites assigned to the API key's user",
    status: 200,
    envelope: 'campaign',
    response: keyedList('sites'),
    list: { itemsAt: 'sites', item: CompanySite, idKey: 'id' },
    errors: errorsOf(),
    assumed: ['SITES'],
  }),
};

export const campaigns = {
  list: defineEndpoint({
    id: 'campaigns.list',
    method: 'GET',
    path: '/campaigns',
    section: '4.10',
    summary: 'List campaigns, newest first',
    query: z.object({
      status: z.string().optional(),
      purposeType: z.string().optional(),
      page: queryInteger({ min: 1 }).default(1),
      limit: queryInteger({ min: 1, max: 100 }).default(20),
    }),
    status: 200,
    envelope: 'campaign',
    response: keyedList('campaigns'),
    list: {
      itemsAt: 'campaigns',
      item: Campaign,
      idKey: 'id',
      paging: {
        pageParam: 'page',
        firstPage: 1,
        sizeParam: 'limit',
        sizes: { max: 100 },
        end: { totalAt: 'pagination.total' },
      },
    },
    errors: errorsOf(refusal('INVALID_REQUEST', 'page below 1 or limit outside 1 to 100')),
    assumed: ['G9', 'M9'],
  }),
  get: defineEndpoint({
    id: 'campaigns.get',
    method: 'GET',
    path: '/campaigns/:campaignId',
    section: '4.10',
    summary: 'Get a campaign with schedule and messages',
    params,
    status: 200,
    envelope: 'campaign',
    response: CampaignBody,
    errors: errorsOf(unknownCampaign),
    assumed: ['M10'],
  }),
  create: defineEndpoint({
    id: 'campaigns.create',
    method: 'POST',
    path: '/campaigns',
    section: '4.10',
    summary: 'Create a campaign; unknown keys are refused',
    body: CampaignInput,
    status: 200,
    envelope: 'campaign',
    response: CampaignBody,
    errors: errorsOf(
      refusal(
        'INVALID_REQUEST',
        'missing, invalid or unknown key; unverified phoneNumber; site not linked; purpose not enabled',
      ),
      notFound('assessment'),
    ),
    assumed: ['G1', 'M2', 'M3', 'M4', 'M5', 'M6', 'M7', 'M8', 'M10', 'M11'],
  }),
  addLeads: defineEndpoint({
    id: 'campaigns.addLeads',
    method: 'POST',
    path: '/campaigns/:campaignId/leads',
    section: '4.10',
    summary: 'Add one or many leads',
    params,
    body: z.strictObject({ leads: z.array(LeadInput).min(1) }),
    status: 200,
    envelope: 'campaign',
    response: keyedList('leads'),
    list: { itemsAt: 'leads', item: CampaignLead, idKey: 'leadId' },
    errors: errorsOf(refusal('INVALID_REQUEST', 'missing, invalid or unknown key'), unknownCampaign),
    assumed: ['G1', 'M1', 'M12'],
  }),
  listLeads: defineEndpoint({
    id: 'campaigns.listLeads',
    method: 'GET',
    path: '/campaigns/:campaignId/leads',
    section: '4.10',
    summary: 'Leads with their status labels',
    params,
    status: 200,
    envelope: 'campaign',
    response: keyedList('leads'),
    list: { itemsAt: 'leads', item: CampaignLead, idKey: 'leadId' },
    errors: errorsOf(unknownCampaign),
    assumed: ['M1', 'M12'],
  }),
};
