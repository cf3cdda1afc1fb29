import { isDeepStrictEqual } from 'node:util';
import { html } from 'hono/html';
import { unless } from '../errors.ts';
import { entryOf } from '../hire/answers.ts';
import { employeeIn } from '../hire/hire.ts';
import { messageParts } from '../hire/holds.ts';
import { count } from '../in-words.ts';
import { explainRecord } from '../operator/explain.ts';
import {
  answerDoes,
  answerEach,
  answerHold,
  checkAnswer,
  detailsOf,
  type HoldAnswer,
  type HoldView,
  holdUnknown,
  listHolds,
  readHold,
  takesOf,
} from '../operator/holds.ts';
import { type OpenTenant, patiently, withTenant } from '../operator/open-tenant.ts';
import { MASK } from '../operator/writes.ts';
import { noteLook } from '../store/audit.ts';
import { employeeOf, latestHire } from '../store/hires.ts';
import { type Asked, addAct, allow, askedScope, type ConsoleApp, may, mayDo, queryOf } from './acts.ts';
import {
  actForm,
  addressOf,
  ago,
  asOf,
  type Cell,
  type ConsoleParts,
  codeExplained,
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

/** Holds: the list, one hold with its answers, a confirmation, and the answer through the command's own function. */
export function addHolds(app: ConsoleApp, parts: ConsoleParts): void {
  addList(app);
  addMany(app, parts);
  addOne(app, parts);
  addRecords(app, parts);
}

function addList(app: ConsoleApp): void {
  app.get('/holds', async (c) => {
    const { tenantId, tenantIds } = await askedScope(c);
    const { all } = c.req.query();
    const after = placeAsked(c, 2) as [number, string] | undefined;
    const wanted = queryOf(c, 'code');
    const filter = { tenantIds, code: wanted, all: all === 'yes', after, limit: PAGE_ROWS + 1 };
    const found = await listHolds(c.get('store'), filter);
    const { shown, ways } = paged(c, found, ({ openedAt, holdId }) => [Date.parse(openedAt), holdId]);
    const title = wanted === undefined ? 'Holds' : `Holds: ${wanted}`;
    const closed = html`<label class="inline"><input type="checkbox" name="all" value="yes"${
      all === 'yes' ? html` checked` : ''
    }> closed ones too</label>`;
    const list = wanted === undefined ? holdsTable(shown, undefined) : manyPart(c, wanted, tenantId, shown);
    return page(
      c,
      tenantId === undefined ? title : `${title} of ${tenantId}`,
      html`${noticeOf(c, {
        many: 'They are answered. The work that waited continues now.',
        some: 'Some had been answered by somebody else, or had closed, and stay so. See the list.',
      })}
${filters(c, '/holds', [searchField(c, 'code', 'Reason'), closed])}
<div class="result" id="holds-part"${wanted === undefined ? html` data-live` : ''}>${list}${ways}${asOf()}</div>`,
      tenantId === undefined ? {} : { tenant: tenantId },
    );
  });
}

/** Treats another tenant's hold like a missing one. @throws ConnectorError HOLD_UNKNOWN */
async function shownHold(c: Asked, holdId = c.req.param('id') ?? ''): Promise<HoldView> {
  // The suggestion of a hold that is nearly named so could be one of another tenant.
  const hold = await readHold(c.get('store'), holdId).catch(unless('HOLD_UNKNOWN'));
  if (hold !== undefined && may(c.get('viewer'), 'viewer', hold.tenantId)) return hold;
  throw holdUnknown(holdId);
}

function addOne(app: ConsoleApp, parts: ConsoleParts): void {
  app.get('/holds/:id', async (c) => {
    const hold = await shownHold(c);
    const { holdId, tenantId } = hold;
    return page(c, `Hold ${holdId}`, html`<div id="hold-part" data-live>${holdPart(c, hold)}</div>`, {
      tenant: tenantId,
      above: tenantAndIts('holds', tenantId),
    });
  });
  app.get('/holds/:id/answer', async (c) => {
    const hold = await shownHold(c);
    const given = givenIn(hold.holdId, new URL(c.req.url).searchParams);
    await checkAnswer(c.get('store'), given);
    return page(c, `Answer ${given.answer}?`, lastLook(c, hold, given), { tenant: hold.tenantId });
  });
  addAct(app, parts.log, 'answer', async ({ c, form }) => {
    const hold = await shownHold(c);
    const by = allow(c, 'answer', hold.tenantId);
    const given = { ...givenIn(hold.holdId, form), by };
    await parts.act((opened) => answerHold(opened, given));
    return addressOf('holds', hold.holdId);
  });
}

/** Gives one answer to all chosen holds with one code, or to none if one of them does not accept it. */
function addMany(app: ConsoleApp, parts: ConsoleParts): void {
  const chosen = async (c: Asked, asked: URLSearchParams): Promise<{ holds: HoldView[]; answer: string }> => {
    const answer = asked.get('answer') ?? '';
    const holds: HoldView[] = [];
    for (const holdId of asked.getAll('hold').slice(0, PAGE_ROWS)) {
      const hold = await shownHold(c, holdId);
      if (hold.state === 'open') await checkAnswer(c.get('store'), { holdId, answer, arguments: [] });
      holds.push(hold);
    }
    return { holds, answer };
  };
  app.get('/holds/answer', async (c) => {
    const { holds, answer } = await chosen(c, new URL(c.req.url).searchParams);
    return page(c, `Answer ${count(holds.length, 'hold')}?`, lastLookAtMany(c, holds, answer));
  });
  addAct(app, parts.log, 'answerMany', async ({ c, form }) => {
    const { holds, answer } = await chosen(c, form);
    for (const { tenantId } of holds) allow(c, 'answerMany', tenantId);
    const { by } = c.get('viewer');
    const ids = holds.map(({ holdId }) => holdId);
    const { left } = await parts.act((opened) => answerEach(opened, ids, { answer, by }));
    return `/holds?did=${left.length === 0 ? 'many' : 'some'}`;
  });
}

function addRecords(app: ConsoleApp, { log, places }: ConsoleParts): void {
  const recordsPage = async (c: Asked, hold: HoldView, isRevealed: boolean) => {
    const { tenantId, jobCandidateId, holdId } = hold;
    const reveal = isRevealed && may(c.get('viewer'), 'operator', tenantId);
    const compared = await withTenant({ store: c.get('store'), places, tenantId }, (open) =>
      compareIdentity(open, { jobCandidateId: jobCandidateId ?? '', employeeIds: employeesAsked(hold) }, reveal),
    );
    return page(c, 'Both records', recordsPart(c, hold, compared, isRevealed), {
      tenant: tenantId,
      above: html`<a href="${addressOf('holds', holdId)}">Hold ${holdId}</a>`,
    });
  };
  app.get('/holds/:id/records', async (c) => recordsPage(c, await shownHold(c), false));
  addAct(app, log, 'revealRecords', async ({ c }) => {
    const hold = await shownHold(c);
    const { tenantId, jobCandidateId: id, holdId } = hold;
    const by = allow(c, 'revealRecords', tenantId);
    const look = { by, tenantId, what: `both records of hold ${holdId}`, isRevealed: true };
    await noteLook(c.get('store'), id === null ? look : { ...look, of: { kind: 'job-candidate', id } });
    return recordsPage(c, hold, true);
  });
}

type Given = Omit<HoldAnswer, 'by'>;

/** Ids are in separate fields, or several in one, separated by spaces or line breaks. */
function givenIn(holdId: string, fields: URLSearchParams): Given {
  const ids = fields.getAll('id').flatMap((text) => text.split(/[\s,]+/));
  return { holdId, answer: fields.get('answer') ?? '', arguments: ids.filter((id) => id !== '') };
}

type Aged = HoldView & { ageMs: number };

function holdsTable(shown: readonly Aged[], choose: ((hold: Aged) => Cell) | undefined): Html {
  const head = ['hold', 'reason', 'tenant', 'hire', 'state', 'asked'];
  return table(
    'Holds, oldest first',
    choose === undefined ? head : [...head, 'choose'],
    shown.map((hold) => [...holdRow(hold), ...(choose === undefined ? [] : [choose(hold)])]),
    { none: 'Nothing waits for a person here.' },
  );
}

function holdRow(hold: Aged): Cell[] {
  return [
    html`<a href="${addressOf('holds', hold.holdId)}">${hold.holdId}</a>`,
    html`<a href="/holds?code=${encodeURIComponent(hold.code)}">${codeWords(hold.code)}</a>`,
    tenantLink(hold.tenantId),
    hold.jobCandidateId === null ? '(tenant)' : hireLink(hold.tenantId, hold.jobCandidateId),
    html`<span class="badge ${hold.state === 'open' ? 'warn' : ''}">${hold.state}</span>`,
    ago(hold.ageMs),
  ];
}

/** Holds with one code can be answered together if the answer needs no id. */
function manyPart(c: Asked, code: string, tenantId: string | undefined, shown: readonly Aged[]): Cell {
  const open = shown.filter(({ state }) => state === 'open');
  const [first] = open;
  const isOfHire = first?.jobCandidateId !== null;
  const plain = (first?.answers ?? [])
    .filter((answer) => takesOf(answer, isOfHire) === undefined)
    .filter((answer) => open.every((one) => one.answers.includes(answer)));
  if (open.length < 2 || plain.length === 0 || !mayDo(c, 'answerMany', tenantId ?? first?.tenantId))
    return holdsTable(shown, undefined);
  const choose = ({ holdId, state }: Aged): Cell =>
    state === 'open'
      ? html`<input type="checkbox" name="hold" value="${holdId}" aria-label="Hold ${holdId}" checked>`
      : '';
  const buttons = plain.map(
    (answer) =>
      html`<div class="inline"><button name="answer" value="${answer}">${answer}</button><span
class="hint">${answerDoes(answer, isOfHire)}</span></div>`,
  );
  return html`<form role="none" method="get" action="/holds/answer">${holdsTable(shown, choose)}
<fieldset class="many"><legend>One answer for all chosen holds, ${code}</legend>${buttons}</fieldset></form>`;
}

function lastLookAtMany(c: Asked, holds: readonly HoldView[], answer: string): Html {
  const [first] = holds;
  if (first === undefined) return html`<p class="empty">None was chosen. <a href="/holds">Back to the holds</a></p>`;
  const body = html`${hidden({ answer })}${holds.map(({ holdId }) => hidden({ hold: holdId }))}`;
  const named = holds.map(
    (one) =>
      html`<li>${one.tenantId}: ${one.jobCandidateId === null ? 'the tenant' : `hire ${one.jobCandidateId}`}</li>`,
  );
  return section(
    'last-head',
    'Look once more',
    html`<p><b>${answer}</b>: ${answerDoes(answer, first.jobCandidateId !== null)}</p>
<p>It is given to ${count(holds.length, 'hold')} of ${first.code}. The first answer stands: it cannot be taken back.</p>
<ul class="plain names">${named}</ul>
<div class="actions">${actForm(c, 'answerMany', {
      tenant: first.tenantId,
      to: '/holds/answer',
      does: `Answer all ${holds.length} with ${answer}`,
      body,
      look: 'primary',
    })}
<a href="/holds?code=${encodeURIComponent(first.code)}">Back without an answer</a></div>`,
  );
}

function holdPart(c: Asked, hold: HoldView): Html {
  const { code, tenantId, jobCandidateId, period, openedAt, earlierAnswers } = hold;
  const { what, asks } = messageParts(hold);
  const of =
    jobCandidateId === null
      ? `tenant ${tenantId}`
      : hireLink(tenantId, jobCandidateId, `Hire ${jobCandidateId} of ${tenantId}`);
  const earlier = earlierAnswers.map(
    ({ answer, by, at }) =>
      html`<p class="hint">Answered ${answer} by ${by ?? 'unknown'}, ${time(at)}; the cause was still there.</p>`,
  );
  const asked = asks === '' ? '' : html`<p>${withoutCommands(asks)}</p>`;
  return html`<p class="inline"><span class="badge ${hold.state === 'open' ? 'warn' : ''}">${hold.state}</span>
  ${codeExplained(code)} <span>${of}${period === null || period === 1 ? '' : `, period ${period}`}</span>
  <span class="soft">since ${time(openedAt)}</span></p>
${answeredPart(hold)}
<div class="beside">
<section class="card" aria-labelledby="seen-head"><h2 id="seen-head">What was seen</h2>
  <p>${withoutCommands(what)}</p>${facts(detailsOf(hold))}
  ${earlier}${recordsLink(hold)}
</section>
<section class="card" aria-labelledby="asked-head"><h2 id="asked-head">What is asked</h2>
  ${asked}${conflictsLink(hold)}${choicesPart(c, hold)}
</section>
</div>`;
}

/** If the question is about a person's identity, links to both records. */
function recordsLink(hold: HoldView): Cell {
  if (hold.jobCandidateId === null || employeesAsked(hold).length === 0) return '';
  return html`<p><a class="button" href="${addressOf('holds', hold.holdId, 'records')}">See both records side by
side</a></p>`;
}

function recordsPart(c: Asked, hold: HoldView, { employees, fields }: ComparedRecords, isRevealed: boolean): Html {
  const head = [
    'field',
    'who is hired',
    ...employees.map(({ id, found }) => `employee ${id}${found ? '' : ' (not found)'}`),
  ];
  const rows = fields.map(({ field, hired, held }): Cell[] => [
    field,
    personal(hired, isRevealed, 'left out'),
    ...held.map(
      ({ value, same }) =>
        html`<span class="badge ${same ? 'good' : ''}">${same ? 'same' : 'differs'}</span>
${personal(value, isRevealed, 'empty')}`,
    ),
  ]);
  const reveal = isRevealed
    ? html`<p class="hint">The audit trail records that you looked.</p>`
    : actForm(c, 'revealRecords', {
        tenant: hold.tenantId,
        to: addressOf('holds', hold.holdId, 'records'),
        does: 'Show personal data',
      });
  const list = table('The person who is hired, beside employees', head, rows);
  return html`<p>Both sides were read just now. The hired person is shown as the mapping would write them.</p>
<div class="result">${list}</div>
<div class="actions">${reveal}<a href="${addressOf('holds', hold.holdId)}">Back to the answers</a></div>`;
}

function answeredPart({ state, answer, answeredBy }: HoldView): Cell {
  if (state === 'open') return '';
  if (answer === null) return html`<p class="notice">It closed by itself: the cause is gone.</p>`;
  const { waitsFor = '' } = entryOf(answer) ?? {};
  const heard = state === 'closed' ? '' : 'The work that waited continues now.';
  return html`<p class="notice good" role="status">Answered ${answer} by ${answeredBy ?? 'unknown'}. ${heard}
${waitsFor}</p>`;
}

/** Differing values can be decided one by one in their list. */
function conflictsLink({ answers, jobCandidateId, tenantId, details, state }: HoldView): Cell {
  const decides = ['keep-hris', 'apply'].some((one) => answers.includes(one));
  if (state !== 'open' || jobCandidateId !== null || !decides || details['stream'] === undefined) return '';
  const to = `${addressOf('streams', tenantId, 'conflicts')}`;
  return html`<p><a href="${to}">See the values, and decide single ones</a></p>`;
}

function choicesPart(c: Asked, hold: HoldView): Cell {
  if (hold.state !== 'open') return html`<p class="empty">Nothing is asked any more.</p>`;
  if (hold.answers.length === 0)
    return html`<p class="empty">It needs no answer: it closes by itself once the cause is gone.</p>`;
  return html`<ul class="choices plain">${hold.answers.map((answer) => choicePart(c, hold, answer))}</ul>`;
}

/** `retry` changes nothing by itself, so it is sent at once; every other answer is confirmed first. */
function choicePart(c: Asked, hold: HoldView, answer: string): Html {
  const isOfHire = hold.jobCandidateId !== null;
  const takes = takesOf(answer, isOfHire);
  const to = `/holds/${hold.holdId}/answer`;
  const does = html`<p class="hint">${answerDoes(answer, isOfHire)}</p>`;
  const body = hidden({ answer });
  if (answer === 'retry')
    return html`<li>${actForm(c, 'answer', {
      tenant: hold.tenantId,
      to,
      does: answer,
      body,
    })}${does}</li>`;
  const field = takes === undefined ? '' : idField(hold, takes);
  if (!mayDo(c, 'answer', hold.tenantId)) return html`<li><b>${answer}</b>${does}</li>`;
  const choice = html`${body}${field}<button>${answer}</button>`;
  return html`<li><form role="none" method="get" action="${to}">${choice}</form>${does}</li>`;
}

/** The id for an answer: one of those that the question names, or another. */
function idField(hold: HoldView, takes: string): Html {
  const named = takes === 'employeeId' ? employeesAsked(hold) : [];
  if (takes === 'jobCandidateId...') return idBoxes(hold, takes);
  const [only] = named;
  const list = `ids-${takes}`;
  const value = named.length === 1 && only !== undefined ? only : '';
  const options = named.map((id) => html`<option value="${id}"></option>`);
  return html`<label>${LABELS[takes] ?? takes}<input name="id" required autocomplete="off" value="${value}"
list="${list}"></label><datalist id="${list}">${options}</datalist>`;
}

const MOST_BOXES = 100;

/** Several ids can be chosen from those that the question names. */
function idBoxes({ details }: HoldView, takes: string): Html {
  const named = [details['jobCandidateIds']].flat().filter((id) => typeof id === 'string');
  if (named.length === 0)
    return html`<label>${LABELS[takes] ?? takes}<input name="id" required autocomplete="off"></label>`;
  const boxes = named
    .slice(0, MOST_BOXES)
    .map((id) => html`<label class="inline"><input type="checkbox" name="id" value="${id}">${id}</label>`);
  return html`<fieldset><legend>Job candidates</legend><div class="grid">${boxes}</div></fieldset>`;
}

const LABELS: Readonly<Record<string, string>> = {
  employeeId: 'ID of the employee in the HR system',
  onboardingCandidateId: 'ID of the enrolment in the hiring platform',
  jobId: 'ID of the job in the hiring platform',
  'jobCandidateId...': 'IDs of the job candidates, separated by spaces',
};

function lastLook(c: Asked, hold: HoldView, { answer, arguments: ids }: Given): Html {
  const { holdId, code, tenantId, jobCandidateId } = hold;
  const isOfHire = jobCandidateId !== null;
  const of = isOfHire ? `hire ${jobCandidateId} of ${tenantId}` : `tenant ${tenantId}`;
  const body = html`${hidden({ answer })}${ids.map((id) => hidden({ id }))}`;
  return section(
    'last-head',
    'Look once more',
    html`<p>Hold ${holdId} asks about ${of}: ${code}.</p>
<p><b>${[answer, ...ids].join(' ')}</b>: ${answerDoes(answer, isOfHire)}</p>
<p>The first answer stands: it cannot be taken back.</p>
<div class="actions">${actForm(c, 'answer', {
      tenant: tenantId,
      to: `/holds/${holdId}/answer`,
      does: `Answer ${answer}`,
      body,
      look: 'primary',
    })}
<a href="/holds/${holdId}">Back without an answer</a></div>`,
  );
}

/** A field with the mapping's value for the hired person, and the value of each employee who may be the same. */
interface ComparedField {
  field: string;
  sensitive: boolean;
  /** Personal data; sensitive fields are masked unless revealed. */
  hired: unknown;
  /** In the order of the employees; `same` is set even if the values are masked. */
  held: { value: unknown; same: boolean }[];
}

interface ComparedRecords {
  employees: { id: string; found: boolean }[];
  fields: ComparedField[];
}

const READ_MS = 30_000;
/** For more employees than this, search in the HR system; a table does not help. */
const MOST_EMPLOYEES = 5;

/** The employees that a question about a hire names. */
function employeesAsked({ details }: Pick<HoldView, 'details'>): string[] {
  const named = [details['employeeIds'], details['employeeId']].flat();
  return [...new Set(named.filter((id) => typeof id === 'string'))].slice(0, MOST_EMPLOYEES);
}

/** Reads the person and the employees again, and puts them side by side. Writes nothing. */
async function compareIdentity(
  open: OpenTenant,
  { jobCandidateId, employeeIds }: { jobCandidateId: string; employeeIds: readonly string[] },
  reveal: boolean,
): Promise<ComparedRecords> {
  const explained = await explainRecord(open, jobCandidateId, true);
  const { employees } = open.connection.hris;
  const row = await latestHire(open.store, open.tenant.tenant, jobCandidateId);
  const own = row && employeeOf(row);
  const { connection } = open.tenant.hris;
  // An employee in a former HR system cannot be read, and in the present one the id belongs to somebody else.
  const isShown = (id: string): boolean => own?.id !== id || own.connection === connection;
  const read = await Promise.all(
    employeeIds.map(async (id) =>
      isShown(id)
        ? patiently(() => employees.read(employeeIn(connection, id), AbortSignal.timeout(READ_MS)))
        : undefined,
    ),
  );
  const masked = (value: unknown, sensitive: boolean): unknown =>
    sensitive && !reveal && value !== undefined && value !== null ? MASK : value;
  return {
    employees: employeeIds.map((id, at) => ({ id, found: read[at] !== undefined })),
    fields: explained.fields.map(({ field, sensitive, value }) => ({
      field,
      sensitive,
      hired: masked(value ?? null, sensitive),
      held: read.map((one) => {
        const held = one?.fields[field] ?? null;
        return { value: masked(held, sensitive), same: isDeepStrictEqual(held, value ?? null) };
      }),
    })),
  };
}
