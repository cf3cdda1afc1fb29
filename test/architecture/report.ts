import { constantViolations } from './constants.ts';
import { countCode } from './counts.ts';
import { importCycles, importViolations } from './floors.ts';
import { sizeViolations, wideLines } from './sizes.ts';
import { readCode, readProse } from './tree.ts';
import { twinViolations } from './twins.ts';

/**
 * `node test/architecture/report.ts [PATH ...]` prints every violation, or those that name one of the paths, and how
 * shredded the product's code is.
 */
const paths = process.argv.slice(2);
const tree = readCode();
const sections = {
  'imports upward': [...tree].flatMap(([file, source]) => importViolations(file, source)),
  'import cycles': importCycles(tree),
  sizes: [...tree].flatMap(([file, source]) => sizeViolations(file, source)),
  constants: [...tree].flatMap(([file, source]) => constantViolations(file, source)),
  'wide prose': [...readProse()].flatMap(([file, source]) => wideLines(file, source)),
  twins: twinViolations(tree),
};

for (const [section, all] of Object.entries(sections)) {
  const found = all.filter((line) => paths.length === 0 || paths.some((path) => line.includes(path)));
  console.log(`${section}: ${found.length}`);
  for (const line of found) console.log(`  ${line}`);
}

const { files, withOneImporter, entries, exports, exportsWithOneImporter, importLines, lines } = countCode(tree);
const share = (some: number, all: number): string => `${some} of ${all}, ${Math.round((100 * some) / all)} %`;
console.log(`files: ${files}`);
console.log(`files with one importer: ${share(withOneImporter, files)}`);
console.log(`  without entries of registries: ${share(withOneImporter - entries, files - entries)}`);
console.log(`exported names with one importer: ${share(exportsWithOneImporter, exports)}`);
console.log(`lines of imports: ${importLines}`);
console.log(`lines without sandbox and contract: ${lines}`);
