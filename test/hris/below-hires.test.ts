import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { employ, readOnboarding } from '../../activities/hire/go-on.ts';
import { startHttpProxy } from '../../src/hris-kit/http-proxy.ts';
import { fleetAtSandbox } from '../activities/hire/fleet-at-sandbox.ts';
import { finishOnboardings } from '../harness/world-people.ts';
import { FACTORIAL_KEY, startFactorialServer } from './factorial-server.ts';

const DEFINITION = fileURLToPath(new URL('definitions/factorial.yaml', import.meta.url));

async function startFleet(readLag = '0s') {
  const factorial = await startFactorialServer();
  onTestFinished(() => factorial.close());
  const wire = await startHttpProxy(factorial.url);
  onTestFinished(() => wire.close());
  vi.stubEnv('TEST_FACTORIAL_KEY', FACTORIAL_KEY);
  const own = `definition: "${DEFINITION}", allowPrivateAddress: true, key: env:TEST_FACTORIAL_KEY`;
  const hris = `kind: http, connection: acme-hr, url: "${wire.url}", readLag: ${readLag}, ${own}`;
  const fleet = await fleetAtSandbox({ hris, candidates: 8 });
  await fleet.apply('acme');
  await fleet.reconcile('acme');
  const ready = async () => {
    const jobCandidateId = await fleet.hire();
    const ref = { tenantId: 'acme', jobCandidateId, period: 1 };
    await fleet.open('acme', jobCandidateId);
    await finishOnboardings(fleet.sandbox.control, fleet.sandbox.partner);
    await readOnboarding(fleet.deps, ref);
    return ref;
  };
  /** As if what was sent so far had been sent 20 minutes ago. */
  const later = async () => {
    const { kysely } = fleet.store;
    await kysely
      .updateTable('intents')
      .set((eb) => ({ sent_at: eb('sent_at', '-', 1_200_000), give_up_at: eb('give_up_at', '-', 1_200_000) }))
      .execute();
    await kysely
      .updateTable('foreign_writes')
      .set((eb) => ({ sent_at: eb('sent_at', '-', 1_200_000) }))
      .execute();
  };
  return { factorial, wire, fleet, ready, later };
}

test('hires whose contracts are made after them are whole and made once, whatever is lost on the way', async () => {
  const { factorial, wire, fleet, ready, later } = await startFleet();
  const rooms = ['/employees/employees', '/contracts/contract-versions'];
  const faults = rooms.flatMap((room) =>
    (['answer-lost', 'reset-before', 'executed-late', 'answer'] as const).map((kind) => [kind, room] as const),
  );
  for (const [kind, room] of faults) {
    const ref = await ready();
    const struck = wire.strike({ kind, on: ({ method, path }) => method === 'POST' && path.endsWith(room) });
    await expect(employ(fleet.deps, ref)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await struck;
    // Until its deadline, the attempt may still write: whoever was made is there, but nothing is made beside it.
    const made = factorial.contracts.size;
    await expect(employ(fleet.deps, ref)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(factorial.contracts.size).toBe(made);
    await later();
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

test('what a second attempt adds to its employee is not added again while reads may miss it', async () => {
  const { factorial, wire, fleet, ready, later } = await startFleet('10m');
  const ref = await ready();
  const lose = (kind: 'reset-before' | 'answer-lost') =>
    wire.strike({ kind, on: ({ method, path }) => method === 'POST' && path.endsWith('/contract-versions') });
  void lose('reset-before');
  await expect(employ(fleet.deps, ref)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  expect(factorial.contracts.size).toBe(0);
  await later();
  // Its process ends, as far as anybody can tell, once the contract is there.
  const struck = lose('answer-lost');
  await expect(employ(fleet.deps, ref)).rejects.toMatchObject({ action: 'unknown' });
  await struck;
  const unseen = [...factorial.contracts];
  expect(unseen).toHaveLength(1);
  factorial.contracts.clear();
  await expect(employ(fleet.deps, ref)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  expect(factorial.contracts.size).toBe(0);
  for (const [id, contract] of unseen) factorial.contracts.set(id, contract);
  await later();
  expect(await employ(fleet.deps, ref)).toMatchObject({ verdict: 'employee' });
  expect(factorial.contracts.size).toBe(1);
  expect(factorial.employees.size).toBe(1);
});
