import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder that goes with the test; for `beforeEach` and tests. */
export async function scratchFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'hirebridge-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
