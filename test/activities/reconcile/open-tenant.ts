import { onTestFinished } from 'vitest';
import type { Connection } from '../../../activities/connections.ts';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { reconcile } from '../../../activities/reconcile/reconcile.ts';
import { createLogger } from '../../../src/log.ts';
import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { defaultOverrides } from '../../../src/partner/contract/overrides.ts';
import type { StageType } from '../../../src/partner/contract/pipelines.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { type OpenSandbox, openSandbox } from '../../sandbox/open-sandbox.ts';
import { freshStore } from '../../store/stores.ts';

const POLICIES = { enrolAt: ['HIRED'], createAt: ['HIRED'], onboarding: 'skip', cancel: { grace: 1000 } };

interface Stages {
  enrolAt: string[];
  createAt: string[];
}

/** A tenant about to go live: a real partner with three people hired long ago, a real store, and no employees. */
export async function openTenant(hired = 3, stages: Partial<Stages> = {}) {
  const sandbox = await openSandbox({ jobs: 1, candidates: 6, hired });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const { store } = await freshStore('sqlite');
  const started: string[] = [];
  let partner: PartnerClient = sandbox.partner;
  const connection = () =>
    ({
      tenant: { tenant: 'acme', partner: {}, policies: { ...POLICIES, ...stages } },
      partner,
      hris: { capabilities: { storesReference: false, readLagMs: 0 } },
      overrides: defaultOverrides,
      keyFingerprint: 'one',
    }) as unknown as Connection;
  const deps = {
    store,
    log: createLogger('test'),
    limits: { giveUpMs: 1000, partnerLagMs: 0, pausedMs: 1000 },
    closedGates: new Set(),
    pausedHris: new Set(),
    connections: { of: async () => connection(), reopenIfRotated: async () => false },
    signalHire: async ({ jobCandidateId }: { jobCandidateId: string }) => {
      started.push(jobCandidateId);
      return true;
    },
  } as unknown as ActivityDeps;
  return {
    sandbox,
    store,
    deps,
    started,
    reconcile: () => reconcile(deps, { tenantId: 'acme' }),
    /** So that the next reconcile lists the job again. */
    hireOneMore: async (stageType: StageType = 'HIRED') => {
      const [applicant] = await listApplicants(sandbox.partner);
      const id = applicant?.jobCandidateId ?? 0;
      await sandbox.control.act('move', { jobCandidateIds: [id], stageType });
      return String(id);
    },
    /** The partner as it answers with its last hired person's record broken, its id still there. */
    breakLast: (broken: boolean) => {
      partner = broken ? withLastUnreadable(sandbox) : sandbox.partner;
    },
  };
}

function withLastUnreadable({ partner }: OpenSandbox): PartnerClient {
  const listed = contract.jobCandidates.listByStageType.id;
  async function* pages(...args: Parameters<PartnerClient['pages']>) {
    for await (const page of partner.pages(...args)) {
      if (args[0].id !== listed) yield page;
      else {
        const items = [...page.items] as { jobCandidateDetails: { id: number } }[];
        const id = String(items.pop()?.jobCandidateDetails.id);
        yield { ...page, items, unreadable: [{ index: items.length, id, reason: 'candidateId: expected a number' }] };
      }
    }
  }
  return { ...partner, pages: pages as unknown as PartnerClient['pages'] };
}
