import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { root } from '../architecture/tree.ts';

/**
 * Preloaded into a process of the product (`NODE_OPTIONS=--import`), it writes down each call that enters a room: every
 * function at the top level of a file is wrapped as the file is loaded, so nothing is traced by a list of names.
 */

/** A function that was entered, and when. */
export interface Entered {
  name: string;
  file: string;
  at: number;
}

/** One call into a room: the function, and by which calls it came, the nearest first. */
export interface EnteredRoom extends Entered {
  by: Entered[];
}

interface Frame extends Entered {
  caller: Frame | undefined;
}

const TRACED = /^(src\/(receiver|store|worker|temporal)|activities\/hire)\//;
const DECLARATION = /^(export )?(async )?function (\w+)(?=[<(])/gm;
const frames = new AsyncLocalStorage<Frame>();

/** The room of a file, as far as the way of a hire tells rooms apart. */
export function roomOf(file: string): string {
  return /^(src\/[^/]+|activities\/[^/]+)/.exec(file)?.[0] ?? file;
}

function enter(name: string, file: string, call: (...args: unknown[]) => unknown, args: unknown[]): unknown {
  const frame: Frame = { name, file, at: Date.now(), caller: frames.getStore() };
  if (frame.caller === undefined || roomOf(frame.caller.file) !== roomOf(file)) note(frame);
  return frames.run(frame, () => call(...args));
}

function note({ name, file, at, caller }: Frame): void {
  const by: Entered[] = [];
  for (let one = caller; one !== undefined; one = one.caller) by.push({ name: one.name, file: one.file, at: one.at });
  const line: EnteredRoom = { name, file, at, by };
  appendFileSync(process.env['TRACE_FILE'] as string, `${JSON.stringify(line)}\n`);
}

function wrapDeclarations(source: string, file: string): string {
  const names = [...source.matchAll(DECLARATION)].map(([, , , name]) => name);
  return source.replace(DECLARATION, (all: string, exported = '', async = '', name: string) => {
    // A function with overloads is declared several times; none of these carries a hire.
    if (names.indexOf(name) !== names.lastIndexOf(name)) return all;
    const call = `enterTraced('${name}', '${file}', traced_${name}, args)`;
    return `${exported}function ${name}(...args) { return ${call}; } ${async}function traced_${name}`;
  });
}

if (process.env['TRACE_FILE'] !== undefined) {
  Object.assign(globalThis, { enterTraced: enter });
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const file = url.startsWith('file:') ? fileURLToPath(url).slice(root.length + 1) : '';
      if (!TRACED.test(file) || loaded.source === undefined || loaded.source === null) return loaded;
      return { ...loaded, source: wrapDeclarations(Buffer.from(loaded.source as Uint8Array).toString('utf8'), file) };
    },
  });
}
