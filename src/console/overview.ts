import { html } from 'hono/html';
import { describeRole, isMissing } from '../operator/processes.ts';
import { age, readStatus, type Status, type TenantStatus } from '../operator/status.ts';
import { currentTenants } from '../tenants/current-tenants.ts';
import { ago, type Cell, type ConsoleApp, type ConsoleParts, type Html, hireLink, page, table } from './layout.ts';

/** The first page: what needs a person now, then every tenant. */
export function addOverview(app: ConsoleApp, { store, places }: ConsoleParts): void {
  app.get('/', async (c) => {
    const status = await readStatus(store, await currentTenants(store, places.tenantsDir));
    const wanted = c.req.query('q') ?? '';
    return page(
      c,
      'Overview',
      html`<section id="now" data-live aria-labelledby="now-head">${needsPart(status)}</section>
<section aria-labelledby="tenants-head" class="card">
  <h2 id="tenants-head">Tenants</h2>
  <form class="filters" role="search" method="get" action="/">
    <label>Find a tenant<input type="search" name="q" value="${wanted}" data-filters="tenants"></label>
    <noscript><button>Find</button></noscript>
    <p class="hint" role="status" id="tenants-found"></p>
  </form>
  <div id="tenants-part" data-live>${tenantsPart(status, wanted)}</div>
</section>`,
    );
  });
}

/** Everything of one cause, wherever it is. */
interface Cause {
  /** Ms; absent where nobody knows since when. */
  oldestMs: number | undefined;
  code: string;
  items: Trouble[];
}

/** One thing that waits for a person. */
interface Trouble {
  code: string;
  tenantId: string | undefined;
  /** What it is about, as a link where there is a page of it. */
  about: Cell;
  text: string;
  ageMs: number | undefined;
  /** Hires that cannot go on because of it. */
  hires: readonly string[];
  /** Where it stops a whole tenant: how many hires are open there. */
  openHires: number;
  /** A list of all that have this cause. */
  list?: string;
}

function needsPart(status: Status): Html {
  const causes = causesOf(status);
  const head = html`<h2 id="now-head">What needs a person now</h2>`;
  if (causes.length === 0) return html`<div class="card">${head}<p class="empty">Nothing waits for a person.</p></div>`;
  return html`${head}<ol class="causes plain">${causes.map(causePart)}</ol>`;
}

/** So many of one cause are shown; its list of holds has them all. */
const MOST_SHOWN = 5;

function causePart({ code, oldestMs, items }: Cause): Html {
  const [first] = items;
  const tenants = new Set(items.flatMap(({ tenantId }) => tenantId ?? []));
  const more = items.length - MOST_SHOWN;
  const all = first?.list === undefined ? 'hirebridge status' : html`<a href="${first.list}">all of them</a>`;
  const where = tenants.size === 1 ? [...tenants].join('') : `${tenants.size} tenants`;
  return html`<li class="card">
  <h3>${code}</h3>
  <p class="inline">
    <span class="badge warn">${oldestMs === undefined ? 'now' : `for ${age(oldestMs)}`}</span>
    <span>${blocksText(items)}</span><span class="soft">${tenants.size === 0 ? 'the whole fleet' : where}</span>
  </p>
  <p>${first?.text ?? ''}</p>
  <ul class="plain">${items
    .slice(0, MOST_SHOWN)
    .map(
      (item) =>
        html`<li>${item.tenantId ?? 'fleet'}: ${item.about} <span class="soft">${
          item.ageMs === undefined ? '' : age(item.ageMs)
        }</span></li>`,
    )}</ul>
  ${more > 0 ? html`<p class="hint">and ${more} more: ${all}</p>` : ''}
</li>`;
}

function blocksText(items: readonly Trouble[]): string {
  const held = new Set(items.flatMap(({ tenantId, hires }) => hires.map((id) => `${tenantId} ${id}`))).size;
  const stopped = new Map(items.map(({ tenantId, openHires }) => [tenantId, openHires]));
  const open = [...stopped.values()].reduce((sum, count) => sum + count, 0);
  if (held > 0) return `blocks ${held} ${held === 1 ? 'hire' : 'hires'}`;
  return open > 0 ? `may block ${open} open ${open === 1 ? 'hire' : 'hires'}` : 'blocks no hire by itself';
}

/** Holds, pauses, freezes, alarms and processes that are missing, by cause; what has waited longest first. */
function causesOf(status: Status): Cause[] {
  const byCode = Map.groupBy(troublesOf(status), ({ code }) => code);
  const causes = [...byCode].map(([code, items]): Cause => {
    const ages = items.flatMap(({ ageMs }) => ageMs ?? []);
    return { code, items, oldestMs: ages.length === 0 ? undefined : Math.max(...ages) };
  });
  return causes.sort((a, b) => (b.oldestMs ?? 0) - (a.oldestMs ?? 0));
}

