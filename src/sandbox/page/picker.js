import { browse } from './api.js';
import { make } from './dom.js';

/** Which list a field chooses from, by the field's name. */
const KINDS = {
  jobId: 'jobs',
  candidateId: 'candidates',
  candidateIds: 'candidates',
  jobCandidateId: 'applications',
  jobCandidateIds: 'applications',
  onboardingCandidateId: 'enrolments',
  offerId: 'offers',
  bookingId: 'bookings',
  assessmentId: 'assessments',
  bookingLinkId: 'booking-links',
  bookingScheduleId: 'schedules',
  campaignId: 'campaigns',
  companySiteId: 'sites',
  customFieldId: 'custom-fields',
  flowCandidateId: 'flow-candidates',
  flowId: 'onboarding-flows',
  leadId: 'leads',
  pipelineId: 'pipelines',
  siteId: 'sites',
  stageId: 'stages',
  submissionId: 'submissions',
  teamId: 'teams',
  teamIds: 'teams',
  userId: 'users',
};

/** Where a field's records come from; `from` names a list for a field that has none of its own. */
export function pickedFrom(name, from) {
  return from?.[name] ?? KINDS[name];
}

let number = 0;

/** A field that finds one record by its name: `value()` is the id. */
export function picker(kind, { required = false } = {}) {
  number += 1;
  const ids = new Map();
  const options = make('datalist', { id: `choices-${number}` });
  const input = make('input', {
    type: 'text',
    list: options.id,
    autocomplete: 'off',
    placeholder: 'Type to search',
    required,
    oninput: () => void offer(input.value),
    onfocus: () => void offer(input.value),
  });

  async function offer(typed) {
    check();
    if (ids.has(typed)) return;
    const { rows } = await browse(kind, { search: typed });
    for (const row of rows) ids.set(told(row, ids), row.id);
    options.replaceChildren(...rows.map((row) => make('option', { value: told(row, ids) })));
    check();
  }

  function check() {
    const isWrong = input.value !== '' && !ids.has(input.value);
    input.setCustomValidity(isWrong ? 'Choose one from the list' : '');
  }

  return { element: [input, options], input, value: () => ids.get(input.value) };
}

/** Two records of one name are told apart by the end of their id. */
function told({ id, label }, ids) {
  if (!ids.has(label) || ids.get(label) === id) return label;
  return `${label} (${String(id).slice(-6)})`;
}

/** Several records, each a small chip that can be taken away: `value()` is the list of ids. */
export function manyPicker(kind, { required = false } = {}) {
  const chips = make('ul', { className: 'chips' });
  const chosen = new Map();
  const one = picker(kind, { required });
  one.input.addEventListener('change', () => {
    const id = one.value();
    if (id === undefined) return;
    chosen.set(id, one.input.value);
    one.input.value = '';
    draw();
  });

  function draw() {
    one.input.required = required && chosen.size === 0;
    chips.replaceChildren(
      ...[...chosen].map(([id, label]) => {
        const remove = () => {
          chosen.delete(id);
          draw();
          one.input.focus();
        };
        const button = make('button', { type: 'button', 'aria-label': `Remove ${label}`, onclick: remove }, '×');
        return make('li', {}, label, button);
      }),
    );
  }

  return {
    element: [...one.element, chips],
    input: one.input,
    value: () => (chosen.size === 0 ? undefined : [...chosen.keys()]),
  };
}
