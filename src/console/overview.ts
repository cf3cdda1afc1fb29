import { html } from 'hono/html';
import { age, count } from '../in-words.ts';
import {
  describeRole,
  isMissing,
  type Overview,
  readFigures,
  readOverview,
  type TenantFigures,
  type TenantLine,
} from '../operator/status.ts';
import type { Store } from '../store/open-store.ts';
import { currentTenants } from '../tenants/current-tenants.ts';
import { type Asked, type ConsoleApp, mayDo, scopeOf } from './acts.ts';
import {
  actForm,
  addressOf,
  ago,
  type Cell,
  type ConsoleParts,
  codeName,
  type Html,
  hireLink,
  noticeOf,
  page,
  sameWith,
  table,
  tenantLink,
  time,
  withoutCommands,
} from './layout.ts';

/** Many screens may show the same page: its data is read once for all of them. */
const SHARED_MS = 4_000;

/** The first page: what needs a person now, then every tenant. */
export function addOverview(app: ConsoleApp, { places }: ConsoleParts): void {
  const readers = new Map<string, ReturnType<typeof shared<Overview>>>();
  const readerOf = (scope: readonly string[] | undefined): ReturnType<typeof shared<Overview>> => {
    const name = JSON.stringify(scope ?? null);
    const known = readers.get(name);
    if (known !== undefined) return known;
    const reader = shared(SHARED_MS, async (store) => {
      const known = await currentTenants(store, places.tenantsDir);
      return readOverview(
        store,
        scope === undefined ? known : known.filter(({ tenantId }) => scope.includes(tenantId)),
        scope,
      );
    });
    readers.set(name, reader);
    return reader;
  };
  app.get('/', async (c) => {
    const overview = await readerOf(scopeOf(c.get('viewer')))(c.get('store'));
    const wanted = (c.req.query('q') ?? '').trim().toLowerCase();
    const found = overview.tenants.filter(({ tenantId }) => tenantId.toLowerCase().includes(wanted));
    const from = Math.max(0, Number.parseInt(c.req.query('from') ?? '', 10) || 0);
    const shown = found.slice(from, from + MOST_TENANTS);
    const figures = await readFigures(
      c.get('store'),
      shown.map(({ tenantId }) => tenantId),
    );
    const isOne = overview.tenants.length === 1;
    const search = isOne
      ? ''
      : html`<form class="filters" role="search" method="get" action="/">
    <label>Find a tenant<input type="search" name="q" value="${wanted}" data-finds="tenants-part"></label>
    <button>Find</button>
    <span id="found" class="hidden" role="status"></span>
  </form>`;
    return page(
      c,
      'Overview',
      html`${noticeOf(c, {
        freeze: 'Nothing is written for any tenant until somebody thaws it.',
        thaw: 'Writes continue within seconds.',
      })}
<section id="now" data-live aria-labelledby="now-head">${needsPart(overview)}</section>
<section aria-labelledby="tenants-head" class="card">
  <div class="cause-head"><h2 id="tenants-head">${isOne ? 'Your tenant' : 'Tenants'}</h2>${
    mayDo(c, 'setUp') ? html`<a class="button" href="/setup">Set up a tenant</a>` : ''
  }</div>
  ${search}
  <div id="tenants-part" data-live>${tenantsPart(c, shown, figures)}
  <p class="hint"><span class="found">${foundText({
    found: found.length,
    all: overview.tenants.length,
    from,
    shown: shown.length,
  })}</span> As of
  ${time(overview.at)}.</p>${waysOf(
    sameWith(c, { from: '' }),
    { from, more: found.length > from + MOST_TENANTS },
    (to) => sameWith(c, { from: String(to) }),
  )}</div>
</section>${fleetPart(c, overview)}`,
    );
  });
}

const MOST_TENANTS = 50;

/** Reads once for all callers within this many milliseconds. */
function shared<T>(keepMs: number, read: (store: Store) => Promise<T>): (store: Store) => Promise<T> {
  let kept: { value: Promise<T>; until: number } | undefined;
  return (store) => {
    if (kept !== undefined && performance.now() < kept.until) return kept.value;
    const value = read(store);
    const mine = { value, until: performance.now() + keepMs };
    kept = mine;
    // The time counts from the result's arrival; a failure is not shared with later callers.
    value.then(
      () => (mine.until = performance.now() + keepMs),
      () => {
        if (kept === mine) kept = undefined;
      },
    );
    return value;
  };
}

