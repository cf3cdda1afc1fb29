import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Places } from '../config.ts';
import { explainedAt } from '../docs.ts';
import { ConnectorError } from '../errors.ts';
import { age } from '../in-words.ts';
import type { Logger } from '../log.ts';
import type { OperatorParts } from '../operator/open-tenant.ts';
import { type ActName, type Asked, mayDo, onlyTenant, type Viewer } from './acts.ts';

/** What the pages use. */
export interface ConsoleParts {
  places: Places;
  /** Opens what an action needs, as a command does. */
  act: <T>(use: (parts: OperatorParts) => Promise<T>) => Promise<T>;
  log: Logger;
  /** The address of Temporal's own pages including the namespace; absent if unknown. */
  temporalUi: string | undefined;
}

export type Html = ReturnType<typeof html>;
export type Cell = Html | string | number;

const PLACES = [
  ['/', 'Overview'],
  ['/hires', 'Hires'],
  ['/holds', 'Holds'],
  ['/streams', 'Streams'],
  ['/deliveries', 'Deliveries'],
  ['/changes', 'Changes'],
  ['/audit', 'Audit trail'],
  ['/rate-limits', 'Rate limits'],
] as const;

interface Shown {
  /** The tenant of the page: links to other parts then stay with it. */
  tenant?: string;
  /** A link back, shown above the title. */
  above?: Cell;
  status?: ContentfulStatusCode;
}

/** A whole page. The script keeps elements with `data-live` up to date. */
export function page(c: Asked, title: string, main: Cell, { tenant, above = '', status = 200 }: Shown = {}) {
  const viewer = c.get('viewer') as Viewer | undefined;
  return c.html(
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - hirebridge</title>
<link rel="stylesheet" href="/console.css">
<script type="module" src="/console.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
  <p class="brand">hirebridge <span>console</span></p>
  <p id="health" role="status"></p>
  ${viewer === undefined ? '' : frameOf(viewer)}
</header>
${viewer === undefined ? html`<div></div>` : navigation(c.req.path, tenant ?? onlyTenant(c))}
<main id="main" tabindex="-1">
<div class="head">${above === '' ? '' : html`<p class="above">${above}</p>`}<h1>${title}</h1></div>
${main}
</main>
</body>
</html>`,
    status,
  );
}

function frameOf(viewer: Viewer): Html {
  return html`<p class="inline"><span>Signed in as ${viewer.by}</span></p>
  <form role="none" method="post" action="/sign-out">
    <input type="hidden" name="csrf" value="${viewer.csrf}"><button class="quiet">Sign out</button>
  </form>`;
}

function navigation(path: string, tenant: string | undefined): Html {
  const links = PLACES.map(([to, name]) => {
    const isHere = to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`);
    const at = tenant === undefined || to === '/' ? to : `${to}?tenant=${encodeURIComponent(tenant)}`;
    return html`<li><a href="${at}"${isHere ? html` aria-current="page"` : ''}>${name}</a></li>`;
  });
  return html`<nav aria-label="Parts of the console"><ul>${links}</ul></nav>`;
}

interface ActForm {
  tenant?: string;
  to: string;
  does: string;
  /** Of several buttons that do the same, a screen reader says which one this is. */
  of?: string;
  body?: Cell;
  look?: string;
}

/** A form that performs an act; a viewer without the right sees why not. */
export function actForm(c: Asked, name: ActName, { tenant, to, does, of = '', body = '', look = '' }: ActForm): Cell {
  if (!mayDo(c, name, tenant)) return html`<span class="soft">${does}: not with your role</span>`;
  return html`<form role="none" method="post" action="${to}">
    <input type="hidden" name="csrf" value="${c.get('viewer').csrf}">${body}<button class="${look}">${does}${
      of === '' ? '' : html`<span class="hidden"> ${of}</span>`
    }</button>
  </form>`;
}

export function hidden(fields: Readonly<Record<string, string>>): Html {
  const field = ([name, value]: [string, string]): Html => html`<input type="hidden" name="${name}" value="${value}">`;
  return html`${Object.entries(fields).map(field)}`;
}

