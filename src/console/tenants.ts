import { html } from 'hono/html';
import { withCode } from '../docs.ts';
import { type ConnectorError, rejected } from '../errors.ts';
import { creditsOf, describeObserved } from '../hire/hire.ts';
import { age, count } from '../in-words.ts';
import { reconcileNow } from '../operator/follow-stream.ts';
import {
  type Overview,
  readAnswered,
  readFigures,
  readOverview,
  readRateLimits,
  type TenantFigures,
  type TenantLine,
} from '../operator/status.ts';
import {
  assertLive,
  confirmCompany,
  freezeWrites,
  listObservedHires,
  type ObservedHire,
  startObservedHires,
  steerTenant,
  thawWrites,
  type Verb,
} from '../operator/tenants.ts';
import type { RateLimitView } from '../rate-limit/view-rate-limit.ts';
import type { Store } from '../store/open-store.ts';
import { viewRateLimits } from '../store/rate-limits.ts';
import { type ActName, type Asked, addAct, addPage, askedScope, type ConsoleApp, mayDo } from './acts.ts';
import {
  actForm,
  addressOf,
  ago,
  asOf,
  type Cell,
  type ConsoleParts,
  codeName,
  facts,
  filters,
  type Html,
  hidden,
  lineChart,
  noticeOf,
  page,
  section,
  table,
  tenantLink,
  time,
} from './layout.ts';
import { alarmSubject, begunCell, percent, stateBadge } from './overview.ts';

/** One tenant: its state, and what can be done to it as a whole. */
export function addTenants(app: ConsoleApp, { act, log }: ConsoleParts): void {
  addPage(app, '/tenants/:tenant', async (c, tenantId) => {
    const store = c.get('store');
    const overview = await readOverview(store, [], [tenantId]);
    const now = Date.parse(overview.at);
    const [figures, answered, observed] = await Promise.all([
      readFigures(store, [tenantId], now),
      readAnswered(store, tenantId, now),
      listObservedHires(store, tenantId),
    ]);
    const [line] = overview.tenants;
    if (line === undefined) throw new Error(`tenant ${tenantId} disappeared while it was read`);
    return page(
      c,
      tenantId,
      html`${noticeOf(c, NOTICES)}<div id="tenant-part" data-live>
${standsPart(line, overview, figures.get(tenantId))}
${section('figures', 'In numbers', figuresPart(line, figures.get(tenantId), answered))}
</div>
${observed.length === 0 ? '' : section('observed', 'Hired while it only observed', observedPart(c, line, observed))}
${section('acts', 'What you can do', actsPart(c, line))}`,
      { tenant: tenantId, above: html`<a href="/">Overview</a>` },
    );
  });
  addPage(app, '/tenants/:tenant/remove', (c, tenantId) =>
    page(c, `Remove ${tenantId}?`, removePart(c, tenantId), { tenant: tenantId }),
  );

  const steer = (name: ActName, verb: Verb): void =>
    addAct(app, log, name, async ({ c, by, tenantId }) => {
      await steerTenant(c.get('store'), verb, { tenantId, by });
      return `${addressOf('tenants', tenantId)}?did=${verb}`;
    });
  steer('pauseTenant', 'pause');
  steer('resumeTenant', 'resume');
  steer('removeTenant', 'remove');
  addAct(app, log, 'confirmCompany', async ({ c, by, tenantId }) => {
    await confirmCompany(c.get('store'), { tenantId, by });
    return `${addressOf('tenants', tenantId)}?did=confirm`;
  });
  addAct(app, log, 'goLive', async ({ c, by, tenantId, form }) => {
    const store = c.get('store');
    await assertLive(store, tenantId);
    const since = Date.parse(`${form.get('since') ?? ''}T00:00:00Z`);
    if (Number.isNaN(since)) throw noDay();
    await startObservedHires(store, { tenantId, by }, await listObservedHires(store, tenantId, since));
    return `${addressOf('tenants', tenantId)}?did=go-live`;
  });
  addAct(app, log, 'reconcile', async ({ by, tenantId, form }) => {
    const full = form.get('full') === 'yes';
    await act((parts) => reconcileNow(parts, { tenantId, full, by }));
    return `${addressOf('tenants', tenantId)}?did=${full ? 'reconcile-full' : 'reconcile'}`;
  });
  addAct(app, log, 'freeze', async ({ c, by, tenantId }) => {
    await freezeWrites(c.get('store'), { tenantId, by });
    return `${addressOf('tenants', tenantId)}?did=freeze`;
  });
  addAct(app, log, 'thaw', async ({ c, by, tenantId }) => {
    await thawWrites(c.get('store'), { tenantId, by });
    return `${addressOf('tenants', tenantId)}?did=thaw`;
  });
  addAct(app, log, 'freezeAll', async ({ c, by }) => {
    await freezeWrites(c.get('store'), { by });
    return '/?did=freeze';
  });
  addAct(app, log, 'thawAll', async ({ c, by }) => {
    await thawWrites(c.get('store'), { by });
    return '/?did=thaw';
  });
}

