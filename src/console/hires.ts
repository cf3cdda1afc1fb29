import { relative } from 'node:path';
import { html } from 'hono/html';
import { type ConnectorError, isConnectorError, rejected } from '../errors.ts';
import { hireStates, isResting } from '../hire/hire.ts';
import { count } from '../in-words.ts';
import {
  type Explained,
  type ExplainedField,
  explainRecord,
  maskSensitive,
  type WrittenField,
} from '../operator/explain.ts';
import { type HireView, type ListedHire, readHire, type StoryLine, startHire, viewHires } from '../operator/hires.ts';
import { findHiresByName, MOST_READ } from '../operator/hires-by-name.ts';
import { type HoldView, listHolds } from '../operator/holds.ts';
import { withTenant } from '../operator/open-tenant.ts';
import { MASK, nameOfField, readHireWrites, type WriteView } from '../operator/writes.ts';
import { noteLook } from '../store/audit.ts';
import { findHires, type HireSearch, listHiresPage } from '../store/listings.ts';
import type { Store } from '../store/open-store.ts';
import type { HireRow } from '../store/schema.ts';
import { hireWorkflowId } from '../temporal/ids.ts';
import { type Asked, addAct, addPage, askedScope, type ConsoleApp, may, queryOf } from './acts.ts';
import { isRefresh } from './admit.ts';
import {
  actForm,
  addressOf,
  asOf,
  type Cell,
  type ConsoleParts,
  choiceField,
  codeWords,
  facts,
  filters,
  type Html,
  hidden,
  hireLink,
  noticeOf,
  PAGE_ROWS,
  page,
  paged,
  personal,
  placeAsked,
  searchField,
  section,
  table,
  tenantAndIts,
  tenantLink,
  time,
  withoutCommands,
} from './layout.ts';

/** The list of hires, the story of one, and the explanation of its values. */
export function addHires(app: ConsoleApp, parts: ConsoleParts): void {
  const { act, log } = parts;
  addFind(app, parts);
  app.get('/hires', async (c) => {
    const { tenantId, tenantIds } = await askedScope(c);
    const { state = '' } = c.req.query();
    const known = hireStates.find((one) => one === state);
    const after = placeAsked(c, 4) as [number, string, string, number] | undefined;
    const wanted = queryOf(c, 'id');
    const asked = { tenantIds, state: known, after, limit: PAGE_ROWS + 1 };
    const store = c.get('store');
    const rows = await (wanted === undefined ? listHiresPage(store, asked) : searchHires(store, wanted, asked));
    const all = await viewHires(store, rows);
    const [only] = all;
    if (wanted !== undefined && all.length === 1 && only !== undefined)
      return c.redirect(addressOf('hires', only.tenantId, only.jobCandidateId), 303);
    const { shown, ways } = paged(c, all, ({ openedAt, ...hire }) => {
      return [Date.parse(openedAt), hire.tenantId, hire.jobCandidateId, hire.period];
    });
    const none = 'No hire matches. Hires appear as soon as somebody reaches the hiring stage.';
    return page(
      c,
      tenantId === undefined ? 'Hires' : `Hires of ${tenantId}`,
      html`${filters(c, '/hires', [
        choiceField(c, 'state', 'State', hireStates),
        searchField(c, 'id', 'Job candidate or employee ID'),
      ])}${findPart(c, tenantId)}
<div class="result" id="hires-part"
data-live>${table('Hires, newest first', HEAD, shown.map(hireRow), { none })}${ways}${asOf()}</div>`,
      tenantId === undefined ? {} : { tenant: tenantId },
    );
  });

  const storyPage = async (c: Asked, tenant: string, id: string, isRevealed: boolean) => {
    const store = c.get('store');
    const seesSensitive = isRevealed && may(c.get('viewer'), 'operator', tenant);
    const [hire, writes, holds] = await Promise.all([
      readHire(store, tenant, id).catch((error: unknown) => {
        throw isConnectorError(error, 'HIRE_UNKNOWN') ? noSuchHire(tenant, id) : error;
      }),
      readHireWrites(store, tenant, id, seesSensitive),
      listHolds(store, { tenantId: tenant }),
    ]);
    const { stands, next, story, ...view } = hire;
    const open = holds.filter(({ jobCandidateId, state }) => jobCandidateId === id && state === 'open');
    const said = open.length > 0 || isResting(view.state) ? withoutCommands(next) : next;
    return page(
      c,
      `Hire ${id}`,
      html`${noticeOf(c, NOTICES)}<div id="hire-part"${isRevealed ? '' : html` data-live`}>
<p class="lead">${stands}</p>
${section(
  'next',
  'What happens next',
  html`<p>${said}</p>${open.map(answerLink)}${startPart(c, view)}${planPart(c, view)}`,
)}
${section('story', 'What happened', html`<ol class="timeline">${story.map(storyLine)}</ol>`)}
${section('values', 'What was written', writtenPart(c, { tenant, id, isRevealed }, writes))}
${section('facts', 'Facts', facts(factsOf(parts, store.installationId, view)))}${asOf()}
</div>`,
      { tenant, above: tenantAndIts('hires', tenant) },
    );
  };
  addPage(app, '/hires/:tenant/:id', async (c, tenant) => {
    const shown = await storyPage(c, tenant, c.req.param('id') ?? '', false);
    await noteHire(c, tenant, { what: 'story of a hire' });
    return shown;
  });
  addAct(app, log, 'revealHire', async ({ c, tenantId }) => {
    const id = await noteHire(c, tenantId, { what: 'what was written for a hire', isRevealed: true });
    return storyPage(c, tenantId, id, true);
  });
  addAct(app, log, 'startHire', async ({ c, by, tenantId, form }) => {
    const jobCandidateId = c.req.param('id') ?? '';
    const adopt = form.get('adopt') === 'yes';
    const { started } = await act((opened) => startHire(opened, { tenantId, jobCandidateId, adopt, by }));
    return `${addressOf('hires', tenantId, jobCandidateId)}?did=${started ? 'start' : 'as-it-is'}`;
  });

  const whyPage = async (c: Asked, tenant: string, id: string, isRevealed: boolean) => {
    const seesSensitive = isRevealed && may(c.get('viewer'), 'operator', tenant);
    const explained = await withTenant({ store: c.get('store'), places: parts.places, tenantId: tenant }, (open) =>
      explainRecord(open, id, seesSensitive),
    );
    const shown = seesSensitive ? explained : maskSensitive(explained);
    return page(c, `Why each value of hire ${id}`, fieldsPart(c, { tenant, id, isRevealed }, shown), {
      tenant,
      above: hireLink(tenant, id, `Hire ${id} of ${tenant}`),
    });
  };
  addPage(app, '/hires/:tenant/:id/fields', (c, tenant) => whyPage(c, tenant, c.req.param('id') ?? '', false));
  addAct(app, log, 'revealFields', async ({ c, tenantId }) => {
    const id = await noteHire(c, tenantId, { what: 'why each value of a hire', isRevealed: true });
    return whyPage(c, tenantId, id, true);
  });
}

