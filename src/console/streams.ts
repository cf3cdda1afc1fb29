import { html } from 'hono/html';
import { withCode } from '../docs.ts';
import { type ConnectorError, isConnectorError, rejected } from '../errors.ts';
import { age, count } from '../in-words.ts';
import { type ConflictView, type Failed, readConflicts, readFailed, retryFailed } from '../operator/failed.ts';
import { beginStream } from '../operator/follow-stream.ts';
import { answerHold } from '../operator/holds.ts';
import { readStreams, type StreamStatus } from '../operator/status.ts';
import { assertKnownStream, steerStream } from '../operator/streams.ts';
import { readAppliedTenant } from '../operator/tenants.ts';
import { noteLook } from '../store/audit.ts';
import { listQuarantine } from '../store/listings.ts';
import { readClock, type Store } from '../store/open-store.ts';
import { listPasses, type StreamPass } from '../store/streams.ts';
import { readTenantState } from '../store/tenant-states.ts';
import { type StreamName, streamNames } from '../streams/streams.ts';
import { type Asked, addAct, addPage, allow, askedScope, type ConsoleApp, may, mayDo } from './acts.ts';
import {
  actForm,
  addressOf,
  ago,
  asOf,
  type Cell,
  type ConsoleParts,
  filters,
  type Html,
  hidden,
  lineChart,
  noticeOf,
  PAGE_ROWS,
  page,
  paged,
  personal,
  placeAsked,
  section,
  table,
  tenantAndIts,
  tenantLink,
  time,
} from './layout.ts';

/** Streams: runs, coverage, left-out records, and differences between the sides. */
export function addStreams(app: ConsoleApp, parts: ConsoleParts): void {
  addConflicts(app, parts);
  addRuns(app, parts);
}

const NOTICES: Readonly<Record<string, string>> = {
  sync: 'It was started. Its progress shows here.',
  pause: 'The stream is paused: its hints wait. Hires and other streams continue.',
  resume: 'The stream resumes. Its next pass may make the changes that a change limit held.',
  retry: 'What was left out is read again now. What stays left out is listed here.',
  settle: 'Decided. The next run writes the kept value to the other side.',
};

