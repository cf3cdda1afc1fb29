import { fromHarness } from './services.ts';

// Before a file's first test, whose time limit has no minutes for a build. A failure is told by the test that asks.
await fromHarness('cli').catch(() => undefined);
