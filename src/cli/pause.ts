import type { Command } from 'commander';
import { steerStream } from '../operator/streams.ts';
import { withStore } from './open.ts';
import { asOption, byOf, example, placesOf } from './options.ts';

export function definePause(command: Command): void {
  which(command)
    .description('Stop one stream; its hints wait. Hires and other streams go on. Needs no Temporal.')
    .addHelpText('after', example('hirebridge pause acme candidates'))
    .action(runPause);
}

export function defineResume(command: Command): void {
  which(command)
    .description('Let a stream go on that was paused, or that a change limit holds: its next pass may do what it said.')
    .addHelpText('after', example('hirebridge resume acme candidates'))
    .action(runResume);
}

function which(command: Command): Command {
  return asOption(command.argument('<tenant>', 'tenant of the stream').argument('<stream>', 'which stream'));
}

type Arguments = [tenantId: string, stream: string, options: { as?: string }, command: Command];

async function runPause(...args: Arguments): Promise<void> {
  await steer('pause', args);
  const [tenantId, stream] = args;
  process.stdout.write(`${tenantId} ${stream} is paused. To let it go on: hirebridge resume ${tenantId} ${stream}\n`);
}

async function runResume(...args: Arguments): Promise<void> {
  await steer('resume', args);
  const [tenantId, stream] = args;
  process.stdout.write(`${tenantId} ${stream} goes on. To run it now: hirebridge sync ${tenantId} ${stream}\n`);
}

async function steer(verb: 'pause' | 'resume', [tenantId, stream, options, command]: Arguments): Promise<void> {
  const act = { tenantId, stream, by: byOf(options) };
  await withStore(await placesOf(command), (store) => steerStream(store, verb, act), { mustExist: true });
}
