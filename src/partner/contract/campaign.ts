/** Section 2.10: campaigns, as they arrive and as they are created. The one family that refuses unknown keys. */
import { z } from 'zod';
import { AnyObject, IntegerId, IsoTime, isPhone, openEnum, TextId } from './shapes.ts';

export const campaignPurposes = ['SCHEDULE', 'ONLINE_INTERVIEW', 'INTEREST_CHECK', 'ASSESSMENT_REMINDER'] as const;
export const callTypes = ['IVR', 'AICall'] as const;

export const Campaign = z
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
export type Campaign = z.infer<typeof Campaign>;

/** Lead fields beyond leadId are not shown. */
export const CampaignLead = z
  .looseObject({ leadId: TextId, status: z.string().nullish() })
  .meta({ id: 'CampaignLead' });
export type CampaignLead = z.infer<typeof CampaignLead>;

/** Fields are not shown (SITES); a site's id may be a number or text (M10). */
export const CompanySite = z.looseObject({ id: TextId, name: z.string().nullish() }).meta({ id: 'CompanySite' });
export type CompanySite = z.infer<typeof CompanySite>;

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
    callStartTimeUtc: z.iso.datetime().optional(),
    retryScheduleUtc: z.array(z.iso.datetime()).optional(),
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
export type CampaignInput = z.input<typeof CampaignInput>;

type Details = Record<string, unknown>;

/** What each purpose asks of jobDetails; ASSESSMENT_REMINDER falls back to the campaign's title, so nothing. */
const requiredDetails: Record<(typeof campaignPurposes)[number], readonly string[]> = {
  SCHEDULE: ['title'],
  ONLINE_INTERVIEW: ['title', 'virtualPlatform', 'virtualMeetingUrl', 'virtualAdditionalInstructions'],
  INTEREST_CHECK: ['interestItemDescription'],
  ASSESSMENT_REMINDER: [],
};

const slotTime = z.union([timeOfDay, z.iso.datetime({ offset: true })], { error: 'must be a time, such as 09:30' });

/** The form of a slot's three fields is not shown (M6). */
const InterviewSlot = z
  .looseObject({
    date: z.union([z.iso.date(), z.iso.datetime({ offset: true })], { error: 'must be a date, YYYY-MM-DD' }),
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
    email: z.email().optional(),
    externalRef: z.string().max(255).optional(),
  })
  .meta({ id: 'LeadInput' });
export type LeadInput = z.input<typeof LeadInput>;
