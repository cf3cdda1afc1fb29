import { expect, test, vi } from 'vitest';
import { enrol } from '../../../activities/hire/enrol.ts';
import { finishHire } from '../../../activities/hire/finish-hire.ts';
import { employ } from '../../../activities/hire/go-on.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { latestHire } from '../../../src/store/hires.ts';
import { answerHold, readHold } from '../../../src/store/holds.ts';
import { fleetAtSandbox } from '../../activities/hire/fleet-at-sandbox.ts';
import { startedSftpHris } from '../sftp-under-test.ts';

const at = startedSftpHris();

test('a hire by files: pending, rejected, corrected, made, and its number stands with the partner', async () => {
  const { employOnce, reject, approve, retry, store, id, deps, ref, enrolment } = await hireInto();
  expect(await employOnce()).toMatchObject({ verdict: 'pending', nextCheckMs: 900_000 });
  await at().run();
  expect(await employOnce()).toMatchObject({ verdict: 'pending' });
  await reject('cost centre unknown');
  const rejected = await employOnce();
  expect(rejected).toMatchObject({
    verdict: 'hold',
    hold: { code: 'HIRE_REJECTED', message: expect.stringMatching(/It said: …$/) },
  });
  // Temporal never holds what the HR system said: only the hold does.
  expect(await retry(rejected)).toMatch(/It said: cost centre unknown/);
  expect(await employOnce()).toMatchObject({ verdict: 'pending' });
  await approve();
  expect(await employOnce()).toMatchObject({ verdict: 'employee' });
  const [made, ...others] = await at().job.sql<{ employee_id: string; employee_number: string }>(
    'select * from employee',
  );
  expect(others).toEqual([]);
  expect(await latestHire(store, 'acme', id)).toMatchObject({
    employee_id: made?.employee_id,
    employee_number: made?.employee_number,
  });
  expect(await finishHire(deps, ref)).toMatchObject({ verdict: 'verified' });
  expect(await enrolment()).toMatchObject({ externalStatus: { employeeId: made?.employee_number } });
});

/** One hire into the customer's folders; its people wait until told otherwise. */
async function hireInto() {
  const { server, job } = at();
  const { port, hostKey, privateKey, passphrase } = server;
  const where = { kind: 'sftp', connection: 'acme-hr', host: '127.0.0.1', port, user: 'root', hostKey };
  const options = { ...where, privateKey: 'env:TEST_SFTP_KEY', passphrase: 'env:TEST_SFTP_PASSPHRASE' };
  vi.stubEnv('TEST_SFTP_KEY', privateKey);
  vi.stubEnv('TEST_SFTP_PASSPHRASE', passphrase);
  job.decide = () => 'wait';
  const hris = JSON.stringify({ ...options, allowPrivateAddress: true }).slice(1, -1);
  const fleet = await fleetAtSandbox({ hris });
  await fleet.apply('acme');
  await fleet.reconcile('acme');
  const id = await fleet.hire();
  const opened = await fleet.open('acme', id);
  const ref = { tenantId: 'acme', jobCandidateId: id, period: 1 };
  if (opened.verdict === 'open' && opened.enrolled === undefined) await enrol(fleet.deps, ref);
  const decide = async (decision: ReturnType<typeof job.decide>) => {
    job.decide = () => decision;
    await at().run();
    job.decide = () => 'wait';
  };
  return {
    id,
    ref,
    store: fleet.store,
    deps: fleet.deps,
    employOnce: () => employ(fleet.deps, ref),
    approve: () => decide('create'),
    reject: (reason: string) => decide({ reject: reason }),
    async retry(held: Awaited<ReturnType<typeof employ>>) {
      if (held.verdict !== 'hold') throw new Error('not held');
      const { holdId } = await openHold(fleet.deps, { ...ref, hold: held.hold });
      const hold = await readHold(fleet.store, holdId);
      await answerHold(fleet.store, holdId, { answer: 'retry', arguments: [], by: 'ada' });
      expect(await takeAnswer(fleet.deps, { ...ref, holdId })).toMatchObject({ verdict: 'answered' });
      return hold?.message;
    },
    enrolment: async () => (await fleet.sandbox.partner.readAll(contract.onboarding.listCandidates)).items[0],
  };
}
