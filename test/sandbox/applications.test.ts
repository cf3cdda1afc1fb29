import { expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { openPartner, outcome } from './open-partner.ts';
import { eventually, type Json, openReceiver } from './open-sandbox.ts';

const ada = { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace', phone: '+447700900123' };
const answers = {
  currentJobTitle: 'Countess',
  company: 'Engine Ltd',
  noticePeriod: '2 months',
  isWillingToRelocate: true,
  expectedCTC: 90_000,
  currencyExpectedCTC: 'USD',
  expectedCTCPeriod: 'YEARLY',
  screeningQuestionAnswer: [{ question: 'Why us?', answer: 'The engine' }],
};
const JOB = 50_001;

async function openWithJob(options: Parameters<typeof openPartner>[0] = {}) {
  const sandbox = await openPartner({ jobs: 1, ...options });
  return {
    ...sandbox,
    apply: async (more: Json = {}): Promise<Json> =>
      sandbox.control.act('apply', { jobId: JOB, candidate: ada, ...more }),
    application: async (jobCandidateId: number) => sandbox.api('GET', `/job-candidates/${jobCandidateId}/application`),
    consent: async (jobCandidateId: number) =>
      sandbox.api('GET', `/job-candidates/${jobCandidateId}/application/consent-document`),
  };
}

async function pdfAt(url: string): Promise<[number, string]> {
  const response = await fetch(url);
  return [response.status, await response.text()];
}

const form = { application: { ...answers, otherFiles: [{ name: 'References' }] }, policyVersion: '2026-02' };

test('the application record holds the form and the consent', async () => {
  await using sandbox = await openWithJob();
  const { jobCandidateId, candidateId } = await sandbox.apply(form);
  const { now } = await sandbox.control.health();
  const { status, body } = await sandbox.application(jobCandidateId);
  const expiresAt = now + 365 * 86_400_000;
  expect([status, body.status]).toEqual([200, 'success']);
  expect(body.data).toEqual({
    jobCandidateId,
    jobId: JOB,
    candidateId,
    appliedAt: now,
    candidate: { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com', phone: '+447700900123' },
    ...answers,
    currentCTC: null,
    currencyCurrentCTC: null,
    currentCTCPeriod: null,
    gender: null,
    dateOfBirth: null,
    nationality: null,
    resumeUrl: expect.stringContaining('/files/resume/'),
    otherFiles: [{ name: 'References', url: expect.stringContaining('/files/application-file/') }],
    consent: { acceptedAt: now, policyVersion: '2026-02', consentDocumentUrl: expect.any(String), expiresAt },
  });
  const consent = (await sandbox.consent(jobCandidateId)).body.data;
  expect(consent).toEqual({
    jobCandidateId,
    document: {
      name: expect.any(String),
      category: 'dpa_acknowledgment',
      policyVersion: '2026-02',
      acceptedAt: now,
      pdfUrl: expect.any(String),
      expiresAt,
    },
  });
});

// Section 2.4: the application record is from the hosted page.
test('somebody who is known already applies with the name and phone typed on the page', async () => {
  await using sandbox = await openWithJob();
  const known = { email: 'ada@example.com', firstName: 'Ada', lastName: 'Byron' };
  const { candidateId } = (await sandbox.control.act('addCandidate', { candidate: known })) as Json;
  const applied = await sandbox.apply();
  expect(applied.candidateId).toBe(candidateId);
  const { data } = (await sandbox.application(applied.jobCandidateId)).body;
  expect(data.candidate).toEqual(ada);
  expect((await sandbox.api('GET', `/candidates/${candidateId}`)).body.data).toMatchObject({ ...known, phone: null });
});

test('resume, files and consent are behind URLs that are new each time, and expire', async () => {
  await using sandbox = await openWithJob();
  const { jobCandidateId } = await sandbox.apply(form);
  const { data } = (await sandbox.application(jobCandidateId)).body;
  const { document } = (await sandbox.consent(jobCandidateId)).body.data;
  const urls = [data.resumeUrl, data.otherFiles[0].url, data.consent.consentDocumentUrl, document.pdfUrl];
  const again = (await sandbox.application(jobCandidateId)).body.data;
  expect(new Set([...urls, again.resumeUrl]).size).toBe(5);
  const texts = await Promise.all(urls.map(pdfAt));
  for (const [code, text] of texts) expect([code, text.slice(0, 8)]).toEqual([200, '%PDF-1.4']);
  expect(texts.map(([, text]) => text)).toMatchObject([
    expect.stringContaining('Resume of Ada Lovelace'),
    expect.stringContaining('References'),
    expect.stringContaining('Policy version 2026-02'),
    texts[2]?.[1],
  ]);
  await sandbox.later(15 * 60_000);
  for (const url of urls) expect((await pdfAt(url))[0]).toBe(403);
  expect((await pdfAt((await sandbox.consent(jobCandidateId)).body.data.document.pdfUrl))[0]).toBe(200);
});

test('an application without consent or resume says so; the document is 409 NO_CONSENT_RECORD', async () => {
  await using sandbox = await openWithJob();
  const { jobCandidateId } = await sandbox.apply({
    candidate: { email: 'bare@example.com' },
    consent: false,
    resume: false,
  });
  const { data } = (await sandbox.application(jobCandidateId)).body;
  expect(data).toMatchObject({
    candidate: { firstName: null, phone: null },
    resumeUrl: null,
    consent: null,
    screeningQuestionAnswer: [],
    otherFiles: [],
  });
  expect(outcome(await sandbox.consent(jobCandidateId))).toEqual([409, 'NO_CONSENT_RECORD']);
});

test('whoever did not come through the hosted page has no application', async () => {
  await using sandbox = await openWithJob();
  const added = (await sandbox.control.act('addCandidate', { jobId: JOB, candidate: ada })) as Json;
  const theirs = { companyId: sandbox.otherCompanyId };
  const job = await sandbox.control.act('createJob', { ...theirs, job: { title: 'Theirs' } });
  const foreign = (await sandbox.control.act('apply', { ...theirs, jobId: Number(job['id']), candidate: ada })) as Json;
  for (const read of [sandbox.application, sandbox.consent]) {
    expect(outcome(await read(added.jobCandidateId))).toEqual([409, 'NO_APPLICATION']);
    expect(outcome(await read(foreign.jobCandidateId))).toEqual([404, 'NOT_FOUND']);
    expect(outcome(await read(999))).toEqual([404, 'NOT_FOUND']);
    expect(outcome(await read('abc' as never))).toEqual([400, 'INVALID_REQUEST']);
  }
});

test('what an update of the job candidate changes shows in the application record', async () => {
  await using sandbox = await openWithJob();
  const { jobCandidateId } = await sandbox.apply({ application: answers });
  const changes = { noticePeriod: 'none', currentCTC: 70_000, nationality: 'British' };
  await sandbox.partner.jobCandidates.update({
    params: { jobCandidateId },
    body: { ...changes, evaluationStatus: 'APPROVED' },
  });
  const { data } = await sandbox.partner.jobCandidates.getApplication({ params: { jobCandidateId } });
  expect(data).toMatchObject({ ...answers, ...changes });
  expect('evaluationStatus' in data).toBe(false);
});

test('an application is told with URLs of the resume and the consent document that open', async () => {
  await using receiver = await openReceiver();
  await using sandbox = await openWithJob({ webhookUrl: receiver.url });
  const { jobCandidateId, candidateId } = await sandbox.apply();
  await sandbox.apply({ candidate: { email: 'bare@example.com' }, consent: false, resume: false });
  const received = await eventually(
    () => receiver.received.filter(({ event }) => event === 'candidate.applied'),
    (seen) => seen.length === 2,
  );
  const [full, bare] = received.map(({ body }) => body.data).toSorted((a, b) => a.jobCandidateId - b.jobCandidateId);
  expect(full).toMatchObject({ jobCandidateId, candidateId, jobId: JOB });
  for (const url of [full.resumeUrl, full.dpaDocumentUrl]) expect((await pdfAt(url))[0]).toBe(200);
  expect([bare.resumeUrl, bare.dpaDocumentUrl]).toEqual([null, null]);
});

test('a fresh sandbox has assessments with questions, a flow at work, and applications of both kinds', async () => {
  const look = async () => {
    await using sandbox = await openPartner({ jobs: 2, candidates: 29 });
    const { partner } = sandbox;
    const assessments = (await partner.readAll(contract.assessments.list)).items;
    const flows = (await partner.readAll(contract.assessmentFlows.list)).items;
    const flowCandidates = (
      await partner.readAll(contract.assessmentFlows.listCandidates, { params: { id: flows[0]?.id ?? 0 } })
    ).items;
    const submissions = (
      await partner.readAll(contract.assessments.listCandidates, {
        params: { assessmentId: assessments[1]?.assessmentId ?? '' },
      })
    ).items;
    const stage = (await sandbox.api('GET', '/job-candidates/stage?stageType=APPLIED&perPage=100')).body.data;
    const applications = [];
    for (const { jobCandidateDetails } of stage)
      applications.push(outcome(await sandbox.api('GET', `/job-candidates/${jobCandidateDetails.id}/application`))[0]);
    expect(assessments.map(({ testName, questionCount }) => [testName, questionCount])).toEqual([
      ['Meet the team', 4],
      ['First interview', 4],
    ]);
    expect(flowCandidates.map(({ status }) => status).slice(1)).toEqual(['IN_PROGRESS', 'NOT_STARTED']);
    expect(submissions.map(({ interviewStatus, ...rest }) => [interviewStatus, typeof rest['score']])).toEqual([
      ['COMPLETED', 'number'],
      ['COMPLETED', 'object'],
    ]);
    expect(applications.filter((status) => status === 200)).toHaveLength(2);
    expect(await sandbox.control.counts({ kind: 'event' })).toEqual({});
    // The port is another each time.
    return JSON.stringify([assessments, flows, flowCandidates, submissions]).replaceAll(new URL(sandbox.url).host, '');
  };
  expect(await look()).toBe(await look());
});
