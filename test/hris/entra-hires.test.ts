import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { finishHire } from '../../activities/hire/finish-hire.ts';
import { employ, readOnboarding } from '../../activities/hire/go-on.ts';
import { openHold, takeAnswer } from '../../activities/hire/hold-hire.ts';
import type { HoldRequest } from '../../src/hire/holds.ts';
import { type AskedRequest, startHttpProxy } from '../../src/hris-kit/http-proxy.ts';
import { answerHold, readHold } from '../../src/store/holds.ts';
import { fleetAtSandbox } from '../activities/hire/fleet-at-sandbox.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { finishOnboardings } from '../harness/world-people.ts';
import { ENTRA } from './entra-job.ts';
import { startEntra } from './entra-server.ts';

const LAG_MS = 900_000;

/** Hires into a double of Microsoft Entra ID, by the activities themselves; `wire` loses what they send. */
async function hiresInto(settings: Parameters<typeof startEntra>[0] = {}) {
  const entra = await startEntra(settings);
  onTestFinished(() => entra.close());
  const wire = await startHttpProxy(entra.login);
  onTestFinished(() => wire.close());
  vi.stubEnv('TEST_ENTRA_SECRET', ENTRA.clientSecret);
  const { clientSecret: _secret, ...ids } = ENTRA;
  const where = `url: "${wire.url}/v1.0", login: "${entra.login}", allowPrivateAddress: true`;
  const own = Object.entries(ids).map(([key, value]) => `${key}: "${value}"`);
  const hris = `kind: entra, connection: acme-entra, ${where}, clientSecret: env:TEST_ENTRA_SECRET, ${own.join(', ')}`;
  const fleet = await fleetAtSandbox({ hris, candidates: 8 });
  const mapping = join(await scratchFolder(), 'employee.yaml');
  const login = '"{candidate.firstName}.{candidate.lastName}.{candidate.id}@contoso.example"';
  await writeFile(mapping, `fields:\n  userName: { template: ${login}, transform: [login], unique: true }\n`);
  await fleet.apply('acme', `mapping: ${mapping}\nwriteBack: { employeeId: id }\n`);
  await fleet.reconcile('acme');
  return {
    entra,
    wire,
    store: fleet.store,
    deps: fleet.deps,
    async open() {
      const jobCandidateId = await fleet.hire();
      const ref = { tenantId: 'acme', jobCandidateId, period: 1 };
      await fleet.open('acme', jobCandidateId);
      await finishOnboardings(fleet.sandbox.control, fleet.sandbox.partner);
      await readOnboarding(fleet.deps, ref);
      return ref;
    },
    letPass: (ms: number) =>
      fleet.store.kysely
        .updateTable('intents')
        .set((eb) => ({ sent_at: eb('sent_at', '-', ms), give_up_at: eb('give_up_at', '-', ms) }))
        .execute(),
    async asks(hold: HoldRequest, ref: { tenantId: string; jobCandidateId: string; period: number }) {
      const { holdId } = await openHold(fleet.deps, { ...ref, hold });
      const message = (await readHold(fleet.store, holdId))?.message ?? '';
      await answerHold(fleet.store, holdId, { answer: 'retry', arguments: [], by: 'ada' });
      await takeAnswer(fleet.deps, { ...ref, holdId });
      return message;
    },
  };
}

const isUpload = ({ method, path }: AskedRequest): boolean => method === 'POST' && path.endsWith('/bulkUpload');

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(10);
}

