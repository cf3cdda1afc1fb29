import { html } from 'hono/html';
import {
  type DeliveryView,
  inboxStates,
  pageOfDeliveries,
  readDelivery,
  replayDeliveries,
  retryDeliveries,
} from '../operator/deliveries.ts';
import { noteLook } from '../store/audit.ts';
import { type Asked, addAct, addPage, askedScope, type ConsoleApp, queryOf } from './acts.ts';
import {
  actForm,
  addressOf,
  asOf,
  type Cell,
  type ConsoleParts,
  choiceField,
  facts,
  filters,
  type Html,
  hireLink,
  noticeOf,
  PAGE_ROWS,
  page,
  paged,
  placeAsked,
  searchField,
  section,
  table,
  tenantAndIts,
  tenantLink,
  time,
} from './layout.ts';

/** States from which a delivery can be replayed; one that names another company can only be retried. */
const REPLAYED: ReadonlySet<string> = new Set(['relayed', 'ignored', 'unknown', 'undeliverable']);

const NOTICES: Readonly<Record<string, string>> = {
  again: 'The delivery is being processed again. Completed work stays as it is.',
};

/** Received webhooks: the list, one delivery with its payload, and replaying it. */
export function addDeliveries(app: ConsoleApp, { log }: ConsoleParts): void {
  app.get('/deliveries', async (c) => {
    const { tenantId, tenantIds } = await askedScope(c);
    const { state = '' } = c.req.query();
    const after = placeAsked(c, 2) as [number, string] | undefined;
    const found = await pageOfDeliveries(c.get('store'), {
      tenantIds,
      state: inboxStates.find((one) => one === state),
      text: queryOf(c, 'text'),
      after,
      limit: PAGE_ROWS + 1,
    });
    const { shown, ways } = paged(c, found, ({ place }) => place);
    const isAll = tenantId === undefined;
    const hint = isAll
      ? html`<p class="hint">These are deliveries without effect. Name a tenant to see all its deliveries.</p>`
      : '';
    return page(
      c,
      isAll ? 'Deliveries' : `Deliveries of ${tenantId}`,
      html`${filters(c, '/deliveries', [
        choiceField(c, 'state', 'State', inboxStates),
        searchField(c, 'text', 'Event or ID in it'),
      ])}${hint}
<div class="result" id="deliveries-part" data-live>
${table(
  'Deliveries, latest first',
  ['delivery', 'tenant', 'event', 'state', 'received', 'ids', 'last error'],
  shown.map(deliveryRow),
  {
    none: isAll ? 'Every delivery was processed.' : 'No delivery matches. Webhooks that come appear here at once.',
  },
)}${ways}${asOf()}</div>`,
      isAll ? {} : { tenant: tenantId, above: tenantLink(tenantId) },
    );
  });

  const deliveryPage = async (c: Asked, tenantId: string, isRevealed: boolean) => {
    const one = await readDelivery(c.get('store'), tenantId, c.req.param('delivery') ?? '');
    return page(c, `Delivery ${one.delivery}`, deliveryPart(c, one, isRevealed), {
      tenant: tenantId,
      above: tenantAndIts('deliveries', tenantId),
    });
  };
  addPage(app, '/deliveries/:tenant/:delivery', (c, tenantId) => deliveryPage(c, tenantId, false));
  addAct(app, log, 'revealDelivery', async ({ c, by, tenantId }) => {
    const of = { kind: 'delivery', id: c.req.param('delivery') ?? '' };
    await noteLook(c.get('store'), { by, tenantId, what: 'payload of a delivery', of, isRevealed: true });
    return deliveryPage(c, tenantId, true);
  });
  addAct(app, log, 'retryDelivery', async ({ c, by, tenantId }) => {
    const { delivery } = await readDelivery(c.get('store'), tenantId, c.req.param('delivery') ?? '');
    await retryDeliveries(c.get('store'), { tenantId, delivery, by });
    return `${addressOf('deliveries', tenantId, delivery)}?did=again`;
  });
  addAct(app, log, 'replayDelivery', async ({ c, by, tenantId }) => {
    const { delivery } = await readDelivery(c.get('store'), tenantId, c.req.param('delivery') ?? '');
    await replayDeliveries(c.get('store'), { tenantId, delivery, by });
    return `${addressOf('deliveries', tenantId, delivery)}?did=again`;
  });
}

