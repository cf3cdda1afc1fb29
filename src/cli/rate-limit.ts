import type { Command } from 'commander';
import { age, readRateLimits } from '../operator/status.ts';
import type { RateLimitView } from '../rate-limit/view-rate-limit.ts';
import { withStore } from './open.ts';
import { example, placesOf } from './options.ts';
import { printJson, renderTable } from './print.ts';

export function defineRateLimit(command: Command): void {
  command
    .description('Show the rate limits learned for one tenant, how much of them is used, and how long calls wait.')
    .argument('<tenant>', 'tenant whose calls are limited')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge rate-limit acme'))
    .action(runRateLimit);
}

async function runRateLimit(tenantId: string, options: { json?: boolean }, command: Command): Promise<void> {
  const views = await withStore(await placesOf(command), (store) => readRateLimits(store, tenantId), {
    mustExist: true,
    tenantId,
  });
  if (options.json === true) return printJson(views);
  process.stdout.write(views.length === 0 ? `No call was made for ${tenantId} yet.\n` : `${renderViews(views)}\n`);
}

function renderViews(views: readonly RateLimitView[]): string {
  const heads = [
    'at',
    'state',
    'rate',
    'limit',
    'kind',
    'noise',
    'in flight',
    'used',
    '429s',
    'live waits',
    'bulk waits',
  ];
  return renderTable(heads, views.map(rowOf));
}

function rowOf(view: RateLimitView): (string | number)[] {
  const { upstream, state, pausedMs, rate, limit, kind, noise, mostInFlight, use, share429, waits } = view;
  return [
    upstream,
    pausedMs === undefined ? state : `${state}, ${age(pausedMs)} more`,
    `${rate.toFixed(2)}/s`,
    limit === undefined ? '-' : `${limit.toFixed(2)}/s`,
    kind,
    percent(noise),
    mostInFlight ?? '-',
    percent(use),
    percent(share429),
    waitsText(waits.live),
    waitsText(waits.bulk),
  ];
}

function waitsText(waits: RateLimitView['waits']['live']): string {
  return waits === undefined ? '-' : `p50 ${waits.p50Ms} ms, p99 ${waits.p99Ms} ms`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
