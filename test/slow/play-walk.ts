import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { freePort } from '../../src/counterparts/free-port.ts';
import { until } from '../harness/until.ts';

interface Place {
  cwd: string;
  env?: NodeJS.ProcessEnv;
}

/** Plays the commands that stand in the first plain block under a heading, as somebody would who copies them. */
export async function playWalk(page: string, heading: string, { cwd, env }: Place) {
  const ports = { api: await freePort(), control: await freePort(), webhooks: await freePort() };
  const place = { cwd, env: { ...process.env, ...QUIET, HIREBRIDGE_PORT: String(ports.webhooks), ...env } };
  const commands = commandsUnder(page, heading);
  const output: string[] = [];
  const began = performance.now();
  for (const command of commands) {
    // The ports of the page may be taken on this machine.
    const own = command
      .replaceAll(':8800/', `:${ports.api}/`)
      .replaceAll(':8787/', `:${ports.webhooks}/`)
      .replace(' sandbox --jobs', ` sandbox --port ${ports.api} --control-port ${ports.control} --jobs`)
      .replace(' sandbox hire', ` sandbox hire --control-port ${ports.control}`)
      .replace(' up &', ' up --console-port 0 &');
    output.push(await run(own, place));
  }
  return { commands: commands.length, seconds: (performance.now() - began) / 1_000, output: output.join('\n') };
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

/** To its end, or with `&` until it says that it stays. */
async function run(line: string, place: Place): Promise<string> {
  // A group of its own: npx starts what a signal to it alone would leave behind.
  const child = spawn('/bin/sh', ['-c', `exec ${line.replace(/ &$/, '')}`], {
    ...place,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
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
    return output.includes('until Ctrl-C');
  };
  if (line.endsWith(' &')) await until(line, stays, { timeoutMs: 240_000 });
  else {
    const [code] = await closed;
    if (code !== 0) throw new Error(`${line} ended with ${code}: ${output.slice(-4_000)}`);
  }
  return output;
}
