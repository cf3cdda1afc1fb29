import type { Context, Hono } from 'hono';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Places } from '../config.ts';
import { ConnectorError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { OperatorParts } from '../operator/open-tenant.ts';
import { age } from '../operator/status.ts';
import type { Store } from '../store/open-store.ts';

/** What the pages work on. */
export interface ConsoleParts {
  places: Places;
  /** For looking; what is done goes through `act`. */
  store: Store;
  /** Opens what an action needs, as a command does. */
  act: <T>(use: (parts: OperatorParts) => Promise<T>) => Promise<T>;
  log: Logger;
}

/** Whoever is signed in. */
export interface Viewer {
  /** Under whose name things are done. */
  by: string;
  readOnly: boolean;
  /** Stands in every form, and comes back with it. */
  csrf: string;
}

export interface ConsoleEnv {
  Variables: { viewer: Viewer; form: URLSearchParams };
}

export type ConsoleApp = Hono<ConsoleEnv>;
export type Asked = Context<ConsoleEnv>;
export type Html = ReturnType<typeof html>;
export type Cell = Html | string | number;

const PLACES = [
  ['/', 'Overview'],
  ['/hires', 'Hires'],
  ['/holds', 'Holds'],
  ['/deliveries', 'Deliveries'],
  ['/streams', 'Streams'],
] as const;

/** A whole page. What stands in an element with `data-live` is kept up to date by the script. */
export function page(c: Asked, title: string, main: Cell, status: ContentfulStatusCode = 200) {
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
${viewer === undefined ? html`<div></div>` : navigation(c.req.path)}
<main id="main" tabindex="-1">
<div class="head"><h1>${title}</h1></div>
${main}
</main>
</body>
</html>`,
    status,
  );
}

function frameOf(viewer: Viewer): Html {
  const mode = viewer.readOnly ? html`<span class="badge accent">read only</span>` : '';
  return html`<p class="inline">${mode} <span>Signed in as ${viewer.by}</span></p>
  <form method="post" action="/sign-out">
    <input type="hidden" name="csrf" value="${viewer.csrf}"><button class="quiet">Sign out</button>
  </form>`;
}

function navigation(path: string): Html {
  const links = PLACES.map(([to, name]) => {
    const isHere = to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`);
    return html`<li><a href="${to}"${isHere ? html` aria-current="page"` : ''}>${name}</a></li>`;
  });
  return html`<nav aria-label="Parts of the console"><ul>${links}</ul></nav>`;
}

/** A form that does something. Where nothing may be done here, a word that says so. */
export function actForm(c: Asked, { to, does, body = '' }: { to: string; does: string; body?: Cell }): Cell {
  const { readOnly, csrf } = c.get('viewer');
  if (readOnly) return html`<span class="soft">${does}: not here, this console is read only</span>`;
  return html`<form method="post" action="${to}">
    <input type="hidden" name="csrf" value="${csrf}">${body}<button>${does}</button>
  </form>`;
}

export function hidden(fields: Readonly<Record<string, string>>): Html {
  const field = ([name, value]: [string, string]): Html => html`<input type="hidden" name="${name}" value="${value}">`;
  return html`${Object.entries(fields).map(field)}`;
}

/** A table that scrolls by itself where it is too wide; the first cell names its row. */
export function table(caption: string, head: readonly string[], rows: readonly (readonly Cell[])[], id = ''): Html {
  if (rows.length === 0) return html`<p class="empty">${caption}: none.</p>`;
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
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

/** A part of a page under its own heading, by which a screen reader finds it. */
export function section(id: string, title: string, body: Cell): Html {
  return html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${body}</section>
`;
}

/** Names and values beside each other. */
export function facts(rows: ReadonlyArray<readonly [string, Cell]>): Html {
  const fact = ([name, value]: readonly [string, Cell]): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
  return html`<dl class="facts">${rows.map(fact)}</dl>`;
}

/** A labelled field of a filter, with what was asked for. */
export function searchField(c: Asked, name: string, label: string): Html {
  return html`<label>${label}<input type="search" name="${name}" value="${c.req.query(name) ?? ''}"></label>`;
}

/** A labelled choice of a filter. */
export function choiceField(c: Asked, name: string, label: string, options: readonly string[]): Html {
  const chosen = c.req.query(name) ?? '';
  const option = (value: string, text: string): Html =>
    html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`;
  return html`<label>${label}<select name="${name}">
    ${option('', 'any')}${options.map((value) => option(value, value))}
  </select></label>`;
}

export function time(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`;
}

export function ago(ms: number | undefined, never = 'never'): string {
  return ms === undefined ? never : `${age(ms)} ago`;
}

export function hireLink(tenantId: string, jobCandidateId: string, text: Cell = jobCandidateId): Html {
  return html`<a href="${addressOf('hires', tenantId, jobCandidateId)}">${text}</a>`;
}

/** Ids come from other systems: none of them may leave its place in an address. */
export function addressOf(...parts: string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

/** As much as a list shows; what is asked of the store is one more, so that it is known whether there are more. */
export const MOST_LISTED = 200;

/** The rows that are shown, and a word where there are more. */
export function shortened<T>(found: readonly T[]): { shown: readonly T[]; more: Cell } {
  const more = found.length > MOST_LISTED ? html`<p class="hint">Only the first ${MOST_LISTED}: narrow it.</p>` : '';
  return { shown: found.slice(0, MOST_LISTED), more };
}

const STATUSES: Readonly<Record<string, ContentfulStatusCode>> = {
  HOLD_UNKNOWN: 404,
  HIRE_UNKNOWN: 404,
  TENANT_UNKNOWN: 404,
  STREAM_UNKNOWN: 404,
  RECORD_UNKNOWN: 404,
  DELIVERY_UNKNOWN: 404,
  PAGE_UNKNOWN: 404,
  HOLD_ANSWERED: 409,
  CONSOLE_READ_ONLY: 403,
  CONSOLE_FORM_STALE: 403,
};

/** What was refused and why, in the words that the command would print; of anything else only that it went wrong. */
export function refusalPage(c: Asked, error: Error, log: Logger) {
  const known = error instanceof ConnectorError ? error : undefined;
  const status = known === undefined ? 500 : (STATUSES[known.code] ?? (known.action === 'reject' ? 422 : 503));
  log[status >= 500 ? 'error' : 'warn']({ method: c.req.method, route: c.req.path, status, err: error }, 'not done');
  const message = known?.message ?? 'Something went wrong in the console itself. Its log says what.';
  return page(
    c,
    status >= 500 ? 'This did not work' : 'This is not possible',
    html`<p class="notice bad" role="alert">${message}</p>
<p class="soft">${known?.code ?? 'INTERNAL'}</p>
<p><a href="/">Back to the overview</a></p>`,
    status,
  );
}
