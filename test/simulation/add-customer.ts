import { contextOf } from '../../src/sandbox/prepare.ts';
import { companyById } from '../../src/sandbox/records/companies.ts';
import { insertStage, stagesOf } from '../../src/sandbox/records/pipelines.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { createHrisDouble } from './hris-double.ts';
import { employByHand, setStartDate } from './people.ts';
import { has } from './scenario.ts';
import { simulatedTenant, type TenantFacts } from './tenants.ts';
import { type Customer, served, type World } from './world.ts';

/** First days of work: a seed plays on some days of January 2026. */
const BEFORE_THE_STORM = '2026-01-02';
const AFTER_THE_STORM = '2026-03-02';

/** The second company is a tenant in some seeds, and in all of them the one whose key turns up by mistake. */
export function addCustomer(world: World, companyId: number): void {
  const { scenario, state } = world;
  const first = world.customers.length === 0;
  const { api_key: key } = state.one<{ api_key: string }>('select api_key from companies where id = ?', companyId)!;
  const id = first ? 'acme' : 'bolt';
  const shared = !first && scenario.sharedHris && !has(world, 'shared-company');
  const hris = shared ? world.customers[0]!.hris : createHrisDouble(scenario.profile, world.hrisWorld);
  const customer: Customer = {
    tenant: {} as Tenant,
    companyId,
    key,
    secret: key,
    flowId: state.one<{ id: string }>('select id from onboarding_flows where company_id = ?', companyId)!.id,
    startDateField: '',
    idField: '',
    hris,
    systems: [hris],
    facts: {} as TenantFacts,
  };
  world.customers.push(customer);
  if (scenario.stagesApart) addOffers(world, companyId);
  world.act('seed', customer, { jobs: 2, candidates: scenario.hires, hired: scenario.hiredBefore });
  const define = (fieldLabel: string, fieldType: string): string =>
    (world.act('createCustomField', customer, { entityType: 'candidate', fieldLabel, fieldType }) as { id: string }).id;
  customer.startDateField = define('Start date', 'date');
  customer.idField = define('Employee ID', 'text');
  for (const { id: entityId } of state.all<{ id: number }>('select id from candidates where company_id = ?', companyId))
    setStartDate(world, customer, entityId, entityId % 2 === 0 ? AFTER_THE_STORM : BEFORE_THE_STORM);
  world.act('setWebhook', customer, { url: `http://receiver/webhooks/${id}`, key: 'whk' });
  if (scenario.credits !== undefined) world.act('setCredits', customer, { onboardingCredits: scenario.credits });
  customer.facts = {
    id,
    companyId,
    flowId: customer.flowId,
    idField: customer.idField,
    connection: shared ? 'acme-hr' : `${id}-hr`,
    skipOnboarding: scenario.skipOnboarding,
    stagesApart: scenario.stagesApart,
    conditions: has(world, 'conditions'),
  };
  if (has(world, 'conditions')) {
    const [job] = jobsOf(world, companyId);
    world.act('editJob', customer, { jobId: Number(job), fields: { city: 'Lyon', country: 'France' } });
  }
  customer.tenant = simulatedTenant(customer.facts);
  if (has(world, 'hired-before')) employByHand(world, customer);
}

/** Another tenant of the first company: each takes some of its jobs. Webhooks go to the first alone. */
export function addSibling(world: World): void {
  const [first] = world.customers as [Customer];
  const [own = '', ...others] = jobsOf(world, first.companyId);
  first.facts = { ...first.facts, jobs: [own] };
  first.tenant = simulatedTenant(first.facts);
  const hris = world.scenario.sharedHris ? first.hris : createHrisDouble(world.scenario.profile, world.hrisWorld);
  const connection = world.scenario.sharedHris ? first.facts.connection : 'sister-hr';
  const facts = { ...first.facts, id: 'sister', jobs: others, connection };
  world.customers.push({ ...first, hris, systems: [hris], facts, tenant: simulatedTenant(facts) });
}

/** Tenants of one company know of each other by what is applied. */
export function applySiblings(world: World): void {
  for (const { tenant, companyId } of served(world)) {
    const receives = { environment: 'sandbox', origin: 'http://partner.simulated', company: String(companyId) };
    world.store.all(
      "insert into tenants (tenant_id, state, version, receives) values (?, 'active', 1, ?) returning tenant_id",
      tenant.tenant,
      JSON.stringify({ ...receives, webhooks: 'on', webhookKeys: [] }),
    );
  }
}

function jobsOf({ state }: World, companyId: number): string[] {
  return state
    .all<{ id: number }>('select id from jobs where company_id = ? order by id', companyId)
    .map(({ id }) => String(id));
}

/** The pipelines of a new company have no stage for offers. */
function addOffers({ state }: World, companyId: number): void {
  const ctx = contextOf(state, companyById(state, companyId)!);
  for (const { id: pipelineId } of state.all<{ id: number }>(
    'select id from pipelines where company_id = ?',
    companyId,
  ))
    insertStage(ctx, { pipelineId, name: 'Offer', type: 'OFFER', position: stagesOf(ctx, pipelineId).length });
}
