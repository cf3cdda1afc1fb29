import { DateTime } from 'luxon';
import type { z } from 'zod';
import {
  type CampaignInput,
  callTypes,
  type campaignPurposes,
  type LeadInput,
} from '../../partner/contract/campaigns.ts';
import { type Context, effect, invalidRequest, iso, notFound } from '../context.ts';
import { findAssessment } from './assessments.ts';

interface Campaign {
  id: number;
  status: string;
  purposeType: string;
  accessLevel: string;
  createdAt: number;
  updatedAt: number;
  /** JSON text of the constant parts. */
  body: string;
}

type Input = z.output<typeof CampaignInput>;

const CAMPAIGN = `select id, status, purpose as purposeType, access_level as accessLevel, created_at as createdAt,
  updated_at as updatedAt, body
  from campaigns`;

/** Listed campaigns: not deleted, and of the company. */
const VISIBLE = "company_id = ? and deleted = 0 and access_level = 'COMPANY'";

/** Purposes the workspace has enabled; only ASSESSMENT_REMINDER unless configured (section 4.10). */
function enabledPurposes(ctx: Context): string[] {
  const saved = ctx.state.setting(purposesKey(ctx));
  return saved === undefined ? ['ASSESSMENT_REMINDER'] : (JSON.parse(saved) as string[]);
}

export function enablePurposes(ctx: Context, purposes: readonly (typeof campaignPurposes)[number][]): string[] {
  ctx.state.saveSetting(purposesKey(ctx), JSON.stringify(purposes));
  return enabledPurposes(ctx);
}

function purposesKey(ctx: Context): string {
  return `campaign-purposes-${String(ctx.company.id)}`;
}

/** A campaign of the company; checks rules beyond the body (M2, M8, assumed). */
export function createCampaign(ctx: Context, input: Input): Campaign {
  const { state, company, now } = ctx;
  if (!enabledPurposes(ctx).includes(input.purposeType))
    throw invalidRequest('The workspace has not enabled this purpose', { purposeType: 'not enabled' });
  const site = linkedSites(ctx).find(({ id }) => String(id) === String(input.companySiteId));
  if (site === undefined)
    throw invalidRequest("The site is not linked to the key's user", { companySiteId: 'not linked' });
  if (!verifiedNumbers(ctx).includes(input.phoneNumber))
    throw invalidRequest('The outbound number is not verified', { phoneNumber: 'not verified' });
  const assessment = input.purposeType === 'ASSESSMENT_REMINDER' ? assessmentBlock(ctx, input) : undefined;
  const body = {
    title: input.title,
    timezone: input.timezone,
    companySiteId: site.id,
    callSettings: { callType: callTypeOf(input.callType), aiCallScript: input.aiCallScript ?? null },
    ...(assessment === undefined ? {} : { assessment }),
    schedule: planCalls(input.timezone, input, now),
    messages: { openingMessage: input.openingMessage, closingMessage: input.closingMessage },
  };
  const id = state.nextId('campaign', 3001);
  state.run(
    `insert into campaigns (id, company_id, status, purpose, created_at, updated_at, body)
      values (?, ?, ?, ?, ?, ?, ?)`,
    id,
    company.id,
    input.status ?? 'RUNNING',
    input.purposeType,
    now,
    now,
    JSON.stringify(body),
  );
  effect(ctx, 'campaign', id);
  return findCampaign(ctx, id);
}

/** An empty jobTitle falls back to assessmentName, then to the title; an unknown assessment is 404 (M3, assumed). */
function assessmentBlock(ctx: Context, { jobDetails = {}, title }: Input): Record<string, unknown> {
  const details: Record<string, unknown> = jobDetails;
  const testId = text(details['assessmentTestId']);
  const known = testId === undefined ? undefined : findAssessment(ctx, testId);
  const assessmentName = text(details['assessmentName']) ?? known?.fields.testName ?? null;
  return {
    assessmentTestId: testId ?? null,
    assessmentName,
    jobTitle: text(details['jobTitle']) ?? assessmentName ?? title,
    autoAddInvitedCandidates: details['autoAddInvitedCandidates'] === true,
    assessmentFirstReminderDelayHours: details['assessmentFirstReminderDelayHours'] ?? null,
    assessmentReminderSmsTemplate: details['assessmentReminderSmsTemplate'] ?? null,
    assessmentPostCallSmsTemplate: details['assessmentPostCallSmsTemplate'] ?? null,
  };
}

function text(value: unknown): string | undefined {
  const given = typeof value === 'number' ? String(value) : value;
  return typeof given === 'string' && given.trim() !== '' ? given.trim() : undefined;
}

/** In any case (section 4.10), AICall unless given (M11, assumed). */
function callTypeOf(given = 'AICall'): string {
  return callTypes.find((known) => known.toLowerCase() === given.toLowerCase()) ?? given;
}

