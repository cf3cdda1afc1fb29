import type { Command } from 'commander';
import type { TenantDetails } from '../../operator/tenants/read-tenants.ts';
import { example, placesOf } from '../options.ts';
import { printJson } from '../print-json.ts';
import { renderTable } from '../table.ts';
import { withStore } from '../with-store.ts';
import { renderObserved } from './render-observed.ts';

export function addList(tenant: Command): void {
  tenant
    .command('list')
    .description('List every tenant that was ever applied, with its state and who applied it.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge tenant list'))
    .action(runList);
}

export function addShow(tenant: Command): void {
  tenant
    .command('show')
    .description('Show a tenant as it is applied: its files, and what was done to it by whom.')
    .argument('<tenant>', 'tenant to show')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge tenant show acme'))
    .action(runShow);
}

async function runList(options: { json?: boolean }, command: Command): Promise<void> {
  const { listTenants } = await import('../../operator/tenants/read-tenants.ts');
  const tenants = await withStore(await placesOf(command), listTenants, { mustExist: true });
  if (options.json === true) return printJson(tenants);
  const rows = tenants.map((one) => [one.tenantId, one.state, String(one.version), one.appliedAt, one.appliedBy]);
  const table = renderTable(['tenant', 'state', 'version', 'applied', 'by'], rows);
  process.stdout.write(rows.length === 0 ? 'No tenants. Apply some: hirebridge tenant apply\n' : `${table}\n`);
}

async function runShow(tenantId: string, options: { json?: boolean }, command: Command): Promise<void> {
  const { showTenant } = await import('../../operator/tenants/read-tenants.ts');
  const shown = await withStore(await placesOf(command), (store) => showTenant(store, tenantId), { mustExist: true });
  if (options.json === true) printJson(shown);
  else process.stdout.write(renderTenant(shown));
}

function renderTenant(shown: TenantDetails): string {
  const { tenantId, state, mode, version, appliedAt, appliedBy, files, audit, observed } = shown;
  const texts = Object.entries(files).flatMap(([path, text]) => [`--- ${path}`, text.trimEnd()]);
  const acts = audit.map(({ at, by, act, details }) => {
    const changed = details === null || details === '' ? '' : `: ${details.split('\n').join('; ')}`;
    return `${at} ${act} by ${by}${changed}`;
  });
  const what = mode === 'observe' ? `${state}, and only observes` : state;
  const head = `${tenantId} is ${what}; version ${version}, applied ${appliedAt} by ${appliedBy}`;
  const seen = observed.length === 0 ? [] : ['', renderObserved(observed)];
  return `${[head, '', ...texts, '---', '', ...acts, ...seen].join('\n')}\n`;
}
