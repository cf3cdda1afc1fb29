import type { Command } from 'commander';
import { armFailpoints } from '../failpoint.ts';
import type { Applied } from '../operator/plans/applied.ts';
import { EXIT } from './exit-codes.ts';
import { example, placesOf } from './options.ts';
import { printJson } from './print-json.ts';
import { asOption, byOf } from './tenant/by.ts';
import { withStore } from './with-store.ts';

export function addApply(program: Command): void {
  const command = program
    .command('apply')
    .description(
      'Write exactly what a plan has. A record that changed since is named, and nothing of it is written. Killed in ' +
        'between, apply it again: the rest is written once. Exit code 3: not everything was written.',
    )
    .argument('<hash>', 'hash of the plan, or its beginning, as `plan` and `revert` print it')
    .option('--json', 'print JSON');
  asOption(command).addHelpText('after', example('hirebridge apply 3fa1c09b77de')).action(runApply);
}

async function runApply(hash: string, options: { json?: boolean; as?: string }, command: Command): Promise<void> {
  const places = await placesOf(command);
  const [{ withTenant }, { applySavedPlan }, { findPlan }, { readConfig }] = await Promise.all([
    import('../operator/open-tenant.ts'),
    import('../operator/plans/apply-plan.ts'),
    import('../store/saved-plans.ts'),
    import('../config.ts'),
  ]);
  armFailpoints({ killAt: readConfig().HIREBRIDGE_FAILPOINT_KILL });
  const applied = await withStore(places, async (store) => {
    const plan = await findPlan(store, hash);
    return withTenant({ store, places, tenantId: plan.tenantId }, (open) => applySavedPlan(open, plan, byOf(options)));
  });
  if (options.json === true) printJson(applied);
  else process.stdout.write(render(applied));
  if (applied.changed.length + applied.refused.length > 0) process.exitCode = EXIT.partial;
}

function render({ written, already, changed, refused }: Applied): string {
  const lines = [`${written} written${already === 0 ? '' : `, ${already} there already`}`];
  lines.push(...changed.map(({ record, reason }) => `${record}: not written: ${reason}`));
  lines.push(...refused.map(({ record, reason }) => `${record}: refused: ${reason}`));
  return `${lines.join('\n')}\n`;
}
