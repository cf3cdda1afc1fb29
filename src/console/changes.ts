import { basename } from 'node:path';
import { html } from 'hono/html';
import { ConnectorError } from '../errors.ts';
import { count } from '../in-words.ts';
import { shortVersion } from '../mapping/load-mapping.ts';
import { type Applied, applySavedPlan, planRevert } from '../operator/apply-plan.ts';
import {
  applyEdit,
  diffEdited,
  listOwnMappings,
  type MappingDiff,
  maskDiff,
  type OwnMapping,
  readOwnMapping,
} from '../operator/diff-mapping.ts';
import { withTenant } from '../operator/open-tenant.ts';
import { planHire } from '../operator/plan-hire.ts';
import { planStreams } from '../operator/plan-streams.ts';
import { showTenant } from '../operator/tenants.ts';
import { maskPlan, type PlannedRecord, type PlanView } from '../operator/writes.ts';
import { noteLook } from '../store/audit.ts';
import { listMappingVersions } from '../store/mapping-versions.ts';
import type { Store } from '../store/open-store.ts';
import { findPlan, type ListedPlan, listPlans } from '../store/plans.ts';
import { landedNames } from '../streams/streams.ts';
import { type Asked, addAct, addPage, askedScope, type ConsoleApp, may, mayDo } from './acts.ts';
import {
  actForm,
  addressOf,
  type Cell,
  type ConsoleParts,
  filters,
  type Html,
  hidden,
  hireLink,
  noticeOf,
  options,
  page,
  personal,
  section,
  table,
  tenantLink,
  time,
} from './layout.ts';

/** A tenant's files, a mapping before it is live, and plans of writes. */
export function addChanges(app: ConsoleApp, parts: ConsoleParts): void {
  addFiles(app);
  addMapping(app, parts);
  addPlans(app, parts);
}

const MOST_PLANS = 10;

const NOTICES: Readonly<Record<string, string>> = {
  written: 'The mapping is applied, and its file has the same text. Running processes use it within seconds.',
  differs:
    'The mapping is applied. Its file in the folder was left alone, because it says something else: put this ' +
    'text there too, or the next hirebridge tenant apply undoes the change.',
  absent:
    'The mapping is applied. The folder that it came from is not on this machine: put this text there too, or ' +
    'the next hirebridge tenant apply undoes the change.',
};

function addFiles(app: ConsoleApp): void {
  app.get('/changes', async (c) => {
    const { tenantId } = await askedScope(c);
    if (tenantId !== undefined) return c.redirect(addressOf('changes', tenantId), 303);
    return page(
      c,
      'Changes',
      html`${filters(c, '/changes', [], 'Show')}<p class="empty">Name a tenant to see its files, its mappings and its
plans, or choose one on the <a href="/">overview</a>.</p>`,
    );
  });
  addPage(app, '/changes/:tenant', async (c, tenantId) => {
    const store = c.get('store');
    const [{ files, version, appliedAt, appliedBy, mode }, mappings, plans, versions] = await Promise.all([
      showTenant(store, tenantId),
      listOwnMappings(store, tenantId),
      listPlans(store, { tenantId, limit: MOST_PLANS }),
      landedVersions(store, tenantId),
    ]);
    return page(
      c,
      `Changes of ${tenantId}`,
      html`${noticeOf(c, NOTICES)}<p>Version ${version}, applied by ${appliedBy} at
${time(appliedAt)}${mode === 'observe' ? ', and only observes' : ''}.</p>
${section('mappings', 'Mappings', mappingsPart(tenantId, mappings))}
${section('plans', 'Plans', plansPart(c, tenantId, plans, versions))}
${section('files', 'Applied files', html`<div>${Object.entries(files).map(filePart)}</div>`)}
<p class="ways"><a class="button" href="/audit?tenant=${encodeURIComponent(tenantId)}">What people did</a>
<a class="button" href="${addressOf('audit', tenantId, 'writes')}">What was written</a></p>`,
      { tenant: tenantId, above: tenantLink(tenantId) },
    );
  });
}

type LandedVersion = Awaited<ReturnType<typeof landedVersions>>[number];