const NOTICES: Readonly<Record<string, string>> = {
  pause: 'It is paused: its work waits, its webhooks are stored.',
  resume: 'It resumes within seconds.',
  remove: 'It is removed: its webhooks are answered 410, and a worker ends its schedules and workflows.',
  confirm: 'The company is confirmed. The worker checks the key again and continues.',
  'go-live': 'A worker starts them within a minute. People who left since then cost nothing.',
  setup: 'Its files are written and applied. A worker takes it up within seconds and records who is hired already.',
  reconcile: 'What seems changed is compared now.',
  'reconcile-full': 'Everything is compared now.',
  freeze: 'Nothing is written for it any more. Both sides are still read, webhooks are still accepted.',
  thaw: 'Its writes continue within seconds.',
};

function standsPart(line: TenantLine, { causes, alarms }: Overview, figures: TenantFigures | undefined): Html {
  const { tenantId, paused } = line;
  const lasting = alarms
    .filter(({ kind }) => kind !== 'tenant-paused')
    .map((one) => html`<li>${alarmSubject(one)}: ${one.message} <span class="soft">${age(one.ageMs)}</span></li>`);
  const asks = causes.map(
    ({ code, holds, oldestMs }) =>
      html`<li><a href="/holds?tenant=${encodeURIComponent(tenantId)}&amp;code=${encodeURIComponent(code)}">
${codeName(code)}</a>
  ${count(holds, 'question')}, oldest for ${age(oldestMs)}</li>`,
  );
  const why = paused === undefined ? '' : html`<p class="notice bad">${withCode(paused.message, paused.code)}</p>`;
  const warning = figures?.webhookWarning;
  return html`<p class="inline">${stateBadge(line)}<span class="soft">compared
${ago(line.reconcileAgeMs)}</span></p>${why}${warning === undefined ? '' : html`<p class="notice">${warning}</p>`}
${section(
  'asks',
  'What needs a person',
  asks.length + lasting.length === 0
    ? html`<p class="empty">Nothing waits for a
person.</p>`
    : html`<ul class="plain">${asks}${lasting}</ul>`,
)}`;
}

function figuresPart(
  { tenantId, hires, alarms }: TenantLine,
  figures: TenantFigures | undefined,
  answered: Awaited<ReturnType<typeof readAnswered>>,
): Html {
  const name = encodeURIComponent(tenantId);
  const state = (of: keyof TenantLine['hires']): Cell =>
    html`<a href="/hires?tenant=${name}&amp;state=${of}">${(hires[of] ?? 0).toLocaleString('en')}</a>`;
  return facts([
    ['open hires', state('open')],
    ['done', state('done')],
    ['hired before go-live', state('before-go-live')],
    ['left, cancelled or kept', html`${state('left')}, ${state('cancelled')}, ${state('kept')}`],
    ['hires begun in the last 24 hours', begunCell(figures?.begun ?? [])],
    ['hiring platform answered', ago(answered.partner)],
    ['HR system answered', ago(answered.hris)],
    ['last webhook', ago(figures?.webhookMs, 'none known')],
    ['alarms', alarms],
    ['streams', html`<a href="/streams?tenant=${name}">${count(figures?.streams.length ?? 0, 'stream')}</a>`],
  ]);
}

const MOST_SHOWN = 100;

