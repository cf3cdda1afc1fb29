/** Everything that comes from the sandbox enters the page as text, never as HTML. */
export function make(tag, facts = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(facts)) {
    if (value === undefined || value === false || value === null) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== 'list' && name !== 'form') element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(3).filter(isShown).map(asNode));
  return element;
}

function isShown(child) {
  return child !== undefined && child !== null && child !== false;
}

function asNode(child) {
  return child instanceof Node ? child : String(child);
}

/** `AI_VIDEO_INTERVIEW` and `partial_submission` as a person reads them. */
export function words(text) {
  const isName = /^([A-Z0-9_]+|[a-z0-9_-]+)$/.test(text);
  const plain = isName ? text.replaceAll(/[_-]/g, ' ').toLowerCase() : String(text);
  return (plain.charAt(0).toUpperCase() + plain.slice(1)).replace(/^Ai /, 'AI ');
}

const LABELS = {
  as: 'End as',
  holding: 'Only calls that hold this text',
  items: 'Records changed',
  jobCandidateId: 'Application',
  jobCandidateIds: 'Applications',
  ms: 'Milliseconds',
  nth: 'Only these matches, by number',
  on: 'Operation or event',
  onboardingCandidateId: 'Enrolment',
  phone: 'Phone',
  probability: 'Probability, 0 to 1',
  scheduledStartAt: 'Time',
  scored: 'Scored by the platform',
  times: 'At most so often',
};
const ACRONYMS = { ctc: 'salary', url: 'URL', ms: 'ms', id: 'id', api: 'API', ai: 'AI', cefr: 'CEFR' };

/** The name of a field as its label: `jobCandidateIds` is `Job candidates`, `expectedCTC` is `Expected salary`. */
export function fieldLabel(name) {
  if (Object.hasOwn(LABELS, name)) return LABELS[name];
  const parts = name
    .replace(/(?<=[a-z])Ids?$/, (end) => (end === 'Ids' ? 's' : ''))
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .split(' ')
    .map((part) => ACRONYMS[part.toLowerCase()] ?? part.toLowerCase());
  const text = parts.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const TONES = {
  good: ['ACTIVE', 'HIRED', 'COMPLETED', 'VERIFIED', 'SIGNED', 'DELIVERED', 'FINAL_HANDOFF', 'BOOKED', 'CHECKED_IN'],
  bad: ['REJECTED', 'FAILED', 'TERMINATED', 'DELETED', 'DROPPED', 'NO_SHOW', 'TIMED_OUT', 'REVOKED', 'CANCELLED'],
  accent: ['IN_PROGRESS', 'PARTIAL_SUBMISSION', 'UNDER_REVIEW', 'SUBMITTED', 'SENT', 'OPENED', 'OFFER', 'ONBOARDING'],
  warn: ['PAUSED', 'WAITING', 'INACTIVE', 'LOCKED'],
};

export function badge(status) {
  const tone = Object.keys(TONES).find((name) => TONES[name].includes(String(status).toUpperCase()));
  return make('span', { className: `badge ${tone ?? ''}` }, words(status));
}

const ZONE = { timeZone: 'UTC', timeZoneName: 'short' };
const TIME = { hour: '2-digit', minute: '2-digit' };
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const MINUTE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', ...TIME, ...ZONE });
const CLOCK = new Intl.DateTimeFormat('en-GB', { ...TIME, second: '2-digit', ...ZONE });

export function day(at) {
  return at === null || at === undefined ? '' : DAY.format(new Date(at));
}

export function minute(at) {
  return at === null || at === undefined ? '' : MINUTE.format(new Date(at));
}

export function clock(at) {
  return CLOCK.format(new Date(at));
}

/** A table; a row is a list of cells, and where `href` is given the first cell leads there. */
export function table(columns, rows, empty = 'Nothing here yet.') {
  if (rows.length === 0) return make('p', { className: 'empty' }, empty);
  const head = make('tr', {}, ...columns.map((column) => make('th', { scope: 'col' }, column)));
  const body = rows.map(({ href, cells }) =>
    make(
      'tr',
      {},
      ...cells.map((cell, index) => make('td', {}, index === 0 && href ? make('a', { href }, cell) : cell)),
    ),
  );
  const whole = make('table', {}, make('thead', {}, head), make('tbody', {}, ...body));
  const label = `Table: ${columns.join(', ')}`;
  return make('div', { className: 'scroll', tabIndex: 0, role: 'group', 'aria-label': label }, whole);
}

/** Facts of a record that say something, as a list of terms. */
export function facts(entries) {
  const told = entries.filter(([, value]) => value !== null && value !== undefined && value !== '' && !isEmpty(value));
  return make(
    'dl',
    { className: 'facts' },
    ...told.map(([term, value]) => make('div', {}, make('dt', {}, term), make('dd', {}, shown(value)))),
  );
}

function isEmpty(value) {
  return Array.isArray(value) && value.length === 0;
}

function shown(value) {
  if (value instanceof Node) return value;
  if (Array.isArray(value)) return value.map((one) => (typeof one === 'object' ? JSON.stringify(one) : one)).join(', ');
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export function card(title, ...children) {
  return make('section', { className: 'card' }, title && make('h2', {}, title), ...children);
}

/** A record as it stands, for whoever wants to see the fields. */
export function raw(title, value) {
  return make('details', { className: 'raw' }, make('summary', {}, title), pre(value));
}

/** Text of a body, laid out when it is JSON. */
export function pre(value) {
  return make('pre', { tabIndex: 0 }, typeof value === 'string' ? laidOut(value) : JSON.stringify(value, null, 2));
}

function laidOut(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

export function external(href, text) {
  return make(
    'a',
    { href, target: '_blank', rel: 'noopener' },
    text,
    make('span', { className: 'hidden' }, ' (new tab)'),
  );
}