/** Versions of each landing stream, whose writes can be reverted, latest first. */
async function landedVersions(store: Store, tenantId: string) {
  const found = await Promise.all(landedNames.map((subject) => listMappingVersions(store, tenantId, subject)));
  return found.flat().map(({ subject, hash, firstUsedAt }) => {
    return { subject, version: shortVersion(hash), firstUsedAt: new Date(firstUsedAt).toISOString() };
  });
}

function aboveOf(tenantId: string): Html {
  return html`${tenantLink(tenantId)}, <a href="${addressOf('changes', tenantId)}">its changes</a>`;
}

function mappingsPart(tenantId: string, mappings: readonly OwnMapping[]): Html {
  const rows = mappings.map(({ subject, path }): Cell[] => [
    html`<a href="${addressOf('changes', tenantId, 'mappings', subject)}">${subject}</a>`,
    basename(path),
  ]);
  const hint = html`<p class="hint">Open one to edit it, and to see the effect before it is live.</p>`;
  const list = table('Mapping files of its own', ['maps', 'file'], rows, {
    none: 'Everything is mapped by the defaults: the tenant file names no mapping of its own.',
  });
  return html`${list}${rows.length === 0 ? '' : hint}`;
}

function filePart([path, text]: [string, string]): Html {
  return html`<details class="entry" id="file-${basename(path)}"><summary><b>${basename(path)}</b>
<span class="grow soft">${path}</span></summary><pre class="code" tabindex="0">${text}</pre></details>`;
}

function addMapping(app: ConsoleApp, { log, places }: ConsoleParts): void {
  addPage(app, '/changes/:tenant/mappings/:subject', async (c, tenant) => {
    const subject = c.req.param('subject') ?? '';
    const own = await readOwnMapping(c.get('store'), tenant, subject);
    return mappingPage(c, tenant, own, { text: await textAsked(c, tenant, own) });
  });
  addAct(app, log, 'compareMapping', async ({ c, by, tenantId, form }) => {
    const store = c.get('store');
    const own = await readOwnMapping(store, tenantId, c.req.param('subject') ?? '');
    const text = textOf(form);
    const isRevealed = form.get('reveal') === 'yes';
    const what = `what another mapping of ${own.subject} changes`;
    if (isRevealed) await noteLook(store, { by, tenantId, what, isRevealed });
    try {
      const found = await withTenant({ store, places, tenantId }, (open) => diffEdited(open, { ...own, text }));
      const diff = isRevealed && may(c.get('viewer'), 'operator', tenantId) ? found : maskDiff(found);
      return await mappingPage(c, tenantId, own, { text, diff, isRevealed });
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      return mappingPage(c, tenantId, own, { text, problem: error.message });
    }
  });
  addAct(app, log, 'applyMapping', async ({ c, by, tenantId, form }) => {
    const subject = c.req.param('subject') ?? '';
    const before = form.get('before')?.replaceAll('\r\n', '\n') ?? '';
    const folder = await applyEdit(c.get('store'), { tenantId, subject, before, text: textOf(form), by });
    return `${addressOf('changes', tenantId)}?did=${folder}`;
  });
}

/** Browsers send their own line ends. */
function textOf(form: URLSearchParams): string {
  return (form.get('text') ?? '').replaceAll('\r\n', '\n');
}

async function textAsked(c: Asked, tenantId: string, own: OwnMapping): Promise<string> {
  const version = c.req.query('version') ?? '';
  if (version === '') return own.text;
  const earlier = await earlierTexts(c.get('store'), tenantId, own);
  return earlier.find((one) => one.version === version)?.text ?? own.text;
}

interface Edited {
  text: string;
  diff?: MappingDiff;
  isRevealed?: boolean;
  problem?: string;
}

