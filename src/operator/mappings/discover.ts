import { customFieldsMapped, customFieldsWritten } from '../../mapping/custom-fields-in-use.ts';
import { definitionOf } from '../../mapping/definition-of.ts';
import { type FieldTrouble, matchFields } from '../../mapping/match-fields.ts';
import type { PartnerClient } from '../../partner/client/create-partner-client.ts';
import type { CallOptions } from '../../partner/client/types.ts';
import { contract } from '../../partner/contract/index.ts';
import { type FieldChange, type FieldDefinition, listFieldChanges, readMatches } from '../../store/fields.ts';
import type { Store } from '../../store/open-store.ts';
import { loadEveryMapping } from '../../tenants/open-hris.ts';
import type { Tenant } from '../../tenants/schema.ts';
import { describeHris } from './describe-hris.ts';

/** What both sides of a tenant have that its files may name. */
export interface Discovered {
  customFields: FieldDefinition[];
  /** Custom fields that the tenant's files name and that are not, or no longer, what they mean. */
  troubles: FieldTrouble[];
  /** What was seen to change of the custom fields, latest first. */
  changes: FieldChange[];
  stages: { pipelineId: string; pipeline: string; stageId: string; stage: string; type: string }[];
  flows: { flowId: string; name: string; status: string }[];
  users: { userId: string; email: string; status: string; role: string }[];
  hrisFields: FieldDefinition[];
}

const LIVE: CallOptions = { priority: 'live' };
const MOST_CHANGES = 20;

/** Reads both sides; writes nothing. Without a store nothing is known from before. */
export async function discover(tenant: Tenant, partner: PartnerClient, store: Store | undefined): Promise<Discovered> {
  const customFields = await readCustomFields(partner);
  const [stages, flows, users, hrisFields] = await Promise.all([
    readStages(partner),
    readFlows(partner),
    readUsers(partner),
    describeHris(tenant, store),
  ]);
  const changes = store === undefined ? [] : await listFieldChanges(store, tenant.tenant, 'partner', MOST_CHANGES);
  const troubles = await judgeCustomFields(tenant, customFields, store);
  return { customFields, troubles, changes, stages, flows, users, hrisFields };
}

/** What is wrong with the custom fields that the tenant's files name. */
export async function judgeCustomFields(
  tenant: Tenant,
  defined: readonly FieldDefinition[],
  store: Store | undefined,
): Promise<FieldTrouble[]> {
  const uses = [...customFieldsMapped(await loadEveryMapping(tenant)), ...customFieldsWritten(tenant.writeBack)];
  const known = store === undefined ? new Map<string, FieldDefinition>() : await readMatches(store, tenant.tenant);
  return matchFields(uses, defined, known).troubles;
}

export async function readCustomFields(partner: PartnerClient): Promise<FieldDefinition[]> {
  const { items } = await partner.readAll(contract.customFields.list, {}, LIVE);
  return items.map(definitionOf);
}

export async function readStages(partner: PartnerClient): Promise<Discovered['stages']> {
  const { items } = await partner.readAll(contract.pipelines.list, {}, LIVE);
  return items.flatMap(({ id: pipelineId, name: pipeline, stages }) =>
    stages.map(({ id: stageId, name: stage, type }) => ({ pipelineId, pipeline, stageId, stage, type })),
  );
}

export async function readFlows(partner: PartnerClient): Promise<Discovered['flows']> {
  const { items } = await partner.readAll(contract.onboarding.listFlows, {}, LIVE);
  return items.map(({ flowId, name, status }) => ({ flowId, name: name ?? '', status: status ?? '' }));
}

async function readUsers(partner: PartnerClient): Promise<Discovered['users']> {
  const { items } = await partner.readAll(contract.users.list, {}, LIVE);
  return items.map(({ id, email, status, role }) => ({
    userId: id,
    email: email ?? '',
    status: status ?? '',
    role: role ?? '',
  }));
}
