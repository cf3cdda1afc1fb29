import { foldLabel } from '../../mapping/read-source.ts';
import { createPartnerClient, type PartnerClient } from '../../partner/client/create-partner-client.ts';
import { contract } from '../../partner/contract/index.ts';
import { CALL_MS } from '../open-partner.ts';
import { companyShown, isActive } from './check-tenant.ts';

/** What a new tenant's files must name, as its partner has it. */
export interface SeenPartner {
  /** Absent where no record names it. */
  company?: string;
  /** The active ones. */
  flows: { id: string; name: string }[];
  /** Labels of the candidate's custom fields of type date. */
  dateFields: string[];
}

export interface PartnerAccess {
  baseUrl: string;
  apiKey: string;
  environment: 'production' | 'sandbox';
  allowPrivate: boolean;
}

/** Asks a partner that no tenant file names yet. Reads only. */
export async function seePartner(access: PartnerAccess): Promise<SeenPartner> {
  return withPartner(access, async (partner) => {
    const query = { entityType: 'candidate' } as const;
    const { items: flows } = await partner.readAll(contract.onboarding.listFlows, {}, { priority: 'live' });
    const { items: fields } = await partner.readAll(contract.customFields.list, { query }, { priority: 'live' });
    const company = await companyShown(partner);
    return {
      ...(company === undefined ? {} : { company }),
      flows: flows
        .filter(({ status }) => isActive(status))
        .map(({ flowId, name }) => ({ id: String(flowId), name: String(name) })),
      dateFields: fields
        .filter(({ entityType, fieldType }) => entityType === 'candidate' && fieldType === 'date')
        .map(({ fieldLabel }) => fieldLabel),
    };
  });
}

/** Defines a custom field of type date for candidates. */
export async function defineDateField(access: PartnerAccess, fieldLabel: string): Promise<void> {
  const body = { entityType: 'candidate', fieldLabel, fieldType: 'date', parentSection: 'Miscellaneous' } as const;
  await withPartner(access, (partner) => partner.customFields.create({ body }, { priority: 'live' }));
}

/** The label as the partner spells it. */
export function sameLabel(labels: readonly string[], wanted: string): string | undefined {
  return labels.find((label) => foldLabel(label) === foldLabel(wanted));
}

async function withPartner<T>(access: PartnerAccess, ask: (partner: PartnerClient) => Promise<T>): Promise<T> {
  const partner = createPartnerClient({ ...access, timeouts: { headersMs: CALL_MS, bodyMs: CALL_MS } });
  try {
    return await ask(partner);
  } finally {
    await partner.close();
  }
}