async function mappingPage(c: Asked, tenantId: string, own: OwnMapping, edited: Edited) {
  const { text, diff, isRevealed = false, problem } = edited;
  const to = addressOf('changes', tenantId, 'mappings', own.subject);
  const earlier = (await earlierTexts(c.get('store'), tenantId, own)).filter((one) => one.text !== own.text);
  const can = mayDo(c, 'compareMapping', tenantId);
  const editor = html`<form role="none" method="post" action="${to}/compare">
<input type="hidden" name="csrf" value="${c.get('viewer').csrf}">
<label>Mapping of ${own.subject}, ${basename(own.path)}
<textarea class="code" name="text" spellcheck="false" autocapitalize="off" rows="24"${can ? '' : html` readonly`}>
${text}</textarea></label>
<div class="actions">${can ? html`<button class="primary">See what it would change</button>` : ''}</div></form>`;
  const hint = html`<p class="hint">Every record is read again and mapped by both texts. Nothing is written, and
nothing changes until you apply it.</p>`;
  return page(
    c,
    `Mapping of ${own.subject}`,
    html`${problem === undefined ? '' : html`<p class="notice bad" role="alert">${problem}</p>`}
${
  diff === undefined
    ? ''
    : section('diff', 'What it would change', diffPart(c, tenantId, own, { text, diff, isRevealed }))
}
${section('text', 'The file', html`${editor}${can ? hint : ''}`)}
${section('earlier', 'Earlier texts', earlierPart(c, tenantId, to, earlier))}`,
    { tenant: tenantId, above: aboveOf(tenantId) },
  );
}

function diffPart(
  c: Asked,
  tenantId: string,
  own: OwnMapping,
  { text, diff, isRevealed }: { text: string; diff: MappingDiff; isRevealed: boolean },
): Html {
  const { compared, changed, fields, from, to } = diff;
  const rows = fields.flatMap(({ field, count: records, broken, samples }) =>
    samples.map((sample, at): Cell[] => [
      at === 0 ? field : '',
      at === 0 ? records : '',
      at === 0 ? broken : '',
      sample.record,
      html`${personal(sample.old, isRevealed, 'empty')} &rarr; ${personal(sample.new, isRevealed, 'empty')}`,
    ]),
  );
  const broken = fields.reduce((sum, one) => sum + one.broken, 0);
  const address = addressOf('changes', tenantId, 'mappings', own.subject);
  const reveal = isRevealed
    ? ''
    : actForm(c, 'compareMapping', {
        tenant: tenantId,
        to: `${address}/compare`,
        does: 'Show personal data',
        body: hidden({ text, reveal: 'yes' }),
      });
  const warning =
    broken === 0
      ? ''
      : html`<p class="notice bad">${count(broken, 'value')} would be missing: those hires would wait for a person, and
those records would be left out.</p>`;
  const apply = actForm(c, 'applyMapping', {
    tenant: tenantId,
    to: `${address}/apply`,
    does: 'Apply this mapping',
    body: hidden({ text, before: own.text }),
    look: 'primary',
  });
  return html`<p><b>${changed.toLocaleString('en')}</b> of ${count(compared, 'record')} would change, by mapping
<code>${to}</code> in place of <code>${from}</code>.</p>${warning}
${table('What would change', ['field', 'records', 'without a value', 'for example', 'change'], rows, {
  none: text === own.text ? 'It is the text that is applied already.' : 'No record would change.',
})}
<div class="actions">${text === own.text ? '' : apply}${rows.length === 0 ? '' : reveal}</div>`;
}

function earlierPart(c: Asked, tenantId: string, to: string, earlier: Awaited<ReturnType<typeof earlierTexts>>): Html {
  const rows = earlier.map(({ version, firstUsedAt }): Cell[] => [
    html`<code>${version}</code>`,
    time(firstUsedAt),
    html`<a href="${to}?version=${version}">Put it into the editor</a>`,
  ]);
  const revert = earlier.length === 0 ? '' : revertForm(c, tenantId);
  return html`${table('Earlier texts', ['version', 'first used', 'restore'], rows, {
    none: 'No other text of this file has been in use yet.',
  })}${revert}`;
}

/** Texts that this file had while its mapping was in use, latest first. */
async function earlierTexts(store: Store, tenantId: string, { subject, path }: OwnMapping) {
  const versions = await listMappingVersions(store, tenantId, subject);
  return versions.flatMap(({ hash, files, firstUsedAt }) => {
    const text = files[path];
    return text === undefined
      ? []
      : [{ version: shortVersion(hash), firstUsedAt: new Date(firstUsedAt).toISOString(), text }];
  });
}

