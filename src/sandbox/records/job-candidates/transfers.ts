import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { emit } from '../../events.ts';
import { type Stage, stageById, stageOfType } from '../pipelines/pipelines.ts';

interface Moving {
  id: number;
  candidateId: number;
  stageId: number;
}

/**
 * Takes the people of a job along to another pipeline: into the stage of the same type, or SOURCED where it has none.
 * Nobody is hired by that, so there is no candidate.hired.
 */
export function transferJob(ctx: Context, jobId: number, pipelineId: number): void {
  const people = ctx.state.all<Moving>(
    `select id, candidate_id as candidateId, stage_id as stageId from job_candidates
     where job_id = ? and company_id = ? order by id`,
    jobId,
    ctx.company.id,
  );
  for (const [stageId, group] of Map.groupBy(people, (one) => one.stageId)) {
    const type = stageById(ctx, stageId)?.type ?? 'SOURCED';
    const next = (stageOfType(ctx, pipelineId, type) ?? stageOfType(ctx, pipelineId, 'SOURCED')) as Stage;
    for (const { id } of group) {
      ctx.state.run('update job_candidates set stage_id = ?, moved_at = ? where id = ?', next.id, ctx.now, id);
      effect(ctx, 'stage-move', id, { from: stageId, to: next.id, type: next.type });
    }
    emit(ctx, 'candidate.stage_changed', {
      jobId,
      currentStageId: stageId,
      nextStageId: next.id,
      jobCandidateIds: group.map((one) => one.id),
      candidateIds: group.map((one) => one.candidateId),
    });
  }
}
