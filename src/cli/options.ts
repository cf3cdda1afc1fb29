import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { Places } from '../config.ts';
import { ConnectorError } from '../errors.ts';
import { systemUser } from '../places.ts';

/** Adds description, options and commands to a command of the program, unless it has them. */
export type LoadCommand = (command: Command) => Promise<void>;

/** The program's global options, or the environment's values. */
export async function placesOf(command: Command): Promise<Places> {
  // Loaded here: `--help` reads no settings, and their schema loads zod.
  const { readConfig } = await import('../config.ts');
  const config = readConfig();
  const { tenants, data } = command.optsWithGlobals<{ tenants?: string; data?: string }>();
  return {
    tenantsDir: resolve(tenants ?? config.HIREBRIDGE_TENANTS),
    dataDir: resolve(data ?? config.HIREBRIDGE_DATA),
  };
}

/** A parser for commander: a whole number in this range. */
export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < min || value > max) {
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** A port; 0 means a free one. */
export const port = integer(0, 65_535);

/** A parser for commander: `name=value`, any number of times. */
export function pairs(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1)
    throw new ConnectorError({
      code: 'FLAG_INVALID',
      action: 'reject',
      message: 'Expected name=value, such as --option token=env:ACME_TOKEN.',
    });
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** Help text with lines to copy, as every command has it. */
export function example(...lines: string[]): string {
  return `\nExample${lines.length > 1 ? 's' : ''}:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`;
}

/** The `--as` option by itself, for commands that order their options. */
export const AS = ['--as <name>', 'person for whom it is done; recorded beside the user of this machine'] as const;

/** Adds `--as`: on whose behalf the command runs. */
export function asOption(command: Command): Command {
  return command.option(...AS);
}

/** The system's user, and on whose behalf they say they act. */
export function byOf({ as }: { as?: string }): string {
  const user = systemUser();
  return as === undefined || as === user ? user : `${user} for ${as}`;
}
