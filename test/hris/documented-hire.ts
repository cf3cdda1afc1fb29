import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { ActivityDeps } from '../../activities/connections.ts';
import { finishHire } from '../../activities/hire/finish-hire.ts';
import { employ, readOnboarding } from '../../activities/hire/go-on.ts';
import { pushRecords } from '../../activities/push/push-records.ts';
import { isConnectorError } from '../../src/errors.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { latestHire } from '../../src/store/hires.ts';
import { writeFailpoints } from '../../src/store/open-store.ts';
import { fleetAtSandbox } from '../activities/hire/fleet-at-sandbox.ts';
import { finishOnboardings, listApplicants } from '../harness/world-people.ts';
import type { OpenSandbox } from '../sandbox/open-sandbox.ts';

/** Bytes that are no text, so that nothing on the way may decode them; `size` may be beyond what is taken. */
export function resumeOf(size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, (_, at) => (at * 131 + (at >> 8)) % 256));
}

export interface ServedFile {
  status: number;
  type: string;
  bytes: Buffer;
}

/**
 * One person hired from the hiring stage to the verified write-back, by the activities themselves, into the HRIS of
 * `hris`. `served` is what stands at the address of the resume.
 */
export async function documentedHire(
  hris: string,
  documents = 'resume, onboarding',
  steps?: NonNullable<Parameters<typeof fleetAtSandbox>[0]>['steps'],
) {
  const clock = { ahead: 0 };
  const points = killPoints();
  const plugins = [writeFailpoints(points.pass)];
  const fleet = await fleetAtSandbox({
    hris,
    ...(steps && { steps }),
    store: { now: () => Date.now() + clock.ahead, plugins },
  });
  const served: ServedFile = { status: 200, type: 'application/pdf', bytes: resumeOf(200_000) };
  const resume = await serveFile(served);
  await fleet.apply('acme', `documents: [${documents}]\n`);
  await fleet.reconcile('acme');
  const id = await fleet.hire(await applyWith(fleet.sandbox, resume, documents.includes('consent')));
  const ref = { tenantId: 'acme', jobCandidateId: id, period: 1 };
  const verdicts: unknown[] = [await fleet.open('acme', id)];
  await finishOnboardings(fleet.sandbox.control, fleet.sandbox.partner);
  for (const step of [readOnboarding, employ, finishHire]) verdicts.push(await step(fleet.deps, ref));
  const hire = await latestHire(fleet.store, 'acme', id);
  if (hire?.state !== 'done') throw new Error(`The hire did not end well: ${JSON.stringify(verdicts)}`);
  const enrolment = { onboardingCandidateId: hire.onboarding_candidate_id ?? '' };
  return {
    store: fleet.store,
    sandbox: fleet.sandbox,
    hire,
    served,
    clock,
    /** So late may the partner show a write. */
    lag: (ms: number) => void (fleet.deps.limits.partnerLagMs = ms),
    points,
    run: (runId: string, how: PassOptions = {}) => runToEnd(fleet.deps, clock, { runId, ...how }),
    /** What the partner shows of the enrolment. */
    shown: async () => (await fleet.sandbox.partner.onboarding.getCandidate({ params: enrolment })).data.externalStatus,
    /** SHA-256 of each document of the onboarding, read as anybody else would; of the medical test, or without it. */
    async onboardingHashes(medical?: boolean): Promise<string[]> {
      const read = await fleet.sandbox.partner.readAll(contract.onboarding.listDocuments, { params: enrolment });
      const isMedical = (one: object) => 'stepKey' in one && one.stepKey === 'pre_employment_medical_test';
      const items = read.items.filter((one) => medical === undefined || isMedical(one) === medical);
      const files = await Promise.all(items.map(async ({ pdfUrl }) => (await fetch(pdfUrl ?? '')).arrayBuffer()));
      return files.map((bytes) => hashOf(Buffer.from(bytes))).toSorted();
    },
  };
}

interface PassOptions {
  full?: boolean;
  /** What was lost on the way has its effect before anything is tried again. */
  meanwhile?: Promise<unknown>;
}

/** One pass over the documents, as a worker makes it: again after a kill, and when an open question's time has come. */
async function runToEnd(
  deps: ActivityDeps,
  clock: { ahead: number },
  { runId, full = false, meanwhile }: PassOptions & { runId: string },
) {
  const input = { tenantId: 'acme', stream: 'documents' as const, runId, full, begun: false };
  for (let tries = 0; tries < 6; tries += 1) {
    try {
      return await pushRecords(deps, input);
    } catch (error) {
      const isUnknown = isConnectorError(error) && error.code === 'OUTCOME_UNKNOWN';
      if (!(error instanceof Killed) && !isUnknown) throw error;
      await meanwhile;
      clock.ahead += isUnknown ? (error.retryAfterMs ?? 0) : 0;
    }
  }
  throw new Error('the run came to no end');
}

class Killed extends Error {}

/** What a pass writes; the rate limit's writes come as time passes. */
const OWN = /hire_documents|document_looks|foreign_writes|streams/;

/** Places before and after each write of a pass; the process "dies" at the armed one by throwing. */
function killPoints() {
  let left = 0;
  let passed = 0;
  return {
    pass(name: string): void {
      if (!OWN.test(name)) return;
      passed += 1;
      left -= 1;
      if (left === 0) throw new Killed(name);
    },
    /** Dies at the nth point from now; 0 lives. Returns how many were passed before. */
    arm(nth: number): number {
      const before = passed;
      [passed, left] = [0, nth];
      return before;
    },
  };
}

export function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function serveFile(file: ServedFile): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(file.status, { 'content-type': file.type });
    response.end(file.bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/ana-reyes.pdf?signature=secret`;
}

/** Somebody applies who left a resume, or through the hosted page with consent; the id of the application. */
async function applyWith({ partner, control }: OpenSandbox, resume: string, isHosted: boolean): Promise<number> {
  const [job] = (await partner.readAll(contract.jobs.list)).items;
  const fields = (await partner.readAll(contract.customFields.list, { query: { entityType: 'candidate' } })).items;
  const startDate = fields.find(({ fieldLabel }) => fieldLabel === 'Start date')?.id;
  const before = new Set((await listApplicants(partner)).map(({ jobCandidateId }) => jobCandidateId));
  const ana = { email: 'ana@example.org', firstName: 'Ana', lastName: 'Reyes', city: 'Sydney', country: 'Australia' };
  if (isHosted) {
    const made = await control.act('apply', { jobId: Number(job?.id), candidate: ana });
    const { candidateId, jobCandidateId } = made as { candidateId: number; jobCandidateId: number };
    const of = { customFieldId: String(startDate), entityType: 'candidate', entityId: String(candidateId) } as const;
    await partner.customFieldValues.upsert({ body: { ...of, value: '2027-01-11' } });
    return jobCandidateId;
  }
  await partner.candidates.add({
    body: {
      ...ana,
      educations: [{ degree: 'BSc' }],
      workExperiences: [{ title: 'Chef' }],
      customFields: { [String(startDate)]: '2027-01-11' },
      resume,
      jobId: Number(job?.id),
      shouldParseResume: false,
    },
  });
  const applied = (await listApplicants(partner)).find(({ jobCandidateId }) => !before.has(jobCandidateId));
  return applied?.jobCandidateId ?? 0;
}
