import { randomBytes } from 'node:crypto';
import { relative } from 'node:path';
import { html } from 'hono/html';
import { type ConnectorError, isConnectorError, rejected } from '../errors.ts';
import { count } from '../in-words.ts';
import type { CheckLine } from '../operator/check-tenant.ts';
import { type NewFile, sameLabel } from '../operator/new-tenant.ts';
import {
  beginDraft,
  type Choice,
  type Draft,
  defineStartDate,
  draftFiles,
  type FullDraft,
  fails,
  finishDraft,
  type HrField,
  readHrSystem,
  type Tried,
  tryDraft,
} from '../operator/set-up.ts';
import { holdsPassword, isSecretRef } from '../tenants/secrets.ts';
import { type Asked, addAct, allow, type ConsoleApp } from './acts.ts';
import { addressOf, type Cell, type ConsoleParts, facts, type Html, options, page, section, table } from './layout.ts';

interface SetupParts extends ConsoleParts {
  /** The viewer is at this machine, and may name its files and settings. */
  isLocal: boolean;
}

/** The steps of `init`: hiring platform, HR system, fields, a review of everything, and then the files. */
export function addSetup(app: ConsoleApp, { places: { tenantsDir }, log, isLocal }: SetupParts): void {
  const drafts = keepDrafts();
  const full = (c: Asked): FullDraft => {
    const draft = drafts.find(c);
    if (isFull(draft)) return draft;
    throw draftUnknown();
  };

  app.get('/setup', (c) => {
    allow(c, 'setUp');
    return firstPage(c, { isLocal });
  });
  addAct(app, log, 'setUp', async ({ c, form }) => {
    const given = {
      tenant: textOf(form, 'tenant'),
      baseUrl: textOf(form, 'baseUrl').replace(/\/+$/, ''),
      apiKey: textOf(form, 'apiKey'),
    };
    return again(
      async () => {
        assertOpen(given.apiKey, isLocal);
        return addressOf('setup', drafts.keep(c, await beginDraft(tenantsDir, given)));
      },
      (problem) => firstPage(c, { isLocal, given, problem }),
    );
  });

  app.get('/setup/:draft', (c) => {
    allow(c, 'setUp');
    return hrisPage(c, { draft: drafts.find(c), isLocal });
  });
  addAct(app, log, 'setUpHris', async ({ c, form }) => {
    const draft = drafts.find(c);
    const given = {
      flow: textOf(form, 'flow'),
      startDate: textOf(form, 'startDate'),
      hris: textOf(form, 'hris'),
      createTable: form.get('createTable') === 'yes',
    };
    return again(
      async () => {
        assertOpen(given.hris, isLocal);
        if (given.hris === '' || given.flow === '')
          throw rejected('SETUP_INVALID', 'Choose a flow, and give the address of the HR system.');
        const isNew = given.startDate === DEFINE;
        const seen = isNew ? await defineStartDate(draft, START_DATE) : draft;
        drafts.keep(c, seen, c.req.param('draft'));
        const startDate = isNew ? START_DATE : given.startDate;
        drafts.keep(c, await readHrSystem(tenantsDir, seen, { ...given, startDate }), c.req.param('draft'));
        return stepAt(c, 'fields');
      },
      (problem) => hrisPage(c, { draft: drafts.find(c), isLocal, given, problem }),
    );
  });

  app.get('/setup/:draft/fields', (c) => {
    allow(c, 'setUp');
    return fieldsPage(c, full(c));
  });
  addAct(app, log, 'setUpFields', async ({ c, form }) => {
    const draft = full(c);
    const choices = Object.fromEntries(draft.fields.map((field) => [field.key, choiceOf(form, field)]));
    const chosen = { ...draft, choices };
    drafts.keep(c, chosen, c.req.param('draft'));
    return again(
      async () => {
        const files = await draftFiles(tenantsDir, chosen);
        return lookPage(c, {
          tenantsDir,
          draft: chosen,
          files,
          tried: await tryDraft(tenantsDir, c.get('store'), chosen),
        });
      },
      (problem) => fieldsPage(c, chosen, problem),
    );
  });
  addAct(app, log, 'setUpWrite', async ({ c, by }) => {
    const draft = full(c);
    await finishDraft(tenantsDir, c.get('store'), draft, by);
    drafts.forget(c);
    return `${addressOf('tenants', draft.tenant)}?did=setup`;
  });
}

