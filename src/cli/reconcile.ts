import type { Command } from 'commander';
import { reconcileNow } from '../operator/reconcile-now.ts';
import { AS, byOf, example, placesOf, say } from './command.ts';
import { withClient } from './open.ts';

export function defineReconcile(command: Command): void {
  command
    .description(
      'Compare both sides of a tenant now, as its schedule does: what seems changed, or everything. If one is ' +
        'running already, another one follows it.',
    )
    .argument('<tenant>', 'tenant to compare')
    .option('--full', 'compare everything, as happens once a day, even what seems unchanged')
    .option('--json', 'print JSON')
    .option(...AS)
    .addHelpText(
      'after',
      '\nA worker must run (hirebridge up, or hirebridge worker).\n' +
        example('hirebridge reconcile acme', 'hirebridge reconcile acme --full'),
    )
    .action(runReconcile);
}

async function runReconcile(
  tenantId: string,
  { full = false, json = false, ...who }: { full?: boolean; json?: boolean; as?: string },
  command: Command,
): Promise<void> {
  const places = await placesOf(command);
  await withClient(places, (parts) => reconcileNow(parts, { tenantId, full, by: byOf(who) }), tenantId);
  const what = full ? 'Everything' : 'What seems changed';
  say({ json }, { reconciling: tenantId, full }, `${what} is compared now. Follow with: hirebridge status\n`);
}
