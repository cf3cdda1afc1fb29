import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PostgresWorld } from '../bench-world.ts';
import { environment } from './environments.ts';

/** Something that pulls the sandbox's candidates into Postgres. */
export interface Peer {
  name: string;
  /** Where they land: a table with `id` and `email`. */
  table: string;
  id: string;
  /** Takes what an earlier pull left. */
  forget(): Promise<void>;
  /** One pull from its first call to its last row. */
  start(): Promise<Pulling>;
}

export interface Pulling {
  /** Seconds. Rejects where the pull fails. */
  ended: Promise<number>;
  /** SIGKILL, to every process of it. */
  kill(): Promise<void>;
}

export interface Place {
  opened: PostgresWorld;
  pages: number;
  folder: string;
}

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export async function openDlt({ opened, pages, folder }: Place): Promise<Peer> {
  const bin = await environment('dlt');
  const { world, hris } = opened;
  const settings = JSON.stringify({
    baseUrl: world.sandbox.url,
    key: world.apiKey,
    databaseUrl: `postgres://postgres:none@${hris.host}:${hris.port}/${hris.database}`,
    pages,
    folder: join(folder, 'dlt'),
  });
  const env = { ...process.env, RUNTIME__DLTHUB_TELEMETRY: 'false', HOME: folder };
  return {
    name: 'dlt',
    table: 'peer_dlt.candidates',
    id: 'id',
    forget: async () => void (await hris.query('drop schema if exists peer_dlt cascade')),
    start: async () => {
      const child = spawn(join(bin, 'python'), [fileOf('./dlt_pull.py'), settings], { env, detached: true });
      const output = collect(child);
      return pulling(
        child,
        async () => (JSON.parse((await output).split('\n').at(-2) ?? '') as { seconds: number }).seconds,
      );
    },
  };
}

export async function openSinger({ opened, folder }: Place): Promise<Peer> {
  const bin = await environment('singer');
  const { world, hris } = opened;
  const [tap, target] = [join(folder, 'tap.json'), join(folder, 'target.json')];
  await writeFile(tap, JSON.stringify({ base_url: world.sandbox.url, key: world.apiKey }));
  const place = { host: hris.host, port: hris.port, database: hris.database, user: 'postgres', password: 'none' };
  await writeFile(target, JSON.stringify({ ...place, default_target_schema: 'peer_singer' }));
  const quoted = [join(bin, 'python'), fileOf('./singer_tap.py'), tap, join(bin, 'target-postgres'), target];
  return {
    name: 'Singer',
    table: 'peer_singer.candidates',
    id: 'id',
    forget: async () => void (await hris.query('drop schema if exists peer_singer cascade')),
    start: async () => {
      const line = 'set -o pipefail; "$1" "$2" --config "$3" | "$4" --config "$5"';
      const child = spawn('bash', ['-c', line, 'singer', ...quoted], { detached: true });
      const beganAt = performance.now();
      return pulling(child, async () => (performance.now() - beganAt) / 1000);
    },
  };
}

function pulling(child: ChildProcess, secondsOf: () => Promise<number>): Pulling {
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2_000);
  });
  const exit = once(child, 'exit');
  const ended = exit.then(([code, signal]) => {
    if (code !== 0) throw new Error(`It ended with ${code ?? signal}: ${errors}`);
    return secondsOf();
  });
  ended.catch(() => undefined);
  return {
    ended,
    async kill() {
      // A group of its own, so that what it started ends too.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await exit;
    },
  };
}

async function collect({ stdout }: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of stdout ?? []) text += String(chunk);
  return text;
}
