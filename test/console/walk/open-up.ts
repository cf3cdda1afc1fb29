import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { takeApplicants } from '../../harness/hiring.ts';
import { readTenant } from '../../harness/read-store.ts';
import { until } from '../../harness/until.ts';
import { type Applicant, startWorld, type World } from '../../harness/world.ts';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));

/** `hirebridge up` on this machine, beside a sandbox and an HR system with a tenant that is at work. */
export interface Up {
  world: World;
  /** The console's address, and the one that signs in. */
  url: string;
  entry: string;
  people: Applicant[];
  /** Another customer, with a hiring platform and an HR system of its own, whom nobody has set up yet. */
  other: World;
  /** Changes the HR system as HR people do. */
  hr(statement: string, values?: readonly unknown[]): Promise<void>;
  output(): string;
  close(): Promise<void>;
}

const MAPPING = `# How a candidate becomes an employee at Acme
fields:
  department: { constant: People }
`;
const EMPLOYEES = `fields:
  city: { from: candidate.city, direction: both, owner: either, conflict: hold }
`;
const CANDIDATES = `fields:
  phone: { from: candidate.phone, required: true }
`;
const STREAMS = `mapping: acme-mapping.yaml
streams:
  jobs: { every: 1h }
  candidates: { every: 1h, mapping: acme-candidates.yaml }
  employees: { every: 1h, mapping: acme-employees.yaml }
`;

/** `cliPath` is Temporal's CLI where it is known; otherwise `up` finds it. */
export async function openUp(cliPath?: string): Promise<Up> {
  // No server at this address: `up` brings its own.
  const [world, other] = await Promise.all([
    startWorld({ temporalAddress: '', hired: 2, candidates: 24, hris: { createTable: true } }),
    startWorld({ temporalAddress: '', tenant: 'globex', hired: 1, candidates: 6 }),
  ]);
  await appendFile(join(world.tenantsDir, 'acme.yaml'), STREAMS);
  const files = { mapping: MAPPING, employees: EMPLOYEES, candidates: CANDIDATES };
  for (const [name, text] of Object.entries(files)) await writeFile(join(world.tenantsDir, `acme-${name}.yaml`), text);
  const env = Object.fromEntries(Object.entries(world.env).filter(([name]) => name !== 'TEMPORAL_ADDRESS'));
  const places = ['--tenants', world.tenantsDir, '--data', world.dataDir];
  const ports = ['--port', new URL(world.webhookUrl).port, '--console-port', '0'];
  const child: ChildProcess = spawn(process.execPath, [MAIN, 'up', ...places, ...ports], {
    env: { ...process.env, ...env, ...(cliPath === undefined ? {} : { TEMPORAL_CLI_PATH: cliPath }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  const ended = once(child, 'close');
  const stays = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`up ended: ${output}`);
    return output.includes('until Ctrl-C');
  };
  await until('up is there', stays, { timeoutMs: 240_000 });
  const entry = /console\s+(http:\S+token=\S+)/.exec(output)?.[1] ?? '';
  await until('the baseline is complete', async () => (await readTenant(world.storeUrl, 'acme')).baseline === 'done', {
    timeoutMs: 120_000,
  });
  return {
    world,
    url: new URL(entry).origin,
    entry,
    people: await takeApplicants(world, 8),
    other,
    output: () => output,
    hr: async (statement, values = []) => void (await askDatabase(world.hrisUrl, statement, values)),
    async close() {
      child.kill('SIGINT');
      await ended;
      await Promise.all([world.close(), other.close()]);
    },
  };
}

/** One statement in a database of a test; `?` stands for a value. */
export async function askDatabase(
  url: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const { kysely, close } = openDatabase(url);
  const parts = statement.split('?');
  const bound = parts.flatMap((part, at) => [sql.raw(part), ...(at < values.length ? [sql.val(values[at])] : [])]);
  const { rows } = await sql.join<Record<string, unknown>>(bound, sql``).execute(kysely).finally(close);
  return rows;
}

/** Which run of a stream ended last; it changes with every run. */
export async function readStreamRun({ storeUrl }: World, stream: string): Promise<string> {
  const [row] = await askDatabase(storeUrl, 'select run_id, ended_at from streams where stream = ?', [stream]);
  const endedAt = row?.['ended_at'] ?? undefined;
  return endedAt === undefined ? 'running' : `${String(row?.['run_id'])} ${String(endedAt)}`;
}