/** A separate plan restores values that a version replaced. */
function revertForm(c: Asked, tenantId: string): Html {
  return html`<p class="hint">To put back the values that one version wrote into landed records:
<a href="${addressOf('changes', tenantId)}#plans">plan to put them
back</a>${mayDo(c, 'plan', tenantId) ? '' : ' (not with your role)'}.</p>`;
}

function addPlans(app: ConsoleApp, { log, places }: ConsoleParts): void {
  addAct(app, log, 'plan', async ({ c, by, tenantId, form }) => {
    const store = c.get('store');
    const isRevealed = form.get('reveal') === 'yes';
    const subject = form.get('subject') ?? '';
    const [kind, id = ''] = subject.split(':');
    const of = kind === 'hire' ? { of: { kind: 'job-candidate', id } } : {};
    if (isRevealed) await noteLook(store, { by, tenantId, what: `plan of ${kind}`, ...of, isRevealed });
    const plans = await withTenant({ store, places, tenantId }, async (open): Promise<PlanView[]> => {
      if (kind === 'hire') return [await planHire(open, id, by)];
      if (kind === 'revert') return planRevert(open, id, by);
      return planStreams(open, subject === 'all' ? undefined : subject, by);
    });
    const shown = isRevealed && may(c.get('viewer'), 'operator', tenantId) ? plans : plans.map(maskPlan);
    return page(c, 'What would be written', madePart(c, tenantId, subject, shown, isRevealed), {
      tenant: tenantId,
      above: aboveOf(tenantId),
    });
  });
  addPage(app, '/changes/:tenant/plans/:hash', async (c, tenant) => {
    const found = await ownPlan(c, tenant);
    const [plan] = await listPlans(c.get('store'), { tenantId: tenant, hash: found.hash });
    return page(c, `Plan ${short(found.hash)}`, keptPart(c, tenant, plan), {
      tenant,
      above: aboveOf(tenant),
    });
  });
  addAct(app, log, 'applyPlan', async ({ c, by, tenantId }) => {
    const store = c.get('store');
    const plan = await ownPlan(c, tenantId);
    const applied = await withTenant({ store, places, tenantId }, (open) => applySavedPlan(open, plan, by));
    return page(c, `Plan ${short(plan.hash)} applied`, appliedPart(applied), {
      tenant: tenantId,
      above: aboveOf(tenantId),
    });
  });
}

const MOST_SHOWN = 100;

/** Treats another tenant's plan like one that does not exist. */
function ownPlan(c: Asked, tenantId: string) {
  return findPlan(c.get('store'), c.req.param('hash') ?? '', tenantId);
}

function short(hash: string): string {
  return hash.slice(0, 12);
}

function plansPart(c: Asked, tenantId: string, plans: readonly ListedPlan[], versions: readonly LandedVersion[]): Html {
  const rows = plans.map((plan): Cell[] => [
    html`<a href="${addressOf('changes', tenantId, 'plans', short(plan.hash))}">${short(plan.hash)}</a>`,
    plan.source === 'writes' ? `${plan.subject}, put back` : plan.subject,
    statesText(plan.records),
    time(plan.plannedAt),
    plan.plannedBy,
  ]);
  const choices = [['all', 'everything that lands'] as const, ...landedNames.map((name) => [name, name] as const)];
  const stream = html`<label>Plan the next sync<select name="subject">${options(choices)}</select></label>`;
  const landed = versions.map(({ subject, version, firstUsedAt }) => {
    const since = `first used ${firstUsedAt.slice(0, 16).replace('T', ' ')} UTC`;
    return [`revert:${version}`, `${subject} ${version}, ${since}`] as const;
  });
  const version = html`<label>Put back the values of a mapping version<select
name="subject">${options(landed)}</select></label>`;
  const to = addressOf('changes', tenantId, 'plans');
  return html`<div class="beside stacked">${actForm(c, 'plan', { tenant: tenantId, to, does: 'Plan', body: stream })}
${
  versions.length === 0 ? '' : actForm(c, 'plan', { tenant: tenantId, to, does: 'Plan to put back', body: version })
}</div>
<p class="hint">Planning reads both sides and writes to neither.</p>
${table('Latest plans', ['plan', 'of', 'records', 'made', 'by'], rows, {
  none: 'No plan was made in the last 30 days.',
})}`;
}

