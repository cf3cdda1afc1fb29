import { actButton } from './acts.js';
import { badge, day, minute } from './dom.js';
import { listView } from './list-view.js';
import { bookingActs } from './rows.js';

const STAGES = [
  'SOURCED',
  'APPLIED',
  'ASSESSMENT',
  'SCREEN',
  'SHORTLISTED',
  'OFFER',
  'ONBOARDING',
  'HIRED',
  'REJECTED',
];
const ENROLMENTS = ['not_started', 'in_progress', 'partial_submission', 'under_review', 'final_handoff', 'completed'];

const stageOf = (row) => badge(row.rejected === 1 ? 'REJECTED' : row.stageType);
const score = ({ score: points }) => (points === null ? '' : Math.round(points));

const go = (kind, key) => (result) => {
  location.hash = `#/${kind}/${key(result)}`;
};

/** The people on a job, or on all. */
export function applicationsOf(job, title) {
  return listView(title, {
    kind: 'applications',
    statuses: STAGES,
    query: job === undefined ? {} : { jobId: job.id },
    empty: 'Nobody has applied yet.',
    columns: [
      ['Person', (row) => row.person],
      ['E-mail', (row) => row.email],
      ...(job === undefined ? [['Job', (row) => row.job]] : []),
      ['Stage', stageOf],
      ['Score', score],
      ['Since', (row) => day(row.appliedAt ?? row.addedAt)],
    ],
    acts: [
      actButton('New application', 'apply', {
        tone: 'primary',
        next: go('applications', (made) => made.jobCandidateId),
      }),
    ],
  });
}

export const LISTS = {
  jobs: () =>
    listView('Jobs', {
      kind: 'jobs',
      statuses: ['ACTIVE', 'DRAFT', 'INACTIVE', 'DELETED'],
      empty: 'No job yet. Create the first one.',
      columns: [
        ['Title', (row) => row.label],
        ['Place', (row) => [row.city, row.country].filter(Boolean).join(', ')],
        ['Status', (row) => badge(row.status)],
        ['People', (row) => row.people],
        ['Pipeline', (row) => row.pipeline],
        ['Created', (row) => day(row.createdAt)],
      ],
      acts: [actButton('New job', 'createJob', { tone: 'primary', next: go('jobs', (job) => job.id) })],
    }),

  candidates: () =>
    listView('Candidates', {
      kind: 'candidates',
      empty: 'Nobody yet. Add somebody, or add invented people on the company page.',
      columns: [
        ['Name', (row) => row.label],
        ['E-mail', (row) => row.email],
        ['Works as', (row) => row.title ?? ''],
        ['City', (row) => row.city ?? ''],
        ['Jobs', (row) => row.applications],
        ['Known since', (row) => day(row.createdAt)],
      ],
      acts: [
        actButton('New candidate', 'addCandidate', {
          tone: 'primary',
          next: go('candidates', (made) => made.candidateId),
        }),
      ],
    }),

  applications: () => applicationsOf(undefined, 'Applications'),

  interviews: () =>
    listView('Interviews', {
      kind: 'interviews',
      statuses: ['INVITED', 'IN_PROGRESS', 'PAUSED', 'COMPLETED', 'TIMED_OUT'],
      empty: 'Nobody is invited. Invite somebody from their application.',
      columns: [
        ['Person', (row) => row.person],
        ['Interview', (row) => row.assessment],
        ['Status', (row) => badge(row.status)],
        ['Score', score],
        ['Invited', (row) => minute(row.invitedAt)],
      ],
      acts: [
        actButton('Invite somebody', 'inviteToInterview', { tone: 'primary' }),
        actButton('New interview', 'createAssessment'),
        actButton('Results page', 'configureSharePage'),
      ],
    }),

  bookings: () =>
    listView('Bookings', {
      kind: 'bookings',
      statuses: ['BOOKED', 'CHECKED_IN', 'NO_SHOW', 'CANCELLED'],
      empty: 'Nobody has booked. Send a booking link from an application.',
      columns: [
        ['Person', (row) => row.person],
        ['For', (row) => row.schedule],
        ['When', (row) => minute(row.startAt)],
        ['Status', (row) => badge(row.status)],
        ['Actions', bookingActs],
      ],
      acts: [
        actButton('Send a booking link', 'sendBookingLink', { tone: 'primary' }),
        actButton('New schedule', 'createBookingSchedule'),
      ],
    }),

  offers: () =>
    listView('Offers', {
      kind: 'offers',
      statuses: ['draft', 'in_progress', 'completed'],
      empty: 'No offer yet. Create one from an application.',
      columns: [
        ['Person', (row) => row.person],
        ['Offer', (row) => row.name],
        ['Job', (row) => row.job],
        ['Status', (row) => badge(row.status)],
        ['Created', (row) => day(row.createdAt)],
      ],
      acts: [actButton('New offer', 'createOffer', { tone: 'primary' })],
    }),

  enrolments: () =>
    listView('Enrolments', {
      kind: 'enrolments',
      statuses: [...ENROLMENTS, 'rejected', 'failed', 'terminated'],
      empty: 'Nobody is being onboarded. Enrol somebody from their application.',
      columns: [
        ['Person', (row) => row.person],
        ['E-mail', (row) => row.email],
        ['Flow', (row) => row.flow],
        ['Status', (row) => badge(row.status)],
        ['Reference', (row) => row.externalRef ?? ''],
        ['Enrolled', (row) => day(row.enrolledAt)],
      ],
      acts: [
        actButton('Enrol somebody', 'enrol', {
          tone: 'primary',
          next: go('enrolments', (made) => made.onboardingCandidateId),
        }),
        actButton('New flow', 'createOnboardingFlow'),
      ],
    }),
};
