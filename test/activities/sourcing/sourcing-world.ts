import type { LeadInput } from '../../../src/partner/contract/campaigns.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import type { Tenant } from '../../../src/tenants/schema.ts';
import { openPushWorld, type PushWorldOptions } from '../push-world.ts';

export const key = { tenantId: 'acme', stream: 'sourcing' };
export const CONSENT = '2026-11-01T10:00:00Z';

/** A campaign whose leads come into a job, and a custom field for the day of their consent. */
export async function sourcingWorld({
  atOnce = 100,
  gone = [],
  ...options
}: PushWorldOptions & { atOnce?: number; gone?: string[] } = {}) {
  const facts = { campaignId: 0, jobId: 0, customField: '' };
  const world = await openPushWorld('sourcing', { candidates: 4, ...options }, async ({ control, partner }) => {
    const site = (await control.act('createSite', { name: 'London' })) as { id: number };
    const phoneNumber = '+442079460000';
    await control.act('verifyNumber', { phoneNumber });
    const texts = { title: 'Reminder', openingMessage: 'Hello', closingMessage: 'Bye' };
    const about = { timezone: 'Europe/London', companySiteId: site.id, phoneNumber };
    const purpose = { purposeType: 'ASSESSMENT_REMINDER' as const };
    const made = await partner.campaigns.create({ body: { ...texts, ...about, ...purpose } });
    const field = { entityType: 'candidate', fieldLabel: 'Consent', fieldType: 'date' } as const;
    facts.customField = String((await partner.customFields.create({ body: field })).data.id);
    facts.campaignId = Number(made.campaign.id);
    facts.jobId = Number((await partner.readAll(contract.jobs.list, {})).items[0]?.id);
    const on = { campaign: String(facts.campaignId), statuses: ['PENDING', 'COMPLETED'] };
    const job = String(facts.jobId);
    const rules = [...gone.map((campaign) => ({ on: { campaign }, job })), { on, job }];
    const sourcing = { rules, consent: { customField: facts.customField }, country: 'GB', atOnce };
    return { sourcing } as Partial<Tenant>;
  });
  const { sandbox, store } = world;
  const people = async () => (await sandbox.partner.readAll(contract.candidates.list, {})).items;
  const before = (await people()).length;
  return {
    ...world,
    ...facts,
    people,
    async lead(...leads: Partial<LeadInput>[]): Promise<string[]> {
      const body = {
        leads: leads.map((one, n) => ({ firstName: `Lead ${n}`, phone: `+4420794601${10 + n}`, ...one })),
      };
      const { leads: made } = await sandbox.partner.campaigns.addLeads({
        params: { campaignId: facts.campaignId },
        body,
      });
      return (made as { leadId: unknown }[]).map(({ leadId }) => String(leadId));
    },
    rows: () => store.kysely.selectFrom('sourced_leads').selectAll().orderBy('lead_id').execute(),
    /** By the partner's own ledger: new people, new applications of the job, and requests. */
    async made() {
      const of = async (name: string) => (await sandbox.control.ledger({ kind: 'effect', name })).length;
      const { request = {} } = await sandbox.control.counts({ kind: 'request' });
      const applications = await of('job-candidate');
      return { people: (await people()).length - before, applications, requests: request['candidates.add'] ?? 0 };
    },
    async consentOf(candidateId: string) {
      const query = { entityType: 'candidate' as const, entityId: candidateId };
      const { items } = await sandbox.partner.readAll(contract.customFieldValues.list, { query });
      return items.find(({ customFieldId }) => String(customFieldId) === facts.customField)?.value;
    },
  };
}

/** Changes what the partner answers for one operation: its list, or its one record. */
export function answered(operation: string, change: (records: Record<string, unknown>[]) => void) {
  return (name: string, answer: unknown): void => {
    if (name !== operation) return;
    const { body } = answer as { body: { data?: unknown; leads?: unknown } };
    const list = body.leads ?? body.data;
    change((Array.isArray(list) ? list : [list]) as Record<string, unknown>[]);
  };
}