/** 404 when unknown, deleted, another company's, or not a COMPANY campaign. */
export function findCampaign(ctx: Context, id: number): Campaign {
  const found = ctx.state.one<Campaign>(`${CAMPAIGN} where id = ? and ${VISIBLE}`, id, ctx.company.id);
  if (found === undefined) throw notFound('Campaign');
  return found;
}

/** Newest id first; the filters are exact, an unknown value finds nothing (M9, assumed). */
export function listCampaigns(
  ctx: Context,
  filters: { status?: string | undefined; purposeType?: string | undefined },
  limit: number,
  offset: number,
): { campaigns: Campaign[]; total: number } {
  const where = `${VISIBLE} and (? is null or status = ?) and (? is null or purpose = ?)`;
  const { status = null, purposeType = null } = filters;
  const values = [ctx.company.id, status, status, purposeType, purposeType];
  const total = ctx.state.count('campaigns', where, ...values);
  const campaigns = ctx.state.all<Campaign>(
    `${CAMPAIGN} where ${where} order by id desc limit ? offset ?`,
    ...values,
    limit,
    offset,
  );
  return { campaigns, total };
}

export function setCampaign(
  ctx: Context,
  id: number,
  to: { status?: string | undefined; accessLevel?: string | undefined; deleted?: boolean | undefined },
): void {
  findCampaign(ctx, id);
  ctx.state.run(
    `update campaigns set status = coalesce(?, status), access_level = coalesce(?, access_level), deleted = ?,
      updated_at = ? where id = ?`,
    to.status ?? null,
    to.accessLevel ?? null,
    Number(to.deleted ?? false),
    ctx.now,
    id,
  );
  effect(ctx, 'campaign-updated', id);
}

/** The list item of section 2.10; the detail adds schedule and messages. */
export function renderCampaign(campaign: Campaign, detail: boolean): Record<string, unknown> {
  const { body, createdAt, updatedAt, ...own } = campaign;
  const { schedule, messages, ...item } = JSON.parse(body) as Record<string, unknown>;
  const shown = { ...own, ...item, createdAt: iso(createdAt), updatedAt: iso(updatedAt) };
  return detail ? { ...shown, schedule, messages } : shown;
}

/** When to call, as the create body says it; the UTC forms win over the local ones (M4, assumed). */
interface CallTimes {
  callTime?: string | undefined;
  followUpRetries?: readonly { time: string; delayDays: number }[] | undefined;
  callStartTimeUtc?: string | undefined;
  retryScheduleUtc?: readonly string[] | undefined;
}

interface CallSchedule {
  callTimeDisplay: string;
  callSchedule: { timeBasis: 'LOCAL' | 'UTC'; startTimeLocal: string; startTimeUtc: string };
  /** `delayDays` counts from the day of the first call (M5, assumed). */
  followUpRetries: { time: string; delayDays: number }[];
}

/** Section 4.10: minutes after the previous slot, when retries are left out. */
const RETRY_MINUTES = [60, 90, 90, 90];
const OPENS = { hour: 9, minute: 0, second: 0, millisecond: 0 };
const CLOSES = { ...OPENS, hour: 21 };

/** The first call and its retries, each between 09:00 and 21:00 of the campaign's time zone. `now` is epoch ms. */
function planCalls(timezone: string, times: CallTimes, now: number): CallSchedule {
  const first = intoHours(firstCall(timezone, times, now));
  const later = retries(timezone, times, first);
  refuseTimes(times, first, later, now);
  return {
    callTimeDisplay: first.setLocale('en-US').toFormat('h:mm a'),
    callSchedule: {
      timeBasis: times.callStartTimeUtc === undefined ? 'LOCAL' : 'UTC',
      startTimeLocal: first.toFormat('HH:mm'),
      startTimeUtc: first.toUTC().toISO() ?? '',
    },
    followUpRetries: later.map((slot) => ({
      time: slot.toFormat('HH:mm'),
      delayDays: Math.round(slot.startOf('day').diff(first.startOf('day'), 'days').days),
    })),
  };
}

/** A start this long ago has the wrong year; one of today that has just passed is called at once (M4, assumed). */
const LONG_AGO_MS = 365 * 86_400_000;

function refuseTimes(times: CallTimes, first: DateTime, later: readonly DateTime[], now: number): void {
  const start = times.callStartTimeUtc === undefined ? 'callTime' : 'callStartTimeUtc';
  if (!first.isValid) throw invalidRequest('A call is beyond the calendar', { [start]: 'is beyond the calendar' });
  if (first.toMillis() < now - LONG_AGO_MS)
    throw invalidRequest('The first call is long past', { [start]: 'is more than a year ago' });
  for (const [index, slot] of later.entries()) {
    const field = times.retryScheduleUtc === undefined ? 'followUpRetries' : 'retryScheduleUtc';
    const wrong = !slot.isValid ? 'is beyond the calendar' : isBeforeStart(times, slot) ? 'is before the start' : '';
    const path = `${field}[${String(index)}]`;
    if (wrong !== '') throw invalidRequest(`${path} ${wrong}`, { [path]: wrong });
  }
}

