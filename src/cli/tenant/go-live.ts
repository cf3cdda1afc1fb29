import { type Command, InvalidArgumentError } from 'commander';
import type { Store } from '../../store/open-store.ts';
import { EXIT } from '../exit-codes.ts';
import { example, placesOf } from '../options.ts';
import { withStore } from '../with-store.ts';
import { asOption, byOf } from './by.ts';
import { isConfirmed } from './confirm.ts';
import { renderObserved } from './render-observed.ts';

export function addGoLive(tenant: Command): void {
  const command = tenant
    .command('go-live')
    .description(
      'Start those who were hired while a tenant only observed, after a preview with credits. The partner shows no ' +
        'date of a hire, so the date is when they were first seen; whom the baseline found is left out. ' +
        'Needs no Temporal.',
    )
    .argument('<tenant>', 'tenant that is live')
    .requiredOption('--since <date>', 'first seen on this day (UTC) or later, as 2026-01-31', day)
    .option('--yes', 'start them without asking');
  asOption(command)
    .addHelpText('after', example('hirebridge tenant go-live acme --since 2026-01-31'))
    .action(runGoLive);
}

function day(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError('Expected a day such as 2026-01-31.');
  return ms;
}

async function runGoLive(
  tenantId: string,
  options: { since: number; yes?: boolean; as?: string },
  command: Command,
): Promise<void> {
  const [{ listObservedHires }, { assertLive, startObservedHires }] = await Promise.all([
    import('../../operator/tenants/observed-hires.ts'),
    import('../../operator/tenants/go-live.ts'),
  ]);
  const start = async (store: Store): Promise<void> => {
    await assertLive(store, tenantId);
    const hires = await listObservedHires(store, tenantId, options.since);
    if (hires.length === 0) return void process.stdout.write('Nobody was observed since then who is not started.\n');
    process.stdout.write(renderObserved(hires));
    if (options.yes !== true && !(await isConfirmed('Start these hires?'))) {
      process.exitCode = EXIT.refused;
      return;
    }
    await startObservedHires(store, { tenantId, by: byOf(options) }, hires);
    process.stdout.write('A worker starts them within a minute.\n');
  };
  await withStore(await placesOf(command), start, { mustExist: true });
}
