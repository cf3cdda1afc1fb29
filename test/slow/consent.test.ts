import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { openErasures } from '../../src/store/erasures.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Subject } from '../../src/store/person-data.ts';
import { joinFleet } from '../harness/fleet.ts';
import { until } from '../harness/world.ts';

const STREAMS = 'streams: { candidates: { every: 1h }, applications: { every: 1h }, consents: { every: 1h } }';

test('a worker hears of a withdrawn consent, stops the person, and has them erased by policy after a day', async () => {
  const world = await joinFleet({
    jobs: 1,
    candidates: 2,
    edit: (text) => `${text.replace('policies:\n', 'policies:\n  privacy: { withdrawn: erase }\n')}${STREAMS}\n`,
  });
  onTestFinished(world.close);
  const store = await openStore(world.storeUrl);
  onTestFinished(() => store.close());
  const { tenant, control, partner } = world;
  const [job] = (await partner.readAll(contract.jobs.list)).items;
  const apply = async (name: string): Promise<{ jobCandidateId: number; candidateId: number }> => {
    const candidate = { firstName: name, lastName: 'Lind', email: `${name}@example.com` };
    return (await control.act('apply', { jobId: Number(job?.id), candidate })) as never;
  };
  const [eva, kim] = [await apply('eva'), await apply('kim')];
  const row = (stream: string, id: number) => {
    const hris = new DatabaseSync(world.hrisUrl.slice('sqlite:'.length), { timeout: 60_000 });
    onTestFinished(() => hris.close());
    return hris.prepare(`select * from partner_${stream} where partner_id = ?`).get(String(id));
  };
  for (const { jobCandidateId, candidateId } of [eva, kim])
    await until('they landed with their consent', async () => {
      const landed = [row('candidates', candidateId), row('applications', jobCandidateId)];
      return !landed.includes(undefined) && row('consents', jobCandidateId)?.['state'] === 'given';
    });

  await control.act('changeConsent', { jobCandidateId: eva.jobCandidateId });
  const isMarked = ({ jobCandidateId, candidateId }: typeof eva) =>
    [row('candidates', candidateId), row('applications', jobCandidateId)].map((one) => one?.['gone_at'] !== null);
  await until('the person is stopped', async () => isMarked(eva).every(Boolean));
  expect(row('consents', eva.jobCandidateId)).toMatchObject({ state: 'withdrawn', gone_at: null });
  expect(isMarked(kim)).toEqual([false, false]);

  const cases = store.kysely.selectFrom('privacy_cases').selectAll().where('tenant_id', '=', tenant);
  const [waiting] = await cases.execute();
  expect(waiting).toMatchObject({ candidate_id: String(eva.candidateId), cause: 'withdrawn', state: 'due' });
  // A day passes.
  await store.kysely
    .updateTable('privacy_cases')
    .set({ since: 1, due_at: 1 })
    .where('tenant_id', '=', tenant)
    .execute();
  const erased = async () =>
    (await openErasures(store))
      .filter((one) => one.tenant_id === tenant && one.by === 'policy')
      .map(({ subject }) => (JSON.parse(subject) as Subject).candidates);
  await until('the chore has them erased', async () => (await cases.execute()).length === 0);
  expect(await erased()).toEqual([[String(eva.candidateId)]]);
});
