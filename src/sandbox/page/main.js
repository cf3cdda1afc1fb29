import { company, read } from './api.js';
import { applicationView } from './application-view.js';
import { actionsView, companyView } from './company-view.js';
import { make } from './dom.js';
import { faultsView } from './faults-view.js';
import { enrolmentView, interviewView } from './journey-views.js';
import { LISTS } from './lists.js';
import { candidateView, jobView } from './people-views.js';
import { deliveriesView, requestsView } from './traffic-views.js';

const PARTS = [
  ['Recruiting', ['jobs', 'candidates', 'applications', 'interviews', 'bookings', 'offers', 'enrolments']],
  ['Traffic', ['requests', 'deliveries']],
  ['Sandbox', ['faults', 'company', 'actions']],
];
const NAMES = { faults: 'Limits and faults', actions: 'All actions' };
const RECORDS = {
  jobs: jobView,
  candidates: candidateView,
  applications: applicationView,
  enrolments: enrolmentView,
  interviews: interviewView,
};
const SCREENS = {
  ...LISTS,
  requests: requestsView,
  deliveries: deliveriesView,
  faults: faultsView,
  company: companyView,
  actions: actionsView,
};

const main = document.getElementById('main');
const nav = document.getElementById('nav');
const health = document.getElementById('health');
const chooser = document.getElementById('company');

/** What keeps a screen up to date that knows how to; the others are drawn anew after an act. */
let refresh;
let drawn = 0;

function place() {
  const [, part = 'jobs', id] = location.hash.split('/');
  return part in SCREENS ? { part, id } : { part: 'jobs' };
}

async function draw({ moved }) {
  // Somebody clicked before the first company was known; what is drawn then is where they went.
  if (company.id === 0) return;
  const { part, id } = place();
  drawn += 1;
  const mine = drawn;
  const view = await shown(part, id);
  if (mine !== drawn) return;
  ({ refresh } = view);
  if (!moved && sameAs(view.element ?? view)) return;
  const top = scrollY;
  const focused = main.contains(document.activeElement) ? document.activeElement.textContent : undefined;
  main.replaceChildren(view.element ?? view);
  markNav(part);
  const title = main.querySelector('h1')?.textContent.trim() ?? 'Sandbox';
  document.title = `${title} · Sandbox`;
  const again = [...main.querySelectorAll('button')].find((button) => button.textContent === focused);
  (moved ? main : again)?.focus({ preventScroll: true });
  scrollTo(0, moved ? 0 : top);
}

/** What has not changed stays as it is, under the pointer and with its focus; addresses of documents are always new. */
function sameAs(next) {
  const plain = (node) => node?.outerHTML.replaceAll(/(expires|nonce|signature)=\w+/g, '');
  return plain(main.firstElementChild) === plain(next);
}

async function shown(part, id) {
  try {
    const view = await (id === undefined ? SCREENS[part]() : RECORDS[part](id));
    await view.ready;
    return view;
  } catch (error) {
    const back = make('a', { href: `#/${part}` }, 'Back to the list');
    return make(
      'div',
      {},
      make('h1', {}, 'Nothing to show'),
      make('p', { className: 'notice bad' }, error.message),
      back,
    );
  }
}

function drawNav() {
  const link = (part) => make('a', { href: `#/${part}` }, NAMES[part] ?? part.charAt(0).toUpperCase() + part.slice(1));
  nav.replaceChildren(
    ...PARTS.map(([title, parts]) =>
      make('div', {}, make('h2', {}, title), make('ul', {}, ...parts.map((part) => make('li', {}, link(part))))),
    ),
  );
}

function markNav(part) {
  for (const link of nav.querySelectorAll('a')) {
    if (link.getAttribute('href') === `#/${part}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

async function chooseCompany() {
  const { companies } = await read('/companies');
  if (!companies.some((one) => one.id === company.id)) company.id = companies[0].id;
  chooser.replaceChildren(
    ...companies.map((one) => make('option', { value: one.id, selected: one.id === company.id }, one.name)),
  );
  return companies.length;
}

async function lookAtHealth() {
  try {
    const { baseUrl, pendingDeliveries } = await read('/healthz');
    health.className = 'good';
    health.textContent = pendingDeliveries === 0 ? baseUrl : `${baseUrl}, ${pendingDeliveries} deliveries pending`;
  } catch {
    health.className = 'bad';
    health.textContent = 'The sandbox does not answer. Is it still running?';
  }
}

async function keepLooking() {
  if (!document.hidden) {
    await lookAtHealth();
    if (health.className === 'good') await Promise.resolve(refresh?.()).catch(() => undefined);
  }
  setTimeout(() => void keepLooking(), 2000);
}

function lookAgain() {
  if (refresh !== undefined) void refresh();
  else void draw({ moved: false });
}

/** Some of what an act leads to happens a moment later: scores, for one. */
document.addEventListener('acted', () => {
  lookAgain();
  void chooseCompany();
  setTimeout(() => {
    if (document.querySelector('dialog') === null && !main.querySelector('form:focus-within')) lookAgain();
  }, 1200);
});
/** An act on a page of a candidate, open in another tab, shows when one comes back. */
addEventListener('focus', () => {
  if (place().id !== undefined && document.querySelector('dialog') === null) void draw({ moved: false });
});
addEventListener('hashchange', () => {
  document.querySelector('dialog')?.close();
  void draw({ moved: true });
});
chooser.addEventListener('change', () => {
  company.id = Number(chooser.value);
  location.hash = `#/${place().part}`;
  void draw({ moved: false });
});

drawNav();
await chooseCompany();
await draw({ moved: false });
void keepLooking();
