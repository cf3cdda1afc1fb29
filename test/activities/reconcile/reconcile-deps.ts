import type { ActivityDeps, Connection } from '../../../activities/connections.ts';
import { rememberReconciles } from '../../../activities/reconcile/last-reconcile.ts';
import { isConnectorError } from '../../../src/errors.ts';
import { createLogger } from '../../../src/log.ts';
import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { defaultOverrides } from '../../../src/partner/contract/assumptions.ts';
import type { Store } from '../../../src/store/open-store.ts';

const POLICIES = {
  enrolAt: ['HIRED'],
  createAt: ['HIRED'],
  onboarding: 'skip',
  cancel: { grace: 0 },
  credits: { canaryEvery: 1000 },
};

const TENANT = { tenant: 'acme', partner: {}, hris: { connection: 'hr' }, writeBack: { values: [] } };
/** No mapping file names a custom field. */
const WITHOUT_FIELDS = { mapping: { fields: [], back: [], files: {} }, landings: {}, exchanges: {} };

export interface Stages {
  enrolAt: string[];
  createAt: string[];
  onboarding: { flow: string; deadline: number };
}

interface Parts {
  store: Store;
  /** Asked for anew by each attempt. */
  partner: () => PartnerClient;
  stages?: Partial<Stages>;
  /** Whose hires were told to begin or to read again, in order. */
  started: string[];
  /** Whose hires have a workflow. */
  followed?: string[];
  /** The HRIS keeps references, and has an employee for each of these. */
  employed?: Set<string>;
}

/** What a reconcile of the tenant acme needs, with an HRIS that knows nobody but `employed`. */
export function reconcileDeps({ store, partner, stages = {}, started, followed = [], employed }: Parts): ActivityDeps {
  const connection = () =>
    ({
      ...WITHOUT_FIELDS,
      tenant: { ...TENANT, policies: { ...POLICIES, ...stages } },
      partner: partner(),
      hris: {
        capabilities: { storesReference: employed !== undefined, readLagMs: 0 },
        employees: {
          find: async ({ value }: { value: string }) => (employed?.has(value) ? { kind: 'one' } : { kind: 'none' }),
        },
      },
      overrides: defaultOverrides,
      keyFingerprint: 'one',
    }) as unknown as Connection;
  return {
    store,
    log: createLogger('test'),
    limits: { giveUpMs: 1000, partnerLagMs: 0, pausedMs: 1000 },
    pausedHris: new Set(),
    connections: { of: async () => connection(), reopenIfRotated: async () => false },
    followedHires: async () => new Set(followed),
    lastReconcile: rememberReconciles(async () => undefined),
    signalHire: async ({ jobCandidateId }: { jobCandidateId: string }) => {
      started.push(jobCandidateId);
      return true;
    },
  } as unknown as ActivityDeps;
}

/** Repeats an attempt that gave its slot back, as Temporal does: a slow machine may need several. */
export async function attempted<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await attempt();
    } catch (error) {
      if (!isConnectorError(error, 'RECONCILE_GOES_ON')) throw error;
    }
}
