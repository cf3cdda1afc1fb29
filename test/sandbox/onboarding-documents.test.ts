import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { eventually, type Json, openReceiver, openSandbox } from './open-sandbox.ts';
import { textOfPdf } from './read-pdf.ts';

const otherKey = `sk_test_${'d'.repeat(22)}`;

async function open(options: SandboxOptions = {}) {
  const sandbox = await openSandbox({ clock: 'stepped', otherKey, ...options });
  const flowId: string = (await sandbox.api('GET', '/onboarding/flows')).body.data.flows[0].flowId;
  const person = { firstName: 'Zoë', lastName: 'Łukasz-Ōta', email: 'zoe@example.com', externalRef: 'ref-1' };
  const { data } = (await sandbox.api('POST', `/onboarding/flows/${flowId}/candidates`, person)).body;
  const id: string = data.onboardingCandidateId;
  const documents = async (query = ''): Promise<Json[]> =>
    (await sandbox.api('GET', `/onboarding/candidates/${id}/documents${query}`)).body.data.documents;
  const events = async (name: string) =>
    (await sandbox.control.ledger({ kind: 'event', name })).map((event) => event.detail);
  return { ...sandbox, id, flowId, documents, events };
}

async function download(url: string) {
  const response = await fetch(url);
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

test('documents come with the submitted step and are told once verified; the other step ends in a report', async () => {
  await using receiver = await openReceiver();
  await using sandbox = await open({ webhookUrl: receiver.url });
  const onboardingCandidateId = sandbox.id;
  expect(await sandbox.documents()).toEqual([]);
  const act = { onboardingCandidateId, stepKey: 'doc_collection' } as const;
  await sandbox.control.act('submitStep', act);
  expect((await sandbox.documents()).map((one) => [one.name, one.type, one.status, one.verifiedAt])).toEqual([
    ['Identity card', 'document', 'uploaded', null],
    ['Proof of address', 'document', 'uploaded', null],
  ]);
  await sandbox.control.act('rejectStep', act);
  expect((await sandbox.documents())[0].status).toBe('rejected');
  await sandbox.control.act('verifyStep', act);
  await sandbox.control.act('verifyStep', act);
  expect((await sandbox.documents())[0]).toMatchObject({ status: 'verified', verifiedAt: expect.any(Number) });
  const [verified, ...again] = await sandbox.events('onboarding.documents.verified');
  expect(again).toEqual([]);
  const ids = { onboardingCandidateId, flowId: sandbox.flowId, externalRef: 'ref-1' };
  expect(verified).toMatchObject({ ...ids, documents: [{ name: 'Identity card' }, { name: 'Proof of address' }] });
  await sandbox.control.act('verifyStep', { onboardingCandidateId, stepKey: 'background_verification' });
  const [report] = await sandbox.events('onboarding.report.ready');
  expect(report).toMatchObject({ ...ids, name: 'Background verification report' });
  expect((await sandbox.documents('?type=report')).map((one) => one.documentId)).toEqual([report?.['documentId']]);
  expect((await sandbox.documents('?type=document')).length).toBe(2);
  const told = await eventually(
    () => receiver.received.filter((one) => /documents|report/.test(one.event)),
    (seen) => seen.length === 2,
  );
  expect((await download(told[1]?.body.data.pdfUrl)).status).toBe(200);
});

test('a URL gives a real PDF without a key, is new on each read, and answers 403 after 15 minutes', async () => {
  await using sandbox = await open();
  await sandbox.control.act('submitStep', { onboardingCandidateId: sandbox.id, stepKey: 'doc_collection' });
  const params = { onboardingCandidateId: sandbox.id };
  const { items } = await sandbox.partner.readAll(contract.onboarding.listDocuments, { params });
  const [first] = items;
  const read = () => sandbox.partner.onboarding.getDocument({ params: { ...params, documentId: first!.documentId } });
  const { data: second } = await read();
  expect(second).toMatchObject({ documentId: first!.documentId, name: 'Identity card' });
  expect(second.pdfUrl).not.toBe(first!.pdfUrl);
  for (const { pdfUrl } of [first!, second]) {
    const { status, type, bytes } = await download(pdfUrl ?? '');
    expect([status, type]).toEqual([200, 'application/pdf']);
    expect(textOfPdf(bytes).slice(0, 3)).toEqual(['Identity card', 'Zoë ?ukasz-Ota', 'document, uploaded']);
  }
  await sandbox.control.act('advanceClock', { ms: 15 * 60_000 - 1 });
  expect((await download(first!.pdfUrl ?? '')).status).toBe(200);
  const { data: third } = await read();
  await sandbox.control.act('advanceClock', { ms: 1 });
  expect((await download(first!.pdfUrl ?? '')).status).toBe(403);
  expect((await download(third.pdfUrl ?? '')).status).toBe(200);
  expect((await sandbox.control.ledger({ kind: 'request', name: 'file' })).map((row) => row.status)).toEqual([
    200, 200, 200, 403, 200,
  ]);
});

test('a changed URL is no way in: 403 for another record, time or signature, 404 for what is no file', async () => {
  await using sandbox = await open();
  await sandbox.control.act('submitStep', { onboardingCandidateId: sandbox.id, stepKey: 'doc_collection' });
  const [one, two] = await sandbox.documents();
  const url: string = one.pdfUrl;
  const expires = new URL(url).searchParams.get('expires') ?? '';
  for (const changed of [
    url.replace(one.documentId, two.documentId),
    url.replace(`/${String(sandbox.companyId)}/`, `/${String(sandbox.otherCompanyId)}/`),
    url.replace(expires, String(Number(expires) + 1)),
    url.replace(/signature=.*/, 'signature='),
    url.split('?')[0] ?? '',
  ])
    expect([changed, (await download(changed)).status]).toEqual([changed, 403]);
  for (const path of ['/files/', '/files/a/b.pdf', '/files/%zz/1/x.pdf?expires=1'])
    expect([path, (await download(new URL(path, url).href)).status]).toEqual([path, 404]);
});

test('a URL still works after a restart with the same state', async () => {
  const state = join(mkdtempSync(join(tmpdir(), 'sandbox-')), 'state.db');
  let path = '';
  {
    await using sandbox = await open({ state });
    await sandbox.control.act('submitStep', { onboardingCandidateId: sandbox.id, stepKey: 'doc_collection' });
    path = new URL((await sandbox.documents())[0].pdfUrl).href.replace(/^http:\/\/[^/]+/, '');
  }
  await using again = await openSandbox({ state, clock: 'stepped' });
  expect((await download(new URL(path, again.url).href)).status).toBe(200);
});

test("an unknown document or candidate and another company's are 404", async () => {
  await using sandbox = await open();
  await sandbox.control.act('submitStep', { onboardingCandidateId: sandbox.id, stepKey: 'doc_collection' });
  const [{ documentId }] = (await sandbox.documents()) as [Json];
  const mine = `/onboarding/candidates/${sandbox.id}/documents`;
  for (const [path, key] of [
    [mine, otherKey],
    [`${mine}/${documentId}`, otherKey],
    [`${mine}/none`, sandbox.key],
    ['/onboarding/candidates/none/documents', sandbox.key],
    [`/onboarding/candidates/none/documents/${documentId}`, sandbox.key],
  ] as const) {
    const { status, body } = await sandbox.api('GET', path, undefined, { key });
    expect([path, status, body.error.code]).toEqual([path, 404, 'NOT_FOUND']);
  }
});

test('the journey takes 30 files of 10 MB at once, and stops resolving with the enrolment', async () => {
  await using sandbox = await open();
  const onboardingCandidateId = sandbox.id;
  const files = (count: number, bytes = 1) => Array.from({ length: count }, (_, n) => ({ name: `File ${n}`, bytes }));
  const upload = (given: { name: string; bytes: number }[]) =>
    sandbox.control.act('uploadDocuments', { onboardingCandidateId, files: given });
  await expect(upload(files(31))).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  await expect(upload(files(1, 10 * 1024 * 1024 + 1))).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  expect(await sandbox.documents()).toEqual([]);
  expect((await upload(files(30, 10 * 1024 * 1024))).documents).toHaveLength(30);
  const { data } = (await sandbox.api('GET', `/onboarding/candidates/${onboardingCandidateId}`)).body;
  expect([data.overallStatus, data.stepProgress[0].status]).toEqual(['in_progress', 'in_progress']);
  await sandbox.control.act('submitStep', { onboardingCandidateId, stepKey: 'doc_collection' });
  expect(await sandbox.documents()).toHaveLength(30);
  for (const overallStatus of ['terminated', 'rejected', 'failed'] as const) {
    await sandbox.control.act('setOnboardingStatus', { onboardingCandidateId, overallStatus });
    await expect(upload(files(1))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(sandbox.control.act('openJourney', { onboardingCandidateId })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  }
  await sandbox.control.act('setOnboardingStatus', { onboardingCandidateId, overallStatus: 'completed' });
  expect(await sandbox.control.act('openJourney', { onboardingCandidateId })).toMatchObject({ onboardingCandidateId });
});