/** Shows a refusal on the page where it can be corrected; other errors are passed on. */
async function again(
  does: () => Promise<string | Response>,
  tell: (problem: string) => Response | Promise<Response>,
): Promise<string | Response> {
  try {
    return await does();
  } catch (error) {
    if (!isConnectorError(error) || error.code === 'DRAFT_UNKNOWN') throw error;
    return tell(error.message);
  }
}

const MOST_DRAFTS = 50;
const KEPT_MS = 3_600_000;

/** Drafts contain keys: they stay in memory, for an hour, each for the session that began it. */
function keepDrafts() {
  const known = new Map<string, { draft: Draft | FullDraft; owner: string; until: number }>();
  return {
    keep(c: Asked, draft: Draft | FullDraft, id = randomBytes(16).toString('base64url')): string {
      const [oldest] = known.keys();
      if (!known.has(id) && known.size >= MOST_DRAFTS && oldest !== undefined) known.delete(oldest);
      known.set(id, { draft, owner: c.get('viewer').csrf, until: performance.now() + KEPT_MS });
      return id;
    },
    /** @throws ConnectorError DRAFT_UNKNOWN */
    find(c: Asked): Draft | FullDraft {
      const kept = known.get(c.req.param('draft') ?? '');
      if (kept === undefined || kept.owner !== c.get('viewer').csrf || performance.now() > kept.until)
        throw draftUnknown();
      return kept.draft;
    },
    forget(c: Asked): void {
      known.delete(c.req.param('draft') ?? '');
    },
  };
}

function isFull(draft: Draft | FullDraft): draft is FullDraft {
  return 'fields' in draft;
}

function draftUnknown(): ConnectorError {
  return rejected(
    'DRAFT_UNKNOWN',
    'Your entries for this tenant are kept for one hour and one session, and are gone now. Begin again: ' +
      'nothing was written.',
  );
}

/** Only viewers at this machine may have its files and settings read. @throws ConnectorError SETUP_INVALID */
function assertOpen(value: string, isLocal: boolean): void {
  if (isLocal || (!isSecretRef(value) && !value.startsWith('sqlite:'))) return;
  throw rejected(
    'SETUP_INVALID',
    'References to secrets and files of the machine are accepted only at the machine: use hirebridge init ' +
      'there, or give the secret itself here. It is written to a file that only hirebridge reads.',
  );
}

function textOf(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim();
}

/** A choice that the page offered. */
function choiceOf(form: URLSearchParams, field: HrField): Choice {
  const wanted = form.get(`field:${field.key}`) ?? '';
  if (wanted === 'default' && field.rule !== undefined) return 'default';
  return field.paths.includes(wanted) ? (wanted as Choice) : 'none';
}

const STEPS = ['Hiring platform', 'HR system', 'Fields', 'Review and write'] as const;

function stepPage(c: Asked, at: number, title: string, body: Cell, problem?: string) {
  const steps = STEPS.map((name, index) => html`<li${index === at ? html` aria-current="step"` : ''}>${name}</li>`);
  const wrong = problem === undefined ? '' : html`<p class="notice bad" role="alert">${problem}</p>`;
  return page(c, title, html`<ol class="steps">${steps}</ol>${wrong}${body}`, {
    above: html`<a href="/">Overview</a>`,
    ...(problem === undefined ? {} : { status: 422 as const }),
  });
}

function stepAt(c: Asked, ...step: string[]): string {
  return addressOf('setup', c.req.param('draft') ?? '', ...step);
}

function stepForm(c: Asked, to: string, fields: Cell, does: string): Html {
  return html`<form role="none" method="post" action="${to}" class="form">
<input type="hidden" name="csrf" value="${c.get('viewer').csrf}">${fields}
<p class="actions"><button class="primary">${does}</button></p></form>`;
}

