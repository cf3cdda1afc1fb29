import { contract } from '../../src/partner/contract/index.ts';
import { cleanEmail } from '../../src/partner/contract/shapes.ts';
import { erasedOf, type PersonId } from '../../src/store/person-marks.ts';
import { type LeadOfJob, type SentLead, sourcedKey } from '../../src/store/sourced-leads.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { readText } from '../../src/values/transforms.ts';
import { type Elapsed, startClock } from '../hire/write-once.ts';
import { ifShown } from '../invitations/ask-partner.ts';
import { type Failures, type PushContext, tell as tellOf } from '../push/push-context.ts';

export type Settings = NonNullable<Tenant['sourcing']>;

/** A lead that a rule names; e-mail and phone are normalised for comparison. */
export interface Lead extends LeadOfJob {
  campaignId: string;
  firstName: string | undefined;
  lastName: string | undefined;
  email: string | undefined;
  phone: string | undefined;
  /** The phone number as the partner writes it. */
  phoneShown: string | undefined;
  /** The date of the lead's consent, `YYYY-MM-DD`. */
  consentOn: string | undefined;
  /** Time since the campaign showed all this. */
  sinceRead: Elapsed;
}

/** A lead known only from an unanswered request. Its contact details are missing if no campaign shows it any more. */
export type LeftLead = LeadOfJob & Partial<Contact>;

/** `left`: leads with an unanswered request that no rule names any more. */
export async function readLeads(
  context: PushContext,
  { rules, country }: Settings,
  sent: readonly SentLead[],
  failures: Failures,
) {
  const { deps, connection, key } = context;
  const found = new Map<string, Lead>();
  const shown = new Map<string, Contact>();
  const ruled = Map.groupBy(rules, ({ on }) => on.campaign);
  for (const campaignId of new Set([...ruled.keys(), ...sent.flatMap((one) => one.campaignId ?? [])])) {
    const params = { campaignId: Number(campaignId) };
    // A deleted campaign does not stop the others.
    const read = await failures.tryOne(() =>
      ifShown(connection.partner.readAll(contract.campaigns.listLeads, { params })),
    );
    if ('failed' in read) continue;
    // From the answer on, because a partner may need minutes to show the leads.
    const sinceRead = startClock();
    const { items, unreadable } = read.done ?? { items: [], unreadable: [] };
    const some = ruled.get(campaignId) ?? [];
    const reason = 'the hiring platform shows no such campaign; correct sourcing.rules';
    if (read.done === undefined && some.length > 0) tellOf(context, `campaign ${campaignId}`, 'quarantined', reason);
    for (const { id, index, reason } of unreadable)
      tellOf(context, id ?? `lead ${index + 1} of campaign ${campaignId}`, 'quarantined', reason);
    for (const item of items) shown.set(String(item.leadId), { ...contactOf(item, country), sinceRead });
    for (const { on, job: jobId } of some) {
      const meant = items.filter(({ status }) => on.statuses?.includes(String(status ?? '')) ?? true);
      for (const item of meant) {
        const lead = { ...contactOf(item, country), leadId: String(item.leadId), jobId, campaignId, sinceRead };
        if (!found.has(sourcedKey(lead))) found.set(sourcedKey(lead), lead);
      }
    }
  }
  const idOf = ({ leadId: id }: LeadOfJob): PersonId => ({ kind: 'lead', id });
  const isErased = await erasedOf(deps.store, key.tenantId, [...found.values(), ...sent].map(idOf));
  const left = sent.filter((one) => !isErased(idOf(one)) && !found.has(sourcedKey(one)));
  return {
    leads: [...found.values()].filter((lead) => !isErased(idOf(lead))),
    left: left.map((one) => ({ ...one, ...shown.get(one.leadId) })),
  };
}

type Contact = Omit<Lead, 'leadId' | 'jobId' | 'campaignId'>;

/** The specification does not show the names of these fields (reading M1); the override fieldNames can rename them. */
function contactOf(item: Readonly<Record<string, unknown>>, country: string | undefined): Omit<Contact, 'sinceRead'> {
  const shown = (name: string): string | undefined => {
    const value = item[name];
    const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
    return text === '' ? undefined : text;
  };
  const [consent, phoneShown] = [shown('consentAt'), shown('phone')];
  const instant = consent === undefined ? undefined : readText('instant', consent);
  return {
    firstName: shown('firstName'),
    lastName: shown('lastName'),
    email: emailOf(shown('email')),
    phone: phoneOf(phoneShown, country),
    phoneShown,
    consentOn: instant?.slice(0, 10),
  };
}

export function emailOf(text: unknown): string | undefined {
  return typeof text === 'string' && text.includes('@') ? cleanEmail(text).toLowerCase() : undefined;
}

/** The number in E.164; undefined if the text is no phone number. */
export function phoneOf(text: unknown, country: string | undefined): string | undefined {
  return typeof text === 'string' ? readText('phone', text, { country }) : undefined;
}
