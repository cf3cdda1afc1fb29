import { actButton } from './acts.js';
import { browse } from './api.js';
import { badge, card, external, facts, make, minute, raw, table, words } from './dom.js';
import { head } from './people-views.js';

const OPEN_STEPS = ['pending', 'in_progress', 'rejected'];
const ENDED = ['completed', 'rejected', 'failed', 'terminated'];

/** One enrolment: its steps, and what candidate and reviewer do to them. */
export async function enrolmentView(id) {
  const { enrolment, documents } = await browse(`enrolments/${id}`);
  const given = { onboardingCandidateId: enrolment.onboardingCandidateId };
  const isOver = ENDED.includes(enrolment.overallStatus);
  return make(
    'div',
    {},
    head(
      ['#/enrolments', 'Enrolments'],
      `${enrolment.firstName} ${enrolment.lastName}`,
      badge(enrolment.overallStatus),
      [
        !isOver && external(enrolment.journeyUrl, 'Open the journey as the candidate'),
        !isOver && actButton('Finish everything', 'finishOnboarding', { given, ask: ['as'] }),
        actButton('Set the status', 'setOnboardingStatus', { given }),
      ],
    ),
    card(
      'Steps',
      make('ol', { className: 'steps' }, ...enrolment.stepProgress.map((step) => stepPart(given, step, isOver))),
    ),
    card('Documents', documentRows(documents)),
    card(
      'Details',
      facts([
        ['E-mail', enrolment.email],
        ['Phone', enrolment.phoneNumber],
        ['Reference', enrolment.externalRef],
        ['Enrolled', minute(enrolment.enrolledAt)],
        ['HR system says', enrolment.externalStatus && Object.values(enrolment.externalStatus).join(', ')],
      ]),
      raw('As the API answers it', enrolment),
    ),
  );
}

function stepPart(enrolment, { stepKey, status, rejectionReason }, isOver) {
  const given = { ...enrolment, stepKey };
  const acts = [
    OPEN_STEPS.includes(status) &&
      actButton('Submit', 'submitStep', { given: { ...given, status: 'submitted' }, ask: [] }),
    status === 'submitted' && actButton('Verify', 'verifyStep', { given, ask: [], tone: 'primary' }),
    status === 'submitted' && actButton('Reject', 'rejectStep', { given, ask: ['reason'] }),
  ];
  return make(
    'li',
    {},
    make('h3', {}, words(stepKey), ' ', badge(status)),
    status === 'rejected' && make('p', { className: 'soft' }, rejectionReason),
    !isOver && make('div', { className: 'actions' }, ...acts),
  );
}

function documentRows(documents) {
  const rows = documents.map(({ name, type, status, createdAt, pdfUrl }) => ({
    cells: [name, words(type), badge(status), minute(createdAt), external(pdfUrl, 'PDF')],
  }));
  return table(['Name', 'Kind', 'Status', 'From', 'File'], rows, 'No document yet.');
}

const INTERVIEW_ACTS = {
  INVITED: ({ who }) => [
    actButton('Begin', 'startInterview', { given: who, ask: [] }),
    actButton('Take it to the end', 'takeInterview', { given: who, ask: ['score', 'scored'], tone: 'primary' }),
  ],
  IN_PROGRESS: ({ given }) => [
    actButton('Hand in', 'finishInterview', { given, ask: ['score', 'scored'], tone: 'primary' }),
    actButton('Leave', 'leaveInterview', { given, ask: [] }),
    actButton('Break off', 'breakInterview', { given, ask: [] }),
  ],
  PAUSED: ({ given }) => [
    actButton('Come back', 'resumeInterview', { given, ask: [], tone: 'primary' }),
    actButton('Time out', 'timeOutInterview', { given, ask: [] }),
  ],
};

/** One invitation and the interview taken on it. */
export async function interviewView(id) {
  const { row, submission, assessmentId, assessmentUrl, questions } = await browse(`interviews/${id}`);
  const who = { assessmentId, emailAddress: row.email };
  const acts = INTERVIEW_ACTS[row.status]?.({ who, given: { submissionId: row.submissionId } }) ?? [];
  const mayScore = submission !== null && submission.endedAt !== null && submission.scoredAt === null;
  const score = { given: { submissionId: row.submissionId }, ask: ['score'], tone: 'primary' };
  return make(
    'div',
    {},
    head(['#/interviews', 'Interviews'], row.person, badge(row.status), [
      ...acts,
      mayScore && actButton('Score', 'scoreInterview', score),
      row.status in INTERVIEW_ACTS && external(assessmentUrl, 'Open it as the candidate'),
    ]),
    card(
      row.assessment,
      facts([
        ['E-mail', row.email],
        ['Invited', minute(row.invitedAt)],
        ['Begun', minute(submission?.startedAt)],
        ['Ended', minute(submission?.endedAt)],
        ['Scored', minute(submission?.scoredAt)],
        ['Score', submission?.score],
        ['Bucket', submission?.bucket],
        ['CEFR level', submission?.cefrLevel],
      ]),
      submission !== null && raw('As the API answers it', submission),
    ),
    card('Questions', make('ol', {}, ...questions.map(({ question }) => make('li', {}, question)))),
  );
}
