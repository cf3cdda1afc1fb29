import { z } from 'zod';
import { defineEndpoint, errorsOf, keyedList, notFound, refusal, writtenKeyedList } from './endpoint.ts';
import {
  AnyObject,
  emailToSend,
  IntegerId,
  IsoTime,
  instant,
  isPhone,
  openEnum,
  pathInteger,
  queryInteger,
  TextId,
  utcInstant,
} from './shapes.ts';

export const campaignPurposes = ['SCHEDULE', 'ONLINE_INTERVIEW', 'INTEREST_CHECK', 'ASSESSMENT_REMINDER'] as const;
export const callTypes = ['IVR', 'AICall'] as const;

const Campaign = z
  .looseObject({
    id: IntegerId,
    title: z.string().nullish(),
    status: openEnum(['RUNNING']).nullish(),
    purposeType: openEnum(campaignPurposes).nullish(),
    timezone: z.string().nullish(),
    companySiteId: TextId.nullish(),
    accessLevel: openEnum(['COMPANY']).nullish(),
    createdAt: IsoTime.nullish(),
    updatedAt: IsoTime.nullish(),
    callSettings: z
      .looseObject({ callType: openEnum(callTypes).nullish(), aiCallScript: z.string().nullish() })
      .nullish(),
    assessment: AnyObject.nullish(),
    schedule: z
      .looseObject({
        callTimeDisplay: z.string().nullish(),
        callSchedule: AnyObject.nullish(),
        followUpRetries: z.array(AnyObject).nullish(),
      })
      .nullish(),
    messages: z.looseObject({ openingMessage: z.string().nullish(), closingMessage: z.string().nullish() }).nullish(),
  })
  .meta({ id: 'Campaign' });

/** Lead fields beyond leadId are not shown (M1). */
const CampaignLead = z
  .looseObject({
    leadId: TextId,
    status: z.string().nullish(),
    firstName: z.string().nullish(),
    lastName: z.string().nullish(),
    email: z.string().nullish(),
    phone: z.string().nullish(),
    consentAt: z.union([z.string(), z.number()]).nullish(),
  })
  .meta({ id: 'CampaignLead' });

/** Fields are not shown (SITES); a site's id may be a number or text (M10). */
const CompanySite = z.looseObject({ id: TextId, name: z.string().nullish() }).meta({ id: 'CompanySite' });

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);

export const CampaignInput = z
  .strictObject({
    title: z.string().trim().min(1).max(500),
    timezone: z.string().refine(isTimezone, { error: 'timezone must be an IANA time zone' }),
    companySiteId: z.union([z.int(), z.string().min(1)]),
    phoneNumber: z.string().min(1),
    openingMessage: z.string().trim().min(1),
    closingMessage: z.string().trim().min(1),
    purposeType: z.enum(campaignPurposes),
    jobDetails: AnyObject.optional(),
    callTime: timeOfDay.optional(),
    followUpRetries: z.array(z.object({ time: timeOfDay, delayDays: z.int().min(0) })).optional(),
    callStartTimeUtc: utcInstant().optional(),
    retryScheduleUtc: z.array(utcInstant()).optional(),
    callType: z.string().refine(isCallType, { error: 'callType must be IVR or AICall' }).optional(),
    aiCallScript: z.string().optional(),
    questions: z.array(z.unknown()).optional(),
    status: z.enum(['RUNNING', 'DRAFT']).optional(),
  })
  .superRefine(({ purposeType, jobDetails = {} }, context) => {
    for (const { path, message } of detailIssues(purposeType, jobDetails))
      context.addIssue({ code: 'custom', path: ['jobDetails', ...path], message });
  })
  .meta({ id: 'CampaignInput' });

type Details = Record<string, unknown>;

/** What each purpose asks of jobDetails; ASSESSMENT_REMINDER falls back to the campaign's title, so nothing. */
const requiredDetails: Record<(typeof campaignPurposes)[number], readonly string[]> = {
  SCHEDULE: ['title'],
  ONLINE_INTERVIEW: ['title', 'virtualPlatform', 'virtualMeetingUrl', 'virtualAdditionalInstructions'],
  INTEREST_CHECK: ['interestItemDescription'],
  ASSESSMENT_REMINDER: [],
};

const slotTime = z.union([timeOfDay, instant()], { error: 'must be a time, such as 09:30' });

/** The form of a slot's three fields is not shown (M6). */
const InterviewSlot = z
  .looseObject({
    date: z.union([z.iso.date(), instant()], { error: 'must be a date, YYYY-MM-DD' }),
    start: slotTime,
    end: slotTime,
  })
  .refine(({ start, end }) => start.length !== end.length || start < end, {
    path: ['end'],
    error: 'must be after the start',
  });

/** What the purposes ask besides texts. */
const detailShapes: Partial<Record<(typeof campaignPurposes)[number], z.ZodType>> = {
  SCHEDULE: z.looseObject({ interviewSlots: z.array(InterviewSlot).min(1) }),
  ONLINE_INTERVIEW: z.looseObject({ interviewSlots: z.array(InterviewSlot).min(1) }),
  ASSESSMENT_REMINDER: z.looseObject({
    assessmentFirstReminderDelayHours: z.number('must be a number of hours').min(0).nullish(),
  }),
};

interface DetailIssue {
  path: PropertyKey[];
  message: string;
}

function detailIssues(purpose: (typeof campaignPurposes)[number], details: Details): DetailIssue[] {
  const missing = requiredDetails[purpose].filter((key) => !isFilled(details[key]));
  const shape = detailShapes[purpose]?.safeParse(details);
  return [
    ...missing.map((key) => ({ path: [key], message: `${key} is required for the purpose` })),
    ...(shape?.error?.issues ?? []),
  ];
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function isCallType(text: string): boolean {
  return callTypes.some((known) => known.toLowerCase() === text.toLowerCase());
}

function isTimezone(name: string): boolean {
  // An offset such as +05:00 is no name of IANA's.
  if (/^[+-]/.test(name)) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

/** Lead bodies are not shown (M1). */
export const LeadInput = z
  .strictObject({
    firstName: z.string().trim().min(1),
    lastName: z.string().optional(),
    phone: z.string().refine(isPhone, { error: 'must be a phone number' }),
    email: emailToSend().optional(),
    externalRef: z.string().max(255).optional(),
    consentAt: instant().optional(),
  })
  .meta({ id: 'LeadInput' });
export type LeadInput = z.input<typeof LeadInput>;

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
    response: writtenKeyedList('leads'),
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