/** Looks a person up by name or number; the answer is a list of their hires. */
function addFind(app: ConsoleApp, { log, places }: ConsoleParts): void {
  addAct(app, log, 'findHires', async ({ c, by, tenantId, form }) => {
    const store = c.get('store');
    await noteLook(store, { by, tenantId, what: 'hires by a name or number' });
    const { hires, people, isCut } = await withTenant({ store, places, tenantId }, (open) =>
      findHiresByName(open, form.get('words') ?? ''),
    );
    const rows = (await viewHires(store, hires.slice(0, PAGE_ROWS))).map(hireRow);
    return page(
      c,
      `Hires found in ${tenantId}`,
      html`${findPart(c, tenantId)}
<p>The hiring platform knows ${count(people, 'person', 'people')} with these words in name or address. Somebody without
a hire was in no hiring stage when both sides were last compared (${tenantLink(tenantId)}: Compare now), or was
erased.${isCut ? ` Only ${MOST_READ} of those it found were looked through: give a longer or rarer word.` : ''}</p>
<div class="result">${table('Hires, newest first', HEAD, rows, { none: 'None of them has a hire here.' })}</div>`,
      { tenant: tenantId, above: tenantAndIts('hires', tenantId) },
    );
  });
}

const HEAD = ['job candidate', 'tenant', 'state', 'waits for', 'employee number', 'opened', 'changed'];

/** Sent as a form, so that no name stands in an address; each tenant's own hiring platform is asked. */
function findPart(c: Asked, tenantId: string | undefined): Cell {
  if (tenantId === undefined) return html`<p class="hint">Name a tenant to find somebody by name.</p>`;
  const body = html`<label>Name, e-mail address or employee number<input type="search" name="words" required
autocomplete="off"></label>`;
  return html`<div class="filters">${actForm(c, 'findHires', {
    tenant: tenantId,
    to: addressOf('people', tenantId),
    does: 'Find the person',
    body,
  })}</div>`;
}

/** The hires of the job candidate with this id, or else of the employee. */
async function searchHires(store: Store, id: string, search: Omit<HireSearch, 'anyOf'>): Promise<HireRow[]> {
  const found = await findHires(store, { ...search, anyOf: { job_candidate_id: [id] } });
  return found.length > 0 ? found : findHires(store, { ...search, anyOf: { employee_id: [id] } });
}

