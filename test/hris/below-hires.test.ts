import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { employ, readOnboarding } from '../../activities/hire/go-on.ts';
import { startHttpProxy } from '../../src/hris-kit/http-proxy.ts';
import { fleetAtSandbox } from '../activities/hire/fleet-at-sandbox.ts';
import { finishOnboardings } from '../harness/world-people.ts';
import { FACTORIAL_KEY, startFactorialServer } from './factorial-server.ts';

const DEFINITION = fileURLToPath(new URL('definitions/factorial.yaml', import.meta.url));

test('hires whose contracts are made after them are whole and made once, whatever is lost on the way', async () => {
  const factorial = await startFactorialServer();
  onTestFinished(() => factorial.close());
  const wire = await startHttpProxy(factorial.url);
  onTestFinished(() => wire.close());
  vi.stubEnv('TEST_FACTORIAL_KEY', FACTORIAL_KEY);
  const own = `definition: "${DEFINITION}", allowPrivateAddress: true, key: env:TEST_FACTORIAL_KEY`;
  const hris = `kind: http, connection: acme-hr, url: "${wire.url}", ${own}`;
  const fleet = await fleetAtSandbox({ hris, candidates: 8 });
  await fleet.apply('acme');
  await fleet.reconcile('acme');
  const rooms = ['/employees/employees', '/contracts/contract-versions'];
  const faults = rooms.flatMap((room) =>
    (['answer-lost', 'reset-before', 'executed-late', 'answer'] as const).map((kind) => [kind, room] as const),
  );
  for (const [kind, room] of faults) {
    const jobCandidateId = await fleet.hire();
    const ref = { tenantId: 'acme', jobCandidateId, period: 1 };
    await fleet.open('acme', jobCandidateId);
    await finishOnboardings(fleet.sandbox.control, fleet.sandbox.partner);
    await readOnboarding(fleet.deps, ref);
    const struck = wire.strike({ kind, on: ({ method, path }) => method === 'POST' && path.endsWith(room) });
    await expect(employ(fleet.deps, ref)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await struck;
    // Until its deadline, the attempt may still write: whoever was made is there, but nothing is made beside it.
    const made = factorial.contracts.size;
    await expect(employ(fleet.deps, ref)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(factorial.contracts.size).toBe(made);
    await fleet.store.kysely
      .updateTable('intents')
      .set((eb) => ({ sent_at: eb('sent_at', '-', 600_000), give_up_at: eb('give_up_at', '-', 600_000) }))
      .execute();
    expect(await employ(fleet.deps, ref)).toMatchObject({ verdict: 'employee' });
  }
  expect(factorial.employees.size).toBe(faults.length);
  for (const { id, identifier, first_name: name } of factorial.employees.values()) {
    expect([identifier, name]).toEqual([expect.stringMatching(/:/), expect.any(String)]);
    expect(factorial.contractsOf(id)).toMatchObject([
      { job_title: expect.any(String), effective_on: expect.any(String) },
    ]);
  }
});
