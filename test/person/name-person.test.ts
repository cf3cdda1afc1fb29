import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { carryOutErasure } from '../../activities/erase/carry-out.ts';
import { withTenant } from '../../src/operator/open-tenant.ts';
import { findPerson } from '../../src/operator/person.ts';
import { askErasure } from '../../src/store/erasures.ts';
import { completeIds } from '../../src/store/person-data.ts';
import { openPullWorld } from '../activities/streams/pull-world.ts';

test('whoever is named by an application that only landed is found with all that landed of them', async () => {
  const streams = '{ candidates: { every: 1h }, applications: { every: 1h } }';
  const { world, store, pull, rows } = await openPullWorld(streams, { candidates: 6, jobs: 1 });
  const { tenantsDir, dataDir } = world;
  for (const stream of ['candidates', 'applications'] as const) await pull('full', { stream });
  const [[application = '', row] = []] = rows('applications');
  const candidate = String(row?.['candidate_id']);
  const parts = { store, places: { tenantsDir, dataDir }, tenantId: 'acme', by: 'ada' };
  const landed = [1, 1].map((count, nth) => ({
    place: `landing table of ${['candidates', 'applications'][nth]}`,
    count,
  }));
  for (const who of [`candidate:${candidate}`, `application:${application}`]) {
    const found = await findPerson(parts, who);
    expect(found, who).toMatchObject({ candidates: [candidate], jobCandidates: [application] });
    expect(
      found.places.filter(({ place }) => place.startsWith('landing')),
      who,
    ).toEqual(expect.arrayContaining(landed));
  }
});

test('of an application that did not land, the hiring platform tells whose it is', async () => {
  const { world, store, pull } = await openPullWorld('{ candidates: { every: 1h } }', { candidates: 6, jobs: 1 });
  const { tenantsDir, dataDir } = world;
  await pull('full');
  const [one] = await world.applicants();
  const [id, candidateId] = [String(one?.jobCandidateId), String(one?.candidateId)];
  const parts = { store, places: { tenantsDir, dataDir }, tenantId: 'acme', by: 'ada' };
  const found = await findPerson(parts, `application:${id}`);
  expect(found).toMatchObject({ candidates: [candidateId], jobCandidates: [id] });
  expect(found.places).toContainEqual({ place: 'landing table of candidates', count: 1 });
  await expect(findPerson(parts, 'application:4711')).resolves.toMatchObject({ candidates: [], places: [] });
});

test('a receipt names the landing tables whose rows tell nothing of whom they are about', async () => {
  const streams = '{ interviews: { every: 1h }, bookings: { every: 1h }, screenings: { every: 1h } }';
  const { world, store, edit } = await openPullWorld(streams, { candidates: 2, jobs: 1 });
  const { tenantsDir, dataDir } = world;
  await writeFile(join(tenantsDir, 'interviews.yaml'), 'fields: { jobCandidateId: null }\n');
  await writeFile(join(tenantsDir, 'bookings.yaml'), 'fields: { entityType: null }\n');
  const own = 'interviews: { every: 1h, mapping: interviews.yaml }, bookings: { every: 1h, mapping: bookings.yaml }';
  await edit((text) => text.replace('interviews: { every: 1h }, bookings: { every: 1h }', own));
  const none = { jobCandidates: [], enrolments: [], employees: [] };
  const subject = await completeIds(store, 'acme', { candidates: ['501'], ...none });
  const { erasure_id: erasure } = await askErasure(store, { subject, by: 'ann', reason: 'asked', employee: 'keep' });
  const receipt = await withTenant({ store, places: { tenantsDir, dataDir }, tenantId: 'acme' }, async (open) => {
    const temporal = { forgetHire: async () => 0, forgetTenant: async () => 0 };
    return carryOutErasure({ ...open.deps, ...temporal, dataDir, connect: async () => open.connection }, erasure);
  });
  expect(receipt?.left).toEqual([
    expect.stringMatching(/^Landing table of interviews: .*jobCandidateId/),
    expect.stringMatching(/^Landing table of bookings: .*entityType/),
  ]);
});
