import { stringify } from 'csv-stringify/sync';
import { html } from 'hono/html';
import { count } from '../in-words.ts';
import { nameOfField, readWrites, type WriteView } from '../operator/writes.ts';
import { noteLook } from '../store/audit.ts';
import { type AuditFilter, listAudit } from '../store/listings.ts';
import type { Store } from '../store/open-store.ts';
import { auditActs } from '../store/tenant-tables.ts';
import { type Asked, addAct, addPage, askedScope, type ConsoleApp, may, queryOf } from './acts.ts';
import {
  actForm,
  addressOf,
  asOf,
  type Cell,
  type ConsoleParts,
  choiceField,
  filters,
  type Html,
  PAGE_ROWS,
  page,
  paged,
  personal,
  placeAsked,
  sameWith,
  searchField,
  table,
  tenantLink,
  time,
} from './layout.ts';

/** Acts of people and writes to both sides: filtered, page by page, and as files for a spreadsheet. */
export function addAudit(app: ConsoleApp, parts: ConsoleParts): void {
  addActs(app);
  addWrites(app, parts);
}

/** A file has at most this many rows; filters reach the others. */
const MOST_EXPORTED = 10_000;

function addActs(app: ConsoleApp): void {
  const list = async (c: Asked, limit: number): Promise<ActView[]> => {
    const { tenantIds } = await askedScope(c);
    const { act = '' } = c.req.query();
    return pageOfAudit(c.get('store'), {
      tenantIds,
      by: queryOf(c, 'by'),
      act: auditActs.find((one) => one === act),
      from: dayAsked(c, 'from'),
      to: dayAsked(c, 'to'),
      after: placeAsked(c, 2) as [number, number] | undefined,
      limit,
    });
  };
  app.get('/audit', async (c) => {
    const { tenantId } = await askedScope(c);
    const found = await list(c, PAGE_ROWS + 1);
    const { shown, ways } = paged(c, found, (last) => {
      // Rows have no key: a place is a time and the number of its rows already shown.
      const [at, before] = (placeAsked(c, 2) as [number, number] | undefined) ?? [0, 0];
      const time = Date.parse(last.at);
      const same = found.slice(0, PAGE_ROWS).filter((one) => one.at === last.at).length;
      return [time, same + (time === at ? before : 0)];
    });
    const head = ['when', 'who', 'identity', 'did', 'tenant', 'details'];
    return page(
      c,
      'What people did',
      html`${filters(c, '/audit', [searchField(c, 'by', 'Who'), choiceField(c, 'act', 'Did', auditActs), dayFields(c)])}
<div class="result" id="audit-part" data-live>
${table('What people did, latest first', head, shown.map(actRow), { none: 'No act matches.' })}${ways}
${asOf()}</div>
<p class="ways"><a class="button" href="${csvAddress(c, '/audit.csv')}">Save as CSV</a>${
        tenantId === undefined
          ? ''
          : html`<a class="button" href="${addressOf('audit', tenantId, 'writes')}">What was written</a>`
      }</p>`,
      tenantId === undefined ? {} : { tenant: tenantId, above: tenantLink(tenantId) },
    );
  });
  app.get('/audit.csv', async (c) => {
    const rows = await list(c, MOST_EXPORTED);
    const values = rows.map(({ at, by, actor, subject, act, tenantId, details }) => {
      return [at, by, actor ?? '', act, tenantId ?? '', details ?? '', subject ?? ''];
    });
    return csv(c, 'audit', ['when', 'who', 'identity', 'did', 'tenant', 'details', 'of'], values);
  });
}

type ActView = Awaited<ReturnType<typeof pageOfAudit>>[number];

/** Acts of people, latest first. */
async function pageOfAudit(store: Store, filter: AuditFilter) {
  return (await listAudit(store, filter)).map(({ at, by, actor, subject, tenant_id: tenantId, act, details }) => ({
    at: new Date(Number(at)).toISOString(),
    by,
    /** The actor according to the system or the sign-in; null in rows of an earlier version. */
    actor,
    /** Kind and keyed hash of the one record that the act was about. */
    subject,
    /** Null for the whole fleet. */
    tenantId,
    act,
    details,
  }));
}

function actRow({ at, by, actor, act, tenantId, details }: ActView): Cell[] {
  const lines = (details ?? '').split('\n');
  const rest =
    lines.length > 1
      ? html`<details id="${at}-${act}"><summary>${count(lines.length, 'setting')}</summary>
<pre class="code">${details ?? ''}</pre></details>`
      : (details ?? '');
  return [time(at), by, actor ?? '', act, tenantId === null ? 'all tenants' : tenantLink(tenantId), rest];
}

