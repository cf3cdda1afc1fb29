import { inject } from 'vitest';

/** What the run's own servers answer, see `global-setup.ts`. */
export interface HarnessAnswers {
  postgres: { url: string };
  temporal: { address: string; uiUrl: string; cliPath: string };
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the run's main process starts servers on demand. */
    harness: string;
  }
}

/** Asks the run's main process for a server that all test files share; it starts with the first question. */
export async function fromHarness<Name extends keyof HarnessAnswers>(name: Name): Promise<HarnessAnswers[Name]> {
  const response = await fetch(`${inject('harness')}/${name}`);
  if (!response.ok) throw new Error(`The test run could not start ${name}: ${await response.text()}`);
  return (await response.json()) as HarnessAnswers[Name];
}
