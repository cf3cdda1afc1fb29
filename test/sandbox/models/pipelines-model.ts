/** Sections 2.1, 3 and 4.1: pipelines, their stages in order, and the people who stand in them. */
import assert from 'node:assert/strict';
import type { Company } from './in-memory-sandbox.ts';
import { chosen, type Pick } from './model-run.ts';

interface Stage {
  id: number;
  name: string;
  type: string;
}

export interface Pipeline {
  id: number;
  name: string;
  stages: Stage[];
}

/** One entry of the lists by stage. */
interface Standing {
  jobCandidateDetails: { id: number };
}

export interface Pipelines {
  pipelines: Pipeline[];
  /** Job candidate to stage; all of them on one job. */
  people: Map<number, number>;
  jobId: number;
  foreign: Pipeline;
}

export const SYSTEM = new Set(['SOURCED', 'APPLIED', 'HIRED']);

export const UNKNOWN = 987_654;

/** One candidate.stage_changed for those moved (E10), and candidate.hired besides (E4). */
export function tellsMove(
  company: Company,
  { jobId }: Pipelines,
  moved: number[],
  from: Stage | undefined,
  to: Stage,
): void {
  const told = company
    .events()
    .map(([event, data]) => [event, data.jobId, data.currentStageId, data.nextStageId, data.jobCandidateIds]);
  const changed = ['candidate.stage_changed', jobId, from?.id, to.id, moved];
  const hired = ['candidate.hired', jobId, undefined, undefined, moved];
  assert.deepEqual(told, moved.length === 0 ? [] : to.type === 'HIRED' ? [changed, hired] : [changed]);
}

export function idOf(model: Pipelines, which: Pick): number {
  return chosen(model.pipelines, which)?.id ?? (which.kind === 'foreign' ? model.foreign.id : UNKNOWN);
}

export function pipelineRefusal({ kind }: Pick): string[] {
  return { known: [], unknown: ['PIPELINE_NOT_FOUND'], foreign: ['PERMISSION_DENIED'] }[kind];
}

export function stageRefusal(stage: Stage | undefined, { kind }: Pick): string[] {
  if (stage !== undefined) return [];
  return kind === 'foreign' ? ['PERMISSION_DENIED'] : ['NOT_FOUND'];
}

/** The first place is SOURCED's (P1); others are 1 to the count before (P4). */
export function isOutside({ stages }: Pipeline, wanted: number | undefined): boolean {
  return wanted !== undefined && (wanted < 2 || wanted > stages.length);
}

export function shown({ id, name: called, type: kind }: Stage): Stage {
  return { id, name: called, type: kind };
}

function read(company: Company): Pipeline[] {
  const list = company.api('GET', '/pipelines').body.data as Pipeline[];
  return list.map(({ id, name: called, stages }) => ({ id, name: called, stages: stages.map(shown) }));
}

export function begin(company: Company, foreign: Company): Pipelines {
  const job = company.api('POST', '/jobs', { title: 'Porter', city: 'Oslo', state: '', country: 'Norway' }).body;
  const person = { jobId: job.id, shouldParseResume: true };
  const added = [1, 2, 3].map((nth) => company.api('POST', '/candidates', { ...person, email: `p${nth}@example.org` }));
  const [first] = read(company);
  const people = added.map((answer): [number, number] => [answer.body.data.jobCandidateId, first?.stages[0]?.id ?? 0]);
  return { pipelines: read(company), people: new Map(people), jobId: job.id, foreign: read(foreign)[0] as Pipeline };
}

export function compare(model: Pipelines, company: Company): void {
  assert.deepEqual(read(company), model.pipelines);
  for (const [stageId, people] of Map.groupBy(model.people, ([, at]) => at)) {
    const inside = company.api('GET', `/job-candidates/stage/${stageId}/candidates`).body.data as Standing[];
    assert.deepEqual(
      inside.map(({ jobCandidateDetails }) => jobCandidateDetails.id).toSorted(),
      people.map(([id]) => id).toSorted(),
    );
  }
}
