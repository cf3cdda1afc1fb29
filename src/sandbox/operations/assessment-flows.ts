/** Section 4.7: multi-step assessment flows. */
import {
  createAssessmentFlow,
  findAssessmentFlow,
  listAssessmentFlows,
  renderAssessmentFlow,
  updateAssessmentFlow,
} from '../records/assessment-flows/assessment-flows.ts';
import { assign, listFlowCandidates, renderFlowCandidate } from '../records/assessment-flows/flow-progress.ts';
import { personOf } from '../records/assessments/invites.ts';
import { findJob } from '../records/jobs/jobs.ts';
import { type OperationTree, success } from './operation.ts';

export const assessmentFlows = {
  list: (ctx) => success(listAssessmentFlows(ctx).map((flow) => renderAssessmentFlow(ctx, flow))),

  create(ctx, { body }) {
    const { id, name, companyId, status } = createAssessmentFlow(ctx, body);
    return success({ id, flowName: name, companyId, status });
  },

  update: (ctx, { params, body }) => success(renderAssessmentFlow(ctx, updateAssessmentFlow(ctx, params.id, body))),

  get: (ctx, { params }) => success(renderAssessmentFlow(ctx, findAssessmentFlow(ctx, params.id))),

  /** pageSize wins over perPage (L6, assumed). */
  listCandidates(ctx, { params, query }) {
    findAssessmentFlow(ctx, params.id);
    const { page, status, search } = query;
    const perPage = query.pageSize ?? query.perPage;
    const { candidates, total } = listFlowCandidates(
      ctx,
      params.id,
      { status, search },
      { number: page, size: perPage },
    );
    return success(candidates.map(renderFlowCandidate), { pagination: { page, perPage, total } });
  },

  assign(ctx, { params, body: { email, jobId, talentId, ...invitee } }) {
    const flow = findAssessmentFlow(ctx, params.id);
    if (jobId !== undefined) findJob(ctx, jobId);
    const { candidate, isNew } = assign(ctx, flow, personOf(ctx, { ...invitee, emailAddress: email }), {
      jobId,
      talentId,
    });
    return success({
      message: isNew ? 'Candidate assigned' : 'Candidate was assigned before',
      flowCandidateId: candidate.id,
      firstStepAssessmentId: flow.steps[0]?.assessmentId ?? null,
    });
  },
} satisfies OperationTree['assessmentFlows'];
