import { html } from 'hono/html';
import { z } from 'zod';
import { ConnectorError } from '../errors.ts';
import { type ConflictView, readConflicts } from '../operator/conflicts.ts';
import { type DeliveryView, listDeliveries, replayDeliveries, retryDeliveries } from '../operator/deliveries.ts';
import { type Failed, readFailed, retryFailed } from '../operator/failed.ts';
import { assertTenantInStore } from '../operator/known-tenant.ts';
import type { StreamStatus } from '../operator/status.ts';
import { readStatus } from '../operator/status.ts';
import type { Store } from '../store/open-store.ts';
import {
  type Asked,
  actForm,
  ago,
  type Cell,
  type ConsoleApp,
  type ConsoleParts,
  choiceField,
  type Html,
  hidden,
  MOST_LISTED,
  page,
  searchField,
  section,
  shortened,
  table,
  time,
} from './layout.ts';

/** What comes in: received deliveries, and the streams with what they left out. */
export function addFeeds(app: ConsoleApp, parts: ConsoleParts): void {
  addDeliveries(app, parts);
  addStreams(app, parts);
}

const STATES = ['undeliverable', 'other-company', 'unknown', 'waiting', 'relayed', 'ignored'] as const;

/** States from which a delivery is relayed as if it had just come; what names another company may only be retried. */
const REPLAYED: ReadonlySet<string> = new Set(['relayed', 'ignored', 'unknown', 'undeliverable']);

/** A part of an id would be the beginning of many deliveries. */
const OneDelivery = z.object({ tenant: z.string().min(1), delivery: z.string().regex(/^[0-9a-f]{12}$/) });

function addDeliveries(app: ConsoleApp, { store, log }: ConsoleParts): void {
  app.get('/deliveries', async (c) => {
    const { tenant = '', state = '', delivery = '' } = c.req.query();
    if (tenant !== '') await assertTenantInStore(store, tenant);
    const found = await listDeliveries(store, {
      states: STATES.filter((one) => state === '' || one === state),
      ...(tenant === '' ? {} : { tenantId: tenant }),
      limit: MOST_LISTED + 1,
    });
    const { shown, more } = shortened(found);
    const wanted = shown.filter((one) => delivery === '' || textOf(one).includes(delivery));
    const head = ['delivery', 'tenant', 'event', 'ids', 'state', 'received', 'last error', 'act'];
    return page(
      c,
      'Deliveries',
      html`<form class="filters" role="search" method="get" action="/deliveries">
  ${searchField(c, 'tenant', 'Tenant')}${choiceField(c, 'state', 'State', STATES)}
  ${searchField(c, 'delivery', 'Delivery, event or ID in it')}<button>Find</button>
</form>${noticeOf(c)}
<p class="hint">Of a webhook its event and IDs are shown; its payload stays in the store.</p>
<div class="result" id="deliveries-part" data-live>
${table(
  'Deliveries, latest first',
  head,
  wanted.map((one) => deliveryRow(c, one)),
)}${more}</div>`,
    );
  });
  app.post('/deliveries/again', async (c) => {
    const { tenant, delivery, state } = { ...oneDelivery(c), state: c.get('form').get('state') ?? '' };
    await assertTenantInStore(store, tenant);
    const { by } = c.get('viewer');
    const of = { tenantId: tenant, delivery, by };
    await (REPLAYED.has(state) ? replayDeliveries(store, of) : retryDeliveries(store, of));
    log.info({ tenantId: tenant, delivery, by }, 'delivery given to the relay again');
    return c.redirect(`/deliveries?tenant=${encodeURIComponent(tenant)}&delivery=${delivery}&did=again`, 303);
  });
}

/** What was just done; the address names it, so only these can be said. */
const NOTICES: Readonly<Record<string, string>> = {
  again: 'The relay has the delivery again. What is done already stays as it is.',
  retry: 'What was left out is tried again. What stays left out is listed here.',
};

function noticeOf(c: Asked): Cell {
  const done = c.req.query('did') ?? '';
  return Object.hasOwn(NOTICES, done) ? html`<p class="notice good" role="status">${NOTICES[done]}</p>` : '';
}

function oneDelivery(c: Asked): z.infer<typeof OneDelivery> {
  const named = OneDelivery.safeParse(Object.fromEntries(c.get('form')));
  if (named.success) return named.data;
  throw new ConnectorError({
    code: 'DELIVERY_UNKNOWN',
    action: 'reject',
    message: 'The form names no tenant and delivery, and nothing was done. Load the list again.',
  });
}

function textOf({ delivery, event, ids }: DeliveryView): string {
  return `${delivery} ${event} ${JSON.stringify(ids)}`;
}

function deliveryRow(c: Asked, one: DeliveryView): Cell[] {
  const { delivery, tenantId, event, ids, state, receivedAt, lastError } = one;
  const named = Object.entries(ids).map(([kind, list]) => html`<div>${kind} ${list.join(', ')}</div>`);
  const body = hidden({ tenant: tenantId, delivery, state });
  const isDone = state !== 'waiting';
  return [
    html`<code>${delivery}</code>`,
    tenantId,
    event.slice(0, 60),
    html`${named}`,
    html`<span class="badge ${state === 'relayed' ? 'good' : ''}">${state}</span>`,
    time(receivedAt),
    lastError ?? '',
    isDone ? actForm(c, { to: '/deliveries/again', does: 'Act upon it again', body }) : '',
  ];
}