/** Records that the signed-in person looks at this hire: once, not at each automatic refresh of a masked page. */
async function noteHire(c: Asked, tenantId: string, look: { what: string; isRevealed?: boolean }): Promise<string> {
  const id = c.req.param('id') ?? '';
  const { by } = c.get('viewer');
  const isNew = look.isRevealed === true || !isRefresh(c);
  if (isNew) await noteLook(c.get('store'), { by, tenantId, of: { kind: 'job-candidate', id }, ...look });
  return id;
}

/** In the words of somebody who has no command line. */
function noSuchHire(tenant: string, id: string): ConnectorError {
  return rejected(
    'HIRE_UNKNOWN',
    `No hire of job candidate ${id} is known here. Somebody in a hiring stage is found when both sides are compared: ` +
      `press Compare now on the page of ${tenant}. Somebody who was erased is not shown.`,
  );
}

const NOTICES: Readonly<Record<string, string>> = {
  start: 'It is asked for. Its progress shows here once the hiring platform shows the person in a hiring stage.',
  'as-it-is': 'There was nothing to start: it is under way or over, as it stands below.',
};

function hireRow(hire: ListedHire): Cell[] {
  const period = hire.period === 1 ? '' : html` <span class="soft">period ${hire.period}</span>`;
  return [
    html`${hireLink(hire.tenantId, hire.jobCandidateId)}${period}`,
    tenantLink(hire.tenantId),
    html`<span class="badge ${hire.state === 'done' ? 'good' : hire.state === 'open' ? 'accent' : ''}">${hire.state}
</span>`,
    waitCell(hire),
    hire.employeeNumber ?? '',
    time(hire.openedAt),
    time(hire.updatedAt),
  ];
}

function waitCell({ waitsFor, question }: ListedHire): Cell {
  if (question === undefined) return waitsFor ?? '';
  return html`an answer: <a href="${addressOf('holds', question.holdId)}">${codeWords(question.code)}</a>`;
}

/** A form to plan what the hire still has to write, before it is written. */
function planPart(c: Asked, { tenantId, jobCandidateId, state }: HireView): Cell {
  if (state !== 'open' && state !== 'done') return '';
  const body = hidden({ subject: `hire:${jobCandidateId}` });
  const to = addressOf('changes', tenantId, 'plans');
  return actForm(c, 'plan', { tenant: tenantId, to, does: 'See what is still to be written', body });
}

/** A resting hire, or one whose person came back, is only started by a person. */
function startPart(c: Asked, { tenantId, jobCandidateId, state }: HireView): Cell {
  if (state !== 'left' && !isResting(state)) return '';
  const does = state === 'left' ? 'Start it again' : 'Start it anyway';
  return actForm(c, 'startHire', {
    tenant: tenantId,
    to: addressOf('hires', tenantId, jobCandidateId, 'start'),
    does,
    body: state === 'left' ? '' : hidden({ adopt: 'yes' }),
  });
}

/** Messages name a hold by its command; this page shows a link instead. */
const SHOW_HOLD = / See: hirebridge hold show (\w+)$/;

function storyLine({ at, kind, text }: StoryLine): Html {
  const hold = SHOW_HOLD.exec(text)?.[1];
  const link = hold === undefined ? '' : html` <a href="/holds/${hold}">Hold ${hold}</a>`;
  const told = text.replace(SHOW_HOLD, '');
  return html`<li>${time(at)} <span class="badge">${kind}</span> <span>${told}${link}</span></li>`;
}

function answerLink({ holdId, code }: HoldView): Html {
  return html`<p><a href="/holds/${holdId}">Answer hold ${holdId}: ${code}</a></p>`;
}

interface Shown {
  tenant: string;
  id: string;
  isRevealed: boolean;
}

/** A form to reveal masked data; a viewer does not see sensitive fields even then. */
function revealForm(c: Asked, name: 'revealHire' | 'revealFields', { tenant, isRevealed }: Shown, to: string): Cell {
  if (isRevealed)
    return html`<p class="hint">Personal data is shown on this page until you leave it.
The audit trail records that you looked.</p>`;
  return actForm(c, name, { tenant, to, does: 'Show personal data' });
}

function writtenPart(c: Asked, shown: Shown, writes: readonly WriteView[]): Html {
  const { tenant, id, isRevealed } = shown;
  const head = ['field', 'value', 'before', 'where', 'when', 'by', 'outcome'];
  const rows = writes.flatMap((write) => writtenRows(write, isRevealed));
  const reveal = rows.length === 0 ? '' : revealForm(c, 'revealHire', shown, addressOf('hires', tenant, id));
  return html`<div class="actions"><a class="button" href="${addressOf('hires', tenant, id, 'fields')}">Why is each
value
here?</a>${reveal}</div>
${table('Written values, latest first', head, rows, { none: 'Nothing was written for this hire yet.' })}`;
}