function addWrites(app: ConsoleApp, { log }: ConsoleParts): void {
  const list = (c: Asked, tenantId: string, limit: number, reveal: boolean): Promise<WriteView[]> => {
    const after = placeAsked(c, 2) as [number, string] | undefined;
    const filter = {
      tenantId,
      mapping: queryOf(c, 'mapping'),
      recordId: queryOf(c, 'record'),
      runId: queryOf(c, 'run'),
      by: queryOf(c, 'by'),
      kind: KINDS.find((one) => one === c.req.query('kind')),
      from: dayAsked(c, 'from'),
      to: dayAsked(c, 'to'),
      ...(after === undefined ? {} : { after }),
      limit,
    };
    return readWrites(c.get('store'), filter, reveal);
  };
  const writesPage = async (c: Asked, tenantId: string, isRevealed: boolean) => {
    const reveal = isRevealed && may(c.get('viewer'), 'operator', tenantId);
    const found = await list(c, tenantId, PAGE_ROWS + 1, reveal);
    const { shown, ways } = paged(c, found, ({ at, record }) => [Date.parse(at), record]);
    const head = ['when', 'record', 'write', 'fields', 'outcome', 'mapping', 'by (run)'];
    const rows = shown.map((write) => writeRow(write, isRevealed));
    const to = addressOf('audit', tenantId, 'writes');
    const search = ['mapping', 'record', 'run', 'by'] as const;
    return page(
      c,
      `What was written for ${tenantId}`,
      html`<form class="filters" role="search" method="get" action="${to}">
${search.map((name) => searchField(c, name, LABELS[name]))}
${choiceField(c, 'kind', 'Kind', KINDS)}${dayFields(c)}<button>Find</button></form>
<div class="actions">${
        isRevealed
          ? ''
          : actForm(c, 'revealWrites', { tenant: tenantId, to: sameWith(c, {}), does: 'Show personal data' })
      }
<a class="button" href="${csvAddress(c, `${to}.csv`)}">Save as CSV, without values</a></div>
<div class="result">${table('Writes, latest first', head, rows, { none: 'No write matches.' })}
${ways}${asOf()}</div>`,
      { tenant: tenantId, above: tenantLink(tenantId) },
    );
  };
  addPage(app, '/audit/:tenant/writes', (c, tenantId) => writesPage(c, tenantId, false));
  addAct(app, log, 'revealWrites', async ({ c, by, tenantId }) => {
    await noteLook(c.get('store'), { by, tenantId, what: 'what was written', isRevealed: true });
    return writesPage(c, tenantId, true);
  });
  addPage(app, '/audit/:tenant/writes.csv', async (c, tenant) => {
    const rows = await list(c, tenant, MOST_EXPORTED, false);
    const head = ['when', 'record', 'write', 'target', 'fields', 'outcome', 'mapping', 'by', 'run'];
    return csv(
      c,
      `writes-${tenant}`,
      head,
      rows.map(({ at, record, kind, target, fields, outcome, mapping, by, run }) => {
        return [at, record, kind, target, fields.join(' '), outcome, mapping ?? '', by, run];
      }),
    );
  });
}

const LABELS = { mapping: 'Mapping version', record: 'Record', run: 'Run', by: 'Who' } as const;
const KINDS = ['create', 'update', 'end'] as const;

function writeRow(write: WriteView, isRevealed: boolean): Cell[] {
  const { at, by, run, record, kind, target, fields, changes, mapping, outcome, verifiedAt, purgedAt } = write;
  const shown = fields.map((field): Html => {
    const change = changes[field];
    const name = nameOfField(write, field);
    if (change === undefined)
      return html`<div>${name} <span
class="soft">${purgedAt === null ? '' : 'purged'}</span></div>`;
    const old = 'old' in change ? personal(change.old, isRevealed, 'empty') : '?';
    return html`<div>${name}: ${old} &rarr; ${personal(change.new, isRevealed, 'empty')}</div>`;
  });
  return [
    time(at),
    record,
    `${kind} ${target}`,
    fieldsCell(fields, shown),
    outcome === 'done' && verifiedAt !== null ? 'read back' : outcome,
    mapping ?? '',
    `${by} (${run.slice(0, 12)})`,
  ];
}

/** A few fields are shown directly; more can be expanded. */
function fieldsCell(fields: readonly string[], shown: readonly Html[]): Html {
  if (fields.length <= MOST_FIELDS) return html`${shown}`;
  return html`<details><summary>${count(fields.length, 'field')}</summary>${shown}</details>`;
}

const MOST_FIELDS = 3;

const DAYS = { from: 'From (UTC)', to: 'Before (UTC)' } as const;

function dayFields(c: Asked): Html {
  const days = Object.entries(DAYS).map(
    ([name, label]) =>
      html`<label>${label}<input type="date" name="${name}" value="${c.req.query(name) ?? ''}"></label>`,
  );
  return html`${days}`;
}

function dayAsked(c: Asked, name: string): number | undefined {
  const day = /^\d{4}-\d{2}-\d{2}$/.exec(c.req.query(name) ?? '')?.[0];
  const at = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** The same filters, from the first row. */
function csvAddress(c: Asked, path: string): string {
  const query = new URLSearchParams(c.req.query());
  query.delete('after');
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** A CSV file for spreadsheets, in which nothing can run as a formula. */
function csv(c: Asked, name: string, head: readonly string[], rows: readonly (readonly string[])[]) {
  const text = stringify([head, ...rows], { escape_formulas: true, bom: true });
  return c.body(text, 200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name.replaceAll(/[^\w-]/g, '_')}.csv"`,
  });
}