function addRuns(app: ConsoleApp, { act, log }: ConsoleParts): void {
  app.get('/streams', async (c) => {
    const { tenantId, tenantIds } = await askedScope(c);
    const search = filters(c, '/streams', [], 'Show');
    const store = c.get('store');
    const now = await readClock(store);
    if (tenantId === undefined) {
      const all = await readStreams(store, now, tenantIds);
      return page(
        c,
        'Streams',
        html`${search}<div class="result" id="streams-part" data-live>${lookTable(all)}${asOf()}</div>`,
      );
    }
    const [streams, own, failed] = await Promise.all([
      readStreams(store, now, [tenantId]),
      ownStreams(store, tenantId),
      readFailed(store, tenantId),
    ]);
    return page(
      c,
      `Streams of ${tenantId}`,
      html`${search}${noticeOf(c, NOTICES)}<div id="streams-part" data-live>
${section('runs', 'Last runs', runsTable(c, tenantId, streams.get(tenantId) ?? [], own))}
${section('left-out', 'Left out', failedPart(c, tenantId, failed))}
${section('differ', 'Where both sides differ', fieldsThatDiffer(tenantId))}${asOf()}</div>`,
      { tenant: tenantId, above: tenantLink(tenantId) },
    );
  });

  addPage(app, '/streams/:tenant/:stream', async (c, tenant) => {
    const stream = c.req.param('stream') ?? '';
    assertKnownStream(stream);
    const store = c.get('store');
    const after = placeAsked(c, 1) as [string] | undefined;
    const [streams, passes, failed, left] = await Promise.all([
      readStreams(store, await readClock(store), [tenant]),
      listPasses(store, { tenantId: tenant, stream }),
      after === undefined ? readFailed(store, tenant) : [],
      listQuarantine(store, { tenantId: tenant, stream, after, limit: PAGE_ROWS + 1 }),
    ]);
    const status = (streams.get(tenant) ?? []).find((one) => one.stream === stream);
    const { shown, ways } = paged(c, left, (row) => [row.record_key]);
    // Not one record, but the whole stream, or a field of many.
    const wide = failed.filter(({ where, what }) => where === stream && what.startsWith('('));
    const rows = [
      ...wide.map(({ what, since, reason }): Cell[] => [what, time(since), reason]),
      ...shown.map((row): Cell[] => [row.record_key, time(Number(row.since)), row.reason]),
    ];
    return page(
      c,
      `${stream} of ${tenant}`,
      html`${noticeOf(c, NOTICES)}<div id="stream-part" data-live>
${section('run', 'Last run', runPart(c, tenant, stream, status))}
${section('over-time', 'Records by pass', passesPart(passes))}
${section(
  'quarantine',
  'Left out',
  html`${table('Records left out', ['record', 'since', 'reason'], rows, { none: 'No record is left out.' })}${ways}
${wide.length === 0 ? '' : fieldsThatDiffer(tenant)}${rows.length === 0 ? '' : retryForm(c, tenant, stream)}`,
)}${asOf()}</div>`,
      { tenant, above: tenantAndIts('streams', tenant) },
    );
  });

  addAct(app, log, 'sync', async ({ c, by, tenantId, form }) => {
    const stream = c.req.param('stream') ?? '';
    assertKnownStream(stream);
    const mode = form.get('full') === 'yes' ? 'full' : 'incremental';
    await act((parts) => beginStream(parts, { tenantId, stream, mode, rewrite: false, by }));
    return `${addressOf('streams', tenantId, stream)}?did=sync`;
  });
  for (const [name, verb] of [
    ['pauseStream', 'pause'],
    ['resumeStream', 'resume'],
  ] as const)
    addAct(app, log, name, async ({ c, by, tenantId }) => {
      await steerStream(c.get('store'), verb, { tenantId, stream: c.req.param('stream') ?? '', by });
      return `/streams?tenant=${encodeURIComponent(tenantId)}&did=${verb}`;
    });
  addAct(app, log, 'retry', async ({ by, tenantId, form }) => {
    const stream = form.get('stream') ?? undefined;
    await act((parts) => retryFailed(parts, { tenantId, stream, by }));
    const to =
      stream === undefined
        ? `/streams?tenant=${encodeURIComponent(tenantId)}&`
        : `${addressOf('streams', tenantId, stream)}?`;
    return `${to}did=retry`;
  });
}

/** Without a tenant: the streams of all tenants that need a look. */
function lookTable(all: ReadonlyMap<string, readonly StreamStatus[]>): Html {
  const odd = [...all].flatMap(([tenantId, own]) => own.filter(needsLook).map((one) => ({ tenantId, one })));
  const shown = odd.slice(0, PAGE_ROWS);
  const rows = shown.map(({ tenantId, one }) => [
    tenantLink(tenantId),
    streamLink(tenantId, one.stream),
    ...runCells(one),
    one.refused !== undefined
      ? withCode(one.refused.message, one.refused.code)
      : one.quarantined > 0
        ? 'its page says what it left out'
        : '',
  ]);
  const running = [...all.values()].flat().length;
  const rest =
    odd.length > shown.length
      ? html`<p class="hint">The first ${shown.length} of ${odd.length}: name a tenant to see all of its.</p>`
      : '';
  return html`<p>${count(running, 'stream')} of ${count(all.size, 'tenant')} ran so far;
${odd.length === 0 ? 'none needs' : `${odd.length} need`} a look.</p>
${table('Streams that need a look', ['tenant', 'stream', ...RUN_HEAD, 'why'], rows, {
  none: 'Every stream ended as it should.',
})}${rest}`;
}

function needsLook({ state, quarantined, pausedBy }: StreamStatus): boolean {
  return state === 'partial' || state === 'refused' || quarantined > 0 || pausedBy !== undefined;
}

function fieldsThatDiffer(tenantId: string): Html {
  return html`<p><a class="button" href="${addressOf('streams', tenantId, 'conflicts')}">Look at
fields that differ</a></p>`;
}

function streamLink(tenantId: string, stream: string): Html {
  return html`<a href="${addressOf('streams', tenantId, stream)}">${stream}</a>`;
}

const RUN_HEAD = ['last run', 'when', 'read', 'made', 'changed', 'same', 'left out', 'partner / HR system'];

