import { defineConfig } from 'vitest/config';

/** Outside the folders `workflow` and `e2e`: files that ask for a Temporal server or its CLI. */
const withTemporal = ['test/temporal/{connection,dev-server,start-sync}.test.ts', 'test/cli/sync.test.ts'];
const timeouts = { testTimeout: 60_000, hookTimeout: 60_000 };
const needsTemporal = { provide: { needsTemporal: true }, setupFiles: ['test/harness/await-temporal.ts'] };

/**
 * `unit` does without Temporal and runs while its CLI is obtained; `workflow` replays, and asks one server little;
 * `e2e` runs processes. Each group after the one before.
 */
export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['test/harness/global-setup.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/workflow/**', 'test/e2e/**', 'test/hris/counterparts/**', ...withTemporal],
          provide: { needsTemporal: false },
          ...timeouts,
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
          // Each file starts a fleet of processes: two files at once on two cores only measure each other.
          fileParallelism: false,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
