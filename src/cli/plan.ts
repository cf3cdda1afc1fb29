import type { Command } from 'commander';
import type { OpenTenant } from '../operator/open-tenant.ts';
import type { PlanView } from '../operator/plans/plan-view.ts';
import { example, placesOf } from './options.ts';
import { type PlanOptions, printPlans } from './print-plans.ts';
import { asOption, byOf } from './tenant/by.ts';
import { withStoreAsItIs } from './with-store.ts';

export function addPlan(program: Command): void {
  const command = program
    .command('plan')
    .description(
      'Show what would be written and why: of one stream, of every stream, or of one hire. Reads both sides, writes ' +
        'to neither, and keeps the plan under a hash for `apply`. Exit code 2: there is something to write.',
    )
    .argument('<tenant>', 'tenant to plan for')
    .argument('[subject]', 'a stream (jobs, candidates), or "hire"; every stream by default')
    .argument('[jobCandidateId]', 'with "hire": the partner’s id of the job candidate')
    .option('--reveal', 'show sensitive values too; who did is written down')
    .option('--json', 'print JSON');
  asOption(command)
    .addHelpText('after', example('hirebridge plan acme jobs', 'hirebridge plan acme hire 5012'))
    .action(runPlan);
}

interface Subject {
  name: string | undefined;
  id: string | undefined;
}

async function runPlan(
  tenantId: string,
  name: string | undefined,
  id: string | undefined,
  ...[options, command]: [PlanOptions, Command]
): Promise<void> {
  const places = await placesOf(command);
  const { withTenant } = await import('../operator/open-tenant.ts');
  await withStoreAsItIs(places, async (store) => {
    const by = byOf(options);
    const plans = await withTenant({ store, places, tenantId }, (open) => makePlans(open, { name, id }, by));
    await printPlans(store, plans, options);
  });
}

async function makePlans(open: OpenTenant, { name, id }: Subject, by: string): Promise<PlanView[]> {
  if (name === 'hire') {
    const { planHire } = await import('../operator/plans/plan-hire.ts');
    return [await planHire(open, id ?? '', by)];
  }
  const { planStreams } = await import('../operator/plans/plan-streams.ts');
  return planStreams(open, name, by);
}