interface First {
  isLocal: boolean;
  given?: { tenant: string; baseUrl: string };
  problem?: string;
}

function firstPage(c: Asked, { isLocal, given, problem }: First) {
  const fields = html`<label>ID of the tenant: a to z, 0 to 9 and -. It stays for good.
<input name="tenant" required pattern="[a-z0-9\\-]{1,40}" maxlength="40" autocomplete="off"
value="${given?.tenant ?? ''}"></label>
<label>Address of the hiring platform, as its API documentation names it
<input name="baseUrl" type="url" required autocomplete="off" placeholder="https://.../v1/partner"
value="${given?.baseUrl ?? ''}"></label>
<label>API key of this customer${isLocal ? ', or where it is: env:NAME or file:PATH' : ''}
<input name="apiKey" type="password" required autocomplete="off"></label>`;
  return stepPage(
    c,
    0,
    'Set up a tenant',
    html`<section class="card"><p>The hiring platform is asked for the company of the key, its flows and
its fields. Nothing is written before you have seen every file.</p>
${stepForm(c, '/setup', fields, 'Ask the hiring platform')}</section>`,
    problem,
  );
}

const START_DATE = 'Start date';
const DEFINE = '+define';

interface HrisStep {
  draft: Draft;
  isLocal: boolean;
  given?: { flow: string; startDate: string; hris: string; createTable: boolean };
  problem?: string;
}

function hrisPage(c: Asked, { draft, isLocal, given, problem }: HrisStep) {
  const { tenant, seen } = draft;
  const asked = given ?? (isFull(draft) ? draft : undefined);
  const named = sameLabel(seen.dateFields, START_DATE);
  const dates = seen.dateFields.map((label) => [label, label] as [string, string]);
  if (named === undefined) dates.push([DEFINE, `none of them: define "${START_DATE}" there now`]);
  const flows = seen.flows.map(({ id, name }) => [id, name] as const);
  const hris = asked !== undefined && !holdsPassword(asked.hris) ? asked.hris : '';
  const fields = html`<label>Onboarding flow that a hire is enrolled in
<select name="flow">${options(flows, asked?.flow)}</select></label>
<label>Candidate's custom field that holds the first day of work
<select name="startDate">${options(dates, asked?.startDate ?? named)}</select></label>
<label>Database of the HR system
<input name="hris" required autocomplete="off" spellcheck="false" value="${hris}"
placeholder="postgres://user:password@host/database"></label>
<p class="hint">${isLocal ? 'sqlite:PATH, ' : ''}postgres://... or mariadb://... Another kind of HR system is
named in the tenant file: the guide to HR systems says how.</p>
<label class="inline"><input type="checkbox" name="createTable" value="yes"${
    asked?.createTable === true ? html` checked` : ''
  }> make its tables, for a demonstration; they are made as soon as you go on</label>`;
  return stepPage(
    c,
    1,
    `Set up ${tenant}`,
    html`${section(
      'seen',
      'Answer of the hiring platform',
      facts([
        ['company', seen.company ?? 'no record names it'],
        ['active onboarding flows', seen.flows.length],
        ['custom fields', seen.customFields.length],
      ]),
    )}${section('hr', 'HR system', stepForm(c, stepAt(c, 'hr-system'), fields, 'Read its fields'))}`,
    problem,
  );
}

function fieldsPage(c: Asked, draft: FullDraft, problem?: string) {
  const rows = draft.fields.map((field): Cell[] => {
    const { key, label, type, required, isThere } = field;
    const missing = isThere ? '' : html`<br><span class="soft">the HR system has no such column</span>`;
    return [
      html`${key}${label === key ? '' : html` <span class="soft">${label}</span>`}${missing}`,
      `${type}${required ? ', required' : ''}`,
      choiceField(field, draft.choices[field.key] ?? 'none'),
    ];
  });
  const start: Cell[] = ['startDate', 'date, required', `candidate.customFields[${draft.startDate}]`];
  const to = stepAt(c, 'fields');
  const list = table('Fields of an employee', ['field', 'type', 'its value comes from'], [start, ...rows]);
  return stepPage(
    c,
    2,
    `Set up ${draft.tenant}`,
    html`<section class="card"><p>Each field of an employee gets its value from the person who is hired, or from the
job. What has the same name and a type that fits is suggested; everything can be changed later.</p>
${stepForm(c, to, list, 'Check it, and try it with real people')}</section>
<p class="ways"><a class="button" href="${stepAt(c)}">Back</a></p>`,
    problem,
  );
}

