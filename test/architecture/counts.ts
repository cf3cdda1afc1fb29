import path from 'node:path';
import { parseSync } from 'oxc-parser';
import { rejectErrors } from './parse-file.ts';
import { type Tree, within } from './tree.ts';

/** How shredded the product's code is: `src`, `workflows` and `activities`. */
export interface Counts {
  files: number;
  /** Files that exactly one other file of the product imports. */
  withOneImporter: number;
  /** Files that only a registry imports: entries of a list, which are one file each by intent. */
  entries: number;
  exports: number;
  /** Exported names that exactly one other file of the product imports. */
  exportsWithOneImporter: number;
  importLines: number;
  /** Without the sandbox and the contract. */
  lines: number;
}

const product = ['src', 'workflows', 'activities'];
const apart = ['src/sandbox', 'src/partner/contract'];

/** Files that list others, one line each: commands, activities, pages, kinds, cases, sections, workflows. */
const registries = [
  'activities/create-activities.ts',
  'activities/push/push-records.ts',
  'src/cli/program.ts',
  'src/console/console.ts',
  'src/counterparts/hris-sources.ts',
  'src/hris-kit/suite.ts',
  'src/hris/index.ts',
  'src/partner/contract/index.ts',
  'src/sandbox/control/server.ts',
  'src/sandbox/operations/index.ts',
  'workflows/index.ts',
];

export function countCode(tree: Tree): Counts {
  const own = [...tree].filter(([file]) => product.some((room) => within(file, room)));
  const importers = new Map<string, Set<string>>();
  const importersOf = new Map<string, Set<string>>();
  const exported = new Set<string>();
  let importLines = 0;
  for (const [file, source] of own) {
    const { module, errors } = parseSync(file, source);
    rejectErrors(file, errors);
    for (const { start, end, moduleRequest, entries } of module.staticImports) {
      importLines += source.slice(start, end).split('\n').length;
      for (const { importName } of entries) noteUse(file, moduleRequest.value, importName.name);
    }
    for (const { moduleRequest, entries } of module.staticExports.flatMap(({ entries: all }) =>
      all.map((entry) => ({ moduleRequest: entry.moduleRequest, entries: [entry] })),
    ))
      for (const { exportName, importName } of entries)
        if (moduleRequest) noteUse(file, moduleRequest.value, importName.name);
        else if (exportName.name) exported.add(`${file}#${exportName.name}`);
    for (const [, name = ''] of source.matchAll(/import\(\s*'(\.[^']+)'\s*\)/g)) noteUse(file, name, undefined);
  }

  function noteUse(from: string, name: string, what: string | null | undefined): void {
    if (!name.startsWith('.')) return;
    const file = path.posix.join(path.posix.dirname(from), name);
    add(importers, file, from);
    if (typeof what === 'string') add(importersOf, `${file}#${what}`, from);
  }

  const single = own
    .map(([file]) => [...(importers.get(file) ?? [])])
    .filter((by) => by.length === 1)
    .flat();
  return {
    files: own.length,
    withOneImporter: single.length,
    entries: single.filter((by) => registries.includes(by)).length,
    exports: exported.size,
    exportsWithOneImporter: [...exported].filter((name) => importersOf.get(name)?.size === 1).length,
    importLines,
    lines: own
      .filter(([file]) => !apart.some((room) => within(file, room)))
      .reduce((sum, [, source]) => sum + source.trimEnd().split('\n').length, 0),
  };
}

function add(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key) ?? new Set<string>();
  map.set(key, known.add(value));
}
