import type { Command } from 'commander';
import { example, placesOf } from './options.ts';
import { asOption, byOf } from './tenant/by.ts';
import { withStore } from './with-store.ts';

export function addPause(program: Command): void {
  command(program, 'pause')
    .description('Stop one stream; its hints wait. Hires and other streams go on. Needs no Temporal.')
    .addHelpText('after', example('hirebridge pause acme candidates'))
    .action(runPause);
}

export function addResume(program: Command): void {
  command(program, 'resume')
    .description('Let a stream go on that was paused, or that a change limit holds: its next pass may do what it said.')
    .addHelpText('after', example('hirebridge resume acme candidates'))
    .action(runResume);
}

function command(program: Command, name: string): Command {
  const one = program.command(name).argument('<tenant>', 'tenant of the stream').argument('<stream>', 'which stream');
  return asOption(one);
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
  const { steerStream } = await import('../operator/streams/steer-stream.ts');
  const act = { tenantId, stream, by: byOf(options) };
  await withStore(await placesOf(command), (store) => steerStream(store, verb, act), { mustExist: true });
}
