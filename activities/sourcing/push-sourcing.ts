import { type ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import { holdOf } from '../../src/hire/holds.ts';
import { isRefusedOfRecord } from '../../src/partner/client/read-answer.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { stoppedAmong } from '../../src/store/consents.ts';
import { readOpenWrites, recordWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import { closeTenantHolds, openHold } from '../../src/store/holds.ts';
import { erasedOf, type PersonId } from '../../src/store/person-marks.ts';
import type { SourcedLeadRow } from '../../src/store/push-tables.ts';
import {
  type LeadOfJob,
  readSentLeads,
  readSourcedLeads,
  refuseLead,
  sendLead,
  settleLead,
  sourcedKey,
} from '../../src/store/sourced-leads.ts';
import { forgetAllowed } from '../../src/store/streams.ts';
import { ownValues } from '../fields/custom-fields.ts';
import { writeValues } from '../fields/write-values.ts';
import { newValues } from '../hire/with-hire.ts';
import { guardFor, startClock } from '../hire/write-once.ts';
import {
  assertAnswered,
  assertFew,
  assertOurs,
  type Credits,
  createFailures,
  creditsOf,
  type Failures,
  isHeldBack,
  isOfValues,
  leftMs,
  noted,
  originOf,
  type PushContext,
  sendOnce,
  tell as tellOf,
  type Verdict,
  waitFor,
} from '../push/push-context.ts';
import { emailOf, type Lead, type LeftLead, phoneOf, readLeads, type Settings } from './read-leads.ts';

/**
 * Makes the leads named by the tenant's rules candidates of a job, once per lead and job. For each lead it asks the
 * partner who they are, commits the intent, sends one request and stores the outcome. If no answer came, nothing is
 * sent again until the request's deadline has passed and the partner was asked whether the lead is in the job, even if
 * no rule names the lead any more. A lead without consent is left alone.
 */
export async function pushSourcing(context: PushContext): Promise<void> {
  const { deps, connection, key, beat } = context;
  const settings = connection.tenant.sourcing;
  if (settings === undefined)
    throw rejected(
      'SOURCING_UNCONFIGURED',
      `No lead can become a candidate for ${key.tenantId}: the tenant file has no section sourcing. ` +
        'Add "sourcing: { rules: [{ on: { campaign: ID }, job: ID }], consent: { customField: ID } }" and apply it.',
    );
  const sent = await readSentLeads(deps.store, key.tenantId);
  const failures = createFailures();
  const { leads, left } = await readLeads(context, settings, sent, failures);
  beat();
  const { rows, now } = await readSourcedLeads(deps.store, key.tenantId, [...leads, ...sent]);
  const run: Run = { ...context, settings, now, credits: { isOut: false, mayTry: true } };
  /** A lead about whom the partner refuses a call is told, and stops no other. */
  const each = (lead: LeadOfJob, work: () => Promise<void>) =>
    failures.tryOne(async () => {
      await assertOurs(run);
      try {
        await work();
      } catch (error) {
        if (!isConnectorError(error) || !isRefusedOfRecord(error)) throw error;
        tell(run, lead, 'quarantined', error.message);
      }
    });
  for (const one of [...left, ...leads.filter(({ consentOn }) => consentOn === undefined)]) {
    await each(one, () => lookUp(run, one, rows.get(sourcedKey(one))));
    beat();
  }
  const planned = leads.flatMap((lead) => plan(run, lead, rows.get(sourcedKey(lead))));
  const isUnanswered = ({ before }: Planned): boolean => before?.state === 'sent';
  const news = planned.filter((one) => !isUnanswered(one));
  const fresh = news.length;
  const message =
    `${fresh} leads would become candidates in one run, more than ${settings.atOnce} (sourcing.atOnce in the tenant ` +
    'file). None of them did.';
  await assertFew(run, { fresh, most: settings.atOnce, code: 'MASS_SOURCING', message });
  run.credits = await creditsOf(run, { code: NO_CREDITS, table: 'sourced_leads' });
  // Last, because a lead that never gets an answer would else be the one that is tried while credits are missing.
  for (let rest = [...news, ...planned.filter(isUnanswered)]; rest.length > 0; rest = rest.slice(1)) {
    const isOld = (rest[0]?.lead.sinceRead() ?? 0) > deps.limits.giveUpMs;
    if (isOld) rest = await stillMeant(run, rest, failures);
    const [one] = rest;
    if (one === undefined) break;
    if (run.credits.mayTry) await each(one.lead, () => take(run, one));
    else tell(run, one.lead, 'held', 'the hiring platform has no credits for new candidates');
    beat();
  }
  assertAnswered(run, 'A new candidate');
  failures.end();
  if (!isHeldBack(run)) await forgetAllowed(deps.store, key);
}

interface Planned {
  lead: Lead;
  before: SourcedLeadRow | undefined;
}

interface Run extends PushContext {
  settings: Settings;
  /** The database's clock. */
  now: number;
  credits: Credits;
}

const NO_CREDITS = 'LEAD_CREDITS';
/** The partner knows the person but refused the date of their consent. */
const NO_CONSENT = 'CONSENT_REFUSED';
/** The partner answered the request without naming an application. */
const NO_APPLICATION = 'NO_APPLICATION';

function tell(run: Run, lead: LeadOfJob, kind: Verdict['kind'], reason?: string): void {
  tellOf(run, `${lead.leadId} to job ${lead.jobId}`, kind, reason);
}

/** Plans a request for a lead, or reports why none is needed. */
function plan(run: Run, lead: Lead, before: SourcedLeadRow | undefined): Planned[] {
  const isRefused = before?.state === 'refused' || before?.code === NO_CONSENT;
  if (before?.state === 'done' && !isRefused) tell(run, lead, 'unchanged');
  else if (isRefused && !run.full) tellRefused(run, lead, before?.code ?? null);
  else if (before?.state === 'sent' && lead.consentOn === undefined) return [];
  else if (before?.state === 'sent' && leftMs(run, before, run.now) > 0) waitFor(run, leftMs(run, before, run.now));
  else if (lead.consentOn === undefined) tell(run, lead, 'skipped', WITHOUT_CONSENT);
  else return [{ lead, before }];
  return [];
}

const CONSENT_OVER = 'their consent at the hiring platform was withdrawn or has expired';
const UNREAD = 'a candidate with their e-mail address or phone number cannot be read';
const NO_LONGER_MEANT = 'no rule means them any more';
const WITHOUT_CONSENT = 'the campaign shows no consent of theirs';

/** Why a lead does not become a candidate until a person asks again. */
const REASONS: Readonly<Record<string, string>> = {
  NO_EMAIL: 'they have no e-mail address, and no candidate has their phone number',
  PHONE_OF_ANOTHER: 'a candidate with their phone number has another e-mail address, and may be the same person',
  ERASED: 'they were erased',
  [NO_CONSENT]: 'the hiring platform refused the day of their consent',
  [NO_APPLICATION]: 'the hiring platform took the request and shows no application of theirs in the job',
};

function tellRefused(run: Run, lead: LeadOfJob, code: string | null): void {
  const reason = REASONS[code ?? ''] ?? `the hiring platform refused them: ${code ?? 'no reason given'}`;
  tell(run, lead, 'quarantined', reason);
}

/** Somebody may withdraw from a campaign, or be moved in it, while a long pass takes others. */
async function stillMeant(run: Run, rest: readonly Planned[], failures: Failures): Promise<Planned[]> {
  const campaignId = rest[0]?.lead.campaignId;
  const rules = run.settings.rules.filter(({ on }) => on.campaign === campaignId);
  const { leads } = await readLeads(run, { ...run.settings, rules }, [], failures);
  const shown = new Map(leads.map((lead) => [sourcedKey(lead), lead]));
  return rest.flatMap(({ lead, before }) => {
    const now = lead.campaignId === campaignId ? shown.get(sourcedKey(lead)) : lead;
    if (now?.consentOn !== undefined) return [{ lead: now, before }];
    tell(run, lead, 'skipped', now === undefined ? NO_LONGER_MEANT : WITHOUT_CONSENT);
    return [];
  });
}

// Taking one lead.

async function take(run: Run, planned: Planned): Promise<void> {
  const { lead, before } = planned;
  const { person, refusal, waits } = await knownOf(run, planned);
  if (waits !== undefined) {
    if (before?.state === 'sent' && waits !== UNREAD) await settleLead(run.deps.store, before, { state: 'absent' });
    return tell(run, lead, 'skipped', waits);
  }
  if (refusal !== undefined) {
    await refuseLead(run.deps.store, run.key.tenantId, { ...lead, before }, refusal);
    return tellRefused(run, lead, refusal);
  }
  if (person?.jobCandidateId !== undefined)
    return noteThere(run, planned, { ...person, jobCandidateId: person.jobCandidateId });
  await add(run, planned, person);
}

/** Settles the request that an earlier run sent for this lead. */
async function concludeRequest({ deps }: Run, before: SourcedLeadRow | undefined, person: Person | undefined) {
  if (before?.state !== 'sent' || before.write_id === null) return;
  await settleWrites(deps.store, before.write_id, person?.jobCandidateId === undefined ? 'absent' : 'done');
}

/** A candidate whom a search found cannot be read: they may be the lead. */
type Found = Person | 'other' | 'unread' | undefined;

interface Known {
  person?: Person;
  /** Why nothing is sent until a person asks again. */
  refusal?: string;
  /** Why nothing is sent by this run. */
  waits?: string;
}

/** Finds out who the lead is at the partner, or why nothing may be sent for them. */
async function knownOf(run: Run, { lead, before }: Planned): Promise<Known> {
  const known = await findPerson(run, lead);
  if (known === 'unread') return { waits: UNREAD };
  const person = known === 'other' ? undefined : known;
  const isThere = person?.jobCandidateId !== undefined;
  await concludeRequest(run, before, person);
  if (await wasErased(run, lead, person)) return { refusal: 'ERASED' };
  if (isThere) return { person };
  if (before?.state === 'sent' && before.code === NO_APPLICATION) return { refusal: NO_APPLICATION };
  if (known === 'other') return { refusal: 'PHONE_OF_ANOTHER' };
  if (person === undefined) return lead.email === undefined ? { refusal: 'NO_EMAIL' } : {};
  if (await isStopped(run, person.id)) return { waits: CONSENT_OVER };
  // Write the consent first, so that nobody is in the job without it if this run crashes. It is valid without a job
  // too.
  return (await carryConsent(run, lead, person.id)) ? { person } : { refusal: NO_CONSENT };
}

/** Looks up the unanswered request of a lead for whom nothing is to be sent now. */
async function lookUp(run: Run, lead: LeftLead, before: SourcedLeadRow | undefined): Promise<void> {
  if (before?.state !== 'sent') return;
  const { email, phone } = lead;
  if (email === undefined && phone === undefined)
    return tell(run, lead, 'quarantined', 'a request got no answer, and no campaign shows them: check the job');
  if (leftMs(run, before, run.now) > 0) return waitFor(run, leftMs(run, before, run.now));
  const known = await findPerson(run, lead);
  if (known === 'unread') return tell(run, lead, 'skipped', UNREAD);
  const person = known === 'other' ? undefined : known;
  await concludeRequest(run, before, person);
  if (person?.jobCandidateId !== undefined && !(await wasErased(run, lead, person)))
    return noteThere(run, { lead, before }, { ...person, jobCandidateId: person.jobCandidateId });
  await settleLead(run.deps.store, before, { state: 'absent' });
  tell(run, lead, 'skipped', 'a request without an answer had no effect, and nothing needs to be sent now');
}

interface Person {
  id: string;
  email: string;
  /** The person's application in the rule's job. */
  jobCandidateId?: string;
}

/**
 * Finds the person by e-mail, else by phone. `other`: a candidate with this phone has another e-mail, so it may be
 * them.
 */
async function findPerson(run: Run, { jobId, email, phone, phoneShown }: LeftLead): Promise<Found> {
  let isUnread = false;
  const search = async (query: { candidateEmail: string } | { phone: string }) => {
    const { partner } = run.connection;
    const filter = { ...query, includeJobApplicationDetails: true };
    const { items, unreadable } = await partner.readAll(contract.candidates.list, { query: filter });
    isUnread ||= unreadable.length > 0;
    return items;
  };
  const personOf = (item: Awaited<ReturnType<typeof search>>[number]): Person => {
    const applications = [item.jobCandidateDetails ?? []].flat();
    const own = applications.find((application) => String(application['jobId']) === jobId);
    const jobCandidateId = own === undefined ? {} : { jobCandidateId: String(own['id'] ?? own['jobCandidateId']) };
    return { id: String(item.id), email: String(item.email ?? ''), ...jobCandidateId };
  };
  // The specification does not say how the partner compares, so each hit is compared here as well.
  const byEmail = email === undefined ? [] : await search({ candidateEmail: email });
  const same = byEmail.find((item) => emailOf(item.email) === email);
  if (same !== undefined) return personOf(same);
  if (isUnread) return 'unread';
  if (phone === undefined) return undefined;
  const found = new Map<string, Person>();
  for (const written of new Set([phone, phoneShown ?? phone]))
    for (const item of await search({ phone: written }))
      if (phoneOf(item.phone, run.settings.country) === phone) found.set(String(item.id), personOf(item));
  if (isUnread) return 'unread';
  const [one, ...others] = found.values();
  if (one === undefined) return undefined;
  return email === undefined && others.length === 0 && one.email !== '' ? one : 'other';
}

/** Also checks the lead's id, because somebody may erase the lead while this run works on others. */
async function wasErased({ deps, key }: Run, { leadId }: LeadOfJob, person: Person | undefined): Promise<boolean> {
  const ids: PersonId[] = [{ kind: 'lead', id: leadId }];
  if (person !== undefined) ids.push({ kind: 'candidate', id: person.id });
  if (person?.jobCandidateId !== undefined) ids.push({ kind: 'job-candidate', id: person.jobCandidateId });
  const isErased = await erasedOf(deps.store, key.tenantId, ids);
  return ids.some(isErased);
}

/** Whether the candidate's consent at the partner is over. */
async function isStopped({ deps, key }: Run, candidateId: string): Promise<boolean> {
  const candidate = { kind: 'candidate', id: candidateId } as const;
  return (await stoppedAmong(deps.store, key.tenantId, [candidate]))(candidate);
}

/**
 * Writes the date of consent unless the candidate shows one, which may be newer. Returns false if the partner refuses
 * it.
 */
async function carryConsent(
  run: Run,
  { leadId, consentOn, sinceRead = startClock() }: LeftLead,
  candidateId: string,
): Promise<boolean> {
  if (consentOn === undefined) return true;
  const { deps, key, connection, settings } = run;
  const { customField: customFieldId } = settings.consent;
  const { partner } = connection;
  const entity = { entityType: 'candidate' as const, entityId: candidateId };
  const { items } = await partner.readAll(contract.customFieldValues.list, { query: entity });
  const shown = ownValues(items).find((item) => String(item.customFieldId) === customFieldId)?.value;
  const isThere = shown !== undefined && shown !== null && shown !== '';
  for (const { kind, record_id: id, batch_id: batchId } of await readOpenWrites(deps.store, key.tenantId, 'lead'))
    if (kind === 'update' && id === leadId) await settleWrites(deps.store, batchId, isThere ? 'done' : 'absent');
  if (isThere) return true;
  const changes = newValues({ [customFieldId]: consentOn });
  const write = { target: 'lead', recordId: leadId, foreignId: candidateId, kind: 'update' as const, changes };
  const value = { customFieldId, ...entity, value: consentOn };
  const { signal, beforeSend } = guardFor('add consent', deps.limits.giveUpMs, startClock(), sinceRead);
  try {
    await noted(run, [{ ...write, sensitive: [] }], () => writeValues(partner, [value], { signal, beforeSend }));
    return true;
  } catch (error) {
    if (!isConnectorError(error) || !isOfValues(error)) throw error;
    return false;
  }
}

/** Stores that the person is in the job, through our request or from before. */
async function noteThere(
  run: Run,
  { lead, before }: { lead: LeftLead; before: SourcedLeadRow | undefined },
  there: Required<Person>,
): Promise<void> {
  const { store } = run.deps;
  const isOurs = before?.state === 'sent';
  if (await isStopped(run, there.id)) {
    if (isOurs) await settleLead(store, before, { state: 'absent' });
    return tell(run, lead, 'skipped', CONSENT_OVER);
  }
  const hasConsent = await carryConsent(run, lead, there.id);
  const row = isOurs
    ? before
    : await sendLead(store, run.key.tenantId, { ...lead, before }, { writeId: null, budgetMs: 0 });
  if (row === undefined) return;
  const ids = { candidate_id: there.id, job_candidate_id: there.jobCandidateId };
  const code = isOurs ? null : 'ALREADY_THERE';
  await settleLead(store, row, { state: 'done', ...ids, code: hasConsent ? code : NO_CONSENT });
  if (hasConsent) tell(run, lead, isOurs ? 'created' : 'unchanged');
  else tellRefused(run, lead, NO_CONSENT);
}

async function add(run: Run, planned: Planned, person: Person | undefined): Promise<void> {
  const { lead, before } = planned;
  const { deps, key } = run;
  const { store, limits } = deps;
  const clock = startClock();
  const { leadId: recordId, jobId, campaignId } = lead;
  const changes = newValues({ jobId, campaignId });
  const write = { target: 'lead', recordId, kind: 'create' as const, changes, sensitive: [] };
  const writeId = await recordWrites(store, originOf(run), [write]);
  const intent = { writeId, budgetMs: limits.giveUpMs };
  const row = await sendLead(store, key.tenantId, { ...lead, before }, intent);
  if (row === undefined) return settleWrites(store, writeId, 'absent');
  const { signal, beforeSend } = guardFor('add candidate', limits.giveUpMs, clock, lead.sinceRead);
  const body = bodyOf(run, lead, person);
  const sent = await sendOnce(run, writeId, () =>
    run.connection.partner.candidates.add({ body }, { signal, beforeSend }),
  );
  if (sent === undefined) return void (run.credits.mayTry &&= !run.credits.isOut);
  if ('error' in sent) return settleRefused(run, { lead, row, error: sent.error });
  if (run.credits.isOut) await closeTenantHolds(store, key.tenantId, NO_CREDITS);
  run.credits = { isOut: false, mayTry: true };
  const { data } = sent.answer;
  // Somebody made the candidate between our look-up and this request, so the partner ignored all but the e-mail.
  const isRaced = person === undefined && data.isExisting === true;
  const known = data.jobCandidateId ? undefined : await findPerson(run, lead);
  const jobCandidateId = data.jobCandidateId ?? (typeof known === 'object' ? known.jobCandidateId : undefined);
  if (jobCandidateId === undefined) {
    await settleLead(store, row, { state: 'sent', code: NO_APPLICATION });
    return waitFor(run, limits.giveUpMs);
  }
  await settleWrites(store, writeId, 'done');
  const id = String(data.id);
  const there = { id, email: '', jobCandidateId };
  if (isRaced && (await wasErased(run, lead, there))) {
    await settleLead(store, row, { state: 'refused', code: 'ERASED' });
    return tellRefused(run, lead, 'ERASED');
  }
  if (isRaced) return noteThere(run, { lead, before: row }, there);
  await settleLead(store, row, { state: 'done', candidate_id: id, job_candidate_id: jobCandidateId });
  tell(run, lead, 'created');
}

/** A person the partner already knows is named by e-mail only, so that none of their data changes. */
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
  error: ConnectorError;
}

async function settleRefused(run: Run, { lead, row, error }: Refused): Promise<void> {
  const { store } = run.deps;
  if (error.status === 402) {
    await settleLead(store, row, { state: 'absent', code: NO_CREDITS });
    await openHold(store, { tenantId: run.key.tenantId, ...holdOf(NO_CREDITS, { jobId: lead.jobId }) });
    run.credits = { isOut: true, mayTry: false };
    return tell(run, lead, 'held', 'the hiring platform has no credits for new candidates');
  }
  const isRefused = error.action === 'reject';
  await settleLead(store, row, { state: isRefused ? 'refused' : 'absent', code: error.code });
  if (!isRefused) throw error;
  tellRefused(run, lead, error.code);
}