/** A table with its own scroll bar if it is too wide; the first cell of a row is its heading. */
export function table(
  caption: string,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  { id = '', none }: { id?: string; none?: Cell } = {},
): Html {
  if (rows.length === 0) return html`<p class="empty">${none ?? `${caption}: none.`}</p>`;
  return html`<div class="scroll" role="region" aria-label="Table: ${caption}" tabindex="0">
<table${id === '' ? '' : html` id="${id}"`}>
<caption class="hidden">${caption}</caption>
<thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map(rowOf)}</tbody>
</table></div>`;
}

function rowOf([first = '', ...rest]: readonly Cell[]): Html {
  return html`<tr><th scope="row">${first}</th>${rest.map((cell) => html`<td>${cell}</td>`)}</tr>
`;
}

/** A part of a page with a heading by which a screen reader finds it. */
export function section(id: string, title: string, body: Cell): Html {
  return html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${body}</section>
`;
}

/** Names with their values. */
export function facts(rows: ReadonlyArray<readonly [string, Cell]>): Html {
  const fact = ([name, value]: readonly [string, Cell]): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
  return html`<dl class="facts">${rows.map(fact)}</dl>`;
}

/** Filters of a list. The tenant is left out if there is only one. */
export function filters(c: Asked, to: string, fields: readonly Cell[], does = 'Find'): Html {
  const only = onlyTenant(c);
  const tenant = only === undefined ? searchField(c, 'tenant', 'Tenant') : '';
  return html`<form class="filters" role="search" method="get" action="${to}">${tenant}${fields}
<button>${does}</button></form>`;
}

/** A labelled filter field with its current value. */
export function searchField(c: Asked, name: string, label: string): Html {
  return html`<label>${label}<input type="search" name="${name}" value="${c.req.query(name) ?? ''}"></label>`;
}

/** A labelled filter choice. */
export function choiceField(c: Asked, name: string, label: string, values: readonly string[]): Html {
  return html`<label>${label}<select name="${name}">
    ${options([['', 'any'], ...values.map((value) => [value, value] as const)], c.req.query(name) ?? '')}
  </select></label>`;
}

/** The choices of a `select`, each with its text. */
export function options(choices: ReadonlyArray<readonly [value: string, text: Cell]>, chosen?: string): Html {
  return html`${choices.map(
    ([value, text]) => html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`,
  )}`;
}

/** A code as a heading, and where it is explained. */
export function codeExplained(code: string): Html {
  const place = explainedAt(code);
  return html`<b>${codeName(code)}</b>${place === undefined ? '' : html` <span class="hint">See: ${place}</span>`}`;
}

/** A code in words, with the code itself, by which it can be found elsewhere. */
export function codeName(code: string): Html {
  return html`${codeWords(code)} <code class="code-name">${code}</code>`;
}

export function codeWords(code: string): string {
  const words = code
    .replaceAll('_', ' ')
    .toLowerCase()
    .replace(/\b(hris|hr|id)\b/g, (word) => SHORT[word] ?? word);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const SHORT: Readonly<Record<string, string>> = { hris: 'HR system', hr: 'HR', id: 'ID' };

/** A message without the commands that it names: the page has buttons for them. */
export function withoutCommands(message: string): string {
  const kept = message.split(/(?<=[.:!?])\s+/).filter((part, at, all) => {
    const isCommand = COMMAND.test(part);
    const leadsThere = part.endsWith(':') && all[at + 1]?.startsWith('hirebridge ') === true;
    return !isCommand && !leadsThere;
  });
  return kept.length === 0 ? message : kept.join(' ');
}

const COMMAND_NAMES = `
  apply audit backup calendar check codec collection completion conflicts console ddl demo digest discover doctor
  events explain failed freeze hire hold hris inbox init keys link mapping migrate openapi pause person plan
  rate-limit reconcile replay restore resume retry revert rollout sandbox serve status sync tenant thaw
  up worker`;

/** By name, because "hirebridge cannot rehire people" is no command. */
const COMMAND = new RegExp(`hirebridge (${COMMAND_NAMES.trim().split(/\s+/).join('|')})\\b`);

/** A time in UTC, from a text or from milliseconds. */
export function time(at: string | number): Html {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`;
}

/** When the shown data was read. */
export function asOf(): Html {
  return html`<p class="hint as-of">As of ${time(Date.now())}</p>`;
}

export function ago(ms: number | undefined, never = 'never'): string {
  return ms === undefined ? never : `${age(ms)} ago`;
}

export function tenantLink(tenantId: string): Html {
  return html`<a href="${addressOf('tenants', tenantId)}">${tenantId}</a>`;
}

/** Links above a page about one of a tenant's streams, holds, ...: the tenant, and the list of all of these. */
export function tenantAndIts(part: 'hires' | 'holds' | 'streams' | 'deliveries', tenantId: string): Html {
  return html`${tenantLink(tenantId)}, <a href="/${part}?tenant=${encodeURIComponent(tenantId)}">its ${part}</a>`;
}

export function hireLink(tenantId: string, jobCandidateId: string, text: Cell = jobCandidateId): Html {
  return html`<a href="${addressOf('hires', tenantId, jobCandidateId)}">${text}</a>`;
}

/** Encodes ids: they come from other systems and must not change the address. */
export function addressOf(...parts: string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

/** The current page with some query parameters changed; empty ones are left out. */
export function sameWith(c: Asked, asked: Readonly<Record<string, string>>): string {
  const all = Object.entries({ ...c.req.query(), ...asked }).filter(([, value]) => value !== '');
  return all.length === 0 ? c.req.path : `${c.req.path}?${new URLSearchParams(all).toString()}`;
}

/** Rows shown at once; one more is read, to know whether there are more. */
export const PAGE_ROWS = 50;

/** One page of a list; `after` in the address is the place where it begins. */
export function paged<T>(
  c: Asked,
  found: readonly T[],
  placeOf: (last: T) => readonly (string | number)[],
): { shown: readonly T[]; ways: Cell } {
  const shown = found.slice(0, PAGE_ROWS);
  const last = shown.at(-1);
  const further =
    found.length > PAGE_ROWS && last !== undefined
      ? html`<a class="button" rel="next" href="${sameWith(c, { after: JSON.stringify(placeOf(last)) })}">Next
  ${PAGE_ROWS}</a>`
      : '';
  const first =
    c.req.query('after') === undefined
      ? ''
      : html`<a class="button" href="${sameWith(c, { after: '' })}">From the beginning</a>`;
  const ways = further === '' && first === '' ? '' : html`<p class="ways">${first}${further}</p>`;
  return { shown, ways };
}

/** The place where a page of a list begins; anything invalid means the first page. */
export function placeAsked(c: Asked, length: number): readonly (string | number)[] | undefined {
  try {
    const place: unknown = JSON.parse(c.req.query('after') ?? '');
    const isPlace =
      Array.isArray(place) &&
      place.length === length &&
      place.every((part) => typeof part === 'string' || Number.isSafeInteger(part));
    return isPlace ? (place as (string | number)[]) : undefined;
  } catch {
    return undefined;
  }
}

/** The notice of what was just done; the address names it, so only entries of `texts` can be shown. */
export function noticeOf(c: Asked, texts: Readonly<Record<string, string>>): Cell {
  const done = c.req.query('did') ?? '';
  return Object.hasOwn(texts, done) ? html`<p class="notice good" role="status">${texts[done]}</p>` : '';
}

const MASKED = html`<span class="masked" role="img" aria-label="masked" title="Shown when it is asked for">•••</span>`;

/** Personal data for display: masked unless revealed. */
export function personal(value: unknown, isRevealed: boolean, none: Cell = ''): Cell {
  if (value === undefined || value === null) return none;
  if (!isRevealed) return MASKED;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const STATUSES: Readonly<Record<string, ContentfulStatusCode>> = {
  HOLD_UNKNOWN: 404,
  HIRE_UNKNOWN: 404,
  TENANT_UNKNOWN: 404,
  STREAM_UNKNOWN: 404,
  RECORD_UNKNOWN: 404,
  DELIVERY_UNKNOWN: 404,
  PLAN_UNKNOWN: 404,
  PAGE_UNKNOWN: 404,
  DRAFT_UNKNOWN: 404,
  HOLD_ANSWERED: 409,
  NOT_ALLOWED: 403,
  NO_ROLE: 403,
  SIGN_IN_REFUSED: 403,
  CONSOLE_READ_ONLY: 403,
  CONSOLE_FORM_STALE: 403,
};

/** The refusal in the words that the command would print; for any other error only that it failed. */
export function refusalPage(c: Asked, error: Error, log: Logger) {
  const known = error instanceof ConnectorError ? error : undefined;
  const status = known === undefined ? 500 : (STATUSES[known.code] ?? (known.action === 'reject' ? 422 : 503));
  const place = known === undefined ? undefined : explainedAt(known.code);
  log[status >= 500 ? 'error' : 'warn']({ method: c.req.method, route: c.req.path, status, err: error }, 'not done');
  const message = known?.message ?? 'Something went wrong in the console itself. Its log says what.';
  return page(
    c,
    status >= 500 ? 'This did not work' : 'This is not possible',
    html`<p class="notice bad" role="alert">${message}</p>
<p class="soft">${known?.code ?? 'INTERNAL'}${place === undefined ? '' : `. See: ${place}`}</p>
<p><a href="/">${(c.get('viewer') as Viewer | undefined) === undefined ? 'Sign in' : 'Back to the overview'}</a></p>`,
    { status },
  );
}

interface Line {
  name: string;
  /** One value for each time; undefined leaves a gap. */
  values: readonly (number | undefined)[];
}

const WIDTH = 440;
const HEIGHT = 170;
const LEFT = 56;
const BOTTOM = 24;
const TOP = 8;

/**
 * A line chart drawn by the server, so that it needs no script and prints as shown. The page also gives its content in
 * words or a table.
 */
export function lineChart(title: string, times: readonly number[], lines: readonly Line[]): Html {
  const [first = 0] = times;
  const last = times.at(-1) ?? first + 1;
  const most = Math.max(1, ...lines.flatMap(({ values }) => values.filter((value) => value !== undefined)));
  const top = niceTop(most);
  const x = (at: number): number => LEFT + ((at - first) / Math.max(1, last - first)) * (WIDTH - LEFT - 8);
  const y = (value: number): number => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - TOP);
  const grid = [0, 0.5, 1].map((part) => {
    const at = y(top * part);
    return html`<line class="rule" x1="${LEFT}" x2="${WIDTH - 8}" y1="${at}" y2="${at}"/><text x="${LEFT - 8}"
y="${at + 4}" text-anchor="end">${shown(top * part)}</text>`;
  });
  const paths = lines.map(
    ({ values }, index) => html`<path class="line line-${index}" d="${pathOf(values, times, x, y)}"/>`,
  );
  const names = lines.map(({ name, values }, index) => {
    const latest = values.findLast((value) => value !== undefined);
    return html`<li class="key-${index}">${name}${
      latest === undefined
        ? ''
        : html`
<b>${shown(latest)}</b>`
    }</li>`;
  });
  return html`<figure class="chart"><figcaption>${title}</figcaption><ul class="plain keys">${names}</ul>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">${grid}${paths}
<text x="${LEFT}" y="${HEIGHT - 6}">${clock(first, last)}</text><text x="${WIDTH - 8}" y="${HEIGHT - 6}"
text-anchor="end">${clock(last, first)} UTC</text></svg></figure>`;
}

function pathOf(
  values: Line['values'],
  times: readonly number[],
  x: (at: number) => number,
  y: (value: number) => number,
): string {
  let isDown = false;
  const parts = values.map((value, at) => {
    if (value === undefined) {
      isDown = false;
      return '';
    }
    const part = `${isDown ? 'L' : 'M'}${x(times[at] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`;
    isDown = true;
    return part;
  });
  return parts.join('');
}

/** The next larger of 1, 2, 5, 10, ... */
function niceTop(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 5, 10].find((one) => one * power >= most) ?? 10;
  return step * power;
}

function shown(value: number): string {
  return value >= 100 || Number.isInteger(value)
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(2)));
}

/** The time of day, with the day if the other end is on another one. */
function clock(at: number, other: number): string {
  const [day = '', hour = ''] = new Date(at).toISOString().split('T');
  return day === new Date(other).toISOString().slice(0, 10) ? hour.slice(0, 5) : `${day} ${hour.slice(0, 5)}`;
}
