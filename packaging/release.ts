// Makes a release: npm run release -- 0.2.0 [--dry-run]
// The version goes into every file that names it, CHANGELOG.md's "Unreleased" becomes its entry, and both are committed
// and tagged; then the tarball, the image and their SHA256SUMS are made in release/. Nothing is pushed. A dry run only
// says all that.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
const OUT = 'release';
/** Where a file names the version, in each line that this matches. */
const NAMED: Readonly<Record<string, RegExp>> = {
  'package.json': /^ {2}"version": "/,
  'package-lock.json': /^ {2}(?: {4})?"version": "/,
  'packaging/helm/Chart.yaml': /^(?:version|appVersion): /,
  'packaging/compose.yaml': /image: hirebridge:/,
  'packaging/Dockerfile': /--tag hirebridge:/,
  'README.md': /hirebridge-\d|: version \d/,
  'docs/library.md': /hirebridge-\d/,
  'docs/own-table.md': /hirebridge-\d/,
  'test/docs/played.ts': /hirebridge-\d/,
};
const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean', default: false } },
});
const [next = ''] = positionals;
const isDry = values['dry-run'];

function main(): void {
  const { version: last } = JSON.parse(read('package.json')) as { version: string };
  const day = new Date().toISOString().slice(0, 10);
  const changed = new Map(Object.keys(NAMED).map((file) => [file, withVersion(file, last)]));
  changed.set('CHANGELOG.md', withEntry(read('CHANGELOG.md'), day));
  const wrong = [...whyNot(last)];
  if (wrong.length > 0) {
    process.stderr.write(`No release of ${next || 'no version'}:\n${wrong.map((one) => `  ${one}\n`).join('')}`);
    process.exitCode = 2;
    return;
  }
  for (const [file, text] of changed) {
    process.stdout.write(`${file}\n${difference(read(file), text)}`);
    if (!isDry) writeFileSync(join(ROOT, file), text);
  }
  for (const [command, ...args] of commandsOf([...changed.keys()])) {
    process.stdout.write(`$ ${[command, ...args].join(' ')}\n`);
    if (!isDry) execFileSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  }
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function* whyNot(last: string): Iterable<string> {
  if (!VERSION.test(next)) return yield 'A version has three numbers: 0.2.0.';
  if (!isNewer(next, last)) yield `It must be newer than ${last}.`;
  if (/## \[Unreleased\]\s+## \[/.test(read('CHANGELOG.md'))) yield 'CHANGELOG.md has nothing under "Unreleased".';
  if (!isDry && git('status', '--porcelain') !== '') yield 'There are changes that are not committed: git status.';
  if (git('tag', '--list', `v${next}`) !== '') yield `The tag v${next} is there already.`;
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}

function isNewer(one: string, other: string): boolean {
  return one.localeCompare(other, 'en', { numeric: true }) > 0;
}

/** The file with the new version in the lines that name it; those of dependencies stay as they are. */
function withVersion(file: string, last: string): string {
  const names = NAMED[file] as RegExp;
  // In the lockfile the package itself stands first.
  let left = file === 'package-lock.json' ? 2 : Number.POSITIVE_INFINITY;
  const lines = read(file)
    .split('\n')
    .map((line) => {
      if (left === 0 || !names.test(line) || !line.includes(last)) return line;
      left -= 1;
      return line.replaceAll(last, next);
    });
  return lines.join('\n');
}

function withEntry(text: string, day: string): string {
  return text.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${next}] - ${day}\n`);
}

function difference(before: string, after: string): string {
  const known = new Set(before.split('\n'));
  return after
    .split('\n')
    .filter((line) => line !== '' && !known.has(line))
    .map((line) => `+ ${line}\n`)
    .join('');
}

function commandsOf(files: readonly string[]): [string, ...string[]][] {
  const name = `hirebridge-${next}`;
  const tarball = `${OUT}/${name}.tgz`;
  const image = `${OUT}/${name}-image.tar`;
  const dockerfile = [
    '--file',
    'packaging/Dockerfile',
    '--build-arg',
    `TARBALL=${tarball}`,
    '--tag',
    `hirebridge:${next}`,
  ];
  // Without an engine a root file system for each kind of machine; `docker import` takes it.
  const roots = KINDS.flatMap((kind) => {
    const folder = `${OUT}/${name}-image-${kind}`;
    return [
      ['sh', 'packaging/image/build-root.sh', tarball, folder, kind],
      ['tar', '--create', '--file', `${folder}.tar`, '--directory', folder, '.'],
      ['rm', '-rf', folder],
    ];
  });
  return [
    ['git', 'commit', '--quiet', '--message', `chore(release): ${next}`, '--', ...files],
    ['git', 'tag', '--annotate', '--message', `hirebridge ${next}`, `v${next}`],
    ['mkdir', '-p', OUT],
    ['npm', 'pack', '--pack-destination', OUT],
    ...(hasEngine()
      ? [['docker', 'buildx', 'build', ...PLATFORMS, ...dockerfile, '--output', `type=oci,dest=${image}`, '.']]
      : roots),
    ['sh', '-c', `cd ${OUT} && sha256sum ${name}* > SHA256SUMS`],
  ].map(([command = '', ...args]) => [command, ...args]);
}

const KINDS = ['amd64', 'arm64'];
const PLATFORMS = ['--platform', KINDS.map((kind) => `linux/${kind}`).join(',')];

function hasEngine(): boolean {
  return spawnSync('docker', ['buildx', 'inspect']).status === 0;
}

main();