function runsTable(c: Asked, tenant: string, streams: readonly StreamStatus[], own: readonly string[]): Html {
  const ran = new Set(streams.map(({ stream }) => stream));
  const idle = own.filter((stream) => !ran.has(stream));
  const rows = [
    ...streams.map((one) => [streamLink(tenant, one.stream), ...runCells(one), actsCell(c, tenant, one.stream, one)]),
    ...idle.map((stream) => [
      streamLink(tenant, stream),
      html`<span class="badge">never ran</span>`,
      ...Array.from({ length: RUN_HEAD.length - 1 }, () => ''),
      actsCell(c, tenant, stream, undefined),
    ]),
  ];
  return table(`Streams of ${tenant}`, ['stream', ...RUN_HEAD, 'act'], rows, {
    none: html`The tenant file runs no stream. Add one, such as <code>streams: { jobs: { every: 1h } }</code>.`,
  });
}

function runCells(one: StreamStatus): Cell[] {
  const { state, ageMs, counts, total, quarantined, pausedBy, coverage } = one;
  const stands = pausedBy === undefined ? state : `paused by ${pausedBy}`;
  const look =
    pausedBy !== undefined || state === 'refused' || state === 'partial'
      ? 'warn'
      : state === 'running'
        ? 'accent'
        : 'good';
  return [
    html`<span class="badge ${look}">${stands}</span>`,
    state === 'running' ? 'now' : ago(ageMs),
    state === 'running' ? progress(one) : total === undefined ? counts.read : `${counts.read} of ${total}`,
    counts.created,
    counts.updated,
    counts.unchanged,
    quarantined,
    coverage === undefined
      ? ''
      : html`${coverage.partner} / ${coverage.hris}, <span class="soft">${ago(coverage.ageMs)}</span>`,
  ];
}

function progress({ counts, total }: StreamStatus): Cell {
  if (total === undefined) return `${counts.read} so far`;
  return html`<progress max="${Math.max(1, total)}" value="${Math.min(counts.read, total)}" aria-label="read so
far"></progress>
  ${counts.read} of ${total}`;
}

function actsCell(c: Asked, tenant: string, stream: string, one: StreamStatus | undefined): Html {
  const form = (name: 'sync' | 'pauseStream' | 'resumeStream', verb: string, does: string): Cell =>
    mayDo(c, name, tenant)
      ? actForm(c, name, { tenant, to: addressOf('streams', tenant, stream, verb), does, of: stream })
      : '';
  const isHeld = one?.pausedBy !== undefined || one?.state === 'refused';
  return html`<div class="inline">${
    one?.state === 'running' ? '' : form('sync', 'sync', 'Sync now')
  }${isHeld ? form('resumeStream', 'resume', 'Resume') : form('pauseStream', 'pause', 'Pause')}</div>`;
}

function runPart(c: Asked, tenant: string, stream: string, status: StreamStatus | undefined): Html {
  const to = addressOf('streams', tenant, stream, 'sync');
  const acts = html`<div class="actions">${actForm(c, 'sync', { tenant, to, does: 'Sync now' })}
${actForm(c, 'sync', { tenant, to, does: 'Read the whole list', body: hidden({ full: 'yes' }) })}
${
  status?.pausedBy !== undefined || status?.state === 'refused'
    ? actForm(c, 'resumeStream', { tenant, to: addressOf('streams', tenant, stream, 'resume'), does: 'Resume' })
    : actForm(c, 'pauseStream', { tenant, to: addressOf('streams', tenant, stream, 'pause'), does: 'Pause' })
}</div>`;
  if (status === undefined)
    return html`<p class="empty">It never ran. It runs as often as the tenant file says, or now:</p>${acts}`;
  const hints =
    status.hintsWaitMs === undefined ? '' : html`<p>The oldest hint has waited for ${age(status.hintsWaitMs)}.</p>`;
  return html`${table(
    `Last run of ${stream}`,
    ['stream', ...RUN_HEAD],
    [[stream, ...runCells(status)]],
  )}${hints}${acts}`;
}

