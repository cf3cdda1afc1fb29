import { defineConfig } from 'vitest/config';
import { matrixReporter } from './matrix-reporter.ts';

/** Every kind of HRIS against its counterpart, with what each showed as a matrix: `npm run test:hris`. */
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  test: {
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['test/harness/global-setup.ts'],
    provide: { needsTemporal: false },
    include: ['test/hris/{counterparts,example}/**/*.test.ts', 'test/hris/*-conformance.test.ts'],
    reporters: ['default', matrixReporter],
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