function foundText({ found, all, from, shown }: Record<'found' | 'all' | 'from' | 'shown', number>): string {
  if (found === 0) return `None of ${all.toLocaleString('en')} tenants has this in its name.`;
  const which = shown === found ? '' : `${from + 1} to ${from + shown} of `;
  return `Shown: ${which}${count(
    found,
    'tenant',
  )}${found === all ? '' : ` found of ${all.toLocaleString('en')}`}. Those that need a person come first.`;
}

function waysOf(start: string, { from, more }: { from: number; more: boolean }, at: (from: number) => string): Cell {
  if (from === 0 && !more) return '';
  const first = from === 0 ? '' : html`<a class="button" href="${start}">From the beginning</a>`;
  const next = more
    ? html`<a class="button" rel="next" href="${at(from + MOST_TENANTS)}">Next ${MOST_TENANTS}</a>`
    : '';
  return html`<p class="ways">${first}${next}</p>`;
}

/** Stops the whole fleet; only for people with that right. */
function fleetPart(c: Asked, { freezes }: Overview): Cell {
  if (!mayDo(c, 'freezeAll')) return '';
  const isFrozen = freezes.some(({ tenantId }) => tenantId === undefined);
  const act = isFrozen
    ? actForm(c, 'thawAll', { to: '/thaw', does: 'Allow writes of every tenant again' })
    : actForm(c, 'freezeAll', { to: '/freeze', does: 'Stop every write of every tenant', look: 'danger' });
  return html`<details class="card" id="fleet"><summary>Emergency</summary><div class="actions">${act}</div>
<p class="hint">Both sides are still read and webhooks still accepted:
nothing is lost, and nothing is written.</p></details>`;
}

/** All troubles with one cause, wherever they are. */
interface Cause {
  code: string;
  /** The trouble, and what to do about it. */
  text: string;
  /** Absent if unknown. */
  oldestMs: number | undefined;
  blocks: string;
  where: string;
  items: Cell[];
  /** The page that lists all of them. */
  all?: { to: string; text: string };
}

function needsPart(overview: Overview): Html {
  const causes = causesOf(overview);
  const head = html`<h2 id="now-head">What needs a person now</h2>`;
  if (causes.length === 0)
    return html`<div class="card calm">${head}<p>Nothing waits for a person. Hires continue by themselves.</p>
  <p class="hint">As of ${time(overview.at)}</p></div>`;
  return html`${head}<ol class="causes plain">${causes.map(causePart)}</ol>`;
}

function causePart({ code, text, oldestMs, blocks, where, items, all }: Cause): Html {
  return html`<li class="card">
  <div class="cause-head"><h3>${codeName(code)}</h3>
  <span class="badge warn">${oldestMs === undefined ? 'now' : `for ${age(oldestMs)}`}</span></div>
  <p class="cause-facts"><b>${blocks}</b> <span class="soft">${where}</span></p>
  <p class="cause-text">${withoutCommands(text)}</p>
  <ul class="plain">${items.map((item) => html`<li>${item}</li>`)}</ul>
  ${all === undefined ? '' : html`<p class="actions"><a class="button primary" href="${all.to}">${all.text}</a></p>`}
</li>`;
}

/** Missing processes, holds, pauses, freezes and alarms by cause, longest waiting first. */
function causesOf(overview: Overview): Cause[] {
  const causes = [
    ...missingOf(overview),
    ...freezesOf(overview),
    ...pausesOf(overview),
    ...heldOf(overview),
    ...alarmsOf(overview),
  ];
  return causes.sort((a, b) => (b.oldestMs ?? Infinity) - (a.oldestMs ?? Infinity));
}

function openHires(tenants: readonly TenantLine[], of?: (tenant: TenantLine) => boolean): number {
  return tenants.filter((one) => of?.(one) ?? true).reduce((sum, { hires }) => sum + (hires.open ?? 0), 0);
}

function stops(open: number): string {
  return open === 0 ? 'stops no hire yet' : `stops ${count(open, 'open hire')}`;
}

function missingOf({ processes, tenants }: Overview): Cause[] {
  return processes.filter(isMissing).map((role): Cause => {
    const open = role.role === 'worker' ? openHires(tenants) : 0;
    return {
      code: `NO_${role.role.toUpperCase()}`,
      text: describeRole(role, age),
      oldestMs: role.last?.ageMs,
      blocks: stops(open),
      where: 'the whole fleet',
      items: [],
    };
  });
}