function passesPart(passes: readonly StreamPass[]): Html {
  if (passes.length === 0) return html`<p class="empty">No pass over the whole list has ended yet.</p>`;
  const chart =
    passes.length < 2
      ? ''
      : lineChart(
          'Records at the hiring platform and in the HR system, by pass',
          passes.map(({ beganAt }) => beganAt),
          [
            { name: 'hiring platform', values: passes.map(({ listed }) => listed) },
            { name: 'HR system', values: passes.map(({ landed }) => landed) },
          ],
        );
  const rows = passes
    .toReversed()
    .map((pass): Cell[] => [
      time(pass.beganAt),
      age(pass.endedAt - pass.beganAt),
      pass.listed,
      pass.landed,
      pass.created,
      pass.updated,
      pass.quarantined,
    ]);
  return html`${chart}${table(
    'Passes over the whole list, latest first',
    ['began', 'took', 'hiring platform', 'HR system', 'made', 'changed', 'left out'],
    rows.slice(0, 10),
  )}`;
}

function failedPart(c: Asked, tenant: string, failed: readonly Failed[]): Html {
  if (failed.length === 0) return html`<p class="empty">Nothing was left out.</p>`;
  const places = [...new Set(failed.map(({ where }) => where))].filter((where) => where !== 'inbox');
  const rows = failed
    .slice(0, PAGE_ROWS)
    .map(({ where, what, since, reason }): Cell[] => [
      where === 'inbox'
        ? html`<a href="/deliveries?tenant=${encodeURIComponent(tenant)}">deliveries</a>`
        : streamLink(tenant, where),
      what,
      time(since),
      reason,
    ]);
  const more =
    failed.length > PAGE_ROWS
      ? html`<p class="hint">The first ${PAGE_ROWS} of ${failed.length}; each stream's page has its own.</p>`
      : '';
  return html`${table('Left out', ['where', 'what', 'since', 'reason'], rows)}${more}
<div class="actions">${places.map((stream) => retryForm(c, tenant, stream))}${retryForm(c, tenant, undefined)}</div>`;
}

function retryForm(c: Asked, tenant: string, stream: string | undefined): Cell {
  const does = stream === undefined ? 'Try all of it again' : `Read what ${stream} left out again`;
  const body = stream === undefined ? '' : hidden({ stream });
  return actForm(c, 'retry', { tenant, to: addressOf('streams', tenant, 'retry'), does, body });
}

function addConflicts(app: ConsoleApp, { act, log }: ConsoleParts): void {
  const conflictsPage = async (c: Asked, tenantId: string, isRevealed: boolean) => {
    const all = c.req.query('all') === 'yes';
    const after = placeAsked(c, 2) as [number, string] | undefined;
    const reveal = isRevealed && may(c.get('viewer'), 'operator', tenantId);
    const found = await readConflicts(c.get('store'), { tenantId, all, after, limit: PAGE_ROWS + 1 }, reveal);
    const { shown, ways } = paged(c, found, ({ since, id }) => [Date.parse(since), id]);
    return page(
      c,
      'Where both sides differ',
      html`${noticeOf(c, NOTICES)}
<form class="filters" role="search" method="get" action="${addressOf('streams', tenantId, 'conflicts')}">
<label class="inline"><input type="checkbox" name="all" value="yes"${all ? html` checked` : ''}> decided ones
too</label><button>Show</button></form>
<div class="result" id="conflicts-part"${isRevealed ? '' : html` data-live`}>
${conflictsPart(c, tenantId, shown, isRevealed)}${ways}${asOf()}</div>`,
      { tenant: tenantId, above: tenantAndIts('streams', tenantId) },
    );
  };
  addPage(app, '/streams/:tenant/conflicts', (c, tenantId) => conflictsPage(c, tenantId, false));
  addAct(app, log, 'revealConflicts', async ({ c, by, tenantId }) => {
    await noteLook(c.get('store'), { by, tenantId, what: 'values where both sides differ', isRevealed: true });
    return conflictsPage(c, tenantId, true);
  });
  addAct(app, log, 'settle', async ({ c, by, tenantId, form }) => {
    const answer = form.get('answer') ?? '';
    const ids = form.getAll('id').slice(0, PAGE_ROWS);
    const wanted = await readConflicts(c.get('store'), { tenantId, all: false, limit: MOST_SETTLED });
    const chosen = wanted.filter(({ id, asked }) => ids.includes(id) && asked?.answers.includes(answer));
    if (chosen.length === 0) throw nothingChosen();
    for (const [holdId, own] of Map.groupBy(chosen, ({ asked }) => asked?.holdId ?? '')) {
      allow(c, 'settle', tenantId);
      await act((parts) => answerHold(parts, { holdId, answer, arguments: own.map(({ id }) => id), by }));
    }
    return `${addressOf('streams', tenantId, 'conflicts')}?did=settle`;
  });
}

