// Builds what `npm pack` packs: JavaScript for people who install hirebridge. A clone runs its sources and needs none
// of this. `dist/` mirrors the tree, so that paths relative to a module mean the same in both.
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflows, PACKED_BUNDLE } from '../src/temporal/worker.ts';
import { keepTypesOf } from './keep-types.ts';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

/** Entries of the package, `hirebridge/NAME`, and the module that each gives. */
const ENTRIES = { partner: 'src/partner/index', sandbox: 'src/sandbox/index', hris: 'src/hris-kit/index' };

/** What modules read from disk: the sandbox's page, mapping files, the Go module of the Temporal CLI. */
function dataFiles(): string[] {
  const files = globSync('{src,mappings}/**/*.*', { cwd: root });
  return files.filter((file) => !/\.(ts|mjs|md)$/.test(file));
}

/**
 * The module is loaded only after the check: an old Node cannot even read it. Without a top-level await, because a kind
 * of HR system that imports ours is loaded with `require`.
 */
async function writeEntry(name: string, module: string): Promise<void> {
  const names = Object.keys((await import(join(root, `${module}.ts`))) as object);
  const lines = [
    `import { createRequire } from 'node:module';`,
    `import { requireNode } from '../bin/require-node.mjs';`,
    `requireNode('hirebridge/${name}');`,
    `export const { ${names.join(', ')} } = createRequire(import.meta.url)('./${module}.js');`,
  ];
  writeFileSync(join(dist, `${name}.js`), `${lines.join('\n')}\n`);
}

rmSync(dist, { recursive: true, force: true });
const tsc = join(root, 'node_modules/typescript/bin/tsc');
execFileSync(process.execPath, [tsc, '-p', join(import.meta.dirname, 'tsconfig.json')], { stdio: 'inherit' });
keepTypesOf(
  Object.values(ENTRIES).map((module) => join(dist, `${module}.d.ts`)),
  dist,
);
for (const file of dataFiles()) cpSync(join(root, file), join(dist, file));
writeFileSync(join(dist, PACKED_BUNDLE), await bundleWorkflows());
await Promise.all(Object.entries(ENTRIES).map(([name, module]) => writeEntry(name, module)));