function writtenRows(write: WriteView, isRevealed: boolean): Cell[][] {
  const { fields, changes, target, at, by, outcome, verifiedAt, purgedAt } = write;
  const state = verifiedAt === null ? outcome : `${outcome}, read back`;
  return fields.map((field) => {
    const change = changes[field];
    const gone = purgedAt === null ? '' : '(purged)';
    const old = change !== undefined && 'old' in change ? personal(change.old, isRevealed) : gone;
    const now = change === undefined ? gone : personal(change.new, isRevealed, 'empty');
    return [nameOfField(write, field), now, old, target, time(at), by, state];
  });
}

const HIDDEN = new Set(['tenantId', 'jobCandidateId', 'observed', 'needsPerson']);

function factsOf({ temporalUi }: ConsoleParts, installationId: string, view: HireView): [string, Cell][] {
  const dated = new Set(['openedAt', 'updatedAt', 'endedAt']);
  const rows = Object.entries(view as unknown as Record<string, unknown>)
    .filter(([name, value]) => !HIDDEN.has(name) && value !== null)
    .map(([name, value]): [string, Cell] => [
      FACTS[name] ?? name,
      dated.has(name) && typeof value === 'string' ? time(value) : plain(value),
    ]);
  const workflowId = hireWorkflowId(installationId, view.tenantId, view.jobCandidateId);
  const workflow =
    temporalUi === undefined
      ? html`<code>${workflowId}</code>`
      : html`<a href="${temporalUi}/workflows/${encodeURIComponent(workflowId)}" rel="noreferrer">${workflowId}</a>`;
  return [...rows, ['workflow in Temporal', workflow]];
}

const FACTS: Readonly<Record<string, string>> = {
  jobId: 'job',
  candidateId: 'candidate',
  onboardingCandidateId: 'enrolment',
  onboardingStatus: 'onboarding status',
  enrolment: 'number of the enrolment',
  traceId: 'trace',
  employeeId: 'employee ID',
  employeeNumber: 'employee number',
  openedAt: 'opened',
  updatedAt: 'changed',
  endedAt: 'ended',
  passedOver: 'not started because',
};

function fieldsPart(c: Asked, shown: Shown, { mapping, plan, employee, fields }: Explained): Html {
  const { tenant, id } = shown;
  const planned = plan === undefined ? 'none' : html`${plan.decision ?? 'purged'}, ${time(plan.plannedAt)}`;
  const who = employee === null ? 'none yet' : `${employee.id}, number ${employee.number ?? 'not given'}`;
  return html`<p>Both sides were read for this page just now; nothing was written.</p>
${facts([
  ['mapping', mapping],
  ['last plan', planned],
  ['employee', who],
])}
<div class="actions">${revealForm(c, 'revealFields', shown, addressOf('hires', tenant, id, 'fields'))}</div>
<h2 class="after">Fields</h2>
<div>${fields.map((field) => fieldPart(field, shown.isRevealed))}</div>`;
}

function fieldPart(field: ExplainedField, isRevealed: boolean): Html {
  const { rule, file, line, readAt, steps, written, problem } = field;
  const near = relative(process.cwd(), file);
  const told = (value: unknown, none: string): Cell => personal(value, isRevealed || value === MASK, none);
  // A value without a source comes from the mapping file, so it is not personal data.
  const given = (value: unknown, none: string): Cell => personal(value, isRevealed || readAt === undefined, none);
  const rows: [string, Cell | undefined][] = [
    ['rule', html`<code>${rule}</code>`],
    ['file and line', `${near.startsWith('..') ? file : near}:${line}`],
    ['read at', readAt === undefined ? undefined : time(readAt)],
    ...steps.map(({ step, value }): [string, Cell] => [`step: ${step}`, given(value, 'empty')]),
    ['gives', problem ?? given(field.value, 'left out')],
    ['planned', 'planned' in field ? told(field.planned, 'empty') : undefined],
    ['written', written === undefined ? undefined : lastWrite(written, told)],
    ['held in the HR system', 'held' in field ? told(field.held, 'empty') : undefined],
  ];
  const known = rows.filter((row): row is [string, Cell] => row[1] !== undefined);
  const result = problem === undefined ? given(field.value, 'left out') : html`<span class="badge warn">nothing</span>`;
  return html`<details class="entry" id="field-${field.field}"><summary>
  <b>${field.field}</b> <span class="grow">${result}</span>
  ${field.sensitive ? html`<span class="badge">sensitive</span>` : ''}</summary>${facts(known)}</details>
`;
}

function lastWrite(
  { value, purgedAt, at, by, outcome }: WrittenField,
  told: (value: unknown, none: string) => Cell,
): Html {
  return html`${told(value, purgedAt === null ? 'empty' : 'purged')}, ${time(at)} by ${by}, ${outcome}`;
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
