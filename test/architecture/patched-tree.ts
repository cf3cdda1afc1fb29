import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Change } from './changes.ts';
import { readCode, root } from './tree.ts';

const product = ['src', 'activities', 'workflows', 'mappings', 'package.json'];

/** A copy of the product with changes made to it, which the project's own tools can be run on. */
export interface PatchedTree {
  dir: string;
  /** The type checker's complaints, one a line; empty when there are none. */
  typeErrors(): Promise<string>;
  /** Runs a file of the copy and gives what it printed. */
  run(args: string[]): Promise<string>;
  /** The same for the text of a module. */
  evaluate(script: string): Promise<string>;
  remove(): void;
}

/** In the place of an earlier one, if one is given: the type checker then looks only at what differs. */
export function patchTree(changes: readonly Change[], earlier?: PatchedTree): PatchedTree {
  const dir = copyProduct(earlier?.dir);
  for (const change of changes) apply(dir, change);
  const run = async (args: string[]): Promise<string> => {
    const { stdout, stderr } = await runNode(dir, args);
    if (stdout === '') throw new Error(`The patched tree printed nothing: ${stderr.slice(-2_000)}`);
    return stdout;
  };
  return {
    dir,
    typeErrors: async () => (await runNode(dir, ['node_modules/typescript/bin/tsc', '-p', '.'])).stdout,
    run,
    evaluate: (script) => run(['--input-type=module', '--eval', script]),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** What a change does to the tree: files that are new, and lines that came into files that stood there. */
export function touchedBy(change: Change): { added: string[]; lines: Record<string, number> } {
  const dir = copyProduct();
  try {
    apply(dir, change);
    const before = readCode();
    const after = [...readCode(dir)].filter(([file, text]) => before.get(file) !== text);
    const changed = after.filter(([file]) => before.has(file));
    return {
      added: after.map(([file]) => file).filter((file) => !before.has(file)),
      lines: Object.fromEntries(changed.map(([file, text]) => [file, countLines(text) - countLines(before.get(file))])),
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function countLines(text = ''): number {
  return text.split('\n').length;
}

function copyProduct(dir = mkdtempSync(path.join(tmpdir(), 'hirebridge-reach-'))): string {
  for (const name of [...product, 'node_modules']) rmSync(path.join(dir, name), { recursive: true, force: true });
  for (const name of product) cpSync(path.join(root, name), path.join(dir, name), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(dir, 'node_modules'));
  const config = {
    extends: path.join(root, 'tsconfig.json'),
    include: ['src', 'activities', 'workflows'],
    compilerOptions: { tsBuildInfoFile: './tsc.tsbuildinfo' },
  };
  writeFileSync(path.join(dir, 'tsconfig.json'), JSON.stringify(config));
  return dir;
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
