import { spawn } from 'node:child_process';

export interface ToolInput {
  /** Holds openapi.json, collection.json and environment.json. */
  folder: string;
  baseUrl: string;
  key: string;
  /** Operation id to path parameters that name a record. */
  known: ReadonlyMap<string, Record<string, unknown>>;
}

export interface Judged {
  ok: boolean;
  /** One line, with the numbers. */
  says: string;
  output: string;
}

export type Tool = (input: ToolInput) => Promise<Judged>;

/** Runs a program to its end; stdout and stderr as they came. */
export async function run(
  command: readonly string[],
  cwd: string,
): Promise<{ code: number | null; output: string; seconds: number }> {
  const [program = '', ...args] = command;
  const began = performance.now();
  const child = spawn(program, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output, seconds: Math.round((performance.now() - began) / 1000) }));
  });
}