function statesText(records: ListedPlan['records']): string {
  const texts = Object.entries(records).map(([state, number]) => `${number} ${state}`);
  return texts.length === 0 ? 'none' : texts.join(', ');
}

function madePart(c: Asked, tenantId: string, subject: string, plans: readonly PlanView[], isRevealed: boolean): Html {
  const any = plans.some(({ records }) => records.length > 0);
  const reveal =
    !any || isRevealed
      ? ''
      : actForm(c, 'plan', {
          tenant: tenantId,
          to: addressOf('changes', tenantId, 'plans'),
          does: 'Show personal data',
          body: hidden({ subject, reveal: 'yes' }),
        });
  const parts = plans.map((plan) =>
    section(`plan-${plan.subject.replaceAll(/\W/g, '-')}`, plan.subject, planPart(c, plan, isRevealed)),
  );
  return html`<p>Both sides were read just now, and nothing was written.</p>${parts}
${plans.length === 0 ? html`<p class="empty">There is nothing to plan.</p>` : ''}<div
class="actions">${reveal}</div>`;
}

function planPart(c: Asked, { tenant, hash, read, records, notes }: PlanView, isRevealed: boolean): Html {
  const rows = records.slice(0, MOST_SHOWN).map((one) => recordRow(one, isRevealed));
  const more =
    records.length > MOST_SHOWN
      ? html`<p class="hint">The first ${MOST_SHOWN} of
${records.length}.</p>`
      : '';
  const left = notes.slice(0, MOST_SHOWN).map(({ record, what, reason }): Cell[] => [record, what, reason]);
  return html`<p><b>${count(records.length, 'write')}</b> from ${count(read, 'record')}.</p>
${table('Would be written', ['record', 'write', 'why', 'changes'], rows, { none: 'Nothing would be written.' })}${more}
${left.length === 0 ? '' : table('Left as it is', ['record', 'what', 'reason'], left)}
<div class="actions">${hash === undefined ? '' : applyForm(c, tenant, hash)}</div>`;
}

function recordRow({ record, target, kind, why, changes }: PlannedRecord, isRevealed: boolean): Cell[] {
  const fields = Object.entries(changes).map(([field, change]) => {
    const old = 'old' in change ? html`${personal(change.old, isRevealed, 'empty')} &rarr; ` : '';
    return html`<div>${field}: ${old}${personal(change.new, isRevealed, 'empty')}</div>`;
  });
  return [record, `${kind} ${target}`, why, html`${fields}`];
}

function applyForm(c: Asked, tenant: string, hash: string): Cell {
  return actForm(c, 'applyPlan', {
    tenant,
    to: addressOf('changes', tenant, 'plans', short(hash), 'apply'),
    does: 'Write exactly this',
    look: 'primary',
  });
}

function keptPart(c: Asked, tenantId: string, plan: ListedPlan | undefined): Html {
  if (plan === undefined) return html`<p class="empty">This plan is too old to be shown.</p>`;
  const { subject, records, plannedAt, plannedBy, hash } = plan;
  const hire = /^hire (\w+)\//.exec(subject)?.[1];
  const of = hire === undefined ? subject : hireLink(tenantId, hire, subject);
  const left = records.planned ?? 0;
  return html`<p>Made by ${plannedBy} at ${time(plannedAt)}, of ${of}:
${statesText(records)}.</p>
<p>${
    left === 0
      ? 'Nothing is left to write.'
      : `${count(left, 'record')} would be written, each only if neither side has changed since the plan.`
  }</p>
<div class="actions">${left === 0 ? '' : applyForm(c, tenantId, hash)}</div>`;
}

function appliedPart({ written, already, changed, refused }: Applied): Html {
  const rows = [
    ...changed.map(({ record, reason }): Cell[] => [record, 'not written', reason]),
    ...refused.map(({ record, reason }): Cell[] => [record, 'refused', reason]),
  ];
  return html`<p class="notice good" role="status">${count(written, 'record')}
written${already === 0 ? '' : `, ${already} there already`}.</p>
${rows.length === 0 ? '' : table('Not written', ['record', 'what', 'why'], rows)}`;
}
