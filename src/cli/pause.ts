import type { Command } from 'commander';
import { steerStream } from '../operator/streams.ts';
import { steerTenant } from '../operator/tenants.ts';
import { withStore } from './open.ts';
import { asOption, byOf, example, placesOf } from './options.ts';
import { say } from './print.ts';

export function definePause(command: Command): void {
  which(command)
    .description(
      'Stop all work of a tenant, or one stream of it. Webhooks are still stored, and the hints of a stream wait. ' +
        'Needs no Temporal.',
    )
    .addHelpText('after', example('hirebridge pause acme', 'hirebridge pause acme candidates'))
    .action(runPause);
}

export function defineResume(command: Command): void {
  which(command)
    .description(
      'Let a tenant or a stream go on that was paused. A stream that a change limit holds may do in its next pass ' +
        'what it was held for. Needs no Temporal.',
    )
    .addHelpText('after', example('hirebridge resume acme', 'hirebridge resume acme candidates'))
    .action(runResume);
}

function which(command: Command): Command {
  command
    .argument('<tenant>', 'tenant that is meant')
    .argument('[stream]', 'one stream of it; hires and other streams go on')
    .option('--json', 'print JSON');
  return asOption(command);
}

type Arguments = [tenant: string, stream: string | undefined, options: { json?: boolean; as?: string }, Command];

async function runPause(...args: Arguments): Promise<void> {
  const name = await steer('pause', args);
  const what = args[1] === undefined ? 'its work waits, its webhooks are stored' : 'hires and other streams go on';
  say(args[2], { paused: name }, `${name} is paused: ${what}. To let it go on: hirebridge resume ${name}\n`);
}

async function runResume(...args: Arguments): Promise<void> {
  const name = await steer('resume', args);
  const next = args[1] === undefined ? '' : ` To run it now: hirebridge sync ${name}`;
  say(args[2], { resumed: name }, `${name} goes on within seconds.${next}\n`);
}

async function steer(verb: 'pause' | 'resume', [tenantId, stream, options, command]: Arguments): Promise<string> {
  const act = { tenantId, by: byOf(options) };
  const places = await placesOf(command);
  await withStore(
    places,
    (store) => (stream === undefined ? steerTenant(store, verb, act) : steerStream(store, verb, { ...act, stream })),
    { mustExist: true },
  );
  return stream === undefined ? tenantId : `${tenantId} ${stream}`;
}
