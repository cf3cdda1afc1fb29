import { html } from 'hono/html';
import { readRateLimits } from '../operator/status.ts';
import type { RateLimitView } from '../rate-limit/view-rate-limit.ts';
import type { Store } from '../store/open-store.ts';
import { viewRateLimits } from '../store/rate-limits.ts';
import { askedScope, type ConsoleApp } from './acts.ts';
import { asOf, type ConsoleParts, facts, filters, type Html, lineChart, page, section, tenantLink } from './layout.ts';
import { percent } from './overview.ts';

/** A limit at one moment. */
interface Sample {
  at: number;
  rate: number;
  perSecond: number;
  share429: number;
  live: number | undefined;
  bulk: number | undefined;
}

const EVERY_MS = 30_000;
/** Two hours of samples; an open page adds samples more often. */
const MOST_SAMPLES = 240;

/** Learned limits, their use, and the wait of calls: now, and since the console started. */
export function addRateLimits(app: ConsoleApp, { store }: ConsoleParts & { store: Store }): { stop: () => void } {
  const history = createHistory();
  // One statement for all tenants, so that a chart exists before its page is first opened.
  const timer = setInterval(() => {
    viewRateLimits(store).then(
      (views) => views.forEach(history.note),
      () => undefined,
    );
  }, EVERY_MS);
  timer.unref();
  app.get('/rate-limits', async (c) => {
    const { tenantId } = await askedScope(c);
    if (tenantId === undefined)
      return page(
        c,
        'Rate limits',
        html`${filters(c, '/rate-limits', [], 'Show')}<p class="empty">Name a tenant to see the limits that its calls
are
under, or choose one on the <a href="/">overview</a>.</p>`,
      );
    const views = await readRateLimits(c.get('store'), tenantId);
    views.forEach(history.note);
    const parts = views.map((view, at) => section(`limit-${at}`, titleOf(view), limitPart(view, history.of(view))));
    const none = html`<p class="empty">No call was made for ${tenantId} yet.</p>`;
    return page(
      c,
      `Rate limits of ${tenantId}`,
      html`<div id="limits-part" data-live>${parts.length === 0 ? none : parts}${asOf()}</div>`,
      { tenant: tenantId, above: tenantLink(tenantId) },
    );
  });
  return { stop: () => clearInterval(timer) };
}

function createHistory() {
  const samples = new Map<string, Sample[]>();
  const nameOf = ({ tenantId, upstream }: RateLimitView): string => `${tenantId} ${upstream}`;
  return {
    note(view: RateLimitView): void {
      const own = samples.get(nameOf(view)) ?? [];
      const { rate, perSecond, share429, waits } = view;
      own.push({ at: Date.now(), rate, perSecond, share429, live: waits.live?.p99Ms, bulk: waits.bulk?.p99Ms });
      samples.set(nameOf(view), own.slice(-MOST_SAMPLES));
    },
    of: (view: RateLimitView): readonly Sample[] => samples.get(nameOf(view)) ?? [],
  };
}

function titleOf({ tenantId, upstream }: RateLimitView): string {
  if (upstream === 'partner') return 'Hiring platform';
  if (upstream.startsWith('partner/')) return `Hiring platform, ${upstream.slice('partner/'.length)} alone`;
  return `HR system ${tenantId.replace(/^hris:/, '')}${upstream === 'hris' ? '' : `, ${upstream}`}`;
}

const STATES: Record<RateLimitView['state'], string> = {
  'not met yet': 'no limit was reached yet, so calls keep getting faster',
  'looking for noise': 'checking whether refusals come at any rate',
  paused: 'paused, because the limit was reached',
  learned: 'learned',
};

function limitPart(view: RateLimitView, samples: readonly Sample[]): Html {
  const { state, kind, limit, noise, mostInFlight, use, share429, perSecond, rate, waits } = view;
  const waitText = (of: RateLimitView['waits']['live']): string =>
    of === undefined ? 'no call waited' : `p50 ${of.p50Ms} ms, p99 ${of.p99Ms} ms, ${of.count} calls`;
  const times = samples.map(({ at }) => at);
  const charts =
    samples.length < 2
      ? html`<p class="hint">Charts start now: the console takes a sample every half minute,
and more often while this page is open.</p>`
      : html`<div class="beside">${lineChart('Calls a second', times, [
          { name: 'allowed', values: samples.map((one) => one.rate) },
          { name: 'made', values: samples.map((one) => one.perSecond) },
        ])}${lineChart('Answers that refused (429), percent', times, [
          { name: 'refused', values: samples.map((one) => one.share429 * 100) },
        ])}${lineChart('99 of 100 calls waited at most, ms', times, [
          { name: 'hires', values: samples.map((one) => one.live) },
          { name: 'bulk', values: samples.map((one) => one.bulk) },
        ])}</div>`;
  return html`${facts([
    ['how it stands', `${STATES[state]}${kind === 'unknown' ? '' : `, by ${kind}`}`],
    ['limit', limit === undefined ? 'not known' : `${limit.toFixed(2)} calls a second`],
    ['allowed now', `${rate.toFixed(2)} calls a second`],
    ['made, last minutes', `${perSecond.toFixed(2)} calls a second, ${percent(use)} of it`],
    ['refused (429), last minutes', percent(share429)],
    ['refused at any rate', percent(noise)],
    ['most calls at once', mostInFlight ?? 'no bound was reached'],
    ['hires waited', waitText(waits.live)],
    ['bulk work waited', waitText(waits.bulk)],
  ])}${charts}`;
}