function observedPart(c: Asked, { tenantId, onlyObserves }: TenantLine, hires: readonly ObservedHire[]): Html {
  const rows = hires
    .slice(0, MOST_SHOWN)
    .map(({ jobCandidateId, firstSeenAt, observed }) => [
      jobCandidateId,
      time(firstSeenAt),
      describeObserved(observed),
    ]);
  const credits = creditsOf(hires);
  return html`<p>Hired while this tenant only observed: ${count(hires.length, 'person', 'people')}. Starting them costs
at most ${count(credits, 'credit')}.</p>
${table('Hired while it only observed', ['job candidate', 'first seen', 'would'], rows)}
${hires.length > MOST_SHOWN ? html`<p class="hint">The first ${MOST_SHOWN} of ${hires.length} are listed.</p>` : ''}
${
  onlyObserves === true
    ? html`<p class="hint">They can be started once its file says <code>mode: live</code>.</p>`
    : actForm(c, 'goLive', {
        tenant: tenantId,
        to: addressOf('tenants', tenantId, 'go-live'),
        does: 'Start them',
        body: html`<label>First seen on this day (UTC) or later<input type="date" name="since" required></label>`,
      })
}`;
}

function actsPart(c: Asked, line: TenantLine): Html {
  const { tenantId, state, isFrozen, paused } = line;
  const form = (name: ActName, verb: string, does: string, body: Cell = ''): Cell =>
    actForm(c, name, { tenant: tenantId, to: addressOf('tenants', tenantId, verb), does, body });
  const rows: [Cell, string][] = [
    [
      form('reconcile', 'reconcile', 'Compare now'),
      'Compares both sides where something seems changed, as happens every few minutes.',
    ],
    [
      form('reconcile', 'reconcile', 'Compare everything', hidden({ full: 'yes' })),
      'Compares everything, as happens once a day. It takes longer and costs more calls.',
    ],
    isFrozen
      ? [form('thaw', 'thaw', 'Thaw'), 'Allows its writes again.']
      : [
          form('freeze', 'freeze', 'Freeze writes'),
          'Stops every write at once, on both sides. Reading continues, and nothing is lost.',
        ],
    state === 'paused'
      ? [
          form('resumeTenant', 'resume', 'Resume'),
          'Ends a pause by a person. A pause for a fault ends by itself once the fault is gone.',
        ]
      : [form('pauseTenant', 'pause', 'Pause'), 'All its work waits. Webhooks are stored and processed later.'],
    ...(paused?.code === 'COMPANY_MISMATCH'
      ? [
          [
            form('confirmCompany', 'confirm-company', 'Confirm the company'),
            'Confirms that the key belongs to the right company, although none of the jobs known before is there.',
          ] as [Cell, string],
        ]
      : []),
    ...(mayDo(c, 'removeTenant', tenantId) && state !== 'removed'
      ? [
          [
            html`<a class="button" href="${addressOf('tenants', tenantId, 'remove')}">Remove</a>`,
            'Ends it, after you confirm.',
          ] as [Cell, string],
        ]
      : []),
  ];
  return html`<ul class="deeds plain">${rows.map(
    ([button, does]) => html`<li>${button}<p
class="hint">${does}</p></li>`,
  )}</ul>`;
}

function removePart(c: Asked, tenantId: string): Html {
  return section(
    'last',
    'Look once more',
    html`<p>Its webhooks are answered 410, a worker ends its schedules and workflows. Employees, enrolments, its records
here and its webhook subscription stay as they are. It comes back when its files are applied again.</p>
<div class="actions">${actForm(c, 'removeTenant', {
      tenant: tenantId,
      to: addressOf('tenants', tenantId, 'remove'),
      does: `Remove ${tenantId}`,
      look: 'danger',
    })}
<a href="${addressOf('tenants', tenantId)}">Back, and change nothing</a></div>`,
  );
}

/** A limit at one moment. */
type Sample = ReturnType<typeof sampleOf>;

function sampleOf({ rate, perSecond, share429, waits }: RateLimitView) {
  return { at: Date.now(), rate, perSecond, share429, live: waits.live?.p99Ms, bulk: waits.bulk?.p99Ms };
}

const EVERY_MS = 30_000;
/** Two hours of samples; an open page adds samples more often. */
const MOST_SAMPLES = 240;

