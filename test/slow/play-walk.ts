import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from '../../src/free-port.ts';
import { patience } from '../harness/pace.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { until } from '../harness/until.ts';

const ROOT = join(import.meta.dirname, '../..');

interface Place {
  cwd: string;
  env?: NodeJS.ProcessEnv;
}

/**
 * An empty folder in which `hirebridge` and `npx hirebridge` are this tree, in a clone's way, too; the package itself
 * is played by README's walk.
 */
export async function emptyFolder() {
  const folder = await scratchFolder();
  const [bin, cwd] = [join(folder, 'bin'), join(folder, 'empty')];
  await Promise.all([mkdir(bin), mkdir(cwd)]);
  const run = `exec "${process.execPath}" "${join(ROOT, 'src/cli/main.ts')}" "$@"`;
  const programs = {
    hirebridge: run,
    npx: `shift; ${run}`,
    // `npm run -s hirebridge -- COMMAND`; what the page installs is here already.
    npm: `[ "$1" = run ] || exit 0; shift 4; ${run}`,
  };
  for (const [name, line] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${line}\n`);
    await chmod(join(bin, name), 0o755);
  }
  return { cwd, path: `${bin}:${process.env['PATH']}` };
}

/** Plays the commands that stand in the first plain block under a heading, as somebody would who copies them. */
export async function playWalk(page: string, heading: string, place: Place) {
  const began = performance.now();
  const commands = commandsUnder(page, heading);
  const { play } = await openWalk(place);
  const output: string[] = [];
  for (const command of commands) output.push(await play(command));
  return { commands: commands.length, seconds: (performance.now() - began) / 1_000, output: output.join('\n') };
}

/** A folder and ports of its own, in which commands of a page are played one after the other. */
export async function openWalk({ cwd, env }: Place) {
  const ports = { api: await freePort(), control: await freePort(), webhooks: await freePort() };
  const place = { cwd, env: { ...process.env, ...QUIET, HIREBRIDGE_PORT: String(ports.webhooks), ...env } };
  return {
    ports,
    play: (command: string): Promise<string> => {
      // The ports of the page may be taken on this machine.
      const own = command
        .replaceAll(':8800/', `:${ports.api}/`)
        .replaceAll(':8787/', `:${ports.webhooks}/`)
        .replace(' sandbox --jobs', ` sandbox --port ${ports.api} --control-port ${ports.control} --jobs`)
        .replace(' sandbox hire', ` sandbox hire --control-port ${ports.control}`)
        .replace(' up &', ' up --console-port 0 &');
      return playLine(own, place);
    },
  };
}

/** Without the network where npm has everything already. */
const QUIET = {
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  LOG_LEVEL: 'error',
};

/** A trailing backslash joins two lines. */
function commandsUnder(page: string, heading: string): string[] {
  const [, body = ''] = `\n${page}`.split(`\n${heading}\n`);
  const [, block = ''] = /```\n(.*?)```/s.exec(body.replaceAll(/```\w+\n.*?```\n/gs, '')) ?? [];
  return block
    .replaceAll(/\\\n\s*/g, '')
    .trim()
    .split('\n');
}

/** What a command says that runs until it is stopped. */
const STAYS = /until Ctrl-C|^console {2}http/m;

/** To its end, or with `&` until it says that it stays; it stays until the test ends. */
export async function playLine(line: string, place: Place, codes: readonly number[] = [0]): Promise<string> {
  // A group of its own: npx starts what a signal to it alone would leave behind.
  const child = spawn('/bin/sh', ['-c', `exec ${line.replace(/ &$/, '')}`], {
    ...place,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    // What stays without saying so would be waited for until the test ends.
    ...(line.endsWith(' &') ? {} : { timeout: patience(240_000) }),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const closed = once(child, 'close') as Promise<[number | null]>;
  onTestFinished(async () => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    await closed;
  });
  const stays = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`${line} ended with ${child.exitCode}: ${output.slice(-4_000)}`);
    return STAYS.test(output);
  };
  if (line.endsWith(' &')) await until(line, stays, { timeoutMs: 240_000 });
  else {
    const [code] = await closed;
    if (!codes.includes(code ?? 1)) throw new Error(`${line} ended with ${code}: ${output.slice(-4_000)}`);
  }
  return output;
}
