import { onTestFinished } from 'vitest';
import { reconcile } from '../../../activities/reconcile/reconcile.ts';
import type { HireState } from '../../../src/hire/hire.ts';
import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import type { Page } from '../../../src/partner/client/types.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import type { StageType } from '../../../src/partner/contract/pipelines.ts';
import { hiresInState } from '../../../src/store/hires.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { openSandbox } from '../../sandbox/open-sandbox.ts';
import { freshStore, type kinds } from '../../store/stores.ts';
import { attempted, reconcileDeps, type Stages } from './reconcile-deps.ts';

interface TenantOptions extends Partial<Stages> {
  jobs?: number;
  /** Where the store is. */
  database?: (typeof kinds)[number];
  /** References of the HRIS's employees. */
  employed?: Set<string>;
}

/** A tenant about to go live: a real partner with three people hired long ago, a real store, and no employees. */
export async function openTenant(
  hired = 3,
  { jobs = 1, database = 'sqlite', employed, ...stages }: TenantOptions = {},
) {
  const sandbox = await openSandbox({ jobs, candidates: 6, hired });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const { store } = await freshStore(database);
  const started: string[] = [];
  const followed: string[] = [];
  let partner: PartnerClient = sandbox.partner;
  const deps = reconcileDeps({
    store,
    partner: () => partner,
    stages,
    started,
    followed,
    ...(employed === undefined ? {} : { employed }),
  });
  return {
    sandbox,
    store,
    deps,
    started,
    /** Whose hires have a workflow. */
    followed,
    reconcile: () => attempted(() => reconcile(deps, { tenantId: 'acme' })),
    /** One attempt of a reconcile, which may give its slot back. */
    attempt: () => reconcile(deps, { tenantId: 'acme' }),
    /** The partner as `change` makes it, until the next change. */
    changePartner: (change: (honest: PartnerClient) => PartnerClient) => {
      partner = change(sandbox.partner);
    },
    /** How often each operation was called while `run` ran. */
    callsOf: async (run: () => Promise<unknown>): Promise<Record<string, number>> => {
      const afterSeq = (await sandbox.control.ledger({ last: 1 }))[0]?.seq ?? 0;
      await run();
      const rows = await sandbox.control.ledger({ kind: 'request', afterSeq, limit: 100_000 });
      return Object.fromEntries([...Map.groupBy(rows, ({ name }) => name)].map(([name, some]) => [name, some.length]));
    },
    /** The ids of the hires in this state. */
    hiresIn: async (state: HireState) =>
      (await hiresInState(store, 'acme', state)).map((hire) => hire.job_candidate_id).toSorted(),
    /** So that the next reconcile lists the job again. */
    hireOneMore: async (stageType: StageType = 'HIRED') => {
      const [applicant] = await listApplicants(sandbox.partner);
      const id = applicant?.jobCandidateId ?? 0;
      await sandbox.control.act('move', { jobCandidateIds: [id], stageType });
      return String(id);
    },
    /** The partner as it answers with its last hired person's record broken, its id still there. */
    breakLast: (broken: boolean) => {
      partner = broken ? withPages(sandbox.partner, lastUnreadable) : sandbox.partner;
    },
  };
}

function lastUnreadable({ id: listed }: { id: string }, page: AnyPage): AnyPage {
  if (listed !== contract.jobCandidates.listByStageType.id) return page;
  const items = [...page.items] as { jobCandidateDetails: { id: number } }[];
  const id = String(items.pop()?.jobCandidateDetails.id);
  return { ...page, items, unreadable: [{ index: items.length, id, reason: 'candidateId: expected a number' }] };
}

type AnyPage = Page<unknown>;
export type Asked = { query?: { stageType?: string; jobId?: string } };

/** The partner whose pages are `change`d on their way; a change may throw. */
export function withPages(
  partner: PartnerClient,
  change: (list: { id: string }, page: AnyPage, asked: Asked) => AnyPage,
): PartnerClient {
  async function* pages(...args: Parameters<PartnerClient['pages']>) {
    for await (const page of partner.pages(...args)) yield change(args[0], page, (args[1] ?? {}) as Asked);
  }
  return { ...partner, pages: pages as unknown as PartnerClient['pages'] };
}