function troublesOf({ tenants, holds, freezes, processes }: Status): Trouble[] {
  const openOf = new Map(tenants.map(({ tenantId, hires }) => [tenantId, hires.open ?? 0]));
  const all = [...openOf.values()].reduce((sum, count) => sum + count, 0);
  const missing = processes.filter(isMissing).map((role): Trouble => {
    const text = describeRole(role, age);
    const openHires = role.role === 'worker' ? all : 0;
    return {
      ...NOBODY,
      code: `NO_${role.role.toUpperCase()}`,
      text,
      about: role.role,
      ageMs: role.last?.ageMs,
      openHires,
    };
  });
  const frozen = freezes.map(({ tenantId, ageMs, by }): Trouble => {
    const openHires = tenantId === undefined ? all : (openOf.get(tenantId) ?? 0);
    const text = `Nothing is written. To let it go on: hirebridge thaw ${tenantId ?? '--all'}`;
    return { code: 'FROZEN', tenantId, about: `frozen by ${by}`, text, ageMs, hires: [], openHires };
  });
  const held = holds.map(({ holdId, tenantId, jobCandidateId, code, message, ageMs }): Trouble => {
    const of = jobCandidateId === null ? 'the tenant' : `hire ${jobCandidateId}`;
    const about = html`<a href="/holds/${holdId}">${of}</a>`;
    const hires = jobCandidateId === null ? [] : [jobCandidateId];
    const openHires = jobCandidateId === null && isWide(code) ? (openOf.get(tenantId) ?? 0) : 0;
    const list = `/holds?code=${encodeURIComponent(code)}`;
    return { code, tenantId, about, text: message, ageMs, hires, openHires, list };
  });
  return [...missing, ...frozen, ...tenants.flatMap(troublesOfTenant), ...held];
}

const NOBODY = { tenantId: undefined, hires: [], openHires: 0 } as const;

/** Questions of a tenant that its hires wait for: the HR system does not answer, or credits are used up. */
function isWide(code: string): boolean {
  return code.startsWith('HRIS_') || code === 'CREDITS_USED_UP';
}

/** The subject of an alarm about one activity of one hire. */
const OF_HIRE = / of job candidate (\S+)$/;

function troublesOfTenant({ tenantId, paused, alarms, webhookWarning, hires }: TenantStatus): Trouble[] {
  const told = alarms.find(({ kind }) => kind === 'tenant-paused');
  const pauses =
    paused === undefined
      ? []
      : [
          {
            code: paused.code,
            tenantId,
            about: 'paused',
            text: paused.message,
            ageMs: told?.ageMs,
            hires: [],
            openHires: hires.open ?? 0,
          },
        ];
  const lasting = alarms
    .filter(({ kind }) => kind !== 'tenant-paused')
    .map(({ kind, subject, reason, message, ageMs }): Trouble => {
      const [, id] = kind === 'activity-failing' ? (OF_HIRE.exec(subject) ?? []) : [];
      const about = id === undefined ? subject : hireLink(tenantId, id, subject);
      return { code: reason, tenantId, about, text: message, ageMs, hires: id === undefined ? [] : [id], openHires: 0 };
    });
  const warned =
    webhookWarning === undefined
      ? []
      : [{ ...NOBODY, code: 'WEBHOOKS', tenantId, about: 'webhooks', text: webhookWarning, ageMs: undefined }];
  return [...pauses, ...lasting, ...warned];
}

function tenantsPart({ tenants, holds }: Status, wanted: string): Html {
  const waiting = Map.groupBy(holds, ({ tenantId }) => tenantId);
  const found = tenants.filter(({ tenantId }) => tenantId.includes(wanted));
  const rows = found.map((tenant) => tenantRow(tenant, waiting.get(tenant.tenantId)?.length ?? 0));
  const head = ['tenant', 'state', 'holds', 'alarms', 'open', 'begun in 24 h', 'last reconcile', 'streams'];
  return table('Tenants', head, rows, 'tenants');
}

function tenantRow(tenant: TenantStatus, holds: number): Cell[] {
  const { tenantId, state, creditGateClosed, alarms, hires, begunLastDay, reconcileAgeMs } = tenant;
  const name = encodeURIComponent(tenantId);
  const gate = creditGateClosed ? html` <span class="badge warn">no credits</span>` : '';
  const look = state === 'active' ? 'good' : 'warn';
  return [
    html`<a href="/hires?tenant=${name}">${tenantId}</a>`,
    html`<span class="badge ${look}">${state}</span>${gate}`,
    holds === 0 ? '0' : html`<a href="/holds?tenant=${name}">${holds}</a>`,
    alarms.length,
    hires.open ?? 0,
    begunLastDay,
    ago(reconcileAgeMs),
    html`<a href="/streams?tenant=${name}">${streamsText(tenant)}</a>`,
  ];
}

/** How old the latest run of the stream is that waited longest, and which need a look. */
function streamsText({ streams }: TenantStatus): string {
  if (streams.length === 0) return 'none ran yet';
  const oldest = Math.max(...streams.map(({ ageMs }) => ageMs));
  const odd = streams.filter(({ state, quarantined, pausedBy }) => state !== 'done' || quarantined > 0 || pausedBy);
  return `${streams.length}, oldest ${ago(oldest)}${odd.length === 0 ? '' : `, ${odd.length} to look at`}`;
}
