import { inject } from 'vitest';
import { fromHarness, type HarnessAnswers } from './services.ts';

/**
 * The run's own Temporal dev server: started by our dev-server code with the first call of a run, in memory, namespace
 * `default`, fairness and search attributes on. Shared by all test files, so begin task queues and workflow ids with
 * something unique (a store's installation id, or `crypto.randomUUID()`). A test that stops or kills Temporal starts
 * its own with `startDevServer({ cliPath })`, where `cliPath` is the one returned here.
 */
export function temporalForTests(): Promise<HarnessAnswers['temporal']> {
  if (!inject('needsTemporal')) throw new Error('A file that needs Temporal is listed in test/vitest.config.ts.');
  return fromHarness('temporal');
}
