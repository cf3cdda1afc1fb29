import { userInfo } from 'node:os';
import type { Command } from 'commander';

/** `--as`: who does it. */
export function asOption(command: Command): Command {
  return command.option('--as <name>', 'who does it; by default the user of this system');
}

export function byOf({ as }: { as?: string }): string {
  return as ?? userInfo().username;
}
