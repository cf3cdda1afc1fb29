import { defineConfig } from 'vitest/config';

/** Kinds of HRIS against counterparts that the system's packages bring: `npm run test:hris`. */
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  test: {
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['test/harness/global-setup.ts'],
    provide: { needsTemporal: false },
    include: ['test/hris/counterparts/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
