import type { Command } from 'commander';
import type { RateLimitView } from '../operator/read-rate-limit.ts';
import { example, placesOf } from './options.ts';
import { printJson } from './print-json.ts';
import { renderTable } from './table.ts';
import { withStore } from './with-store.ts';

export function addRateLimit(program: Command): void {
  program
    .command('rate-limit')
    .description("Show what was learned of the partner's rate limit for one tenant.")
    .argument('<tenant>', 'tenant whose calls are limited')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge rate-limit acme'))
    .action(runRateLimit);
}

async function runRateLimit(tenantId: string, options: { json?: boolean }, command: Command): Promise<void> {
  const { readRateLimit } = await import('../operator/read-rate-limit.ts');
  const view = await withStore(placesOf(command), (store) => readRateLimit(store, tenantId), { mustExist: true });
  if (options.json === true) return printJson(view ?? null);
  process.stdout.write(view === undefined ? `No call was made for ${tenantId} yet.\n` : renderView(view));
}

function renderView({ tenantId, state, rate, limit, kind, noise, mostInFlight, answers }: RateLimitView): string {
  const row = [
    tenantId,
    state,
    `${rate.toFixed(2)}/s`,
    limit === undefined ? '-' : `${limit.toFixed(2)}/s`,
    kind,
    `${(noise * 100).toFixed(1)} %`,
    mostInFlight ?? '-',
    answers,
  ];
  const heads = ['tenant', 'state', 'rate', 'limit', 'kind', 'noise', 'most in flight', 'answers'];
  return `${renderTable(heads, [row])}\n`;
}
