import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The version that an upgrade begins with: the first whose steps, activities and tables are kept. */
export const BASE_COMMIT = '19c8a49';

/**
 * The last version that did not know the newest change of the tables. Undefined where that change does more than add,
 * so that no version can go back, and where this clone ends after it.
 */
export async function versionBefore(): Promise<string | undefined> {
  const newest = ['log', '-1', '--format=%H', '--name-only', '--diff-filter=A', '--', 'src/store/migrations'];
  const [commit, ...files] = (await run('git', newest, { cwd: ROOT })).stdout.split(/\n+/).filter(Boolean);
  if (!files.every((file) => file.includes('/widening/'))) return undefined;
  const before = await run('git', ['rev-parse', '--verify', '--quiet', `${commit}^`], { cwd: ROOT }).catch(
    () => undefined,
  );
  return before?.stdout.trim();
}

/** An earlier version's tree with its dependencies. */
export interface Base {
  /** Its command line's entry file. */
  main: string;
  remove(): Promise<void>;
}

/** Undefined where this clone does not have the commit, as a shallow one. */
export async function checkOutBase(commit: string): Promise<Base | undefined> {
  const known = await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT }).catch(() => undefined);
  if (known === undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-base-'));
  const archive = `${folder}.tar`;
  await run('git', ['archive', '--output', archive, commit], { cwd: ROOT });
  await run('tar', ['-xf', archive, '-C', folder]);
  await rm(archive);
  await install(folder);
  return {
    main: join(folder, 'src', 'cli', 'main.ts'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Ours where the product needs the same; else its own, by this version's resolver. */
async function install(folder: string): Promise<void> {
  const [own, ours] = await Promise.all([readDependencies(folder), readDependencies(ROOT)]);
  if (isDeepStrictEqual(own, ours)) return symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await run(process.execPath, [join(ROOT, 'src', 'cli', 'ensure-installed.mjs'), folder]);
}

async function readDependencies(folder: string): Promise<unknown> {
  const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    dependencies: unknown;
  };
  return dependencies;
}
