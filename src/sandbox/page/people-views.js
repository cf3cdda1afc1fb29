import { actButton } from './acts.js';
import { browse } from './api.js';
import { customFieldCard } from './custom-fields.js';
import { badge, card, day, facts, fieldLabel, make, raw, words } from './dom.js';
import { applicationsOf } from './lists.js';
import { applicationRows, enrolmentRows, interviewRows } from './rows.js';

/** The head of a record: what it is, how it stands, and what can be done to it. */
export function head(back, title, status, acts) {
  const [href, name] = back;
  return make(
    'div',
    { className: 'head' },
    make('div', {}, make('a', { href, className: 'back' }, `← ${name}`), make('h1', {}, title, ' ', status)),
    make('div', { className: 'acts' }, ...acts),
  );
}

const JOB_ACTS = { DRAFT: 'Publish', INACTIVE: 'Reopen', DELETED: 'Restore' };

export async function jobView(id) {
  const { job, stages, customFields } = await browse(`jobs/${id}`);
  const given = { jobId: job.id };
  const publish = { given: { ...given, status: 'ACTIVE' }, ask: [], tone: 'primary' };
  const people = applicationsOf(job);
  await people.ready;
  return make(
    'div',
    {},
    head(['#/jobs', 'Jobs'], job.title, badge(job.status), [
      job.status === 'ACTIVE'
        ? actButton('New application', 'apply', { given, tone: 'primary', next: openApplication })
        : actButton(JOB_ACTS[job.status], 'setJobStatus', publish),
      actButton('Add a candidate', 'addCandidate', { given, next: openApplication }),
      actButton('Edit', 'editJob', { given, preset: { fields: job } }),
      job.status === 'ACTIVE' &&
        actButton('Close', 'setJobStatus', {
          given: { ...given, status: 'INACTIVE' },
          ask: ['closingStatus', 'closingReason'],
        }),
    ]),
    card(
      'In each stage',
      make(
        'ol',
        { className: 'funnel', 'aria-label': 'People in each stage' },
        ...stages.map((stage) => make('li', {}, make('b', {}, stage.people), make('span', {}, stage.name))),
      ),
    ),
    card('People', people.element),
    customFieldCard('job', job.id, customFields),
    card(
      'Details',
      facts([
        ['Place', [job.city, job.state, job.country].filter(Boolean).join(', ')],
        ['Work mode', job.workMode && words(job.workMode)],
        ['Contract', job.contractType],
        ['Salary', job.salaryCurrency && `${job.salaryRangeFrom} to ${job.salaryRangeTo} ${job.salaryCurrency}`],
        ['Created', day(job.createdAt)],
      ]),
      make('p', { className: 'text' }, job.description),
      raw('As the API answers it', job),
    ),
  );
}

function openApplication({ jobCandidateId }) {
  location.hash = `#/applications/${jobCandidateId}`;
}

const PROFILE = [
  'email',
  'phone',
  'currentJobTitle',
  'currentCompany',
  'city',
  'country',
  'skills',
  'languages',
  'summary',
  'nationality',
  'dateOfBirth',
];

export async function candidateView(id) {
  const { candidate, customFields, applications, enrolments, interviews } = await browse(`candidates/${id}`);
  const given = { candidateId: candidate.id };
  const name = [candidate.firstName, candidate.lastName].filter(Boolean).join(' ') || candidate.email;
  return make(
    'div',
    {},
    head(['#/candidates', 'Candidates'], name, undefined, [
      actButton('Edit', 'editCandidate', { given, preset: { fields: candidate } }),
      actButton('Delete', 'deleteCandidate', {
        given: { candidateIds: [candidate.id] },
        ask: [],
        tone: 'danger',
        sure: `${name} goes from every job of the company. There is no way back.`,
        next: () => {
          location.hash = '#/candidates';
        },
      }),
    ]),
    card('Applications', applicationRows(applications)),
    card('Interviews', interviewRows(interviews)),
    card('Enrolments', enrolmentRows(enrolments)),
    customFieldCard('candidate', candidate.id, customFields),
    card(
      'Profile',
      facts(PROFILE.map((field) => [fieldLabel(field), candidate[field]])),
      history('Work', candidate.workExperiences),
      history('Education', candidate.educations),
      raw('As the API answers it', candidate),
    ),
  );
}

function history(title, entries) {
  if (!Array.isArray(entries) || entries.length === 0) return undefined;
  const line = (entry) =>
    Object.entries(entry)
      .filter(([key, value]) => !/id$/i.test(key) && ['string', 'number'].includes(typeof value) && value !== '')
      .map(([, value]) => value)
      .join(', ');
  return make('div', {}, make('h3', {}, title), make('ul', {}, ...entries.map((entry) => make('li', {}, line(entry)))));
}
