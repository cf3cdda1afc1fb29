import fc from 'fast-check';
import { expect, test } from 'vitest';

import { handle } from '../../src/sandbox/handle.ts';
import { createSandboxState } from '../../src/sandbox/prepare.ts';
import { fuzzOverHttp } from './fuzz/over-http.ts';
import { RefusalBody } from './fuzz/refusal-body.ts';
import { request, urlOf } from './fuzz/requests.ts';

test('whatever is sent is answered or refused in a body of section 7, and nothing inside breaks', () => {
  const { state, key } = createSandboxState({ file: ':memory:', clock: 'stepped', jobs: 1, candidates: 3 });
  const defects: unknown[] = [];
  state.onDefect = (where, error) => defects.push([where, error]);
  fc.assert(
    fc.property(request, (one) => {
      const { endpoint, body: sent, raw } = one;
      const response = handle(state, {
        method: endpoint.method,
        url: `/v1/partner${urlOf(one)}`,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: raw ?? JSON.stringify(sent),
      });
      expect(defects).toEqual([]);
      const parsed = JSON.parse(response.body);
      const promised = response.status >= 400 ? RefusalBody : endpoint.response;
      expect(promised.safeParse(parsed).error).toBeUndefined();
      expect(response.status === 501 || response.status < 500).toBe(true);
      expect(response.body).not.toMatch(/SQLITE|at .*\.ts:\d/);
    }),
    { numRuns: 2000, seed: 5 },
  );
  state.close();
});

test('over HTTP too, with headers and sockets that nobody sends in earnest', async () => {
  const { runs, seed, statuses } = await fuzzOverHttp(2000, 5);
  console.log(`${String(runs)} fuzzed requests over HTTP, seed ${String(seed)}: ${JSON.stringify(statuses)}`);
  expect(Object.keys(statuses).filter((status) => Number(status) >= 500)).toEqual([]);
});
