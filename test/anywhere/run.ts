// `npm test` in a fresh clone, where the machine has less to give:
// npm run test:anywhere -- [--where idle|busy|one-core|fifth]... [--times N] [--script test|test:all] [--empty-cache]
// A fifth of the speed is a CPU limit of a control group (Linux, as root).
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/command.ts';

const { values } = parseArgs({
  options: {
    where: { type: 'string', multiple: true, default: ['idle', 'busy', 'one-core', 'fifth'] },
    times: { type: 'string', default: '1' },
    script: { type: 'string', default: 'test' },
    'empty-cache': { type: 'boolean', default: false },
  },
});

const BUSY_LOOPS = 6;

interface Place {
  /** The command that starts another one there, without that one. */
  through: readonly string[];
  /** What makes it that place for as long as the test runs. Returns how it ends. */
  prepare?: () => () => void;
}

const group = join(cpuGroups(), `hirebridge-anywhere-${process.pid}`);

const places: Record<string, Place> = {
  idle: { through: [] },
  busy: { through: [], prepare: startBusyLoops },
  'one-core': { through: ['taskset', '-c', '0'] },
  // The shell moves itself into the group, then becomes the command.
  fifth: { through: ['sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$@"`, 'sh'], prepare: limitCpu },
};

async function main(): Promise<void> {
  const unknown = values.where.filter((name) => places[name] === undefined);
  if (unknown.length > 0)
    throw new Error(`No such place: ${unknown.join(', ')}. There are ${Object.keys(places).join(', ')}.`);
  const rows: string[][] = [];
  for (const where of values.where)
    for (let time = 1; time <= Number(values.times); time += 1) rows.push(await playOnce(where, time));
  process.stdout.write(renderTable(['where', 'time', 'minutes', 'passed', 'failed', 'skipped', 'exit'], rows));
  if (rows.some((row) => row.at(-1) !== '0')) process.exitCode = 1;
}

async function playOnce(where: string, time: number): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-anywhere-'));
  const clone = join(folder, 'clone');
  const report = join(folder, 'report.json');
  const log = `anywhere-${values.script.replace(':', '-')}-${where}-${time}.log`;
  execFileSync('git', ['clone', '--quiet', '.', clone], { stdio: 'inherit' });
  const env = {
    ...process.env,
    // The clone brings its own programs; those of this checkout must not stand in for them.
    PATH: (process.env['PATH'] ?? '')
      .split(':')
      .filter((entry) => !entry.includes('node_modules'))
      .join(':'),
    HIREBRIDGE_TEST_REPORT: report,
    ...(values['empty-cache'] ? { HOME: folder, XDG_CACHE_HOME: join(folder, 'cache') } : {}),
  };
  const place = places[where] as Place;
  const end = place.prepare?.();
  try {
    const [command, ...args] = [...place.through, 'npm', 'run', values.script];
    const begin = performance.now();
    const child = spawn(command as string, args, { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const exit = await keepOutput(child, log);
    const minutes = ((performance.now() - begin) / 60_000).toFixed(1);
    const counts = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {};
    const row = [where, String(time), minutes, ...['passed', 'failed', 'skipped'].map((name) => String(counts[name]))];
    process.stdout.write(`${row.join('  ')}  exit ${exit}  (${log})\n`);
    if (exit === 0) rmSync(log);
    return [...row, String(exit)];
  } finally {
    end?.();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function keepOutput(child: ChildProcess, file: string): Promise<number> {
  const log = createWriteStream(file);
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => log.end(() => resolve(code ?? 1)));
  });
}

function startBusyLoops(): () => void {
  const loops = Array.from({ length: BUSY_LOOPS }, () => spawn(process.execPath, ['-e', 'for (;;);']));
  return () => {
    for (const loop of loops) loop.kill('SIGKILL');
  };
}

/** The folder of CPU control groups: version 2, else version 1. */
function cpuGroups(): string {
  return existsSync('/sys/fs/cgroup/cgroup.controllers') ? '/sys/fs/cgroup' : '/sys/fs/cgroup/cpu';
}

function limitCpu(): () => void {
  const period = 100_000;
  const quota = Math.round((period * availableParallelism()) / 5);
  mkdirSync(group);
  if (existsSync(join(group, 'cpu.max'))) writeFileSync(join(group, 'cpu.max'), `${quota} ${period}`);
  else writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quota));
  return () => {
    try {
      rmdirSync(group);
    } catch {
      // A process of the run may still be ending in it; the group then stays, empty.
    }
  };
}

await main();
