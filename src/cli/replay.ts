import type { Command } from 'commander';
import { example, placesOf } from './options.ts';
import { byOf } from './tenant/by.ts';
import { withStore } from './with-store.ts';

export function addReplay(program: Command): void {
  program
    .command('replay')
    .description(
      'Have stored webhooks acted upon once more, one or all of a window: what they hint at is read again. What is ' +
        'done already stays as it is. Needs no Temporal.',
    )
    .argument('<tenant>', 'tenant whose deliveries to replay')
    .argument('[delivery]', 'id of one delivery, as `inbox list` shows it')
    .option('--since <duration>', 'those received in the last 2h, 3d, ...')
    .option('--until <duration>', 'with --since: but not in the last 30m, ...')
    .option('--as <name>', 'who does it; by default the user of this system')
    .addHelpText('after', example('hirebridge replay acme 3f6a0c19be42', 'hirebridge replay acme --since 2h'))
    .action(runReplay);
}

interface Flags {
  since?: string;
  until?: string;
  as?: string;
}

async function runReplay(
  tenantId: string,
  delivery: string | undefined,
  { since, until = '0s', ...who }: Flags,
  command: Command,
): Promise<void> {
  if ((delivery === undefined) === (since === undefined)) command.error('error: name one delivery, or give --since');
  const [{ replayDeliveries }, { duration }] = await Promise.all([
    import('../operator/deliveries/replay-deliveries.ts'),
    import('../hris/duration.ts'),
  ]);
  const ageOf = (text: string): number => {
    const parsed = duration.safeParse(text);
    return parsed.success ? parsed.data : command.error(`error: '${text}': ${parsed.error.issues[0]?.message}`);
  };
  const replay = {
    tenantId,
    by: byOf(who),
    ...(delivery === undefined ? {} : { delivery }),
    ...(since === undefined ? {} : { window: { sinceMs: ageOf(since), untilMs: ageOf(until) } }),
  };
  const count = await withStore(await placesOf(command), (store) => replayDeliveries(store, replay), {
    mustExist: true,
    tenantId,
  });
  process.stdout.write(`${count} given to the relay. Follow with: hirebridge inbox list --tenant ${tenantId}\n`);
}