function freezesOf({ freezes, tenants }: Overview): Cause[] {
  if (freezes.length === 0) return [];
  const all = freezes.find(({ tenantId }) => tenantId === undefined);
  const names = new Set(freezes.map(({ tenantId }) => tenantId));
  const open = openHires(tenants, ({ tenantId }) => all !== undefined || names.has(tenantId));
  return [
    {
      code: 'FROZEN',
      text: 'Somebody stopped every write: both sides are read, and nothing is written until it is thawed.',
      oldestMs: Math.max(...freezes.map(({ ageMs }) => ageMs)),
      blocks: stops(open),
      where: all === undefined ? count(freezes.length, 'tenant') : 'the whole fleet',
      items: freezes
        .slice(0, MOST_NAMED)
        .map(
          ({ tenantId, by, ageMs }) =>
            html`${tenantId === undefined ? 'Every tenant' : tenantLink(tenantId)}, by ${by} ${ago(ageMs)}`,
        ),
    },
  ];
}

const MOST_NAMED = 5;

/** The first of these, and how many more there are. */
function named<T>(all: readonly T[], show: (one: T) => Cell): Cell[] {
  return [...all.slice(0, MOST_NAMED).map(show), ...andMore(all.length - MOST_NAMED)];
}

function andMore(more: number): Cell[] {
  return more > 0 ? [html`<span class="soft">and ${more.toLocaleString('en')} more</span>`] : [];
}

function pausesOf({ tenants }: Overview): Cause[] {
  const paused = tenants.flatMap((tenant) => (tenant.paused === undefined ? [] : [{ ...tenant, why: tenant.paused }]));
  return [...Map.groupBy(paused, ({ why }) => why.code)].map(([code, own]): Cause => {
    return {
      code,
      text: own[0]?.why.message ?? '',
      oldestMs: undefined,
      blocks: stops(openHires(own)),
      where: count(own.length, 'paused tenant'),
      items: named(own, ({ tenantId }) => tenantLink(tenantId)),
    };
  });
}

function heldOf({ causes, tenants }: Overview): Cause[] {
  return causes.map(({ code, holds, tenants: where, hires, oldestMs, oldest }): Cause => {
    const wide = isWide(code)
      ? openHires(tenants, ({ tenantId }) => oldest.some((one) => one.tenantId === tenantId))
      : 0;
    const [first] = oldest;
    return {
      code,
      text: first?.message ?? '',
      oldestMs,
      blocks:
        hires > 0
          ? `blocks ${count(hires, 'hire')}`
          : wide > 0
            ? `may block ${count(wide, 'open hire')}`
            : 'blocks no hire by itself',
      where: where === 1 && first !== undefined ? first.tenantId : count(where, 'tenant'),
      items: [
        ...oldest.map((one) => {
          const of = one.jobCandidateId === null ? 'the tenant' : `hire ${one.jobCandidateId}`;
          return html`${one.tenantId}: <a href="${addressOf('holds', one.holdId)}">${of}</a>
  <span class="soft">${age(one.ageMs)}</span>`;
        }),
        ...andMore(holds - oldest.length),
      ],
      all:
        holds === 1 && first !== undefined
          ? { to: addressOf('holds', first.holdId), text: 'Look and answer' }
          : { to: `/holds?code=${encodeURIComponent(code)}`, text: `Look at all ${holds.toLocaleString('en')}` },
    };
  });
}

/** Holds of a tenant that block its hires: the HR system does not answer, or credits are used up. */
function isWide(code: string): boolean {
  return code.startsWith('HRIS_') || code === 'CREDITS_USED_UP';
}

/** The subject of an alarm about one activity of one hire. */
const OF_HIRE = / of job candidate (\S+)$/;

/** Leaves out alarms of pauses, which are listed as pauses. */
function alarmsOf({ alarms }: Overview): Cause[] {
  const lasting = alarms.filter(({ kind }) => kind !== 'tenant-paused');
  return [...Map.groupBy(lasting, ({ reason }) => reason)].map(([code, own]): Cause => {
    const hires = own.filter(({ kind, subject }) => kind === 'activity-failing' && OF_HIRE.test(subject)).length;
    const tenants = new Set(own.map(({ tenantId }) => tenantId));
    return {
      code,
      text: own[0]?.message ?? '',
      oldestMs: Math.max(...own.map(({ ageMs }) => ageMs)),
      blocks: hires > 0 ? `blocks ${count(hires, 'hire')}` : 'blocks no hire by itself',
      where: tenants.size === 1 ? [...tenants].join('') : count(tenants.size, 'tenant'),
      items: named(own, (one) => html`${alarmSubject(one)} <span class="soft">${age(one.ageMs)}</span>`),
    };
  });
}

