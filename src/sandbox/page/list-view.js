import { browse } from './api.js';
import { make, table, words } from './dom.js';

/**
 * A list that is searched and filtered: `columns` are names with what a row shows under them, `statuses` what it can be
 * narrowed to, `acts` the buttons above it.
 */
export function listView(title, { kind, columns, statuses = [], acts = [], empty, query = {} }) {
  const result = make('div', { className: 'result' });
  // A live table would be read out whole after each letter.
  const said = make('p', { className: 'hidden', role: 'status' });
  const search = make('input', { type: 'search', placeholder: 'Name, e-mail, title', oninput: () => later(load) });
  const options = statuses.map((one) => make('option', { value: one }, words(one)));
  const status = make('select', { onchange: () => load() }, make('option', { value: '' }, 'All'), ...options);
  let asked = 0;
  let shown = '';
  let pages = 0;

  async function load(rows = []) {
    asked += 1;
    const mine = asked;
    const more = { search: search.value.trim(), status: status.value, skip: rows.length, ...query };
    const answer = await browse(kind, more);
    if (mine !== asked) return;
    pages = rows.length === 0 ? 1 : pages + 1;
    draw([...rows, ...answer.rows], answer.more);
  }

  function draw(rows, hasMore) {
    const text = JSON.stringify([rows, hasMore]);
    if (text === shown) return;
    shown = text;
    const none = search.value === '' && status.value === '' ? empty : 'Nothing matches.';
    const body = table(
      columns.map(([name]) => name),
      rows.map((row) => ({ href: linkTo(kind, row), cells: columns.map(([, cell]) => cell(row)) })),
      none,
    );
    said.textContent = rows.length === 0 ? none : `${rows.length} shown`;
    const button = make('button', { type: 'button', onclick: () => load(rows) }, 'Show more');
    result.replaceChildren(body, ...(hasMore ? [make('p', {}, button)] : []));
  }

  const filters = make(
    'div',
    { className: 'filters' },
    make('label', {}, 'Search', search),
    statuses.length > 0 && make('label', {}, 'Status', status),
  );
  const head =
    title && make('div', { className: 'head' }, make('h1', {}, title), make('div', { className: 'acts' }, ...acts));
  // Whoever has gone further down keeps what is there.
  const refresh = () => (pages > 1 ? undefined : load());
  return { element: make('div', {}, head, filters, said, result), refresh, ready: load() };
}

/** Where a row's own page is; some have none. */
function linkTo(kind, { id, jobCandidateId }) {
  if (kind === 'offers') return `#/applications/${jobCandidateId}`;
  return kind === 'bookings' ? undefined : `#/${kind}/${id}`;
}

let timer;

function later(work) {
  clearTimeout(timer);
  timer = setTimeout(() => work(), 200);
}
