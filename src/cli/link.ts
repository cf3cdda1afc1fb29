import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { LinkPlan } from '../operator/import-links.ts';
import { applyLinks, planLinks } from '../operator/import-links.ts';
import { readAppliedTenant } from '../operator/tenants.ts';
import type { Store } from '../store/open-store.ts';
import { EXIT } from './exit.ts';
import { withStore } from './open.ts';
import { asOption, byOf, example, placesOf } from './options.ts';
import { renderTable, say } from './print.ts';
import { isConfirmed } from './prompt.ts';

export function defineLink(command: Command): void {
  command.description('Link people who are employees already.');
  const one = command
    .command('import')
    .description(
      'Link candidates to employees from a CSV file with the header candidateId,employeeId. Every line is read on ' +
        'both sides and the names must agree; all or nothing is written. Needs no Temporal.',
    )
    .argument('<tenant>', 'tenant whose candidates they are')
    .argument('<file>', 'CSV file')
    .option('--yes', 'link without asking')
    .option('--json', 'print JSON');
  asOption(one).addHelpText('after', example('hirebridge link import acme employees.csv')).action(runImport);
}

async function runImport(
  tenantId: string,
  file: string,
  options: { yes?: boolean; json?: boolean; as?: string },
  command: Command,
): Promise<void> {
  const link = async (store: Store): Promise<void> => {
    const plan = await planLinks(store, await readAppliedTenant(store, tenantId), resolve(file));
    const facts = { fresh: plan.fresh, known: plan.known };
    (options.json === true ? process.stderr : process.stdout).write(renderLinks(plan));
    if (plan.fresh.length === 0) return say(options, { ...facts, linked: 0 }, '');
    if (options.yes !== true && !(await isConfirmed('Link them?'))) {
      process.exitCode = EXIT.refused;
      return;
    }
    await applyLinks(store, { tenantId, by: byOf(options) }, plan);
    say(options, { ...facts, linked: plan.fresh.length }, 'Linked.\n');
  };
  await withStore(await placesOf(command), link, { mustExist: true });
}

function renderLinks({ fresh, known }: LinkPlan): string {
  const rows = fresh.map((one) => [one.candidateId, one.employeeId, one.employeeNumber ?? '-', one.name]);
  const lines = rows.length === 0 ? [] : [renderTable(['candidate', 'employee', 'number', 'name'], rows)];
  if (known.length > 0) lines.push(`already linked: ${known.join(', ')}`);
  return `${[...lines, `${fresh.length} to link`].join('\n')}\n`;
}