/** The subject of an alarm, as a link to its hire or tenant. */
export function alarmSubject({ tenantId, subject }: Pick<Overview['alarms'][number], 'tenantId' | 'subject'>): Html {
  const [, id] = OF_HIRE.exec(subject) ?? [];
  return id === undefined
    ? html`${tenantLink(tenantId)} ${subject}`
    : html`${tenantId}: ${hireLink(tenantId, id, `hire ${id}`)}`;
}

const HEAD = [
  'tenant',
  'state',
  'holds',
  'alarms',
  'open hires',
  'begun, last 24 h',
  'compared',
  'streams',
  'rate limit used',
];

function tenantsPart(c: Asked, shown: readonly TenantLine[], figures: ReadonlyMap<string, TenantFigures>): Html {
  const rows = shown.map((tenant) => tenantRow(tenant, figures.get(tenant.tenantId)));
  return table('Tenants', HEAD, rows, {
    id: 'tenants',
    none: mayDo(c, 'setUp')
      ? html`No tenant is here. <a href="/setup">Set one up</a>`
      : 'No tenant is here that you may see.',
  });
}

function tenantRow(tenant: TenantLine, figures: TenantFigures | undefined): Cell[] {
  const { tenantId, holds, alarms, hires, reconcileAgeMs } = tenant;
  const name = encodeURIComponent(tenantId);
  const use = figures?.rateLimits.find(({ upstream }) => upstream === 'partner')?.use;
  return [
    tenant.state === 'not seen yet' ? tenantId : tenantLink(tenantId),
    html`${stateBadge(tenant)}${figures?.webhookWarning === undefined ? '' : NO_WEBHOOKS}`,
    holds === 0 ? html`<span class="soft">0</span>` : html`<a href="/holds?tenant=${name}">${holds}</a>`,
    alarms === 0 ? html`<span class="soft">0</span>` : alarms,
    html`<a href="/hires?tenant=${name}&amp;state=open">${hires.open ?? 0}</a>`,
    begunCell(figures?.begun ?? []),
    ago(reconcileAgeMs),
    html`<a href="/streams?tenant=${name}">${streamsText(figures?.streams ?? [])}</a>`,
    use === undefined
      ? html`<span class="soft">no calls</span>`
      : html`<a
href="/rate-limits?tenant=${name}">${percent(use)}</a>`,
  ];
}

const NO_WEBHOOKS = html` <span class="badge warn">no webhooks</span>`;

export function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** A tenant's state in a word or two. */
export function stateBadge({ state, onlyObserves, isFrozen, creditGateClosed, baseline }: TenantLine): Html {
  const gate = creditGateClosed ? html` <span class="badge warn">no credits</span>` : '';
  const frozen = isFrozen ? html` <span class="badge warn">frozen</span>` : '';
  const begins = state === 'active' && baseline === 'running' ? html` <span class="badge accent">baseline</span>` : '';
  const isObserving = state === 'active' && onlyObserves === true;
  const look = { active: isObserving ? 'accent' : 'good', removed: '' }[state as string] ?? 'warn';
  return html`<span class="badge ${look}">${isObserving ? 'observes' : state}</span>${frozen}${gate}${begins}`;
}

/** Hires begun, by hour: a number and a small bar chart. */
export function begunCell(hours: readonly number[]): Html {
  const all = hours.reduce((sum, one) => sum + one, 0);
  if (all === 0) return html`<span class="soft">0</span>`;
  const most = Math.max(...hours);
  const bars = hours.map((one, at) => {
    const height = one === 0 ? 0 : Math.max(2, (one / most) * 20);
    return height === 0 ? '' : html`<rect x="${at * 4}" y="${20 - height}" width="3" height="${height}"/>`;
  });
  return html`<span class="spark">${all}<svg viewBox="0 0 96 20" width="72" height="20" preserveAspectRatio="none"
  role="img" aria-label="by hour, the latest last: ${hours.join(' ')}">${bars}</svg></span>`;
}

/** Age of the oldest stream run, and the number of streams that need a look. */
function streamsText(streams: TenantFigures['streams']): string {
  if (streams.length === 0) return 'none ran yet';
  const oldest = Math.max(...streams.map(({ ageMs }) => ageMs));
  const odd = streams.filter(
    ({ state, quarantined, pausedBy }) => state === 'partial' || state === 'refused' || quarantined > 0 || pausedBy,
  );
  return `${streams.length}, oldest ${ago(oldest)}${odd.length === 0 ? '' : `, ${odd.length} to look at`}`;
}