/** Judged only where both are given in UTC: the local forms say themselves how long after the start they are. */
function isBeforeStart({ callStartTimeUtc, retryScheduleUtc }: CallTimes, slot: DateTime): boolean {
  if (callStartTimeUtc === undefined || retryScheduleUtc === undefined) return false;
  return slot.toMillis() < Date.parse(callStartTimeUtc);
}

/** The next time the clock there shows `callTime`, 09:00 unless given (M11, assumed). */
function firstCall(timezone: string, { callTime = '09:00', callStartTimeUtc }: CallTimes, now: number): DateTime {
  if (callStartTimeUtc !== undefined) return DateTime.fromISO(callStartTimeUtc, { zone: timezone });
  const today = atTime(DateTime.fromMillis(now, { zone: timezone }), callTime);
  return today.toMillis() > now ? today : atTime(today.plus({ days: 1 }), callTime);
}

function retries(timezone: string, { followUpRetries, retryScheduleUtc }: CallTimes, first: DateTime): DateTime[] {
  if (retryScheduleUtc !== undefined)
    return retryScheduleUtc.map((instant) => intoHours(DateTime.fromISO(instant, { zone: timezone })));
  if (followUpRetries !== undefined)
    return followUpRetries.map(({ time, delayDays }) => intoHours(atTime(first.plus({ days: delayDays }), time)));
  let previous = first;
  return RETRY_MINUTES.map((minutes) => (previous = intoHours(previous.plus({ minutes }))));
}

/**
 * A slot after 21:00 moves to 09:00 of the next day, one before 09:00 to 09:00; 21:00 itself is in time (M4, M5,
 * assumed).
 */
function intoHours(slot: DateTime): DateTime {
  if (slot > slot.set(CLOSES)) return slot.plus({ days: 1 }).set(OPENS);
  return slot < slot.set(OPENS) ? slot.set(OPENS) : slot;
}

function atTime(day: DateTime, time: string): DateTime {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return day.set({ hour, minute, second: 0, millisecond: 0 });
}

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
  /** JSON text of the sent request. */
  body: string;
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
    return { leadId, status: 'PENDING', body: JSON.stringify(lead) };
  });
}

export function listLeads(ctx: Context, campaignId: number): Lead[] {
  return ctx.state.all<Lead>(
    'select id as leadId, status, body from campaign_leads where campaign_id = ? and company_id = ? order by id',
    campaignId,
    ctx.company.id,
  );
}

export function setLeadStatus(ctx: Context, leadId: number, status: LeadStatus): Omit<Lead, 'body'> {
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

/** Who they are, and since when they agree to be asked (M1, assumed). */
export function renderLead({ leadId, status, body }: Lead): Record<string, unknown> {
  const { firstName, lastName = null, email = null, phone, consentAt = null } = JSON.parse(body) as LeadInput;
  const shown = { firstName, lastName, email, phone, consentAt };
  return { leadId, status, statusLabel: LEAD_LABELS[status], ...shown };
}

/** Fields are not shown (SITES, assumed). */
export interface Site {
  id: number;
  name: string;
  timezone: string;
}

/** A site; linked means assigned to the user whose API key it is. */
export function createSite(ctx: Context, input: { name: string; timezone: string; linked: boolean }): Site {
  const id = ctx.state.nextId('site', 801);
  ctx.state.run(
    'insert into company_sites (id, company_id, name, timezone, linked) values (?, ?, ?, ?, ?)',
    id,
    ctx.company.id,
    input.name,
    input.timezone,
    Number(input.linked),
  );
  effect(ctx, 'site', id);
  return { id, name: input.name, timezone: input.timezone };
}

export function linkedSites(ctx: Context): Site[] {
  return ctx.state.all<Site>(
    'select id, name, timezone from company_sites where company_id = ? and linked = 1 order by id',
    ctx.company.id,
  );
}

export function setSiteLinked(ctx: Context, id: number, linked: boolean): void {
  const changed = ctx.state.run(
    'update company_sites set linked = ? where id = ? and company_id = ?',
    Number(linked),
    id,
    ctx.company.id,
  );
  if (changed === 0) throw notFound('Site');
}

/** Outbound numbers a campaign may call from. */
export function verifiedNumbers(ctx: Context): string[] {
  return ctx.state
    .all<{ phoneNumber: string }>(
      'select phone_number as phoneNumber from verified_numbers where company_id = ? order by phone_number',
      ctx.company.id,
    )
    .map((row) => row.phoneNumber);
}

export function setNumberVerified(ctx: Context, phoneNumber: string, verified: boolean): void {
  ctx.state.run(
    verified
      ? 'insert or ignore into verified_numbers (company_id, phone_number) values (?, ?)'
      : 'delete from verified_numbers where company_id = ? and phone_number = ?',
    ctx.company.id,
    phoneNumber,
  );
}
