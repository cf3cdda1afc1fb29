import type { ApiResponse } from '../api-message.ts';
import type { Context } from '../context.ts';
import { invalidRequest } from '../errors.ts';
import { questionsOf } from '../records/assessments/assessment-questions.ts';
import { type Assessment, findAssessment } from '../records/assessments/assessments.ts';
import { finishInterview, leaveInterview, resumeInterview, startInterview } from '../records/assessments/interviews.ts';
import { type Invite, inviteOf } from '../records/assessments/invites.ts';
import { type Submission, submissionOf } from '../records/assessments/submissions.ts';
import { alert, type Html, hostedPage, html } from './html.ts';
import type { HostedPage } from './visit.ts';

const ENDED: Record<string, string> = {
  COMPLETED: 'Thank you. Your interview has been handed in.',
  TIMED_OUT: 'This interview has ended.',
  PAUSED: 'You have left the interview. Open the same link to go on.',
};

/** Where an invited person takes the interview: the e-mail of the invitation is the ticket. */
export const interviewPage: HostedPage = {
  show: (ctx, { key, refusal }) => welcome(findAssessment(ctx, key), refusal),

  act(ctx, { key }, form) {
    const assessment = findAssessment(ctx, key);
    const invite = inviteOf(ctx, key, form.get('email') ?? '');
    if (invite === undefined) throw invalidRequest('Nobody with this e-mail address is invited');
    const submission = taken(ctx, invite, form.get('step'));
    return submission.status === 'IN_PROGRESS' ? questions(ctx, assessment, invite) : ended(assessment, submission);
  },
};

/** Begins, goes on, leaves or hands in; whoever has ended it is told so. */
function taken(ctx: Context, invite: Invite, step: string | null): Submission {
  const before = submissionOf(ctx, invite.id);
  if (before === undefined) return startInterview(ctx, invite);
  if (before.status === 'PAUSED') return resumeInterview(ctx, before.id);
  if (before.status !== 'IN_PROGRESS' || step === 'begin') return before;
  return step === 'leave'
    ? leaveInterview(ctx, before.id, { scored: true })
    : finishInterview(ctx, before.id, { scored: true });
}

function welcome({ status, fields }: Assessment, refusal: string | undefined): ApiResponse {
  if (status !== 'ACTIVE')
    return hostedPage(fields.testName, html`<p class="notice">This interview is closed at the moment.</p>`);
  return hostedPage(
    fields.testName,
    html`<p>An interview of about ${fields.duration} minutes for the role ${fields.hiringForRole}.</p>
      ${alert(refusal)}
      <form method="post">
        <input type="hidden" name="step" value="begin">
        <label>E-mail address of your invitation<input name="email" type="email" required autocomplete="email"></label>
        <button class="primary">Begin</button>
      </form>`,
  );
}

/** Answers are not kept: the platform's scores do not depend on them either. */
function questions(ctx: Context, { id, fields }: Assessment, { email }: Invite): ApiResponse {
  const one = ({ question }: { question: string }): Html =>
    html`<label>${question}<textarea rows="3"></textarea></label>`;
  return hostedPage(
    fields.testName,
    html`<p>Take your time. In the sandbox any answer will do, and none is kept.</p>
      <form method="post">
        <input type="hidden" name="email" value="${email}">
        ${questionsOf(ctx, id).map(one)}
        <div class="actions">
          <button class="primary" name="step" value="finish">Hand in</button>
          <button name="step" value="leave">Leave for now</button>
        </div>
      </form>`,
  );
}

function ended({ fields }: Assessment, { status }: Submission): ApiResponse {
  return hostedPage(fields.testName, html`<p class="notice" role="status">${ENDED[status] ?? status}</p>`);
}
