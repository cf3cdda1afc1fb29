import type { Command } from 'commander';
import { readLastDay } from '../operator/status.ts';
import type { Digest } from '../store/alarms.ts';
import { withStore } from './open.ts';
import { example, placesOf } from './options.ts';
import { printJson, renderTable } from './print.ts';

export function defineDigest(command: Command): void {
  command
    .description("Show a tenant's last 24 hours: hires, holds and why, alarms. `notify.digest` sends it once a day.")
    .argument('<tenant>', 'tenant to show')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge digest acme'))
    .action(runDigest);
}

async function runDigest(tenantId: string, options: { json?: boolean }, command: Command): Promise<void> {
  const places = await placesOf(command);
  const digest = await withStore(places, (store) => readLastDay(store, places.tenantsDir, tenantId), {
    mustExist: true,
  });
  if (options.json === true) printJson(digest);
  else process.stdout.write(renderDigest(digest));
}

function renderDigest({ tenantId, from, to, hires, holds, alarms }: Digest): string {
  const ended = Object.entries(hires.ended).map(([state, count]) => `${count} ${state}`);
  const parts = [
    `${tenantId}, ${from} to ${to}`,
    `Hires: ${[`${hires.begun} begun`, ...ended, `${hires.open} open now`].join(', ')}.`,
    ...(hires.done.length === 0 ? [] : [`Done, by job candidate: ${hires.done.join(', ')}`]),
    `Holds: ${holds.opened} opened, ${holds.open} open now.`,
    ...alarms.map(({ subject, reason, message }) => `alarm: ${subject}: ${message} [${reason}]`),
  ];
  const rows = holds.waiting.map((hold) => [hold.holdId, hold.jobCandidateId ?? '(tenant)', hold.since, hold.code]);
  const table = rows.length === 0 ? [] : [renderTable(['hold', 'job candidate', 'since', 'reason'], rows)];
  return `${[...parts, ...table].join('\n\n')}\n`;
}
