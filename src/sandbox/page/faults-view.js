import { actButton, actionForm } from './acts.js';
import { browse, read } from './api.js';
import { card, facts, make, table, words } from './dom.js';

/** What may go wrong: the limit, faults and quirks in force, how often they struck, and forms to change them. */
export async function faultsView() {
  const [now, health] = await Promise.all([browse('machinery'), read('/healthz')]);
  const { form } = await actionForm('addFault', {
    label: 'Add the fault',
    done: 'Fault added',
    ask: ['kind', 'on', 'times', 'nth', 'probability', 'ms', 'retryAfter', 'holding', 'surprise', 'items'],
  });
  suggest(form, now);
  return make(
    'div',
    {},
    make('div', { className: 'head' }, make('h1', {}, 'Limits and faults')),
    card(
      'Limit',
      facts([
        ['In force', now.limit ?? 'None. Start the sandbox with --limit to have one.'],
        ['Answers of 429', now.refusedByLimit],
      ]),
    ),
    card('Faults in force', inForce(now)),
    card('Add a fault', form),
    quirksCard(now),
    clockCard(health),
    card(
      'Question generation',
      make(
        'p',
        { className: 'soft' },
        'Breaks or mends the generation of interview questions, until it is changed again.',
      ),
      make('div', { className: 'actions' }, actButton('Change it', 'setQuestionGenerator')),
    ),
  );
}

function inForce({ faults, struck }) {
  const rows = faults.map((fault) => ({
    cells: [fault.kind, fault.on ?? 'everything', conditions(fault), fault.seen, fault.struck],
  }));
  const total = Object.entries(struck).map(([kind, count]) => `${kind} ${count}`);
  return make(
    'div',
    {},
    table(['Fault', 'Strikes', 'When', 'Matched', 'Struck'], rows, 'None: everything works.'),
    total.length > 0 && make('p', { className: 'soft' }, `Struck since the start: ${total.join(', ')}.`),
    faults.length > 0 &&
      make('div', { className: 'actions' }, actButton('Switch all off', 'clearFaults', { ask: [], tone: 'primary' })),
  );
}

const CONDITIONS = {
  companyId: (id) => `company ${id}`,
  holding: (text) => `holding “${text}”`,
  nth: (numbers) => `match ${[numbers].flat().join(' and ')}`,
  probability: (share) => `${Math.round(share * 100)} of 100`,
  times: (count) => `${count} times at most`,
  ms: (ms) => `${ms} ms`,
  retryAfter: (value) => `Retry-After ${value}`,
  surprise: words,
  items: (count) => `${count} records`,
};

function conditions(fault) {
  const told = Object.entries(CONDITIONS).flatMap(([name, tell]) => (name in fault ? [tell(fault[name])] : []));
  return told.length === 0 ? 'always' : told.join(', ');
}

/** The kinds say what they do, and names of operations and events are offered. */
function suggest(form, { knownFaults, operations, events }) {
  const kind = form.querySelector('select');
  const help = make('p', { className: 'hint', id: 'fault-help' });
  const explain = () => {
    help.textContent = knownFaults[JSON.parse(kind.value)];
  };
  kind.setAttribute('aria-describedby', help.id);
  kind.addEventListener('change', explain);
  kind.after(help);
  explain();
  const names = make(
    'datalist',
    { id: 'fault-names' },
    ...[...operations, ...events].map((value) => make('option', { value })),
  );
  const on = form.querySelector('input[type=text]');
  on.setAttribute('list', names.id);
  on.placeholder = 'every call or event';
  form.append(names);
}

function quirksCard({ quirks, knownQuirks }) {
  const toggle = (name) => {
    const isOn = quirks.includes(name);
    const next = isOn ? quirks.filter((one) => one !== name) : [...quirks, name];
    const button = actButton(isOn ? 'Switch off' : 'Switch on', 'setQuirks', {
      given: { quirks: next },
      ask: [],
      tone: isOn ? 'primary' : '',
    });
    button.setAttribute('aria-label', `${button.textContent}: ${words(name)}`);
    return button;
  };
  const rows = Object.entries(knownQuirks).map(([name, what]) => ({
    cells: [words(name), make('span', { className: 'wrap' }, what), toggle(name)],
  }));
  return card(
    'Quirks',
    make('p', { className: 'soft' }, 'Habits that another partner may have within the specification.'),
    table(['Quirk', 'What the partner then does', 'Actions'], rows),
  );
}

function clockCard({ clock, now }) {
  const told = make('p', {}, `${words(clock)} clock, now ${new Date(now).toLocaleString('en-GB')}.`);
  if (clock !== 'stepped') return card('Clock', told);
  const steps = [
    ['1 minute', 60_000],
    ['1 hour', 3_600_000],
    ['1 day', 86_400_000],
  ];
  const buttons = steps.map(([label, ms]) =>
    actButton(`Go on by ${label}`, 'advanceClock', { given: { ms }, ask: [] }),
  );
  return card('Clock', told, make('div', { className: 'actions' }, ...buttons));
}
