import type { Tenant } from '../../src/tenants/schema.ts';
import { tenantFile } from '../../src/tenants/schema.ts';

/** The policies of every simulated tenant, milliseconds: short, so that a seed lasts minutes and not days. */
export const policies = {
  reconcileMs: 60_000,
  graceMs: 30_000,
  canaryMs: 45_000,
  deadlineMs: 600_000,
  giveUpMs: 30_000,
  partnerLagMs: 2_000,
  pausedMs: 15_000,
  heartbeatMs: 10_000,
  retryMs: 1_000,
  requestMs: 10_000,
  /** An inbox of which nobody is told is looked at so seldom: looking is most of what a seed costs. */
  relayMs: 8_000,
} as const;

/** What a simulated tenant file is made of. */
export interface TenantFacts {
  id: string;
  companyId: number;
  flowId: string;
  idField: string;
  connection: string;
  skipOnboarding: boolean;
  stagesApart: boolean;
  /** Jobs that it takes; all where absent. */
  jobs?: string[];
  /** Its mapping has rules that hold for some jobs only. */
  conditions: boolean;
}

const MAPPING = '/simulated/employee.yaml';
/** What depends on the job, in fields that no other mapping here fills. */
const CONDITIONS = `fields:
  workplace: { from: job.city, when: [{ path: job.country, in: [Germany] }] }
  employmentType: { constant: permanent, when: [{ path: job.country, in: [Germany] }] }
`;

/** A tenant as its file would make it, checked by the product's own schema. */
export function simulatedTenant(facts: TenantFacts): Tenant {
  const parsed = tenantFile.parse({
    tenant: facts.id,
    partner: {
      baseUrl: 'http://partner.simulated/v1/partner',
      environment: 'sandbox',
      apiKey: 'env:SIMULATED_KEY',
      company: String(facts.companyId),
      webhookKeys: ['env:SIMULATED_WEBHOOK_KEY'],
      allowPrivateAddress: true,
    },
    hris: { kind: 'sql', connection: facts.connection },
    policies: {
      enrolAt: facts.stagesApart ? ['OFFER'] : ['HIRED'],
      onboarding: facts.skipOnboarding ? 'skip' : { flow: facts.flowId, deadline: '10m' },
      reconcile: { every: '1m' },
      cancel: { grace: '30s' },
      credits: { canaryEvery: '45s' },
    },
    writeBack: { customField: facts.idField },
    ...(facts.jobs && { scope: { jobs: facts.jobs } }),
  });
  const { mapping: _mapping, destinations: _destinations, hris, ...rest } = parsed;
  return {
    ...rest,
    hris: {
      kind: 'sql',
      connection: hris.connection,
      options: { url: 'sqlite::memory:', fields: { workplace: { column: 'workplace' } } },
    },
    file: 'simulated.yaml',
    configHash: '',
    files: facts.conditions ? { [MAPPING]: CONDITIONS } : {},
    ...(facts.conditions && { mapping: MAPPING }),
  };
}
