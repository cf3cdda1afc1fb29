import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { onTestFinished, vi } from 'vitest';
import { type ActivityDeps, createConnections } from '../../../activities/connections.ts';
import { openHire } from '../../../activities/hire/open-hire.ts';
import { rememberReconciles } from '../../../activities/reconcile/last-reconcile.ts';
import { reconcile } from '../../../activities/reconcile/reconcile.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { unlimited } from '../../../src/rate-limit/rate-limit.ts';
import type { SharedRateLimit } from '../../../src/rate-limit/shared-rate-limit.ts';
import { applyDefinitions, listAppliedTenants } from '../../../src/store/applied-tenants.ts';
import type { HrisWay } from '../../../src/store/change-hris.ts';
import { assertMayWrite } from '../../../src/store/freezes.ts';
import type { OpenStoreOptions } from '../../../src/store/open-store.ts';
import { openRateLimit } from '../../../src/store/rate-limits.ts';
import { createKnownTenants } from '../../../src/tenants/known-tenants.ts';
import { planApplication } from '../../../src/tenants/plan-application.ts';
import { type Applicant, defineStartDate, listApplicants } from '../../harness/world-people.ts';
import { openSandbox } from '../../sandbox/open-sandbox.ts';
import { freshStore, type kinds } from '../../store/stores.ts';
import { attempted } from '../reconcile/reconcile-deps.ts';

interface FleetOptions {
  /** Calls wait for the learned rate limit. */
  limited?: boolean;
  candidates?: number;
  hired?: number;
  jobs?: number;
  startDates?: boolean;
  /** Inside the braces of `hris` and `policies`. */
  hris?: string;
  policies?: string;
  /** Nobody is enrolled. */
  skip?: boolean;
  /** Of an onboarding flow of their own. */
  steps?: ('doc_collection' | 'pre_employment_medical_test' | 'background_verification')[];
  store?: OpenStoreOptions;
  /** Where the store is; SQLite where absent. */
  database?: (typeof kinds)[number];
  /** The address at which tenants find the sandbox, where something stands between. */
  between?: (url: string) => Promise<string>;
}

/** Tenants of one company at a real sandbox, with HR systems of their own, as they are applied. */
export async function fleetAtSandbox(options: FleetOptions = {}) {
  const { hired = 0, jobs = 1, candidates = 6 } = options;
  const sandbox = await openSandbox({ jobs, candidates, hired });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  vi.stubEnv('TEST_PARTNER_KEY', sandbox.key);
  const baseUrl = (await options.between?.(sandbox.url)) ?? sandbox.url;
  const dir = await makeFolder();
  const { store } = await freshStore(options.database ?? 'sqlite', options.store);
  const known = createKnownTenants();
  const log = pino({ level: 'silent' });
  const connections = createConnections(known.get, {
    requestMs: 5_000,
    rateLimitOf: (of) => (options.limited === true ? openRateLimit(store, of, log) : freeCalls),
    beforeWrite: (tenantId) => assertMayWrite(store, tenantId),
    assertOwnHris: known.assertOwnHris,
  });
  onTestFinished(() => connections.close());
  const signalled: Signalled[] = [];
  const deps = depsOf({ store, log, connections }, signalled);
  if (options.startDates !== false) await defineStartDate(sandbox.partner, true);
  const own = options.steps?.map((stepKey) => ({ stepKey }));
  if (own !== undefined)
    await sandbox.control.act('createOnboardingFlow', { name: 'Own', status: 'ACTIVE', steps: own });
  const { items: flows } = await sandbox.partner.readAll(contract.onboarding.listFlows);
  const flow = own === undefined ? flows[0] : flows.find(({ name }) => name === 'Own');

  const apply = async (
    tenant: string,
    settings = '',
    other: { hris?: string; way?: HrisWay; overrides?: string; company?: 'none' } = {},
  ): Promise<void> => {
    const hris = other.hris ?? options.hris;
    const text = tenantFile({
      ...options,
      ...(hris && { hris }),
      tenant,
      baseUrl,
      overrides: other.overrides ?? '',
      ...(other.company && { company: other.company }),
      flow: flow?.flowId ?? '',
    });
    await writeFile(join(dir, `${tenant}.yaml`), `${text}${settings}`);
    const plan = await planApplication(store, dir, { secrets: 'check' });
    await applyDefinitions(store, plan.applications, 'ada', { hris: other.way });
    await known.take(await listAppliedTenants(store));
    for (const { tenantId } of plan.applications) await connections.reopen(tenantId);
  };
  const people: Applicant[] = await listApplicants(sandbox.partner);
  return {
    sandbox,
    store,
    deps,
    signalled,
    apply,
    /** A file beside the tenant's own. */
    write: (name: string, text: string) => writeFile(join(dir, name), text),
    /** A tenant's file is in the folder no more. */
    drop: (tenant: string) => rm(join(dir, `${tenant}.yaml`)),
    /** Somebody else each time. */
    hire: async (given?: number): Promise<string> => {
      const id = given ?? people.shift()?.jobCandidateId ?? 0;
      await sandbox.control.act('move', { jobCandidateIds: [id], stageType: 'HIRED' });
      return String(id);
    },
    open: (tenantId: string, jobCandidateId: string, adopt = false) =>
      openHire(deps, { tenantId, jobCandidateId, adopt, watch: false }),
    reconcile: (tenantId: string) => attempted(() => reconcile(deps, { tenantId })),
    enrolments: async () => (await sandbox.partner.readAll(contract.onboarding.listCandidates)).items.length,
  };
}

const freeCalls: SharedRateLimit = { ...unlimited, ownEndpoints: () => [], close: async () => undefined };

export interface Signalled {
  tenantId: string;
  jobCandidateId: string;
  adopt: boolean | undefined;
}

function depsOf(parts: Pick<ActivityDeps, 'store' | 'log' | 'connections'>, signalled: Signalled[]): ActivityDeps {
  return {
    ...parts,
    followedHires: async () => new Set(),
    lastReconcile: rememberReconciles(async () => undefined),
    signalHire: async (hire, _, { adopt }) => signalled.push({ ...hire, adopt }) > 0,
    limits: { giveUpMs: 60_000, partnerLagMs: 0, pausedMs: 0 },
    pausedHris: new Set(),
  };
}

async function makeFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'hirebridge-fleet-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

interface TenantText {
  tenant: string;
  baseUrl: string;
  flow: string;
  /** Inside the braces of `partner.overrides`. */
  overrides: string;
  /** Inside the braces of `hris` and `policies`. */
  hris?: string;
  policies?: string;
  skip?: boolean;
  company?: 'none';
}

function tenantFile({ tenant, baseUrl, overrides, flow, hris, policies, skip = false, company }: TenantText): string {
  const kind = hris ?? `kind: sql, connection: ${tenant}-hr, url: sqlite:./${tenant}.sqlite, createTable: true`;
  const more = policies === undefined ? '' : `, ${policies}`;
  return `tenant: ${tenant}
partner:
  baseUrl: ${baseUrl}
  environment: sandbox
  apiKey: env:TEST_PARTNER_KEY
  ${company === 'none' ? '' : 'company: "17"'}
  webhooks: off
  allowPrivateAddress: true
  overrides: { ${overrides} }
hris: { ${kind} }
policies: { onboarding: ${skip ? 'skip' : `{ flow: "${flow}" }`}${more} }
`;
}
