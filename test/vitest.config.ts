import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { patience, scaled } from './harness/pace.ts';
import { SummaryReporter } from './harness/summary-reporter.ts';

/** Outside the folders `workflow` and `e2e`: files that ask for a Temporal server or its CLI. */
const withTemporal = ['test/temporal/{connection,dev-server,forget-hire,payload-codec,start-sync}.test.ts'];
/**
 * Outside the folder `slow`: files of unit tests that take longer than what they say of most changes is worth, and
 * those that play a fleet in virtual time: in a process that other files used, a timer that one of them left joins in.
 */
const slowUnits = [
  'test/simulation/**/*.test.ts',
  'test/convergence/**/*.test.ts',
  'test/rate-limit/{bank,growth-ahead,hire-beside-pass,in-flight-share,shared-by-processes}.test.ts',
  'test/store/large.test.ts',
  'test/architecture/reach.test.ts',
  'test/{person/erase-killed,activities/reconcile/killed-baseline,activities/erase/{by-policy,consents}}.test.ts',
  'test/activities/endpoint-limit.test.ts',
  'test/hris/rotated-credentials.test.ts',
  'test/{hris/sftp-bounds,sql/silent-database,store/locked-store,temporal/resolve-cli,worker/metrics}.test.ts',
  'test/{console/browser,sandbox/page/hire}.test.ts',
];
/** What measures: a second file beside it would be measured too. */
const measuring = ['test/slow/{isolation,shared-rate-limit}.test.ts', 'test/sandbox/load.test.ts'];
/** Small files that take long. Vitest begins with the largest files, so that these would run alone at the end. */
const LONG_FILES =
  /(fleet-at-rest|kills|upgrade|restarts|stopped-worker|partner-calls|simulation|package|refusals)\.test\.ts$/;
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => (LONG_FILES.test(moduleId) ? 0 : 1);
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

/** They end what hangs, and decide nothing: no test is to be near them, on whatever machine. */
const timeouts = { testTimeout: scaled(1_200_000), hookTimeout: scaled(600_000) };
const needsTemporal = { provide: { needsTemporal: true }, setupFiles: ['test/harness/await-temporal.ts'] };

/**
 * `npm test` runs three projects, each group after the one before: `unit` does without Temporal and runs while its CLI
 * is obtained; `workflow` replays, and asks one server little; `e2e` plays whole flows, each file with tenants of its
 * own in one fleet. `npm run test:all` runs `slow`, what starts fleets of its own, kills and floods, and then `alone`,
 * what measures.
 */
export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['test/harness/global-setup.ts'],
    // As above: it ends what never comes.
    expect: { poll: { timeout: patience(30_000) } },
    reporters: ['default', new SummaryReporter()],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/{workflow,e2e,slow}/**',
            'test/hris/counterparts/**',
            ...withTemporal,
            ...slowUnits,
            ...measuring,
          ],
          provide: { needsTemporal: false },
          ...timeouts,
          // Loading the product takes longer than most files' tests: a worker loads it once.
          isolate: false,
          // Half of their time they wait for sandboxes and databases, which are processes of their own.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'workflow',
          include: ['test/workflow/**/*.test.ts', ...withTemporal],
          ...needsTemporal,
          ...timeouts,
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          ...needsTemporal,
          ...timeouts,
          // They wait for servers and schedules more than they compute.
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: ['test/slow/**/*.test.ts', ...slowUnits],
          exclude: measuring,
          ...needsTemporal,
          ...timeouts,
          // Its files wait for restarts, leases and schedules more than they compute.
          maxWorkers: 4,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: measuring,
          ...needsTemporal,
          ...timeouts,
          fileParallelism: false,
          maxWorkers: 1,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