const MOST_SETTLED = 2_000;

function nothingChosen(): ConnectorError {
  return rejected(
    'CONFLICT_UNKNOWN',
    'None of the chosen fields waits for this answer any more, and nothing was done. Load the list again.',
  );
}

const DECISIONS: Readonly<Record<string, string>> = {
  'keep-partner': "Keep the hiring platform's",
  'keep-hris': "Keep the HR system's",
  apply: 'Change the employees',
  keep: 'Leave the employees',
};

/** The values of both sides, and one decision for all chosen conflicts: the answer to their hold. */
function conflictsPart(c: Asked, tenant: string, shown: readonly ConflictView[], isRevealed: boolean): Html {
  const asked = shown.filter((one) => one.asked !== null);
  const canSettle = asked.length > 0 && mayDo(c, 'settle', tenant);
  const rows = shown.map((one): Cell[] => [
    one.field,
    `${one.stream} ${one.record}`,
    one.partner === null ? '(purged)' : personal(readable(one.partner), isRevealed, 'empty'),
    one.hris === null ? '(purged)' : personal(readable(one.hris), isRevealed, 'empty'),
    time(one.since),
    [one.kind, one.code, one.why, one.kept === null ? null : `${SIDES[one.kept]} stays`]
      .filter((part) => part !== null)
      .join(', '),
    ...(canSettle
      ? [
          one.asked === null
            ? ''
            : html`<input type="checkbox" name="id" value="${one.id}" form="settle" aria-label="${one.field} of
${one.record}">`,
        ]
      : []),
  ]);
  const head = ['field', 'record', 'hiring platform', 'HR system', 'since', 'state', ...(canSettle ? ['choose'] : [])];
  const answers = [...new Set(asked.flatMap((one) => one.asked?.answers ?? []))];
  const buttons = answers.map(
    (answer) => html`<button name="answer" value="${answer}">${DECISIONS[answer] ?? answer}</button>`,
  );
  const settle = canSettle
    ? html`<form role="none" method="post" id="settle" action="${addressOf('streams', tenant, 'settle')}">
<input type="hidden" name="csrf" value="${c.get('viewer').csrf}">
<fieldset class="many"><legend>Whose value to keep, for all chosen fields</legend>${buttons}
<p class="hint">The next run writes the kept value to the other side.</p></fieldset></form>`
    : '';
  const reveal =
    isRevealed || shown.length === 0
      ? ''
      : actForm(c, 'revealConflicts', {
          tenant,
          to: addressOf('streams', tenant, 'conflicts'),
          does: 'Show personal data',
        });
  return html`<div class="actions">${reveal}</div>${table('Fields that differ', head, rows, {
    none: 'Both sides agree on every field that they exchange.',
  })}${settle}`;
}

const SIDES = { partner: "the hiring platform's", hris: "the HR system's" } as const;

/** A value for display; masked values arrive masked. */
function readable(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return value === null ? '(empty)' : typeof value === 'string' ? value : json;
  } catch {
    return json;
  }
}

const read = new Map<string, { version: number | null; streams: StreamName[] }>();

/** The scheduled streams in a tenant's applied file; none if this version cannot read it. */
async function ownStreams(store: Store, tenantId: string): Promise<readonly StreamName[]> {
  const { version } = await readTenantState(store, tenantId);
  const name = `${store.installationId} ${tenantId}`;
  const known = read.get(name);
  if (known !== undefined && known.version === version) return known.streams;
  const tenant = version === null ? undefined : await readAppliedTenant(store, tenantId).catch(ignoreUnreadable);
  const own = tenant === undefined ? [] : streamNames.filter((one) => tenant.streams[one].every !== undefined);
  read.set(name, { version, streams: own });
  return own;
}

function ignoreUnreadable(error: unknown): undefined {
  if (!isConnectorError(error)) throw error;
}
