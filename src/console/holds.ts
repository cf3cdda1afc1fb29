import { html } from 'hono/html';
import { isConnectorError } from '../errors.ts';
import { entryOf } from '../hire/answers.ts';
import { holdCatalogue } from '../hire/hold-catalogue.ts';
import type { HoldEntry } from '../hire/hold-entry.ts';
import { answerDoes, answerHold, checkAnswer, type HoldView, listHolds, readHold, takesOf } from '../operator/holds.ts';
import { age } from '../operator/status.ts';
import {
  type Asked,
  actForm,
  type Cell,
  type ConsoleApp,
  type ConsoleParts,
  facts,
  type Html,
  hidden,
  hireLink,
  page,
  searchField,
  shortened,
  table,
  time,
} from './layout.ts';

/** Holds: the list, one beside its answers, a last look, and the answer itself, by the command's own function. */
export function addHolds(app: ConsoleApp, { store, act, log }: ConsoleParts): void {
  app.get('/holds', async (c) => {
    const { tenant = '', code = '', all } = c.req.query();
    const holds = await listHolds(store, { ...(tenant === '' ? {} : { tenantId: tenant }), all: all === 'yes' });
    const { shown, more } = shortened(holds.filter((hold) => code === '' || hold.code === code));
    const head = ['hold', 'reason', 'tenant', 'hire', 'state', 'age'];
    return page(
      c,
      'Holds',
      html`<form class="filters" role="search" method="get" action="/holds">
  ${searchField(c, 'tenant', 'Tenant')}${searchField(c, 'code', 'Reason')}
  <label class="inline"><input type="checkbox" name="all" value="yes"${all === 'yes' ? html` checked` : ''}>
    closed ones too</label>
  <button>Find</button>
</form>
<div class="result" id="holds-part" data-live>${table('Holds, oldest first', head, shown.map(holdRow))}${more}</div>`,
    );
  });

  app.get('/holds/:id', async (c) => {
    const hold = await readHold(store, c.req.param('id'));
    return page(c, `Hold ${hold.holdId}`, html`<div id="hold-part" data-live>${holdPart(c, hold)}</div>`);
  });

  app.get('/holds/:id/answer', async (c) => {
    const given = givenIn(c.req.param('id'), new URL(c.req.url).searchParams);
    await checkAnswer(store, given);
    const hold = await readHold(store, given.holdId);
    return page(c, `Answer ${given.answer}?`, lastLook(c, hold, given));
  });

  app.post('/holds/:id/answer', async (c) => {
    const { by } = c.get('viewer');
    const given = { ...givenIn(c.req.param('id'), c.get('form')), by };
    const { holdId, answer } = given;
    try {
      await act((parts) => answerHold(parts, given));
    } catch (error) {
      // The answer is stored before the hire is told; the worker tells it again where that failed.
      const isStored = (await readHold(store, holdId)).answer === answer && !isConnectorError(error, 'HOLD_ANSWERED');
      if (!isStored) throw error;
      log.warn({ holdId, err: error }, 'answer stored and not told yet');
    }
    log.info({ holdId, answer, by }, 'hold answered');
    return c.redirect(`/holds/${holdId}`, 303);
  });
}

interface Given {
  holdId: string;
  answer: string;
  arguments: string[];
}

/** Ids stand in fields of their own, or several in one, apart by spaces or lines. */
function givenIn(holdId: string, fields: URLSearchParams): Given {
  const ids = fields.getAll('id').flatMap((text) => text.split(/[\s,]+/));
  return { holdId, answer: fields.get('answer') ?? '', arguments: ids.filter((id) => id !== '') };
}

function holdRow(hold: HoldView & { ageMs: number }): Cell[] {
  return [
    html`<a href="/holds/${hold.holdId}">${hold.holdId}</a>`,
    hold.code,
    hold.tenantId,
    hold.jobCandidateId === null ? '(tenant)' : hireLink(hold.tenantId, hold.jobCandidateId),
    html`<span class="badge ${hold.state === 'open' ? 'warn' : ''}">${hold.state}</span>`,
    age(hold.ageMs),
  ];
}

function holdPart(c: Asked, hold: HoldView): Html {
  const { code, tenantId, jobCandidateId, period, openedAt, details, earlierAnswers } = hold;
  const { what, asks } = messageParts(hold);
  const of =
    jobCandidateId === null
      ? `tenant ${tenantId}`
      : hireLink(tenantId, jobCandidateId, `Hire ${jobCandidateId} of ${tenantId}`);
  const earlier = earlierAnswers.map(
    ({ answer, by, at }) => html`<p class="hint">Answered ${answer} by ${by ?? 'unknown'}, ${time(at)}; still so.</p>`,
  );
  const asked = asks === '' ? '' : html`<p>${asks}</p>`;
  return html`<p class="inline"><span class="badge ${hold.state === 'open' ? 'warn' : ''}">${hold.state}</span>
  <b>${code}</b> <span>${of}${period === null || period === 1 ? '' : `, period ${period}`}</span>
  <span class="soft">since ${time(openedAt)}</span></p>
${answeredPart(hold)}
<div class="beside">
<section class="card" aria-labelledby="seen-head"><h2 id="seen-head">What was seen</h2>
  <p>${what}</p>${facts(Object.entries(details).map(([name, value]) => [name, detailText(value)]))}
  ${earlier}
</section>
<section class="card" aria-labelledby="asked-head"><h2 id="asked-head">What is asked</h2>
  ${asked}${conflictsLink(hold)}${choicesPart(c, hold)}
</section>
</div>`;
}

