import { expect, onTestFinished, vi } from 'vitest';
import { pushRecords } from '../../../activities/push/push-records.ts';
import { isConnectorError } from '../../../src/errors.ts';
import { startHttpProxy } from '../../../src/hris-kit/http-proxy.ts';
import { addHints } from '../../../src/store/hints.ts';
import { writeFailpoints } from '../../../src/store/open-store.ts';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { SCIM_TOKEN, startScimServer } from '../../hris/scim-server.ts';
import { employPerson } from '../hire/employed-person.ts';
import { failpoints, Killed } from '../killable.ts';

export const RULES = `fields:
  givenName: { from: candidate.firstName }
  familyName: { from: candidate.lastName }
  userName: { template: "{candidate.firstName}.{candidate.lastName}", transform: [login], unique: true }
  email: { from: employee.email }
  title: { from: job.title }
`;

/** What a pass over the accounts writes; the rate limit's writes come as time passes. */
const OWN = /hire_steps|intents|unique_names|foreign_writes|streams|holds/;

/** One person hired into a table, and a directory of SCIM users that is the tenant's second destination. */
export async function accountWorld({
  rules = RULES,
  database,
}: {
  rules?: string;
  database?: 'sqlite' | 'postgres';
} = {}) {
  const directory = await startScimServer();
  onTestFinished(() => directory.close());
  const proxy = await startHttpProxy(directory.url);
  onTestFinished(() => proxy.close());
  vi.stubEnv('TEST_DIRECTORY_TOKEN', SCIM_TOKEN);
  const points = failpoints();
  const plugins = [writeFailpoints((name) => (OWN.test(name) ? points.pass(name) : undefined))];
  const settings = `destinations:
  - { kind: scim, connection: directory, url: "${proxy.url}/scim/v2", token: env:TEST_DIRECTORY_TOKEN,
      allowPrivateAddress: true, mapping: ./accounts.yaml }
streams: { accounts: { every: 1m } }
`;
  const world = await employPerson({ ...(database && { database }), store: { plugins } });
  const { fleet, id, letPass } = world;
  await fleet.write('accounts.yaml', rules);
  await fleet.apply('acme', settings);
  const { store, deps } = fleet;
  const once = (runId: string, full = false) =>
    pushRecords(deps, { tenantId: 'acme', stream: 'accounts', runId, full, begun: false });
  return {
    ...world,
    store,
    directory,
    proxy,
    points,
    record: `${id}/directory`,
    once,
    /** As a worker would: again after each kill, and when an open question's time has come. */
    async run(runId: string, { full = false, meanwhile }: { full?: boolean; meanwhile?: Promise<unknown> } = {}) {
      for (let tries = 0; tries < 6; tries += 1)
        try {
          return await once(runId, full);
        } catch (error) {
          const isUnknown = isConnectorError(error, 'OUTCOME_UNKNOWN');
          if (!(error instanceof Killed) && !isUnknown) throw error;
          await meanwhile;
          if (isUnknown) await letPass(error.retryAfterMs ?? 0);
        }
      throw new Error('the run came to no end');
    },
    retry: (record: string) => addHints(store, 'acme', 'accounts', [record]),
    failed: () => readQuarantine(store, { tenantId: 'acme', stream: 'accounts' }),
    steps: () => store.kysely.selectFrom('hire_steps').selectAll().orderBy('job_candidate_id').execute(),
    /** The directory's own list. */
    users: () => [...directory.users.values()],
    /** As if the step had never been taken, for another way through it. */
    async forgetStep() {
      directory.users.clear();
      for (const table of ['hire_steps', 'unique_names'] as const) await store.kysely.deleteFrom(table).execute();
      await store.kysely.deleteFrom('intents').where('verb', '=', 'create-account:directory').execute();
    },
  };
}

const WRITES = 'insert.hire_steps update.hire_steps insert.intents update.intents insert.unique_names'.split(' ');

/** Dies before and after each write of a pass in turn; the directory's own list says how many accounts came of it. */
export async function killEverywhere(database: 'sqlite' | 'postgres'): Promise<number> {
  const { run, users, points, forgetStep, steps } = await accountWorld({ database });
  points.arm(0);
  await run('recorded');
  const passed = points.arm(0);
  const named = WRITES.flatMap((write) => [`store.${write}/before`, `store.${write}/after`]);
  expect(passed).toEqual(expect.arrayContaining(named));
  for (let nth = 1; nth <= passed.length; nth += 1) {
    const at = `killed at ${passed[nth - 1]}`;
    await forgetStep();
    points.arm(nth);
    expect(await run(`killed-${nth}`), at).toMatchObject({ state: 'done', counts: { created: 1 } });
    expect(users(), at).toHaveLength(1);
    expect(await steps(), at).toMatchObject([{ state: 'done', account_id: users()[0]?.id }]);
  }
  return passed.length;
}
