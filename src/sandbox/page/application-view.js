import { actButton } from './acts.js';
import { browse } from './api.js';
import { badge, card, external, facts, fieldLabel, make, minute, raw, words } from './dom.js';
import { head } from './people-views.js';
import { bookingRows, enrolmentRows, interviewRows } from './rows.js';

/** One person on one job: everything from the first stage to the signed offer is done here. */
export async function applicationView(id) {
  const shown = await browse(`applications/${id}`);
  const { row, offers, interviews, bookings, bookingLinks, enrolments } = shown;
  const given = { jobCandidateId: row.id };
  const [firstName, ...rest] = row.person.split(' ');
  const person = { firstName, lastName: rest.join(' '), email: row.email, externalRef: String(row.id) };
  return make(
    'div',
    {},
    head(['#/applications', 'Applications'], row.person, row.rejected === 1 && badge('REJECTED'), headActs(row)),
    make(
      'p',
      { className: 'under' },
      'On ',
      make('a', { href: `#/jobs/${row.jobId}` }, row.job),
      ', see ',
      make('a', { href: `#/candidates/${row.candidateId}` }, 'the profile'),
      row.score === null ? '' : `, score ${Math.round(row.score)}`,
    ),
    stageCard(shown),
    card(
      'Offers',
      ...offers.map(offerPart),
      offers.length === 0 && make('p', { className: 'empty' }, 'No offer yet.'),
      actRow(actButton('Create an offer', 'createOffer', { given, ask: ['name', 'signers'] })),
    ),
    card(
      'Interviews',
      interviewRows(interviews),
      actRow(actButton('Invite to an interview', 'inviteToInterview', { given })),
    ),
    card(
      'Bookings',
      bookingRows(bookings, bookingLinks),
      actRow(actButton('Send a booking link', 'sendBookingLink', { given })),
    ),
    card(
      'Onboarding',
      enrolmentRows(enrolments),
      actRow(
        actButton('Enrol', 'enrol', {
          preset: person,
          ask: ['flowId', 'firstName', 'lastName', 'email', 'externalRef'],
        }),
      ),
    ),
    formCard(shown),
  );
}

function actRow(...buttons) {
  return make('div', { className: 'actions' }, ...buttons);
}

function headActs(row) {
  const jobCandidateIds = [row.id];
  return [
    row.stageType === 'HIRED' &&
      actButton('Tell again that they are hired', 'announceHired', { given: { jobCandidateIds }, ask: [] }),
    row.rejected === 0 && actButton('Reject', 'reject', { given: { jobCandidateIds }, ask: ['reason'] }),
    actButton('Take off the job', 'deleteJobCandidate', {
      given: { jobCandidateIds },
      ask: [],
      tone: 'danger',
      sure: `${row.person} is taken off ${row.job}. The profile stays.`,
      next: () => {
        location.hash = `#/jobs/${row.jobId}`;
      },
    }),
  ];
}

/** The pipeline: a click moves the person. */
function stageCard({ row, stages, stageId }) {
  const step = (stage) => {
    const isHere = stage.id === stageId;
    const button = actButton(stage.name, 'move', { given: { jobCandidateIds: [row.id], stageId: stage.id }, ask: [] });
    if (isHere) button.setAttribute('aria-current', 'step');
    return make('li', {}, button);
  };
  return card('Stage', make('ol', { className: 'stages', 'aria-label': 'Move to a stage' }, ...stages.map(step)));
}

function offerPart(offer) {
  const given = { offerId: offer.offerId };
  const acts = {
    draft: () => [
      actButton('Send to the first signer', 'sendOffer', { given, ask: [], tone: 'primary' }),
      actButton('Cancel the offer', 'cancelOffer', { given, ask: [], tone: 'quiet', sure: 'The offer is gone then.' }),
    ],
    in_progress: () => [
      actButton('Have everybody sign', 'completeOffer', { given, ask: [] }),
      actButton('Cancel the offer', 'cancelOffer', { given, ask: [], tone: 'quiet', sure: 'The offer is gone then.' }),
    ],
    completed: () => [external(offer.signedPdfUrl, 'Signed PDF'), external(offer.certificateUrl, 'Certificate')],
  };
  return make(
    'article',
    { className: 'offer' },
    make('h3', {}, offer.name, ' ', badge(offer.status)),
    make('ol', { className: 'plain' }, ...offer.signers.map((signer) => signerPart(offer, signer))),
    actRow(...(acts[offer.status]?.() ?? [])),
  );
}

function signerPart(offer, { name, email, status, signingOrder, url, signedAt }) {
  const mayOpen = status === 'sent' || status === 'opened';
  const sign = { given: { offerId: offer.offerId, signingOrder }, ask: [], tone: 'primary' };
  return make(
    'li',
    {},
    make('span', {}, make('b', {}, name), ' ', make('span', { className: 'soft' }, email), ' ', badge(status)),
    status === 'signed' && make('span', { className: 'soft' }, ` ${minute(signedAt)}`),
    mayOpen &&
      make(
        'span',
        { className: 'inline' },
        actButton(`Sign as ${name}`, 'signOffer', sign),
        external(url, 'Signing page'),
      ),
  );
}

/** What came through the application page, with its documents. */
function formCard({ form, record }) {
  if (form === null) return card('Record', raw('As the API answers it', record));
  const { candidate: _person, resumeUrl, screeningQuestionAnswer, otherFiles, consent, ...rest } = form;
  const answers = (screeningQuestionAnswer ?? []).map(({ question, answer }) => [question, answer]);
  const plain = Object.entries(rest).filter(([name]) => !/Id$|appliedAt/.test(name));
  return card(
    'Application form',
    facts([
      ['Applied', minute(form.appliedAt)],
      ...plain.map(([name, value]) => [fieldLabel(name), value]),
      ...answers,
      ['Résumé', resumeUrl && external(resumeUrl, 'PDF')],
      ...(otherFiles ?? []).map(({ name, url }) => [name, url && external(url, 'PDF')]),
      ['Consent', consent === null ? 'None given' : consentLine(consent)],
    ]),
    raw('As the API answers it', { ...record, application: form }),
  );
}

function consentLine({ acceptedAt, policyVersion, consentDocumentUrl }) {
  return make(
    'span',
    {},
    `${words('accepted')} ${minute(acceptedAt)}, policy ${policyVersion}, `,
    external(consentDocumentUrl, 'PDF'),
  );
}