test('five creates whose answer was lost give five users, and nothing is sent again', async () => {
  const { entra, wire, deps, open } = await hiresInto();
  for (let one = 1; one <= 5; one += 1) {
    const ref = await open();
    const struck = wire.strike({ kind: 'answer-lost', on: isUpload });
    await expect(employ(deps, ref)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await struck;
    await until(() => entra.users.size === one);
    expect(await employ(deps, ref)).toMatchObject({ verdict: 'employee' });
  }
  expect(entra.users.size).toBe(5);
  expect(entra.accepted).toHaveLength(5);
});

test('an upload that is carried out late is waited for, and one that never came is sent again', async () => {
  const { entra, wire, deps, open, letPass } = await hiresInto({ keeps: () => true });
  const ref = await open();
  let struck = wire.strike({ kind: 'answer-lost', on: isUpload });
  await expect(employ(deps, ref)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await struck;
  await letPass(LAG_MS / 2);
  await expect(employ(deps, ref)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  expect(entra.accepted).toHaveLength(1);
  entra.finish(entra.accepted[0]?.externalId ?? '');
  expect(await employ(deps, ref)).toMatchObject({ verdict: 'employee' });

  const other = await open();
  struck = wire.strike({ kind: 'reset-before', on: isUpload });
  await expect(employ(deps, other)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await struck;
  await letPass(2 * LAG_MS);
  expect(await employ(deps, other)).toMatchObject({ verdict: 'pending' });
  entra.finish(entra.accepted[1]?.externalId ?? '');
  expect(await employ(deps, other)).toMatchObject({ verdict: 'employee' });
  expect([entra.accepted.length, entra.users.size]).toEqual([2, 2]);
});

test('an upload that is sent again too soon makes nobody twice', async () => {
  const { entra, wire, deps, open, letPass } = await hiresInto({ keeps: () => true });
  const ref = await open();
  const struck = wire.strike({ kind: 'answer-lost', on: isUpload });
  await expect(employ(deps, ref)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await struck;
  // The job was paused for longer than readLag says.
  await letPass(2 * LAG_MS);
  expect(await employ(deps, ref)).toMatchObject({ verdict: 'pending' });
  expect(entra.accepted).toHaveLength(2);
  entra.finish(entra.accepted[0]?.externalId ?? '');
  expect(await employ(deps, ref)).toMatchObject({ verdict: 'employee' });
  expect(entra.users.size).toBe(1);
});

test.for([
  ['failed', /AzureActiveDirectoryInvalidUserPrincipalName: The domain of '….*' does not exist\./],
  ['was skipped, because the job leaves this person out', /The User '….*' is not (in|…) scope\./],
] as const)('an operation that %s is a question with its reason, and a corrected one follows', async ([how, said]) => {
  const rule = { isStrict: how !== 'failed' };
  const { entra, deps, open, asks } = await hiresInto({ keeps: () => true, isInScope: () => !rule.isStrict });
  const ref = await open();
  expect(await employ(deps, ref)).toMatchObject({ verdict: 'pending' });
  expect(await employ(deps, ref)).toMatchObject({ verdict: 'pending' });
  const { externalId, data } = entra.accepted[0] ?? { externalId: '', data: {} };
  entra[rule.isStrict ? 'finish' : 'refuse'](externalId);
  const held = await employ(deps, ref);
  if (held.verdict !== 'hold') throw new Error(`not held, but ${held.verdict}`);
  expect(held.hold).toMatchObject({ code: 'HIRE_REJECTED', answers: ['retry', 'cancel'] });
  const message = await asks(held.hold, ref);
  expect(message).toMatch(said);
  expect(String(data['userName'])).toMatch(/@contoso\.example$/);
  for (const value of [data['userName'], data['displayName']]) expect(message).not.toContain(value);

  rule.isStrict = false;
  expect(await employ(deps, ref)).toMatchObject({ verdict: 'pending' });
  // The refusal is still in the log.
  expect(await employ(deps, ref)).toMatchObject({ verdict: 'pending' });
  entra.finish(externalId);
  expect(await employ(deps, ref)).toMatchObject({ verdict: 'employee' });
  expect(await finishHire(deps, ref)).toEqual({ verdict: 'verified' });
  expect([entra.accepted.length, entra.users.size]).toEqual([2, 1]);
});