function addStreams(app: ConsoleApp, { store, act, log }: ConsoleParts): void {
  app.get('/streams', async (c) => {
    const tenant = c.req.query('tenant') ?? '';
    const search = html`<form class="filters" role="search" method="get" action="/streams">
  ${searchField(c, 'tenant', 'Tenant')}<button>Show</button></form>`;
    if (tenant === '') return page(c, 'Streams', html`${search}${await everyStream(store)}`);
    await assertTenantInStore(store, tenant);
    const [status, failed, conflicts] = await Promise.all([
      readStatus(store, []),
      readFailed(store, tenant),
      readConflicts(store, { tenantId: tenant, all: false, limit: MOST_LISTED + 1 }),
    ]);
    const streams = status.tenants.find(({ tenantId }) => tenantId === tenant)?.streams ?? [];
    return page(
      c,
      `Streams of ${tenant}`,
      html`${search}${noticeOf(c)}<div id="streams-part" data-live>
${section('runs', 'Last runs', runsTable(tenant, streams))}
${section('left-out', 'Left out', failedPart(c, tenant, failed))}</div>
${section('conflicts', 'Where both sides differ', conflictsPart(conflicts))}`,
    );
  });
  app.post('/streams/retry', async (c) => {
    const tenant = c.get('form').get('tenant') ?? '';
    const stream = c.get('form').get('stream') ?? undefined;
    const { by } = c.get('viewer');
    const { records, deliveries } = await act((parts) => retryFailed(parts, { tenantId: tenant, stream, by }));
    log.info({ tenantId: tenant, records, deliveries, by }, 'what was left out is tried again');
    return c.redirect(`/streams?tenant=${encodeURIComponent(tenant)}&did=retry`, 303);
  });
}

/** Where no tenant is named: the streams of all, those that need a look. */
async function everyStream(store: Store): Promise<Html> {
  const { tenants } = await readStatus(store, []);
  const rows = tenants.flatMap(({ tenantId, streams }) =>
    streams.filter(needsLook).map((stream) => [tenantLink(tenantId), ...streamCells(stream)]),
  );
  const { shown, more } = shortened(rows);
  return html`<div class="result" id="streams-part" data-live>
${table('Streams that need a look', ['tenant', 'stream', ...RUN_HEAD], shown)}${more}</div>`;
}

function needsLook({ state, quarantined, pausedBy }: StreamStatus): boolean {
  return state === 'partial' || state === 'refused' || quarantined > 0 || pausedBy !== undefined;
}

function tenantLink(tenantId: string): Html {
  return html`<a href="/streams?tenant=${encodeURIComponent(tenantId)}">${tenantId}</a>`;
}

const RUN_HEAD = ['last run', 'when', 'read', 'made', 'changed', 'same', 'left out', 'partner / HR system', 'why'];

function runsTable(tenant: string, streams: readonly StreamStatus[]): Html {
  return table(`Streams of ${tenant}`, ['stream', ...RUN_HEAD], streams.map(streamCells));
}

function streamCells(one: StreamStatus): Cell[] {
  const { stream, state, ageMs, counts, total, quarantined, pausedBy, coverage, refused } = one;
  const stands = pausedBy === undefined ? state : `paused by ${pausedBy}`;
  return [
    stream,
    html`<span class="badge ${state === 'done' && pausedBy === undefined ? 'good' : 'warn'}">${stands}</span>`,
    ago(ageMs),
    total === undefined ? counts.read : `${counts.read} of ${total}`,
    counts.created,
    counts.updated,
    counts.unchanged,
    quarantined,
    coverage === undefined ? '' : `${coverage.partner} / ${coverage.hris}, ${ago(coverage.ageMs)}`,
    refused === undefined ? '' : `${refused.message} [${refused.code}]`,
  ];
}

function failedPart(c: Asked, tenant: string, failed: readonly Failed[]): Html {
  if (failed.length === 0) return html`<p class="empty">Nothing of ${tenant} failed.</p>`;
  const places = [...new Set(failed.map(({ where }) => where))].filter((where) => where !== 'inbox');
  const { shown, more } = shortened(failed);
  const rows = shown.map(({ where, what, since, reason }): Cell[] => [where, what, time(since), reason]);
  const retry = (does: string, fields: Record<string, string>): Cell =>
    actForm(c, { to: '/streams/retry', does, body: hidden({ tenant, ...fields }) });
  return html`${table('Left out', ['where', 'what', 'since', 'reason'], rows)}${more}
<div class="actions">${places.map((stream) => retry(`Read ${stream} again`, { stream }))}
${retry('Try all of it again', {})}</div>`;
}

/** The values of both sides, and a choice for each that waits for a person: the answer of the hold that asks. */
function conflictsPart(found: readonly ConflictView[]): Html {
  const { shown, more } = shortened(found);
  const rows = shown.map((one): Cell[] => [
    one.field,
    `${one.stream} ${one.record}`,
    one.partner ?? '(purged)',
    one.hris ?? '(purged)',
    time(one.since),
    [one.kind, one.code, one.kept === null ? null : `${one.kept} stays`].filter((part) => part !== null).join(', '),
    one.asked === null ? '' : decidePart(one.id, one.asked),
  ]);
  const head = ['field', 'record', 'hiring platform', 'HR system', 'since', 'state', 'which stays'];
  return html`${table('Fields that differ', head, rows)}${more}`;
}

const DECISIONS: Readonly<Record<string, string>> = {
  'keep-partner': "Keep the hiring platform's",
  'keep-hris': "Keep the HR system's",
  apply: 'Change the employee',
  keep: 'Leave the employee',
};

function decidePart(id: string, { holdId, answers }: NonNullable<ConflictView['asked']>): Html {
  const buttons = answers.map(
    (answer) => html`<button name="answer" value="${answer}">${DECISIONS[answer] ?? answer}</button>`,
  );
  return html`<form class="inline" method="get" action="/holds/${holdId}/answer">${hidden({ id })}${buttons}</form>`;
}
