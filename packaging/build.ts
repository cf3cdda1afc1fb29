// Builds what `npm pack` packs: JavaScript for people who install hirebridge. A clone runs its sources and needs none
// of this. `dist/` mirrors the tree, so that paths relative to a module mean the same in both.
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundleWorkflows, PACKED_BUNDLE } from '../src/temporal/workflow-bundle.ts';
import { keepTypesOf } from './keep-types.ts';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

/** What modules read from disk, beside JavaScript. */
const DATA = ['src/sandbox/page/*', 'src/temporal/dev-server/cli/*', 'mappings/**/*'];
/** Entries of the package, `hirebridge/NAME`, and the module that each gives. */
const ENTRIES = { partner: 'src/partner/index', sandbox: 'src/sandbox/index' };

/** The import is made only after the check: an old Node cannot even read the module. */
async function writeEntry(name: string, module: string): Promise<void> {
  const names = Object.keys((await import(join(root, `${module}.ts`))) as object);
  const lines = [
    `import { requireNode } from '../bin/require-node.mjs';`,
    `requireNode('hirebridge/${name}');`,
    `export const { ${names.join(', ')} } = await import('./${module}.js');`,
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
for (const file of globSync(DATA, { cwd: root })) {
  mkdirSync(join(dist, dirname(file)), { recursive: true });
  cpSync(join(root, file), join(dist, file), { recursive: true });
}
writeFileSync(join(dist, PACKED_BUNDLE), await bundleWorkflows());
await Promise.all(Object.entries(ENTRIES).map(([name, module]) => writeEntry(name, module)));