/** What was found, and what a person is asked, as the catalogue keeps them apart. */
function messageParts({ code, message }: HoldView): { what: string; asks: string } {
  const entry = Object.hasOwn(holdCatalogue, code) ? (holdCatalogue as Record<string, HoldEntry>)[code] : undefined;
  if (entry === undefined || !message.endsWith(entry.asks)) return { what: message, asks: '' };
  return { what: message.slice(0, -entry.asks.length).trim(), asks: entry.asks };
}

function detailText(value: unknown): string {
  if (Array.isArray(value)) return value.map(detailText).join(', ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value);
}

function answeredPart({ state, answer, answeredBy }: HoldView): Cell {
  if (state === 'open') return '';
  if (answer === null) return html`<p class="notice">It closed by itself: the cause is gone.</p>`;
  const { waitsFor = '' } = entryOf(answer) ?? {};
  const heard = state === 'closed' ? '' : 'Whoever waits for it hears it now.';
  return html`<p class="notice good">Answered ${answer} by ${answeredBy ?? 'unknown'}. ${heard} ${waitsFor}</p>`;
}

/** Values that differ are decided one by one where they are listed. */
function conflictsLink({ answers, jobCandidateId, tenantId, details, state }: HoldView): Cell {
  const decides = ['keep-hris', 'apply'].some((one) => answers.includes(one));
  if (state !== 'open' || jobCandidateId !== null || !decides || details['stream'] === undefined) return '';
  const to = `/streams?tenant=${encodeURIComponent(tenantId)}#conflicts`;
  return html`<p><a href="${to}">See the values, and decide single ones</a></p>`;
}

function choicesPart(c: Asked, hold: HoldView): Cell {
  if (hold.state !== 'open') return html`<p class="empty">Nothing is asked any more.</p>`;
  if (hold.answers.length === 0)
    return html`<p class="empty">It needs no answer: it closes by itself once the cause is gone.</p>`;
  return html`<ul class="choices plain">${hold.answers.map((answer) => choicePart(c, hold, answer))}</ul>`;
}

/** `retry` changes nothing by itself, so it is given at once; every other answer is looked at once more. */
function choicePart(c: Asked, hold: HoldView, answer: string): Html {
  const { holdId, jobCandidateId } = hold;
  const isOfHire = jobCandidateId !== null;
  const takes = takesOf(answer, isOfHire);
  const to = `/holds/${holdId}/answer`;
  const does = html`<p class="hint">${answerDoes(answer, isOfHire)}</p>`;
  if (answer === 'retry') return html`<li>${actForm(c, { to, does: answer, body: hidden({ answer }) })}${does}</li>`;
  const field =
    takes === undefined ? '' : html`<label>${labelOf(takes)}<input name="id" required autocomplete="off"></label>`;
  if (c.get('viewer').readOnly) return html`<li><b>${answer}</b>${does}</li>`;
  const body = html`${hidden({ answer })}${field}<button>${answer}</button>`;
  return html`<li><form method="get" action="${to}">${body}</form>${does}</li>`;
}

const LABELS: Readonly<Record<string, string>> = {
  employeeId: 'ID of the employee in the HR system',
  onboardingCandidateId: 'ID of the enrolment in the hiring platform',
  jobId: 'ID of the job in the hiring platform',
  'jobCandidateId...': 'IDs of the job candidates, apart by spaces',
};

function labelOf(takes: string): string {
  return LABELS[takes] ?? takes;
}

function lastLook(c: Asked, hold: HoldView, { answer, arguments: ids }: Given): Html {
  const { holdId, code, tenantId, jobCandidateId } = hold;
  const isOfHire = jobCandidateId !== null;
  const of = isOfHire ? `hire ${jobCandidateId} of ${tenantId}` : `tenant ${tenantId}`;
  const body = html`${hidden({ answer })}${ids.map((id) => hidden({ id }))}`;
  return html`<section class="card" aria-labelledby="last-head">
<h2 id="last-head">Look once more</h2>
<p>Hold ${holdId} asks about ${of}: ${code}.</p>
<p><b>${[answer, ...ids].join(' ')}</b>: ${answerDoes(answer, isOfHire)}</p>
<p>The first answer stands: it cannot be taken back.</p>
<div class="actions">${actForm(c, { to: `/holds/${holdId}/answer`, does: `Answer ${answer}`, body })}
<a href="/holds/${holdId}">Back without an answer</a></div>
</section>`;
}
