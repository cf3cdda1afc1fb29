import { defineConfig } from 'vitest/config';

/** 1,000 conflicts of identity on each HRIS of `kinds.ts`: `npm run test:identity`; HIREBRIDGE_SEED draws others. */
export default defineConfig({
  root: new URL('../../..', import.meta.url).pathname,
  test: {
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['test/harness/global-setup.ts'],
    provide: { needsTemporal: false, conflicts: 1_000 },
    include: ['test/hris/identity/**/*.test.ts'],
    hookTimeout: 300_000,
  },
});
