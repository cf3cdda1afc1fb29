/** Sections 2.3, 2.4, 3, 4.3 and 4.4: people, the jobs they are on, and where they stand there. */
import assert from 'node:assert/strict';
import type { Company } from './in-memory-sandbox.ts';
import { chosen, type Pick } from './model-run.ts';

interface Application {
  id: number;
  jobId: number;
  candidateId: number;
  stage: Stage;
  rejected: boolean;
}

export interface Stage {
  id: number;
  name: string;
  type: string;
}

export interface JobCandidates {
  stages: Stage[];
  jobs: Array<{ id: number; status: string }>;
  /** By e-mail in lower case: unique per company (C9). */
  candidates: Map<string, number>;
  applications: Application[];
  /** Every id ever given; none is given again. */
  given: Set<number>;
  foreign: { stageId: number; jobId: number; jobCandidateId: number };
}

const UNKNOWN = 987_654;

export function enter(model: JobCandidates, application: Omit<Application, 'rejected'>): void {
  assert.ok(!model.given.has(application.id), 'an id is never given twice');
  model.given.add(application.id);
  model.applications.push({ ...application, rejected: false });
}

export type Told = [event: string, about: number | number[]];

export function tells(company: Company, right: Told[]): void {
  const told = company.events().map(([name, data]) => [name, data.jobCandidateIds ?? data.jobCandidateId]);
  assert.deepEqual(told, right);
}

export function stageOf({ stages }: JobCandidates, type: string): Stage {
  return stages.find((stage) => stage.type === type) as Stage;
}

export function idOf(model: JobCandidates, which: Pick): number {
  return chosen(model.applications, which)?.id ?? foreignOr(which, model.foreign.jobCandidateId);
}

export function foreignOr(which: Pick, foreign: number): number {
  return which.kind === 'foreign' ? foreign : UNKNOWN;
}

interface ListedJob {
  id: number;
  status: string;
  pipelineStage: Array<{ totalCandidate: number }>;
  rejectedCandidateCount: number;
}

export function begin(company: Company, foreign: Company): JobCandidates {
  const place = { city: 'Oslo', state: '', country: 'Norway' };
  const jobs = ['ACTIVE', 'DRAFT', 'ACTIVE'].map((status) => {
    const { body } = company.api('POST', '/jobs', { title: 'Porter', ...place, status });
    return { id: body.id as number, status };
  });
  const theirs = foreign.api('POST', '/jobs', { title: 'Porter', ...place, status: 'ACTIVE' }).body.id as number;
  const them = foreign.api('POST', '/candidates', { email: 'x@example.org', jobId: theirs }).body.data;
  const [pipeline] = company.api('GET', '/pipelines').body.data;
  const [other] = foreign.api('GET', '/pipelines').body.data;
  const stages = pipeline.stages.map(({ id, name, type }: Stage) => ({ id, name, type }));
  return {
    stages,
    jobs,
    candidates: new Map(),
    applications: [],
    given: new Set(),
    foreign: { stageId: other.stages[0].id, jobId: theirs, jobCandidateId: them.jobCandidateId },
  };
}

export function compare(model: JobCandidates, company: Company): void {
  const { jobs } = company.api('GET', '/jobs?perPage=100').body;
  const right = model.jobs
    .filter((one) => one.status !== 'DELETED')
    .map((one) => {
      const own = model.applications.filter(({ jobId }) => jobId === one.id);
      const totals = model.stages.map((stage) => own.filter((person) => person.stage === stage).length);
      return [one.id, one.status, totals, own.filter(({ rejected }) => rejected).length];
    });
  const shown = jobs.map((one: ListedJob) => [
    one.id,
    one.status,
    one.pipelineStage.map(({ totalCandidate }) => totalCandidate),
    one.rejectedCandidateCount,
  ]);
  assert.deepEqual(shown.toSorted(), right.toSorted());
}
