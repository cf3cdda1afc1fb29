import { createRequire } from 'node:module';
import { relative, resolve } from 'node:path';
import { styleText } from 'node:util';
import type TableClass from 'cli-table3';
import { type Command, InvalidArgumentError } from 'commander';
import type { Places } from '../config.ts';
import { withCode } from '../docs.ts';
import { ConnectorError, isConnectorError, rejected } from '../errors.ts';
import { isDebugging } from '../log-level.ts';
import { systemUser } from '../places.ts';
import type { FieldChange } from '../store/foreign-writes.ts';

/** The codes that `styleText` writes for our own colours. */
const OWN_COLOUR = `${String.fromCodePoint(27)}\\[(?:[12]|22|3[1239])m`;
/** What a terminal would obey, besides a line break and our colours. For example, the partner decides a flow's name. */
const ORDER = new RegExp(`(?!${OWN_COLOUR})[^\\P{Cc}\\n]|[\\u202a-\\u202e\\u2066-\\u2069]`, 'gu');

/** Text that holds words of the other side, for a terminal. */
export function harmless(text: string): string {
  return text.replaceAll(ORDER, '?');
}

/** Prints a result for people. */
export function print(text: string): void {
  process.stdout.write(harmless(text));
}

/** Aligned rows below a head; plain characters, so that the output can be piped and searched. */
export function renderTable(head: readonly string[], rows: ReadonlyArray<ReadonlyArray<string | number>>): string {
  const sides = ['top', 'bottom'].flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`]);
  const none = [...sides, 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'].map((name) => [name, '']);
  // Loaded with the first table: `--help` and most processes print none.
  const Table = createRequire(import.meta.url)('cli-table3') as typeof TableClass;
  const table = new Table({
    head: [...head],
    chars: { ...Object.fromEntries(none), middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map((row) => row.map((cell) => harmless(String(cell)))));
  return table.toString().replaceAll(/ +$/gm, '');
}

/** Reports what a command did or found: as text, or as facts with --json. */
export function say({ json }: { json?: boolean }, facts: object | null, text: string | (() => string)): void {
  if (json === true) printJson(facts);
  else print(typeof text === 'string' ? text : text());
}

/** Text before the report. With --json it goes to standard error, so that standard output stays JSON. */
export function sayBeside({ json }: Flags, text: string): void {
  (json === true ? process.stderr : process.stdout).write(text);
}

/** Ends a command that changed nothing, by a person's answer or because of its input. */
export function endRefused(): void {
  process.exitCode = EXIT.refused;
}

const MOST_LISTED = 200;

/** The limit of the store's query: one row more than is printed, to know whether there are more. */
export function limitOf({ json }: Flags): number | undefined {
  return json === true ? undefined : MOST_LISTED + 1;
}

/** A table of at most `MOST_LISTED` rows, with a note if there are more. */
export function renderListed(head: readonly string[], rows: ReadonlyArray<ReadonlyArray<string | number>>): string {
  const more = rows.length > MOST_LISTED ? '\n... and more; narrow the list with options, or use --json' : '';
  return `${renderTable(head, rows.slice(0, MOST_LISTED))}${more}\n`;
}

/** Text in lines of at most `most` columns; lines after the first begin with `indent`. Longer words stay whole. */
export function folded(text: string, indent = '', most = 80): string {
  const lines: string[] = [];
  let line = '';
  for (const word of harmless(text).split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length > most && line.trim() !== '') {
      lines.push(line);
      line = `${indent}${word}`;
    } else line = longer;
  }
  return [...lines, line].join('\n');
}

/** Breaks a line of Markdown between words, and indents the rest. */
export function wrap(text: string): string {
  return folded(text, '  ', 120);
}

/** Writes a value to standard output, for scripts. Of all that a terminal obeys, JSON leaves only these as they are. */
export function printJson(value: unknown): void {
  const text = JSON.stringify(value, null, 2).replaceAll(
    /[\u007f-\u009f]/g,
    (at) => `\\u00${at.charCodeAt(0).toString(16)}`,
  );
  process.stdout.write(`${text}\n`);
}

export function renderChange(change: FieldChange): string {
  return 'old' in change ? `${renderValue(change.old)} -> ${renderValue(change.new)}` : renderValue(change.new);
}

export function renderValue(value: unknown, none = 'empty'): string {
  return value === null || value === undefined ? none : JSON.stringify(value);
}

/** A file's path as seen from the current directory. */
export function shownFile(file: string): string {
  const near = relative(process.cwd(), file);
  return near.startsWith('..') ? file : near;
}

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
  if (at < 1) throw rejected('FLAG_INVALID', 'Expected name=value, such as --option token=env:ACME_TOKEN.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** Help text with lines to copy, as every command has it. */
export function example(...lines: string[]): string {
  return `\nExample${lines.length > 1 ? 's' : ''}:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`;
}

/** The option that says on whose behalf the command runs. */
export const AS = ['--as <name>', 'person for whom it is done; recorded beside the user of this machine'] as const;

/** Options of most commands. */
export interface Flags {
  json?: boolean;
  as?: string;
}

/** The system's user, and on whose behalf they say they act. */
export function byOf({ as }: Flags): string {
  const user = systemUser();
  return as === undefined || as === user ? user : `${user} for ${as}`;
}

/**
 * Exit codes for scripts: 0 done, 1 error, 2 rejected input or differences found, 3 partly done or a required process
 * does not run, 130 stopped by Ctrl-C.
 */
export const EXIT = { done: 0, error: 1, refused: 2, partial: 3, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Rejected files and answers are 2; unreachable systems and failures are 1. */
export function exitCodeOf(error: unknown): ExitCode {
  if (isConnectorError(error, 'INTERRUPTED')) return EXIT.interrupted;
  return error instanceof ConnectorError && error.action === 'reject' ? EXIT.refused : EXIT.error;
}

/** Prints to standard error: the message (what, where, why, next step), its code, and where that is explained. */
export function printError(error: unknown): void {
  process.stderr.write(`${styleText('red', 'error:', { stream: process.stderr })} ${harmless(describe(error))}\n`);
  if (!isDebugging() || !(error instanceof Error)) return;
  const cause = error.cause instanceof Error ? `caused by ${error.cause.stack ?? error.cause.message}\n` : '';
  process.stderr.write(harmless(`${error.stack ?? ''}\n${cause}`));
}

const SYSTEM_ERRORS: Record<string, string> = {
  EADDRINUSE: 'Another process listens there. Stop it or choose another port (0 takes a free one).',
  EACCES: 'This user may not do that. Choose another place, or change its permissions.',
  ENOENT: 'That file or its folder is not there. Correct the path, or make the folder.',
  ENOSPC: 'The disk is full. Make room and run it again.',
  EROFS: 'That place is read-only. Choose another with --data.',
};

function describe(error: unknown): string {
  if (error instanceof ConnectorError) return withCode(error.message, error.code, '\n');
  const message = error instanceof Error ? error.message : String(error);
  const advice = SYSTEM_ERRORS[(error as NodeJS.ErrnoException | undefined)?.code ?? ''];
  if (advice !== undefined) return `${message}. ${advice}`;
  return `${message} (unexpected; run again with LOG_LEVEL=debug for the whole story)`;
}
