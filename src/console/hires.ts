import { relative } from 'node:path';
import { html } from 'hono/html';
import { hireStates } from '../hire/hire-state.ts';
import { type Explained, type ExplainedField, maskSensitive, type WrittenField } from '../operator/explain.ts';
import type { StoryLine } from '../operator/hires.ts';
import { type HireView, listHires, readHire } from '../operator/hires.ts';
import { type HoldView, listHolds } from '../operator/holds.ts';
import { assertTenantInStore } from '../operator/known-tenant.ts';
import { readHireWrites, type WriteView } from '../operator/writes.ts';
import {
  addressOf,
  type Cell,
  type ConsoleApp,
  type ConsoleParts,
  choiceField,
  facts,
  type Html,
  hireLink,
  MOST_LISTED,
  page,
  searchField,
  section,
  shortened,
  table,
  time,
} from './layout.ts';

/** The list of hires, the story of one, and why each of its values is what it is. */
export function addHires(app: ConsoleApp, parts: ConsoleParts): void {
  const { store, places } = parts;
  app.get('/hires', async (c) => {
    const { tenant = '', state = '', id = '' } = c.req.query();
    if (tenant !== '' && id !== '') return c.redirect(addressOf('hires', tenant, id), 303);
    if (tenant !== '') await assertTenantInStore(store, tenant);
    const known = hireStates.find((one) => one === state);
    const found = await listHires(store, {
      ...(tenant === '' ? {} : { tenantId: tenant }),
      ...(known === undefined ? {} : { state: known }),
      limit: MOST_LISTED + 1,
    });
    const { shown, more } = shortened(found);
    const head = ['job candidate', 'tenant', 'period', 'state', 'step', 'employee number', 'changed'];
    return page(
      c,
      'Hires',
      html`<form class="filters" role="search" method="get" action="/hires">
  ${searchField(c, 'tenant', 'Tenant')}${choiceField(c, 'state', 'State', hireStates)}
  ${searchField(c, 'id', 'Job candidate ID, with its tenant')}<button>Find</button>
</form>
<div class="result" id="hires-part" data-live>${table('Hires', head, shown.map(hireRow))}${more}</div>`,
    );
  });

  app.get('/hires/:tenant/:id', async (c) => {
    const { tenant, id } = c.req.param();
    await assertTenantInStore(store, tenant);
    const [hire, writes, holds] = await Promise.all([
      readHire(store, tenant, id),
      readHireWrites(store, tenant, id),
      listHolds(store, { tenantId: tenant }),
    ]);
    const { stands, next, story, ...view } = hire;
    const open = holds.filter(({ jobCandidateId, state }) => jobCandidateId === id && state === 'open');
    return page(
      c,
      `Hire ${id}`,
      html`<div id="hire-part" data-live>
<p class="lead">${stands}</p>
${section('next', 'What happens next', html`<p>${next}</p>${open.map(answerLink)}`)}
${section('story', 'What happened', html`<ol class="timeline">${story.map(storyLine)}</ol>`)}
${section('values', 'What was written', writtenPart(addressOf('hires', tenant, id, 'fields'), writes))}
${section('facts', 'Facts', facts(factsOf(view)))}
</div>`,
    );
  });

  app.get('/hires/:tenant/:id/fields', async (c) => {
    const { tenant, id } = c.req.param();
    // Loads the HR systems' drivers, which no other page needs.
    const [{ withTenant }, { explainRecord }] = await Promise.all([
      import('../operator/open-tenant.ts'),
      import('../operator/explain.ts'),
    ]);
    const explained = await withTenant({ store, places, tenantId: tenant }, async (open) =>
      maskSensitive(await explainRecord(open, id, false)),
    );
    return page(
      c,
      `Why each value of hire ${id}`,
      fieldsPart(explained, hireLink(tenant, id, `Hire ${id} of ${tenant}`)),
    );
  });
}

function hireRow(hire: HireView): Cell[] {
  return [
    hireLink(hire.tenantId, hire.jobCandidateId),
    hire.tenantId,
    hire.period,
    html`<span class="badge ${hire.state === 'done' ? 'good' : ''}">${hire.state}</span>`,
    hire.step,
    hire.employeeNumber ?? '',
    time(hire.updatedAt),
  ];
}

/** Names a hold as a command would; here it is a link. */
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

function writtenPart(why: string, writes: readonly WriteView[]): Html {
  const head = ['field', 'value', 'before', 'where', 'when', 'by', 'outcome'];
  return html`<p><a href="${why}">Why is each value here?</a>
<span class="hint">This reads the person on both sides now.</span></p>
${table('Written values, latest first', head, writes.flatMap(writtenRows))}`;
}

function writtenRows(write: WriteView): Cell[][] {
  const { fields, changes, target, at, by, outcome, verifiedAt, purgedAt } = write;
  const state = verifiedAt === null ? outcome : `${outcome}, read back`;
  return fields.map((field) => {
    const change = changes[field];
    const gone = purgedAt === null ? '' : '(purged)';
    const old = change !== undefined && 'old' in change ? shown(change.old) : gone;
    return [field, change === undefined ? gone : shown(change.new), old, target, time(at), by, state];
  });
}

function factsOf(view: HireView): [string, Cell][] {
  const dated = new Set(['openedAt', 'updatedAt', 'endedAt']);
  return Object.entries(view as unknown as Record<string, unknown>).map(([name, value]) => [
    name,
    dated.has(name) && typeof value === 'string' ? time(value) : shown(value, '-'),
  ]);
}

function fieldsPart({ mapping, plan, employee, fields }: Explained, back: Html): Html {
  const planned = plan === undefined ? 'none' : `${plan.decision ?? 'purged'}, ${plan.plannedAt}`;
  const who = employee === null ? 'none yet' : `${employee.id}, number ${employee.number ?? 'not given'}`;
  return html`<p>${back}</p>
${facts([
  ['mapping', mapping],
  ['last plan', planned],
  ['employee', who],
])}
<h2 class="after">Fields</h2>
<div>${fields.map(fieldPart)}</div>`;
}

function fieldPart(field: ExplainedField): Html {
  const { rule, file, line, readAt, steps, written, problem } = field;
  const near = relative(process.cwd(), file);
  const rows: [string, Cell | undefined][] = [
    ['rule', html`<code>${rule}</code>`],
    ['file and line', `${near.startsWith('..') ? file : near}:${line}`],
    ['read at', readAt === undefined ? undefined : time(readAt)],
    ...steps.map(({ step, value }): [string, Cell] => [`step: ${step}`, shown(value, 'empty')]),
    ['gives', problem ?? shown(field.value, 'left out')],
    ['planned', 'planned' in field ? shown(field.planned, 'empty') : undefined],
    ['written', written === undefined ? undefined : lastWrite(written)],
    ['held in the HR system', 'held' in field ? shown(field.held, 'empty') : undefined],
  ];
  const known = rows.filter((row): row is [string, Cell] => row[1] !== undefined);
  const result = problem === undefined ? shown(field.value, 'left out') : html`<span class="badge warn">nothing</span>`;
  return html`<details class="entry" id="field-${field.field}"><summary>
  <b>${field.field}</b> <span class="grow">${result}</span>
  ${field.sensitive ? html`<span class="badge">sensitive</span>` : ''}</summary>${facts(known)}</details>
`;
}

function lastWrite({ value, purgedAt, at, by, outcome }: WrittenField): Html {
  return html`${shown(value, purgedAt === null ? 'empty' : 'purged')}, ${time(at)} by ${by}, ${outcome}`;
}

function shown(value: unknown, none = ''): string {
  if (value === undefined || value === null) return none;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
