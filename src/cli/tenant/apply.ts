import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { PlannedApplication } from '../../tenants/plan-application.ts';
import { EXIT } from '../exit-codes.ts';
import { example, placesOf } from '../options.ts';
import { withStore } from '../with-store.ts';
import { asOption, byOf } from './by.ts';

export function addApply(tenant: Command): void {
  const command = tenant
    .command('apply')
    .description(
      'Apply the tenant files of a directory: shows what changes, asks, and running processes take it up. ' +
        'Needs no Temporal.',
    )
    .argument('[dir]', 'directory of tenant files; by default the one of --tenants')
    .option('--yes', 'apply without asking');
  asOption(command)
    .addHelpText('after', example('hirebridge tenant apply', 'hirebridge tenant apply ./tenants --yes'))
    .action(runApply);
}

async function runApply(dir: string | undefined, options: { yes?: boolean; as?: string }, command: Command) {
  const places = placesOf(command);
  const from = dir === undefined ? places.tenantsDir : resolve(dir);
  const [{ planApplication }, { applyDefinitions }] = await Promise.all([
    import('../../tenants/plan-application.ts'),
    import('../../store/applied-tenants.ts'),
  ]);
  await withStore(places, async (store) => {
    const plan = await planApplication(store, from, { secrets: 'skip' });
    process.stdout.write(renderPlan(plan));
    if (plan.applications.length === 0) return;
    if (options.yes !== true && !(await isConfirmed())) {
      process.exitCode = EXIT.refused;
      return;
    }
    if (!(await applyDefinitions(store, plan.applications, byOf(options)))) throw await overtaken();
    process.stdout.write('Applied. Running processes take it up within seconds.\n');
  });
}

function renderPlan({ applications, same, absent }: PlannedApplication): string {
  const lines = applications.flatMap(({ tenantId, kind, changes }) => {
    const shown = changes.length === 0 ? ['(comments or place of the files only)'] : changes;
    return [`${tenantId}: ${KINDS[kind]}`, ...shown.map((line) => `  ${line}`)];
  });
  if (same.length > 0) lines.push(`unchanged: ${same.join(', ')}`);
  if (absent.length > 0)
    lines.push(`applied, and without a file here: ${absent.join(', ')} (to end one: hirebridge tenant remove ID)`);
  return `${lines.join('\n')}\n`;
}

const KINDS = { new: 'new', changed: 'changes', back: 'was removed and comes back' } as const;

/** Where nobody can answer, nothing is applied. */
async function isConfirmed(): Promise<boolean> {
  if (!process.stdin.isTTY) {
    process.stderr.write('Not applied: nobody is here to confirm. Add --yes.\n');
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question('Apply? [y/N] ');
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

async function overtaken(): Promise<Error> {
  const { ConnectorError } = await import('../../errors.ts');
  return new ConnectorError({
    code: 'TENANTS_CHANGED',
    action: 'reject',
    message: 'Somebody applied other files meanwhile, so nothing was applied. Run it again to see the difference.',
  });
}
