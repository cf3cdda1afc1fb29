import { onTestFinished } from 'vitest';
import type { Connection } from '../../activities/connections.ts';
import { pushRecords } from '../../activities/push/push-records.ts';
import { isConnectorError } from '../../src/errors.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { defaultOverrides } from '../../src/partner/contract/assumptions.ts';
import type { RateLimitKeeper } from '../../src/rate-limit/rate-limit.ts';
import { addHints } from '../../src/store/hints.ts';
import { openStore, writeFailpoints } from '../../src/store/open-store.ts';
import type { PushName } from '../../src/streams/streams.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { openPartner } from '../sandbox/open-partner.ts';
import { freshStoreUrl } from '../store/stores.ts';
import { failpoints, Killed, killablePartner, type Refuses, refusing } from './killable.ts';
import { GIVE_UP_MS, pushDeps } from './push-deps.ts';

export interface RunOptions {
  hinted?: boolean;
  full?: boolean;
  /** How often it is begun again. */
  tries?: number;
}

export interface PushWorldOptions {
  candidates?: number;
  jobs?: number;
  store?: 'sqlite' | 'postgres';
  hris?: Pick<HrisConnection, 'resumes'>;
  rateLimit?: RateLimitKeeper;
  /** The address at which the tenant finds the partner, where something stands between. */
  between?: (url: string) => Promise<string>;
}

type Sandbox = Awaited<ReturnType<typeof openPartner>>;

/** A real partner over sockets and a real store whose clock the test owns; `settle` makes what the rules name. */
export async function openPushWorld(
  stream: PushName,
  { candidates = 80, jobs = 1, store: kind = 'sqlite', hris = {}, rateLimit, between }: PushWorldOptions,
  settle: (sandbox: Sandbox) => Promise<Partial<Tenant>>,
) {
  const sandbox = await openPartner({ jobs, candidates });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const settings = await settle(sandbox);
  const points = failpoints();
  const partnerSays = {
    change: (_operation: string, _answer: unknown): void | Promise<void> => undefined,
    refuses: ((_operation, _input) => undefined) as Refuses,
  };
  const partner = killablePartner(
    { key: sandbox.key, url: (await between?.(sandbox.url)) ?? sandbox.url },
    points,
    (operation, answer) => partnerSays.change(operation, answer),
    rateLimit,
  );
  const clock = { now: 1_700_000_000_000 };
  const store = await openStore(await freshStoreUrl(kind), {
    relaxed: true,
    ...(kind === 'sqlite' ? { now: () => clock.now } : {}),
    plugins: [writeFailpoints(points.pass)],
  });
  onTestFinished(() => store.close());
  const connection = {
    tenant: {
      tenant: 'acme',
      hris: { kind: 'sql', connection: 'acme-hr', options: {} },
      streams: { [stream]: {} },
      policies: { credits: { canaryEvery: 900_000 }, enrolAt: ['HIRED'], createAt: ['HIRED'] },
      ...settings,
      files: {},
    },
    partner: refusing(partner, (operation, input) => partnerSays.refuses(operation, input)),
    overrides: defaultOverrides,
    hris,
    keyFingerprint: 'one',
  } as unknown as Connection;
  const deps = pushDeps(store, connection);
  const once = (runId: string, { hinted = false, full = false }: RunOptions = {}) =>
    pushRecords(deps, { tenantId: 'acme', stream, runId, full, hinted, begun: false });
  return {
    sandbox,
    store,
    connection,
    points,
    clock,
    /** So late may the partner show a write. */
    lag: (ms: number) => void (deps.limits.partnerLagMs = ms),
    /** Changes what the partner answers, in place, or refuses a call before it is sent. */
    partnerSays,
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
    hint: (ids: readonly string[]) => addHints(store, 'acme', stream, ids),
  };
}
