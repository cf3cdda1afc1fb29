import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { Places } from '../config.ts';
import { systemUser } from '../places.ts';

/** Gives a command of the program its description, options and commands, where it has them not yet. */
export type LoadCommand = (command: Command) => Promise<void>;

/** The global options of the command's own program, or the environment's values. */
export async function placesOf(command: Command): Promise<Places> {
  // Loaded here: `--help` reads no setting, and the schema of the settings loads zod.
  const { readConfig } = await import('../config.ts');
  const config = readConfig();
  const { tenants, data } = command.optsWithGlobals<{ tenants?: string; data?: string }>();
  return {
    tenantsDir: resolve(tenants ?? config.HIREBRIDGE_TENANTS),
    dataDir: resolve(data ?? config.HIREBRIDGE_DATA),
  };
}

/** A whole number in a range, as commander reads an option. */
export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < min || value > max) {
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** A port; 0 takes a free one. */
export const port = integer(0, 65_535);

/** Help text with one line that can be copied, as every command has it. */
export function example(...lines: string[]): string {
  return `\nExample${lines.length > 1 ? 's' : ''}:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`;
}

/** The option by itself, where it stands among others. */
export const AS = ['--as <name>', 'for whom it is done; who does it is the user of this system'] as const;

/** `--as`: on whose behalf. */
export function asOption(command: Command): Command {
  return command.option(...AS);
}

/** The user of this system, and for whom they say that it is done. */
export function byOf({ as }: { as?: string }): string {
  const user = systemUser();
  return as === undefined || as === user ? user : `${user} for ${as}`;
}
