import { expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { eventually, type Json, openReceiver, openSandbox } from './open-sandbox.ts';
import { textOfPdf } from './read-pdf.ts';

const otherKey = `sk_test_${'f'.repeat(22)}`;

async function open(webhookUrl?: string) {
  const sandbox = await openSandbox({ jobs: 2, clock: 'stepped', otherKey, webhookUrl });
  // People who are added later have no offers.
  await sandbox.control.act('seed', { candidates: 4 });
  const { jobs } = (await sandbox.api('GET', '/jobs')).body;
  const lists = await Promise.all(
    jobs.map((job: Json) => sandbox.api('GET', `/job-candidates/job/${job.id}/candidates`)),
  );
  const people: Json[] = lists.flatMap((list) => list.body.data);
  const get = async (offerId: string) => (await sandbox.partner.onboarding.getOffer({ params: { offerId } })).data;
  return { ...sandbox, people, get };
}

async function titleAt(url: string): Promise<string | undefined> {
  return textOfPdf(Buffer.from(await (await fetch(url)).arrayBuffer()))[0];
}

test('an offer goes from draft through its signers in turn to completed, and is told once', async () => {
  await using receiver = await openReceiver();
  await using sandbox = await open(receiver.url);
  const { control, get } = sandbox;
  const person = sandbox.people[0];
  const { offerId } = await control.act('createOffer', { jobCandidateId: person.id, name: 'Offer for a nurse' });
  expect(await get(offerId)).toMatchObject({
    offerId,
    status: 'draft',
    jobCandidateId: String(person.id),
    candidateId: String(person.candidateId),
    jobId: String(person.jobId),
    signers: [
      { status: 'pending', signingOrder: 1, openedAt: null, signedAt: null },
      { status: 'pending', signingOrder: 2, email: person.candidate_details.email },
    ],
    signedPdfUrl: null,
    certificateUrl: null,
  });
  await expect(control.act('signOffer', { offerId, signingOrder: 1 })).rejects.toMatchObject({ status: 400 });
  await control.act('sendOffer', { offerId });
  await expect(control.act('sendOffer', { offerId })).rejects.toMatchObject({ status: 400 });
  await expect(control.act('signOffer', { offerId, signingOrder: 2 })).rejects.toMatchObject({ status: 400 });
  await control.act('openOffer', { offerId, signingOrder: 1 });
  const states = async () => {
    const offer = await get(offerId);
    return [offer.status, ...(offer.signers ?? []).map((signer) => signer.status)];
  };
  expect(await states()).toEqual(['in_progress', 'opened', 'pending']);
  await control.act('advanceClock', { ms: 60_000 });
  await control.act('signOffer', { offerId, signingOrder: 1 });
  await control.act('remindOffer', { offerId });
  expect(await states()).toEqual(['in_progress', 'signed', 'sent']);
  expect((await control.counts({ kind: 'event' })).event).toBeUndefined();
  await control.act('signOffer', { offerId, signingOrder: 2 });
  expect(await states()).toEqual(['completed', 'signed', 'signed']);
  const [told] = await eventually(
    () => receiver.received,
    (seen) => seen.length === 1,
  );
  expect(told?.event).toBe('onboarding.offer.completed');
  const { candidateId, jobId } = person;
  expect(told?.body.data).toMatchObject({ offerId, candidateId, jobCandidateId: person.id, jobId });
  const offer = await get(offerId);
  expect(offer.signers?.[0]).toMatchObject({ openedAt: expect.any(Number), signedAt: expect.any(Number) });
  expect(JSON.stringify(offer)).not.toMatch(/salary|compensation/i);
});

test('the PDFs of a completed offer stay when its candidate is deleted', async () => {
  await using sandbox = await open();
  const { control, get, people } = sandbox;
  const { offerId } = await control.act('createOffer', { jobCandidateId: people[0].id, name: 'Offer for a nurse' });
  await control.act('completeOffer', { offerId });
  await control.act('deleteCandidate', { candidateIds: [people[0].candidateId] });
  const { signedPdfUrl, certificateUrl } = await get(offerId);
  expect(await titleAt(signedPdfUrl ?? '')).toBe('Offer for a nurse');
  expect(await titleAt(certificateUrl ?? '')).toBe('Audit certificate');
});

test('both PDFs of a completed offer are behind URLs that expire, in the event as in the record', async () => {
  await using receiver = await openReceiver();
  await using sandbox = await open(receiver.url);
  const { control, get } = sandbox;
  const { offerId } = await control.act('createOffer', {
    jobCandidateId: sandbox.people[0].id,
    name: 'Offer for a nurse',
  });
  await control.act('completeOffer', { offerId });
  const [told] = await eventually(
    () => receiver.received,
    (seen) => seen.length === 1,
  );
  const offer = await get(offerId);
  for (const { signedPdfUrl, certificateUrl } of [offer, told?.body.data]) {
    expect(await titleAt(signedPdfUrl)).toBe('Offer for a nurse');
    expect(await titleAt(certificateUrl)).toBe('Audit certificate');
  }
  await control.act('advanceClock', { ms: 15 * 60_000 });
  expect((await fetch(offer.signedPdfUrl ?? '')).status).toBe(403);
  expect((await fetch((await get(offerId)).signedPdfUrl ?? '')).status).toBe(200);
});

test('a cancelled offer is gone, a completed one cannot be cancelled', async () => {
  await using sandbox = await open();
  const { control } = sandbox;
  const { offerId } = await control.act('createOffer', { jobCandidateId: sandbox.people[0].id });
  await control.act('cancelOffer', { offerId });
  expect((await sandbox.api('GET', `/onboarding/offers/${offerId}`)).status).toBe(404);
  const signers = [{ name: 'One', email: 'one@example.com' }];
  const other = await control.act('createOffer', { jobCandidateId: sandbox.people[0].id, signers });
  expect((await control.act('completeOffer', { offerId: other.offerId })).status).toBe('completed');
  await expect(control.act('cancelOffer', { offerId: other.offerId })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
  });
});

