import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { LinkPlan } from '../operator/links/import-links.ts';
import type { Store } from '../store/open-store.ts';
import { EXIT } from './exit-codes.ts';
import { example, placesOf } from './options.ts';
import { renderTable } from './table.ts';
import { asOption, byOf } from './tenant/by.ts';
import { isConfirmed } from './tenant/confirm.ts';
import { withStore } from './with-store.ts';

export function addLink(program: Command): void {
  const link = program.command('link').description('Link people who are employees already.');
  const command = link
    .command('import')
    .description(
      'Link candidates to employees from a CSV file with the header candidateId,employeeId. Every line is read on ' +
        'both sides and the names must agree; all or nothing is written. Needs no Temporal.',
    )
    .argument('<tenant>', 'tenant whose candidates they are')
    .argument('<file>', 'CSV file')
    .option('--yes', 'link without asking');
  asOption(command).addHelpText('after', example('hirebridge link import acme employees.csv')).action(runImport);
}

async function runImport(
  tenantId: string,
  file: string,
  options: { yes?: boolean; as?: string },
  command: Command,
): Promise<void> {
  const [{ applyLinks, planLinks }, { readAppliedTenant }] = await Promise.all([
    import('../operator/links/import-links.ts'),
    import('../operator/tenants/read-applied-tenant.ts'),
  ]);
  const link = async (store: Store): Promise<void> => {
    const plan = await planLinks(store, await readAppliedTenant(store, tenantId), resolve(file));
    process.stdout.write(renderLinks(plan));
    if (plan.fresh.length === 0) return;
    if (options.yes !== true && !(await isConfirmed('Link them?'))) {
      process.exitCode = EXIT.refused;
      return;
    }
    await applyLinks(store, { tenantId, by: byOf(options) }, plan);
    process.stdout.write('Linked.\n');
  };
  await withStore(await placesOf(command), link, { mustExist: true });
}

function renderLinks({ fresh, known }: LinkPlan): string {
  const rows = fresh.map((one) => [one.candidateId, one.employeeId, one.employeeNumber ?? '-', one.name]);
  const lines = rows.length === 0 ? [] : [renderTable(['candidate', 'employee', 'number', 'name'], rows)];
  if (known.length > 0) lines.push(`already linked: ${known.join(', ')}`);
  return `${[...lines, `${fresh.length} to link`].join('\n')}\n`;
}