function choiceField({ key, rule, paths, suggested }: HrField, chosen: Choice): Html {
  const choices = [
    ...(rule === undefined ? [] : [['default', `by default: ${rule}`] as const]),
    ['none', 'left out'] as const,
    ...paths.map((path) => [path, `${path}${path === suggested ? ' (suggested)' : ''}`] as const),
  ];
  return html`<select name="field:${key}" aria-label="Value of ${key}">${options(choices, chosen)}</select>`;
}

interface Look {
  tenantsDir: string;
  draft: FullDraft;
  files: readonly NewFile[];
  tried: Tried;
}

function lookPage(c: Asked, { tenantsDir, draft, files, tried }: Look) {
  const isGood = !tried.checks.some(fails);
  const to = stepAt(c, 'write');
  const write = isGood
    ? html`<form role="none" method="post" action="${to}"><input type="hidden" name="csrf" value="${
        c.get('viewer').csrf
      }"><button class="primary">Write these files and begin</button></form>`
    : html`<p class="notice bad" role="alert">This would not work. Correct what failed, then check it again.</p>`;
  return stepPage(
    c,
    3,
    `Set up ${draft.tenant}`,
    html`${section('checks', 'Answers of both sides', checksPart(tried.checks))}
${isGood ? section('tried', 'First dry run', triedPart(tried)) : ''}
${section(
  'files',
  'Files that will be written',
  html`<p class="hint">In ${tenantsDir}. Keep the folder as you keep code,
without its secrets.</p><div>${files.map((file) => filePart(tenantsDir, file))}</div>`,
)}
<div class="actions">${write}<a class="button" href="${stepAt(c, 'fields')}">Back to the
fields</a></div>`,
  );
}

const LOOKS = { ok: 'good', warn: 'warn', fail: 'bad' } as const;

function checksPart(checks: readonly CheckLine[]): Html {
  const worst = ['fail', 'warn', 'ok'] as const;
  const rows = checks
    .toSorted((a, b) => worst.indexOf(a.state) - worst.indexOf(b.state))
    .map(({ check, state, message }): Cell[] => [
      check,
      html`<span class="badge ${LOOKS[state]}">${state}</span>`,
      message,
    ]);
  return table('Checks', ['check', 'state', 'what was found'], rows);
}

function triedPart({ hired, read, ready, fields }: Tried): Html {
  const rows = fields.map(({ field, filled, empty, refused, example }): Cell[] => [
    field,
    filled,
    empty,
    refused === 0 ? '0' : html`<span class="badge warn">${refused}</span>`,
    example ?? '',
  ]);
  return html`<p><b>${count(ready, 'person', 'people')}</b> of ${read.toLocaleString('en')} whose records were read have
every value that an employee needs. Nothing was written.</p>
<p>${count(hired, 'person is', 'people are')} hired already: they are recorded when the tenant begins, and none of
them is started.</p>
${table('Result of the mapping', ['field', 'filled', 'empty', 'would wait for a person', 'for example'], rows, {
  none: 'There is nobody to try it with yet.',
})}`;
}

function filePart(tenantsDir: string, { path, text, isSecret }: NewFile): Html {
  const shown = isSecret
    ? html`<p class="hint">A secret, readable by this user alone. It is not shown.</p>`
    : html`<pre
class="code" tabindex="0">${text}</pre>`;
  return html`<details class="entry"${isSecret ? '' : html` open`}>
<summary><b>${relative(tenantsDir, path)}</b></summary>
${shown}</details>`;
}
