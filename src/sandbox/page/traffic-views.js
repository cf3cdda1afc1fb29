import { actButton } from './acts.js';
import { browse } from './api.js';
import { badge, clock, make, pre } from './dom.js';

function tone(status) {
  if (status === null || status === undefined) return 'bad';
  return status < 300 ? 'good' : status < 500 ? 'warn' : 'bad';
}

function answered(status) {
  return make('span', { className: `badge ${tone(status)}` }, status ?? 'No answer');
}

/** A log whose entries open: new ones come on top, and what is open stays open. */
function log(title, { load, entry, matches, empty, hint }) {
  const shown = new Map();
  const list = make('div', { className: 'log' });
  const nothing = make('p', { className: 'empty' }, empty);
  const search = make('input', { type: 'search', oninput: filter });
  const failures = make('input', { type: 'checkbox', onchange: filter });

  function filter() {
    for (const { element, one } of shown.values())
      element.hidden =
        !matches(one, search.value.trim().toLowerCase()) || (failures.checked && tone(one.status) === 'good');
  }

  async function refresh() {
    const entries = await load();
    const present = new Set(entries.map((one) => one.seq));
    for (const [seq, { element }] of shown) {
      if (present.has(seq)) continue;
      element.remove();
      shown.delete(seq);
    }
    for (const one of entries.toReversed().filter(({ seq }) => !shown.has(seq))) {
      const element = entry(one);
      shown.set(one.seq, { element, one });
      list.prepend(element);
    }
    nothing.hidden = shown.size > 0;
    filter();
  }

  void refresh();
  const filters = make(
    'div',
    { className: 'filters' },
    make('label', {}, 'Search', search),
    make('label', { className: 'inline' }, failures, 'Failures only'),
  );
  const header = make('div', { className: 'head' }, make('h1', {}, title));
  return { element: make('div', {}, header, make('p', { className: 'under' }, hint), filters, nothing, list), refresh };
}

function body(title, text) {
  return make(
    'div',
    {},
    make('h3', {}, title),
    text === '' || text === null ? make('p', { className: 'empty' }, 'Nothing') : pre(text),
  );
}

function entryOf(summary, ...content) {
  return make('details', { className: 'entry' }, make('summary', {}, ...summary), ...content);
}

export function requestsView() {
  return log('Requests', {
    hint: 'The last 100 calls of the API with what was sent and answered. Keys are not shown.',
    empty: 'No request yet. Point a client at the address above.',
    load: async () => (await browse('exchanges')).exchanges,
    matches: ({ url, operation }, text) => `${url} ${operation}`.toLowerCase().includes(text),
    entry: (one) =>
      entryOf(
        [
          make('span', { className: 'soft' }, clock(one.at)),
          answered(one.status),
          make('b', {}, one.method),
          make('span', { className: 'grow' }, one.url.replace('/v1/partner', '')),
          one.fault && make('span', { className: 'badge warn' }, one.fault),
          make('span', { className: 'soft' }, `${one.ms} ms`),
        ],
        make('p', { className: 'soft' }, `${one.operation}, request ${one.requestId}`),
        make('div', { className: 'bodies' }, body('Sent', one.sent), body('Answered', one.answered)),
      ),
  });
}

export function deliveriesView() {
  return log('Deliveries', {
    hint: 'The last 100 attempts to deliver an event, with the payload and how the receiver answered.',
    empty: 'No delivery yet. Set a webhook address on the company page.',
    load: async () => (await browse('deliveries')).deliveries,
    matches: ({ event }, text) => event.includes(text),
    entry: (one) =>
      entryOf(
        [
          make('span', { className: 'soft' }, clock(one.at)),
          answered(one.status),
          make('b', { className: 'grow' }, one.event),
          badge(one.outcome),
          make('span', { className: 'soft' }, `attempt ${one.attempt}`),
        ],
        one.error && make('p', { className: 'notice bad' }, one.error),
        actButton('Deliver again', 'redeliver', { given: { deliveryId: one.deliveryId }, ask: [] }),
        make('div', { className: 'bodies' }, body('Payload', one.payload), body('Answer', one.answer ?? '')),
      ),
  });
}
