import type { z } from 'zod';
import { type CampaignInput, callTypes, type campaignPurposes } from '../../../partner/contract/campaign.ts';
import type { Context } from '../../context.ts';
import { effect, iso } from '../../context.ts';
import { invalidRequest, notFound } from '../../errors.ts';
import { findAssessment } from '../assessments/assessments.ts';
import { planCalls } from './campaign-schedule.ts';
import { linkedSites, verifiedNumbers } from './sites.ts';

export interface Campaign {
  id: number;
  status: string;
  purposeType: string;
  accessLevel: string;
  createdAt: number;
  updatedAt: number;
  /** JSON text of what does not change. */
  body: string;
}

type Input = z.output<typeof CampaignInput>;

const CAMPAIGN = `select id, status, purpose as purposeType, access_level as accessLevel, created_at as createdAt,
  updated_at as updatedAt, body
  from campaigns`;

/** What stands in the list and is found: not deleted, and of the company. */
const VISIBLE = "company_id = ? and deleted = 0 and access_level = 'COMPANY'";

/** Purposes the workspace has enabled; only ASSESSMENT_REMINDER unless configured (section 4.10). */
export function enabledPurposes(ctx: Context): string[] {
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

/** A campaign of the company; what the body alone cannot show is checked here (M2, M8, assumed). */
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
