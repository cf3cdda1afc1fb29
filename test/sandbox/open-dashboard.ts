import { afterEach } from 'vitest';
import { runDueTasks } from '../../src/sandbox/background.ts';
import { act } from '../../src/sandbox/control/server.ts';
import { handle } from '../../src/sandbox/handle.ts';
import { createSandboxState } from '../../src/sandbox/prepare.ts';
import { countLedger } from '../../src/sandbox/records/ledger.ts';
import type { Json } from './open-sandbox.ts';

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const state of opened.splice(0)) state.close();
});

/** A company with two people on one job unless told otherwise, without sockets; closed after the test. */
export function openDashboard(options: Parameters<typeof createSandboxState>[0] = {}) {
  const { state, key } = createSandboxState({ clock: 'stepped', seed: 5, jobs: 1, candidates: 2, ...options });
  opened.push(state);
  const api = (method: string, path: string, body?: unknown): Json => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const { status, body: text } = handle(state, { method, url: `/v1/partner${path}`, headers, ...sent });
    return { status, ...JSON.parse(text) };
  };
  const does = (name: string, input: object): Json => act(state, name, input);
  const later = (ms = 5000): void => {
    state.advance(ms);
    runDueTasks(state);
  };
  const people: number[] = api('GET', '/job-candidates/job/50001/candidates').data.map((one: Json) => one.id);
  return { state, api, does, later, people, events: () => countLedger(state).event ?? {} };
}