function deliveryRow({ delivery, tenantId, event, ids, state, receivedAt, lastError }: DeliveryView): Cell[] {
  return [
    html`<a href="${addressOf('deliveries', tenantId, delivery)}">${delivery}</a>`,
    tenantLink(tenantId),
    event.slice(0, MOST_NAME),
    stateBadge(state),
    time(receivedAt),
    idsCell(tenantId, ids),
    lastError ?? '',
  ];
}

/** Event names come from the sender; a long one is not in the specification. */
const MOST_NAME = 60;
const MOST_IDS = 5;

function idsCell(tenantId: string, ids: DeliveryView['ids']): Html {
  const named = Object.entries(ids).map(([kind, list]) => {
    const shown = list.slice(0, MOST_IDS).map((id, at) => {
      const one = kind === 'jobCandidateId' ? hireLink(tenantId, id) : id;
      return html`${at === 0 ? '' : ', '}${one}`;
    });
    const more = list.length > MOST_IDS ? ` and ${list.length - MOST_IDS} more` : '';
    return html`<div>${kind} ${shown}${more}</div>`;
  });
  return html`${named}`;
}

function stateBadge(state: DeliveryView['state']): Html {
  const look = state === 'relayed' ? 'good' : state === 'waiting' ? 'accent' : state === 'ignored' ? '' : 'warn';
  return html`<span class="badge ${look}">${state}</span>`;
}

const SAYS: Record<DeliveryView['state'], string> = {
  waiting: 'It waits to be processed.',
  relayed: 'It was processed: the records it names were read again.',
  ignored: 'This event has no effect yet.',
  unknown: 'This version does not know its event, so it has no effect.',
  'other-company': "It names a company other than this tenant's, so it has no effect.",
  undeliverable: 'It failed ten times and was given up. Once the cause is removed, it can be tried again.',
};

function deliveryPart(c: Asked, one: DeliveryView & { body: string | undefined }, isRevealed: boolean): Html {
  const { tenantId, delivery, event, ids, state, receivedAt, failures, lastError, body } = one;
  const isReplayed = REPLAYED.has(state);
  const verb = isReplayed ? 'replay' : 'retry';
  const again =
    state === 'waiting'
      ? ''
      : actForm(c, isReplayed ? 'replayDelivery' : 'retryDelivery', {
          tenant: tenantId,
          to: addressOf('deliveries', tenantId, delivery, verb),
          does: 'Process it again',
        });
  return html`${noticeOf(c, NOTICES)}<p class="inline">${stateBadge(state)} <span>${SAYS[state]}</span></p>
${section(
  'facts',
  'Event',
  facts([
    ['event', event.slice(0, MOST_NAME)],
    ['names', idsCell(tenantId, ids)],
    ['received', time(receivedAt)],
    ['failures', failures],
    ['last error', lastError ?? 'none'],
  ]),
)}
${section('payload', 'Payload', payloadPart(c, one, body, isRevealed))}
<div class="actions">${again}</div>${asOf()}`;
}

function payloadPart(
  c: Asked,
  { tenantId, delivery }: DeliveryView,
  body: string | undefined,
  isRevealed: boolean,
): Html {
  if (body === undefined) return html`<p class="empty">Its payload is not kept; only the ids that it names are.</p>`;
  const to = addressOf('deliveries', tenantId, delivery);
  if (isRevealed)
    return html`<pre class="code" tabindex="0">${body}</pre>
<p class="hint">The audit trail records that you looked.</p>`;
  return html`<pre class="code"
tabindex="0">${masked(body)}</pre>${actForm(c, 'revealDelivery', {
    tenant: tenantId,
    to,
    does: 'Show personal data',
  })}`;
}

/** The payload's structure with every value masked, except names of events and ids of records. */
function masked(body: string): string {
  const plain = /^(?:event|type|timestamp|companyId|.*Ids?)$/;
  try {
    const value: unknown = JSON.parse(body);
    const mask = (inner: unknown, key: string): unknown => {
      if (Array.isArray(inner)) return inner.map((item) => mask(item, key));
      if (typeof inner === 'object' && inner !== null)
        return Object.fromEntries(Object.entries(inner).map(([name, one]) => [name, mask(one, name)]));
      return inner === null || plain.test(key) ? inner : '•••';
    };
    return JSON.stringify(mask(value, ''), null, 2);
  } catch {
    return '(not JSON)';
  }
}
