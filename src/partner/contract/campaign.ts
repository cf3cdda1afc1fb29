/** Section 2.10: campaigns, as they arrive and as they are created. The one family that refuses unknown keys. */
import { z } from 'zod';
import { AnyObject, IntegerId, IsoTime, openEnum, TextId } from './shapes.ts';

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
  .superRefine((body, context) => {
    for (const key of missingDetails(body.purposeType, body.jobDetails ?? {})) {
      context.addIssue({ code: 'custom', path: ['jobDetails', key], message: `${key} is required for the purpose` });
    }
  })
  .meta({ id: 'CampaignInput' });
export type CampaignInput = z.input<typeof CampaignInput>;

type Details = Record<string, unknown>;

/** What each purpose asks of jobDetails; ASSESSMENT_REMINDER falls back to the campaign's title, so nothing. */
const requiredDetails: Record<(typeof campaignPurposes)[number], readonly string[]> = {
  SCHEDULE: ['title', 'interviewSlots'],
  ONLINE_INTERVIEW: [
    'title',
    'interviewSlots',
    'virtualPlatform',
    'virtualMeetingUrl',
    'virtualAdditionalInstructions',
  ],
  INTEREST_CHECK: ['interestItemDescription'],
  ASSESSMENT_REMINDER: [],
};

const InterviewSlots = z
  .array(z.looseObject({ date: z.string().min(1), start: z.string().min(1), end: z.string().min(1) }))
  .min(1);

function missingDetails(purpose: (typeof campaignPurposes)[number], details: Details): string[] {
  return requiredDetails[purpose].filter((key) =>
    key === 'interviewSlots' ? !InterviewSlots.safeParse(details[key]).success : !isFilled(details[key]),
  );
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
    phone: z.string().min(1),
    email: z.email().optional(),
    externalRef: z.string().max(255).optional(),
  })
  .meta({ id: 'LeadInput' });
export type LeadInput = z.input<typeof LeadInput>;
