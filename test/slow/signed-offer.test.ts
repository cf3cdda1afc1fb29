import { readdir } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { joinFleet } from '../harness/fleet.ts';
import { untilHired } from '../harness/hiring.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { until } from '../harness/world.ts';

test('an offer is in the record of the employee soon after it is signed, hours before the next pass', async () => {
  const folder = await scratchFolder();
  const world = await joinFleet({
    jobs: 1,
    candidates: 2,
    hris: { files: { folder } },
    edit: (text) => `${text}documents: [offers]\nstreams: { documents: { every: 6h } }\n`,
  });
  onTestFinished(world.close);
  const [applicant] = await world.applicants();
  const jobCandidateId = applicant?.jobCandidateId ?? 0;
  await world.control.act('move', { jobCandidateIds: [jobCandidateId], stageType: 'HIRED' });
  await untilHired(world, 1);
  const files = async (): Promise<string[]> =>
    (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.pdf'));
  // Onboarding had an offer of its own, signed while the hire was under way.
  await until('the offer of the onboarding is in the record', async () => (await files()).length === 1);
  const { offerId } = (await world.control.act('createOffer', { jobCandidateId, name: 'Offer' })) as {
    offerId: string;
  };
  await world.control.act('completeOffer', { offerId });
  const signed = performance.now();
  await until('the offer is in the record', async () => (await files()).length === 2);
  expect(await files()).toHaveLength(2);
  console.log(`an offer is in the record ${Math.round(performance.now() - signed)} ms after its signature`);
});
