import type { Context } from '../context.ts';
import { type Assessment, listAssessments } from '../records/assessments/assessments.ts';
import {
  finishInterview,
  leaveInterview,
  resumeInterview,
  scoreInterview,
  startInterview,
  timeOutInterview,
} from '../records/assessments/interviews.ts';
import { type Invite, invite, inviteOf, personOf } from '../records/assessments/invites.ts';

const unscored = { scored: false };

/** How far an invited person has come: every state that section 4.6 speaks of. */
const STATES: readonly ((ctx: Context, invite: Invite) => void)[] = [
  () => undefined,
  (ctx, invited) => void startInterview(ctx, invited),
  (ctx, invited) => void leaveInterview(ctx, startInterview(ctx, invited).id, unscored),
  (ctx, invited) => {
    const { id } = startInterview(ctx, invited);
    leaveInterview(ctx, id, unscored);
    resumeInterview(ctx, id);
  },
  (ctx, invited) => void finishInterview(ctx, startInterview(ctx, invited).id, unscored),
  (ctx, invited) => void timeOutInterview(ctx, startInterview(ctx, invited).id, unscored),
  (ctx, invited) => {
    const { id } = finishInterview(ctx, startInterview(ctx, invited).id, unscored);
    scoreInterview(ctx, { submissionId: id });
  },
  (ctx, invited) => {
    const { id } = timeOutInterview(ctx, startInterview(ctx, invited).id, unscored);
    scoreInterview(ctx, { submissionId: id });
  },
];

/** These people are invited to the assessment that may be resumed, and each has come a different way. */
export function seedInterviews(ctx: Context, jobCandidateIds: readonly number[]): void {
  const { assessments } = listAssessments(ctx, { number: 1, size: 100 });
  const resumable = assessments.find(({ fields }) => fields.resumeAllowed);
  if (resumable === undefined) return;
  for (const [index, jobCandidateId] of jobCandidateIds.entries())
    takePart(ctx, resumable, { jobCandidateId, way: STATES[index % STATES.length] });
}

function takePart(
  ctx: Context,
  assessment: Assessment,
  { jobCandidateId, way }: { jobCandidateId: number; way: (typeof STATES)[number] | undefined },
): void {
  const { email } = personOf(ctx, { jobCandidateId });
  if (inviteOf(ctx, assessment.id, email) !== undefined) return;
  way?.(ctx, invite(ctx, assessment, { jobCandidateId }));
}
