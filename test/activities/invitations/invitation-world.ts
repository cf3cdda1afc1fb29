import { onTestFinished } from 'vitest';
import type { Connection } from '../../../activities/connections.ts';
import { pushRecords } from '../../../activities/push/push-records.ts';
import { isConnectorError } from '../../../src/errors.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import type { StageCandidate } from '../../../src/partner/contract/job-candidates.ts';
import { defaultOverrides } from '../../../src/partner/contract/overrides.ts';
import { addHints } from '../../../src/store/hints.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { writeFailpoints } from '../../../src/store/write-failpoints.ts';
import { openPartner } from '../../sandbox/open-partner.ts';
import { freshStoreUrl } from '../../store/stores.ts';
import { failpoints, GIVE_UP_MS, Killed, killablePartner, pushDeps } from '../killable.ts';

interface RunOptions {
  hinted?: boolean;
  full?: boolean;
  /** How often it is begun again. */
  tries?: number;
}

export interface WorldOptions {
  candidates?: number;
  jobs?: number;
  atOnce?: number;
  store?: 'sqlite' | 'postgres';
}

/** A real partner over sockets and a real store whose clock the test owns; one rule: whoever has applied is invited. */
export async function invitationWorld({
  candidates = 80,
  jobs = 1,
  atOnce = 100,
  store: kind = 'sqlite',
}: WorldOptions = {}) {
  const sandbox = await openPartner({ jobs, candidates });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const made = (await sandbox.control.act('createAssessment', { title: 'Interview' })) as { assessmentId: string };
  const { assessmentId } = made;
  const points = failpoints();
  const partnerSays = { change: (_operation: string, _answer: unknown): void => undefined };
  const clock = { now: 1_700_000_000_000 };
  const store = await openStore(await freshStoreUrl(kind), {
    ...(kind === 'sqlite' ? { now: () => clock.now } : {}),
    plugins: [writeFailpoints(points.pass)],
  });
  onTestFinished(() => store.close());
  const connection = {
    tenant: {
      tenant: 'acme',
      hris: { kind: 'sql', options: {} },
      streams: { invitations: {} },
      policies: { credits: { canaryEvery: 900_000 }, enrolAt: ['HIRED'], createAt: ['HIRED'] },
      invitations: { rules: [{ on: { stage: 'APPLIED' }, assessment: assessmentId }], atOnce },
      files: {},
    },
    partner: killablePartner(sandbox, points, (operation, answer) => partnerSays.change(operation, answer)),
    overrides: defaultOverrides,
    hris: {},
    keyFingerprint: 'one',
  } as unknown as Connection;
  const deps = pushDeps(store, connection);

  const once = (runId: string, { hinted = false, full = false }: RunOptions = {}) =>
    pushRecords(deps, { tenantId: 'acme', stream: 'invitations', runId, full, hinted, begun: false });

  return {
    sandbox,
    store,
    points,
    clock,
    /** Changes what the partner answers, in place. */
    partnerSays,
    assessmentId,
    once,
    /** As a worker would: again after each kill and each unknown outcome, when its time has come. */
    async run(runId: string, options: RunOptions = {}) {
      for (let tries = 0; tries < (options.tries ?? 8); tries += 1) {
        try {
          return await once(runId, options);
        } catch (error) {
          if (!(error instanceof Killed) && !isConnectorError(error)) throw error;
          await sandbox.later();
          clock.now += 2 * GIVE_UP_MS;
        }
      }
      throw new Error('the run came to no end');
    },
    hint: (ids: readonly string[]) => addHints(store, 'acme', 'invitations', ids),
    async applied(): Promise<StageCandidate[]> {
      const query = { stageType: 'APPLIED' } as const;
      return (await sandbox.partner.readAll(contract.jobCandidates.listByStageType, { query })).items;
    },
    /** How often the partner invited each person to the assessment, by its own ledger, and how often it was asked. */
    async invited() {
      const effects = await sandbox.control.ledger({ kind: 'effect', name: 'invite' });
      const own = effects.filter(({ detail }) => detail['assessmentId'] === assessmentId);
      const { request = {} } = await sandbox.control.counts({ kind: 'request' });
      return { people: own.length, requests: request['assessments.inviteBulk'] ?? 0 };
    },
    async rows() {
      return store.kysely.selectFrom('invitations').selectAll().orderBy('candidate_id').execute();
    },
  };
}