test('offers are filtered by job candidate, candidate, job and status, and paged', async () => {
  await using sandbox = await open();
  for (const { id } of sandbox.people) await sandbox.control.act('createOffer', { jobCandidateId: id });
  const { items } = await sandbox.partner.readAll(contract.onboarding.listOffers);
  expect(items.map((one) => one.jobCandidateId)).toEqual(sandbox.people.map((one) => String(one.id)));
  await sandbox.control.act('completeOffer', { offerId: items[3]!.offerId });
  const [first] = sandbox.people;
  const found = async (query: string) => (await sandbox.api('GET', `/onboarding/offers?${query}`)).body.data;
  const ids = async (query: string) => (await found(query)).offers.map((one: Json) => one.jobCandidateId);
  expect(await ids(`jobCandidateId=${first.id}`)).toEqual([first.id]);
  expect(await ids(`candidateId=${first.candidateId}`)).toEqual([first.id]);
  expect((await ids(`jobId=${first.jobId}`)).length).toBe(2);
  expect((await ids('status=draft')).length).toBe(3);
  expect((await found('status=completed')).offers[0].signedPdfUrl).toMatch(/^http/);
  expect(await ids('status=in_progress')).toEqual([]);
  expect((await found('limit=3&page=2')).pagination).toEqual({ page: 2, limit: 3, total: 4, totalPages: 2 });
  for (const query of ['limit=101', 'page=0', 'status=signed', 'jobId=x'])
    expect((await sandbox.api('GET', `/onboarding/offers?${query}`)).body.error.code).toBe('INVALID_REQUEST');
});

test("an unknown offer and another company's are 404", async () => {
  await using sandbox = await open();
  const { offerId } = await sandbox.control.act('createOffer', { jobCandidateId: sandbox.people[0].id });
  for (const [id, key] of [
    [offerId, otherKey],
    ['none', sandbox.key],
  ] as const) {
    const { status, body } = await sandbox.api('GET', `/onboarding/offers/${id}`, undefined, { key });
    expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
  }
  const { data } = (await sandbox.api('GET', '/onboarding/offers', undefined, { key: otherKey })).body;
  expect(data.offers).toEqual([]);
});

test('a fresh sandbox with people has an offer in each status', async () => {
  await using sandbox = await openSandbox({ jobs: 1, candidates: 5, clock: 'stepped' });
  const { items } = await sandbox.partner.readAll(contract.onboarding.listOffers);
  expect(items.map((one) => one.status)).toEqual(['completed', 'in_progress', 'draft']);
  const [signed] = items;
  expect((await fetch(signed?.signedPdfUrl ?? '')).status).toBe(200);
  expect(await sandbox.control.counts({ kind: 'event' })).toEqual({});
});