/** Learned limits, their use, and the wait of calls: now, and since the console started. */
export function addRateLimits(app: ConsoleApp, { store }: ConsoleParts & { store: Store }): { stop: () => void } {
  const history = createHistory();
  // One statement for all tenants, so that a chart exists before its page is first opened.
  const timer = setInterval(() => {
    viewRateLimits(store).then(
      (views) => views.forEach(history.note),
      () => undefined,
    );
  }, EVERY_MS);
  timer.unref();
  app.get('/rate-limits', async (c) => {
    const { tenantId } = await askedScope(c);
    if (tenantId === undefined)
      return page(
        c,
        'Rate limits',
        html`${filters(c, '/rate-limits', [], 'Show')}<p class="empty">Name a tenant to see the limits that its calls
are
under, or choose one on the <a href="/">overview</a>.</p>`,
      );
    const views = await readRateLimits(c.get('store'), tenantId);
    views.forEach(history.note);
    const parts = views.map((view, at) => section(`limit-${at}`, titleOf(view), limitPart(view, history.of(view))));
    const none = html`<p class="empty">No call was made for ${tenantId} yet.</p>`;
    return page(
      c,
      `Rate limits of ${tenantId}`,
      html`<div id="limits-part" data-live>${parts.length === 0 ? none : parts}${asOf()}</div>`,
      { tenant: tenantId, above: tenantLink(tenantId) },
    );
  });
  return { stop: () => clearInterval(timer) };
}

function createHistory() {
  const samples = new Map<string, Sample[]>();
  const nameOf = ({ tenantId, upstream }: RateLimitView): string => `${tenantId} ${upstream}`;
  return {
    note(view: RateLimitView): void {
      samples.set(nameOf(view), [...(samples.get(nameOf(view)) ?? []), sampleOf(view)].slice(-MOST_SAMPLES));
    },
    of: (view: RateLimitView): readonly Sample[] => samples.get(nameOf(view)) ?? [],
  };
}

function titleOf({ tenantId, upstream }: RateLimitView): string {
  if (upstream === 'partner') return 'Hiring platform';
  if (upstream.startsWith('partner/')) return `Hiring platform, ${upstream.slice('partner/'.length)} alone`;
  return `HR system ${tenantId.replace(/^hris:/, '')}${upstream === 'hris' ? '' : `, ${upstream}`}`;
}

const STATES: Record<RateLimitView['state'], string> = {
  'not met yet': 'no limit was reached yet, so calls keep getting faster',
  'looking for noise': 'checking whether refusals come at any rate',
  paused: 'paused, because the limit was reached',
  learned: 'learned',
};

function limitPart(view: RateLimitView, samples: readonly Sample[]): Html {
  const { state, kind, limit, noise, mostInFlight, use, share429, perSecond, rate, waits } = view;
  const waitText = (of: RateLimitView['waits']['live']): string =>
    of === undefined ? 'no call waited' : `p50 ${of.p50Ms} ms, p99 ${of.p99Ms} ms, ${of.count} calls`;
  const times = samples.map(({ at }) => at);
  const charts =
    samples.length < 2
      ? html`<p class="hint">Charts start now: the console takes a sample every half minute,
and more often while this page is open.</p>`
      : html`<div class="beside">${lineChart('Calls a second', times, [
          { name: 'allowed', values: samples.map((one) => one.rate) },
          { name: 'made', values: samples.map((one) => one.perSecond) },
        ])}${lineChart('Answers that refused (429), percent', times, [
          { name: 'refused', values: samples.map((one) => one.share429 * 100) },
        ])}${lineChart('99 of 100 calls waited at most, ms', times, [
          { name: 'hires', values: samples.map((one) => one.live) },
          { name: 'bulk', values: samples.map((one) => one.bulk) },
        ])}</div>`;
  return html`${facts([
    ['how it stands', `${STATES[state]}${kind === 'unknown' ? '' : `, by ${kind}`}`],
    ['limit', limit === undefined ? 'not known' : `${limit.toFixed(2)} calls a second`],
    ['allowed now', `${rate.toFixed(2)} calls a second`],
    ['made, last minutes', `${perSecond.toFixed(2)} calls a second, ${percent(use)} of it`],
    ['refused (429), last minutes', percent(share429)],
    ['refused at any rate', percent(noise)],
    ['most calls at once', mostInFlight ?? 'no bound was reached'],
    ['hires waited', waitText(waits.live)],
    ['bulk work waited', waitText(waits.bulk)],
  ])}${charts}`;
}

function noDay(): ConnectorError {
  return rejected(
    'DAY_INVALID',
    'Nobody was started, because no day was given that can be read. Give one such as 2026-01-31.',
  );
}
