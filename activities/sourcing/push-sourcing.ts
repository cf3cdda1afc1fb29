import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import { holdOf } from '../../src/hire/holds.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { cleanEmail } from '../../src/partner/contract/shapes.ts';
import { BY_ITSELF, recordWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import { closeTenantHolds, openHold } from '../../src/store/holds.ts';
import { erasedOf, type PersonId } from '../../src/store/person-marks.ts';
import type { SourcedLeadRow } from '../../src/store/push-tables.ts';
import {
  type LeadOfJob,
  readSourcedLeads,
  refuseLead,
  sendLead,
  settleLead,
  sourcedKey,
} from '../../src/store/sourced-leads.ts';
import { forgetAllowed } from '../../src/store/stream-states.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { transforms } from '../../src/values/transforms.ts';
import { newValues } from '../hire/with-hire.ts';
import { type Elapsed, guardFor, outcomeUnknown, startClock } from '../hire/write-once.ts';
import { assertFew, creditsOf } from '../push/by-rule.ts';
import type { PushContext, Verdict } from '../push/push-context.ts';

/**
 * Leads whom the tenant's rules name become candidates of a job, once for each lead and job: the partner is asked who
 * they are first, the intent is committed, one request leaves, its outcome is noted. Where no answer came, nothing is
 * sent again before the request's deadline has passed and the partner was asked whether they are in the job by now.
 * Whoever shows no consent is left alone.
 */
export async function pushSourcing(context: PushContext, beat: () => void): Promise<Verdict[]> {
  const { deps, connection, key } = context;
  const settings = connection.tenant.sourcing;
  if (settings === undefined) throw unconfigured(context);
  const { leads, unread, sinceRead } = await readLeads(context, settings);
  beat();
  const { rows, now } = await readSourcedLeads(deps.store, key.tenantId, leads);
  const verdicts = new Map(unread.map((one) => [one.id, one]));
  const run: Run = { ...context, settings, sinceRead, now, verdicts, waitMs: 0, isOutOfCredits: false };
  const planned = leads.flatMap((lead) => plan(run, lead, rows.get(sourcedKey(lead))));
  const fresh = planned.filter(({ before }) => before?.state !== 'sent').length;
  const message =
    `${fresh} leads would become candidates in one run, more than ${settings.atOnce} (sourcing.atOnce in the tenant ` +
    'file). None of them did.';
  await assertFew(run, { fresh, most: settings.atOnce, code: 'MASS_SOURCING', message });
  const credits = await creditsOf(run, { code: NO_CREDITS, table: 'sourced_leads' });
  run.isOutOfCredits = credits.isOut;
  let mayTry = credits.mayTry;
  for (const one of planned) {
    if (mayTry) await take(run, one);
    else tell(run, one.lead, 'held', 'the hiring platform has no credits for new candidates');
    if (run.isOutOfCredits) mayTry = false;
    beat();
  }
  if (run.waitMs > 0) throw outcomeUnknown('A new candidate', run.waitMs);
  if ([...verdicts.values()].every(({ kind }) => kind !== 'held')) await forgetAllowed(deps.store, key);
  return [...verdicts.values()];
}

type Settings = NonNullable<Tenant['sourcing']>;

/** A lead as a rule means it; e-mail and phone in the form in which they are compared. */
interface Lead extends LeadOfJob {
  campaignId: string;
  firstName: string | undefined;
  lastName: string | undefined;
  email: string | undefined;
  phone: string | undefined;
  /** As the partner shows it. */
  phoneShown: string | undefined;
  /** The day of their consent, `YYYY-MM-DD`. */
  consentOn: string | undefined;
}

interface Planned {
  lead: Lead;
  before: SourcedLeadRow | undefined;
}

interface Run extends PushContext {
  settings: Settings;
  /** Time since the leads were read. */
  sinceRead: Elapsed;
  /** The database's clock. */
  now: number;
  verdicts: Map<string, Verdict>;
  /** Until what left without an answer can be looked up. */
  waitMs: number;
  isOutOfCredits: boolean;
}

const NO_CREDITS = 'LEAD_CREDITS';

function unconfigured({ key }: PushContext): ConnectorError {
  return new ConnectorError({
    code: 'SOURCING_UNCONFIGURED',
    action: 'reject',
    message:
      `No lead can become a candidate for ${key.tenantId}: the tenant file has no section sourcing. ` +
      'Add "sourcing: { rules: [{ on: { campaign: ID }, job: ID }], consent: { customField: ID } }" and apply it.',
  });
}

function tell({ verdicts }: Run, lead: LeadOfJob, kind: Verdict['kind'], reason?: string): void {
  const id = `${lead.leadId} to job ${lead.jobId}`;
  verdicts.set(id, { id, kind, ...(reason === undefined ? {} : { reason }) });
}

// Whom the rules name.

async function readLeads({ deps, connection, key }: PushContext, { rules, country }: Settings) {
  const found = new Map<string, Lead>();
  const unread: Verdict[] = [];
  const sinceRead = startClock();
  for (const [campaignId, some] of Map.groupBy(rules, ({ on }) => on.campaign)) {
    const params = { campaignId: Number(campaignId) };
    const { items, unreadable } = await connection.partner.readAll(contract.campaigns.listLeads, { params });
    for (const { id, index, reason } of unreadable)
      unread.push({ id: id ?? `lead ${index + 1} of campaign ${campaignId}`, kind: 'quarantined', reason });
    for (const { on, job: jobId } of some) {
      const meant = items.filter(({ status }) => on.statuses?.includes(String(status ?? '')) ?? true);
      for (const item of meant) {
        const lead = { ...contactOf(item, country), leadId: String(item.leadId), jobId, campaignId };
        if (!found.has(sourcedKey(lead))) found.set(sourcedKey(lead), lead);
      }
    }
  }
  const idOf = ({ leadId: id }: Lead): PersonId => ({ kind: 'lead', id });
  const isErased = await erasedOf(deps.store, key.tenantId, [...found.values()].map(idOf));
  return { leads: [...found.values()].filter((lead) => !isErased(idOf(lead))), unread, sinceRead };
}

type Contact = Omit<Lead, 'leadId' | 'jobId' | 'campaignId'>;

/** Names of these fields are not shown in the specification (reading M1); the override fieldNames has others. */
function contactOf(item: Readonly<Record<string, unknown>>, country: string | undefined): Contact {
  const shown = (name: string): string | undefined => {
    const value = item[name];
    const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
    return text === '' ? undefined : text;
  };
  const [consent, phoneShown] = [shown('consentAt'), shown('phone')];
  const instant = consent === undefined ? undefined : readWith('instant', consent);
  return {
    firstName: shown('firstName'),
    lastName: shown('lastName'),
    email: emailOf(shown('email')),
    phone: phoneOf(phoneShown, country),
    phoneShown,
    consentOn: instant?.slice(0, 10),
  };
}

function emailOf(text: unknown): string | undefined {
  return typeof text === 'string' && text.includes('@') ? cleanEmail(text).toLowerCase() : undefined;
}

/** In E.164; undefined for what is no number. */
function phoneOf(text: unknown, country: string | undefined): string | undefined {
  return typeof text === 'string' ? readWith('phone', text, { country }) : undefined;
}

function readWith(name: 'instant' | 'phone', text: string, option?: unknown): string | undefined {
  const read = transforms[name](text, option);
  return 'value' in read && typeof read.value === 'string' ? read.value : undefined;
}

/** What is to be done for a lead; nothing where that is known. */
function plan(run: Run, lead: Lead, before: SourcedLeadRow | undefined): Planned[] {
  if (before?.state === 'done') tell(run, lead, 'unchanged');
  else if (before?.state === 'refused' && !run.full) tellRefused(run, lead, before.code);
  else if (before?.state === 'sent' && leftMs(run, before) > 0) run.waitMs = Math.max(run.waitMs, leftMs(run, before));
  else if (lead.consentOn === undefined) tell(run, lead, 'skipped', 'the campaign shows no consent of theirs');
  else return [{ lead, before }];
  return [];
}

function leftMs({ deps, now }: Run, { give_up_at: until }: SourcedLeadRow): number {
  return Number(until ?? 0) + deps.limits.partnerLagMs - now;
}

/** Why somebody does not become a candidate until a person asks for it again. */
const REASONS: Readonly<Record<string, string>> = {
  NO_EMAIL: 'they have no e-mail address, and no candidate has their phone number',
  PHONE_OF_ANOTHER: 'a candidate with their phone number has another e-mail address, and may be the same person',
  ERASED: 'they were erased',
};

function tellRefused(run: Run, lead: LeadOfJob, code: string | null): void {
  const reason = REASONS[code ?? ''] ?? `the hiring platform refused them: ${code ?? 'no reason given'}`;
  tell(run, lead, 'quarantined', reason);
}

// Taking one.

async function take(run: Run, planned: Planned): Promise<void> {
  const { lead, before } = planned;
  const known = await findPerson(run, lead);
  const isErased = known !== undefined && known !== 'other' && (await wasErased(run, known));
  const refusal = isErased
    ? 'ERASED'
    : known === 'other'
      ? 'PHONE_OF_ANOTHER'
      : known === undefined && lead.email === undefined
        ? 'NO_EMAIL'
        : undefined;
  if (refusal !== undefined) {
    await refuseLead(run.deps.store, run.key.tenantId, { ...lead, before }, refusal);
    return tellRefused(run, lead, refusal);
  }
  const person = known === 'other' ? undefined : known;
  // Consent first: whoever is in the job has brought it along, whatever breaks in between.
  if (person !== undefined) await carryConsent(run, lead, person.id);
  if (person?.jobCandidateId === undefined) return add(run, planned, person);
  await noteThere(run, planned, { ...person, jobCandidateId: person.jobCandidateId });
}

interface Person {
  id: string;
  email: string;
  /** Their application in the rule's job. */
  jobCandidateId?: string;
}

/** By e-mail, else by phone; `other` where it may be them under another e-mail address. */
async function findPerson(run: Run, { jobId, email, phone, phoneShown }: Lead): Promise<Person | 'other' | undefined> {
  const search = async (query: { candidateEmail: string } | { phone: string }) => {
    const { partner } = run.connection;
    const filter = { ...query, includeJobApplicationDetails: true };
    const { items } = await partner.readAll(contract.candidates.list, { query: filter });
    return items;
  };
  const personOf = (item: Awaited<ReturnType<typeof search>>[number]): Person => {
    const applications = [item.jobCandidateDetails ?? []].flat();
    const own = applications.find((application) => String(application['jobId']) === jobId);
    const jobCandidateId = own === undefined ? {} : { jobCandidateId: String(own['id'] ?? own['jobCandidateId']) };
    return { id: String(item.id), email: String(item.email ?? ''), ...jobCandidateId };
  };
  // How the partner compares is not shown, so that each hit is compared here, too.
  const byEmail = email === undefined ? [] : await search({ candidateEmail: email });
  const same = byEmail.find((item) => emailOf(item.email) === email);
  if (same !== undefined) return personOf(same);
  if (phone === undefined) return undefined;
  const found = new Map<string, Person>();
  for (const written of new Set([phone, phoneShown ?? phone]))
    for (const item of await search({ phone: written }))
      if (phoneOf(item.phone, run.settings.country) === phone) found.set(String(item.id), personOf(item));
  const [one, ...others] = found.values();
  if (one === undefined) return undefined;
  return email === undefined && others.length === 0 && one.email !== '' ? one : 'other';
}

async function wasErased({ deps, key }: Run, { id, jobCandidateId }: Person): Promise<boolean> {
  const application = jobCandidateId === undefined ? [] : [{ kind: 'job-candidate' as const, id: jobCandidateId }];
  const ids = [{ kind: 'candidate' as const, id }, ...application];
  const isErased = await erasedOf(deps.store, key.tenantId, ids);
  return ids.some(isErased);
}

/** Where they gave none before: what stands there may be newer. Writing it again changes nothing. */
async function carryConsent({ connection, settings }: Run, { consentOn }: Lead, candidateId: string): Promise<void> {
  const { customField: customFieldId } = settings.consent;
  const { partner } = connection;
  const entity = { entityType: 'candidate' as const, entityId: candidateId };
  const { items } = await partner.readAll(contract.customFieldValues.list, { query: entity });
  const shown = items.find((item) => String(item.customFieldId) === customFieldId)?.value;
  if (shown !== undefined && shown !== null && shown !== '') return;
  const value = { customFieldId, ...entity, entityId: Number(candidateId), value: consentOn ?? null };
  await partner.customFieldValues.upsertBulk({ body: [value] });
}

/** They are in the job: by a request of ours without an answer, or before we asked. */
async function noteThere(run: Run, { lead, before }: Planned, there: Required<Person>): Promise<void> {
  const { store } = run.deps;
  const isOurs = before?.state === 'sent';
  const row = isOurs
    ? before
    : await sendLead(store, run.key.tenantId, { ...lead, before }, { writeId: null, budgetMs: 0 });
  if (row === undefined) return;
  const ids = { candidate_id: there.id, job_candidate_id: there.jobCandidateId };
  await settleLead(store, row, { state: 'done', ...ids, code: isOurs ? null : 'ALREADY_THERE' });
  if (isOurs && row.write_id !== null) await settleWrites(store, row.write_id, 'done');
  tell(run, lead, isOurs ? 'created' : 'unchanged');
}

async function add(run: Run, { lead, before }: Planned, person: Person | undefined): Promise<void> {
  const { deps, key, connection, runId } = run;
  const { store, limits } = deps;
  const clock = startClock();
  const { leadId: recordId, jobId, campaignId } = lead;
  const changes = newValues({ jobId, campaignId });
  const origin = { tenantId: key.tenantId, runId, by: BY_ITSELF, mappingHash: null };
  const write = { target: 'lead', recordId, kind: 'create' as const, changes, sensitive: [] };
  const writeId = await recordWrites(store, origin, [write]);
  const intent = { writeId, budgetMs: limits.giveUpMs };
  const row = await sendLead(store, key.tenantId, { ...lead, before }, intent);
  if (row === undefined) return settleWrites(store, writeId, 'absent');
  try {
    const { signal, beforeSend } = guardFor('add candidate', limits.giveUpMs, clock, run.sinceRead);
    const body = bodyOf(run, lead, person);
    const { data } = await connection.partner.candidates.add({ body }, { signal, beforeSend });
    // Somebody made them between our look and this request: what was sent beside the e-mail was left out.
    if (person === undefined && data.isExisting === true) await carryConsent(run, lead, String(data.id));
    const ids = { candidate_id: String(data.id), job_candidate_id: String(data.jobCandidateId ?? '') };
    await settleLead(store, row, { state: 'done', ...ids });
    await settleWrites(store, writeId, 'done');
    tell(run, lead, 'created');
    if (run.isOutOfCredits) await closeTenantHolds(store, key.tenantId, NO_CREDITS);
    run.isOutOfCredits = false;
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    if (error.action === 'unknown') return void (run.waitMs = Math.max(run.waitMs, limits.giveUpMs));
    await settleRefused(run, { lead, row, writeId, error });
  }
}

/** Whoever is known is named by their e-mail alone; nothing of theirs is changed. */
function bodyOf({ settings }: Run, lead: Lead, person: Person | undefined) {
  const jobId = Number(lead.jobId);
  if (person !== undefined) return { email: person.email, jobId };
  const { firstName, lastName, phone = lead.phoneShown, email = '', consentOn = null } = lead;
  const named = {
    ...(firstName === undefined ? {} : { firstName }),
    ...(lastName === undefined ? {} : { lastName }),
    ...(phone === undefined ? {} : { phone }),
  };
  return { email, ...named, jobId, customFields: { [settings.consent.customField]: consentOn } };
}

interface Refused {
  lead: Lead;
  row: SourcedLeadRow;
  writeId: string;
  error: ConnectorError;
}

async function settleRefused(run: Run, { lead, row, writeId, error }: Refused): Promise<void> {
  const { store } = run.deps;
  await settleWrites(store, writeId, error.action === 'reject' ? 'refused' : 'absent');
  if (error.status === 402) {
    await settleLead(store, row, { state: 'absent', code: NO_CREDITS });
    await openHold(store, { tenantId: run.key.tenantId, ...holdOf(NO_CREDITS, { jobId: lead.jobId }) });
    run.isOutOfCredits = true;
    return tell(run, lead, 'held', 'the hiring platform has no credits for new candidates');
  }
  const isRefused = error.action === 'reject';
  await settleLead(store, row, { state: isRefused ? 'refused' : 'absent', code: error.code });
  if (!isRefused) throw error;
  tellRefused(run, lead, error.code);
}
