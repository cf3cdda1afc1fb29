import { Agent, fetch } from 'undici';
import { inject } from 'vitest';
import type { FleetAddresses } from './start-fleet.ts';

/** What the run's own servers answer, see `global-setup.ts`. */
export interface HarnessAnswers {
  postgres: { url: string };
  cli: { cliPath: string };
  temporal: { address: string; cliPath: string };
  fleet: FleetAddresses;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the run's main process starts servers on demand. */
    harness: string;
    /** Whether this project's files may ask for Temporal: they wait for its CLI before their first test. */
    needsTemporal: boolean;
  }
}

/** Asks the run's main process for a server that all test files share; it starts with the first question. */
export async function fromHarness<Name extends keyof HarnessAnswers>(name: Name): Promise<HarnessAnswers[Name]> {
  // The CLI may have to be built first: the answer takes as long as that does.
  const dispatcher = new Agent({ headersTimeout: 0 });
  try {
    const response = await fetch(`${inject('harness')}/${name}`, { dispatcher });
    if (!response.ok) throw new Error(`The test run could not start ${name}: ${await response.text()}`);
    return (await response.json()) as HarnessAnswers[Name];
  } finally {
    await dispatcher.close();
  }
}
