// Runs before `npm run demo`, `npm test` and `npm run hirebridge`: plain JavaScript for whatever Node starts it (18 or
// newer), with nothing installed. Installs the lockfile's packages when they are missing or another lockfile's, and is
// silent and done in milliseconds when they are right.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const modules = join(root, 'node_modules');
const stamp = join(modules, '.hirebridge-installed');
const lock = join(root, '.hirebridge-installing');
const STALE_MS = 15_000;

/** What must be installed: this lockfile, for this kind of machine. */
function wanted() {
  const lockfile = readFileSync(join(root, 'package-lock.json'));
  return `${createHash('sha256').update(lockfile).digest('hex')} ${process.platform}-${process.arch}\n`;
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function modifiedMs(file) {
  try {
    return statSync(file).mtimeMs;
  } catch {
    return undefined;
  }
}

/** npm rewrites its own record with each install, so a record newer than our stamp is somebody's `npm install`. */
function isFresh() {
  const installed = modifiedMs(join(modules, '.package-lock.json'));
  const stamped = modifiedMs(stamp);
  return installed !== undefined && stamped !== undefined && stamped >= installed && read(stamp) === wanted();
}

/** An install by hand left what the lockfile says: only our stamp is missing. */
function matchesLockfile() {
  const record = read(join(modules, '.package-lock.json'));
  if (record === undefined) return false;
  const installed = JSON.parse(record).packages;
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages).every(([name, { version, optional, devOptional }]) => {
    if (name === '') return true;
    const there = installed[name];
    return there === undefined ? optional === true || devOptional === true : there.version === version;
  });
}

function npmInstall() {
  // Not `npm ci`: it refuses a lockfile that lacks some other platform's optional binary, which is what a registry that
  // serves fewer platforms leaves behind. `--no-save` keeps to the lockfile and does not write it.
  // `--ignore-scripts`: nothing that is installed needs one, and none should run on a customer's machine unasked.
  const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  // The Node that runs npm, never the one inside node_modules, which npm may be about to replace.
  const node = process.env.npm_node_execpath ?? process.execPath;
  const fromNpm = npm !== undefined && /\.c?js$/.test(npm);
  const [command, first] = fromNpm ? [node, [npm]] : ['npm', []];
  const shell = !fromNpm && process.platform === 'win32';
  const child = spawn(command, [...first, ...args], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], shell });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

async function withLock(work) {
  for (let told = false; ; told = true) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!told) process.stderr.write('hirebridge: another command is installing dependencies; waiting for it\n');
    await new Promise((resolve) => setTimeout(resolve, 250));
    // The installer touches its lock every few seconds; one that was killed does not.
    if (Date.now() - (modifiedMs(lock) ?? Date.now()) > STALE_MS) rmSync(lock, { recursive: true, force: true });
  }
  const alive = setInterval(() => utimesSync(lock, new Date(), new Date()), 3_000);
  try {
    return await work();
  } finally {
    clearInterval(alive);
    rmSync(lock, { recursive: true, force: true });
  }
}

async function install() {
  if (isFresh()) return 0;
  if (!matchesLockfile()) {
    const started = Date.now();
    const seconds = () => Math.round((Date.now() - started) / 1000);
    process.stderr.write('hirebridge: installing dependencies (once)\n');
    const progress = setInterval(() => {
      process.stderr.write(`hirebridge: still installing dependencies, ${seconds()} s\n`);
    }, 5_000);
    const code = await npmInstall().finally(() => clearInterval(progress));
    if (code !== 0) return code;
    process.stderr.write(`hirebridge: dependencies installed in ${seconds()} s\n`);
  }
  writeFileSync(stamp, wanted());
  return 0;
}

if (!isFresh()) {
  process.exitCode = await withLock(install).catch((error) => {
    process.stderr.write(`hirebridge: dependencies could not be installed: ${error.message}\n`);
    return 1;
  });
}
