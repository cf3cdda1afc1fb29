import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Change } from './changes.ts';
import { root } from './tree.ts';

const product = ['src', 'activities', 'workflows', 'mappings', 'package.json'];

/** A copy of the product with changes made to it, which the project's own tools can be run on. */
export interface PatchedTree {
  /** The type checker's complaints, one a line; empty when there are none. */
  typeErrors(): Promise<string>;
  /** Runs a module text in the copy and gives what it printed, as JSON. */
  run(script: string): Promise<unknown>;
  remove(): void;
}

export function patchTree(changes: readonly Change[]): PatchedTree {
  const dir = mkdtempSync(path.join(tmpdir(), 'hirebridge-reach-'));
  for (const name of product) cpSync(path.join(root, name), path.join(dir, name), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(dir, 'node_modules'));
  const config = { extends: path.join(root, 'tsconfig.json'), include: ['src', 'activities', 'workflows'] };
  writeFileSync(path.join(dir, 'tsconfig.json'), JSON.stringify(config));
  for (const change of changes) apply(dir, change);
  return {
    typeErrors: async () => (await runNode(dir, ['node_modules/typescript/bin/tsc', '-p', '.'])).stdout,
    run: async (script) => {
      const { stdout, stderr } = await runNode(dir, ['--input-type=module-typescript', '--eval', script]);
      if (stdout === '') throw new Error(`The patched tree printed nothing: ${stderr.slice(-2_000)}`);
      return JSON.parse(stdout);
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

function apply(dir: string, { files, lines }: Change): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    writeFileSync(path.join(dir, file), text, { flag: 'wx' });
  }
  for (const { file, after, add } of lines) {
    const target = path.join(dir, file);
    const text = readFileSync(target, 'utf8').split('\n');
    const at = text.findIndex((line) => line.startsWith(after));
    if (at < 0) throw new Error(`${file} has no line that begins with: ${after}`);
    writeFileSync(target, text.toSpliced(at + 1, 0, add).join('\n'));
  }
}

function runNode(cwd: string, args: string[]): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, maxBuffer: 10_000_000 }, (_error, stdout, stderr) => {
      resolve({ stdout: stdout.trim(), stderr });
    });
  });
}
