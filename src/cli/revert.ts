import type { Command } from 'commander';
import { example, placesOf } from './options.ts';
import { type PlanOptions, printPlans } from './print-plans.ts';
import { asOption, byOf } from './tenant/by.ts';
import { withStoreAsItIs } from './with-store.ts';

export function addRevert(program: Command): void {
  const command = program
    .command('revert')
    .description(
      'Plan to put back the values that one mapping version replaced in landed records, unless somebody changed them ' +
        'since. Writes nothing: the plan is applied like any other. Exit code 2: there is something to put back.',
    )
    .argument('<tenant>', 'tenant whose mapping to undo')
    .requiredOption('--mapping <version>', 'the mapping version, as `audit` and `mapping show` name it')
    .option('--reveal', 'show sensitive values too; who did is written down')
    .option('--json', 'print JSON');
  asOption(command).addHelpText('after', example('hirebridge revert acme --mapping 9c1d2e3f4a5b')).action(runRevert);
}

async function runRevert(
  tenantId: string,
  options: PlanOptions & { mapping: string },
  command: Command,
): Promise<void> {
  const places = await placesOf(command);
  const [{ withTenant }, { planRevert }] = await Promise.all([
    import('../operator/open-tenant.ts'),
    import('../operator/plans/plan-revert.ts'),
  ]);
  await withStoreAsItIs(places, async (store) => {
    const by = byOf(options);
    const plans = await withTenant({ store, places, tenantId }, (open) => planRevert(open, options.mapping, by));
    await printPlans(store, plans, options);
  });
}
