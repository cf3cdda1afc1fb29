// Builds the image's file system without an engine and runs each part in it as the image does: npm run test:image
// -- [--root FOLDER] takes one that was built; [--kind amd64|arm64] is the machine that it is for, by default this one.
// Linux, root, mmdebstrap; for the other kind qemu-user-static. Temporal and Postgres are this machine's.
// SBOM_SCHEMA: the folder of CycloneDX's bom-1.5.SNAPSHOT.schema.json, to which check-jsonschema then holds the SBOM.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs, promisify } from 'node:util';
import { newDatabase, startPostgres } from '../../src/counterparts/start-postgres.ts';
import { freePort } from '../../src/free-port.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli } from '../../src/temporal/dev-server/resolve-cli.ts';
import { endChild, spawnTied } from '../../src/temporal/dev-server/spawn-tied.ts';
import { until } from '../harness/until.ts';

const ROOT = join(import.meta.dirname, '../..');
const IMAGE = join(ROOT, 'packaging/image');
/** The most that it may take unpacked. */
const MOST_MB = 400;
/** From SIGTERM to the end of a part. */
const MOST_STOP_MS = 5_000;
/** How the program's header names the machine that a binary is for: `e_machine` of ELF. */
const MACHINES = { amd64: 0x3e, arm64: 0xb7 } as const;
const OWN_KIND = process.arch === 'arm64' ? 'arm64' : 'amd64';
const { values } = parseArgs({ options: { root: { type: 'string' }, kind: { type: 'string', default: OWN_KIND } } });
const kind = values.kind as keyof typeof MACHINES;
const isEmulated = kind !== OWN_KIND;
const run = promisify(execFile);
const faults: string[] = [];

function judge(what: string, isGood: boolean): void {
  process.stdout.write(`${isGood ? 'ok  ' : 'FAIL'} ${what}\n`);
  if (!isGood) faults.push(what);
}

async function main(): Promise<void> {
  const root = values.root ?? join(tmpdir(), `hirebridge-image-${process.pid}`);
  try {
    if (values.root === undefined) build(root);
    await judgeFiles(root);
    await writeTenant(join(root, 'etc/hirebridge/tenants'));
    await (isEmulated ? judgeEmulated(root) : judgeParts(root));
  } finally {
    if (values.root === undefined) await rm(root, { recursive: true, force: true });
  }
  process.stdout.write(`${faults.length} faults\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

/** Lets this kernel run the other kind's programs, as Debian's qemu-user-static says, where nobody has told it yet. */
function emulate(): void {
  const machine = kind === 'arm64' ? 'aarch64' : 'x86_64';
  const kernel = '/proc/sys/fs/binfmt_misc';
  if (!existsSync(join(kernel, 'register'))) execFileSync('mount', ['-t', 'binfmt_misc', 'binfmt_misc', kernel]);
  if (existsSync(join(kernel, `qemu-${machine}`))) return;
  writeFileSync(join(kernel, 'register'), readFileSync(`/usr/lib/binfmt.d/qemu-${machine}.conf`));
}

function build(root: string): void {
  const folder = `${root}-packed`;
  mkdirSync(folder);
  try {
    const pack = ['pack', '--loglevel=error', '--pack-destination', folder];
    execFileSync('npm', pack, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
    const [tarball = ''] = readdirSync(folder);
    execFileSync('sh', [join(IMAGE, 'build-root.sh'), join(folder, tarball), root, kind], { stdio: 'inherit' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function judgeFiles(root: string): Promise<void> {
  const { stdout } = await run('du', ['-sm', '--exclude=proc', '--exclude=sys', root]);
  const size = Number(stdout.split('\t')[0]);
  judge(`${size} MB unpacked, at most ${MOST_MB}`, size <= MOST_MB);
  const programs = await Promise.all(['usr/bin', 'usr/sbin'].map((folder) => readdir(join(root, folder))));
  const managers = programs.flat().filter((name) => /^(apt|dpkg|npm|npx|yarn|corepack)/.test(name));
  judge(`no package manager${managers.length === 0 ? '' : `, but ${managers.join(', ')}`}`, managers.length === 0);
  const binaries = await binariesIn(root);
  const foreign = binaries.filter(({ machine }) => machine !== MACHINES[kind]).map(({ path }) => path);
  const addons = binaries.filter(({ path }) => path.endsWith('.node'));
  const wrong = foreign.map((path) => `, but ${path}`).join('');
  judge(
    `${binaries.length} binaries, ${addons.length} of them Node's addons, all for ${kind}${wrong}`,
    foreign.length === 0 && addons.some(({ path }) => path.includes('core-bridge')),
  );
  const sbom = join(root, 'app/sbom.cdx.json');
  const schemas = process.env['SBOM_SCHEMA'];
  if (schemas === undefined) return void process.stdout.write('skip the schema of the SBOM: no SBOM_SCHEMA\n');
  const schema = ['--schemafile', join(schemas, 'bom-1.5.SNAPSHOT.schema.json'), '--base-uri', `file://${schemas}/`];
  const { status, stdout: told } = spawnSync('check-jsonschema', [...schema, sbom], { encoding: 'utf8' });
  const { components } = JSON.parse(await readFile(sbom, 'utf8')) as { components: unknown[] };
  judge(`${components.length} parts, in the form of CycloneDX 1.5: ${told.trim()}`, status === 0);
}

/** Every file that is a program or a library, and the machine that it is for. */
async function binariesIn(root: string): Promise<{ path: string; machine: number }[]> {
  const found: { path: string; machine: number }[] = [];
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(20), 0, 20, 0).finally(() => file.close());
    if (bytesRead === 20 && buffer.readUInt32BE(0) === 0x7f454c46)
      found.push({ path, machine: buffer.readUInt16LE(18) });
  }
  return found;
}

/** Where somebody would mount theirs. Nobody answers at its addresses. */
async function writeTenant(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'key'), 'sk_test_0123456789012345678901\n');
  const partner = 'baseUrl: http://127.0.0.1:1/v1/partner, environment: sandbox, apiKey: file:key, webhooks: off';
  const lines = [
    'tenant: acme',
    `partner: { ${partner}, allowPrivateAddress: true }`,
    'hris: { connection: acme-hr, kind: sql, url: "sqlite:/data/acme.db", createTable: true }',
    'policies: { onboarding: skip }',
    'writeBack: { customField: cf1 }',
  ];
  await writeFile(join(folder, 'acme.yaml'), `${lines.join('\n')}\n`);
}

/** That the other kind's Node starts the program and loads Temporal's core. Emulated parts outlast their time-outs. */
async function judgeEmulated(root: string): Promise<void> {
  emulate();
  const version = (await runToEnd(root, ['--version'], {})).trim();
  judge(`starts as ${kind}: ${version.slice(0, 200)}`, /^\d+\.\d+\.\d+$/.test(version));
  const load = `require('/app/node_modules/@temporalio/core-bridge'); console.log(process.arch)`;
  const { stdout } = spawnSync('chroot', [root, '/usr/local/bin/node', '-e', load], { encoding: 'utf8' });
  judge(`Temporal's core is loaded on ${stdout.trim()}`, stdout.trim() === (kind === 'amd64' ? 'x64' : kind));
  process.stdout.write('skip demo, serve, worker and console: emulated, they outlast their time-outs\n');
}

async function judgeParts(root: string): Promise<void> {
  const { path: cliPath } = await resolveTemporalCli({ onProgress: () => undefined });
  const [temporal, postgres] = await Promise.all([startDevServer({ cliPath, headless: true }), startPostgres()]);
  try {
    const fleet = { TEMPORAL_ADDRESS: temporal.address, HIREBRIDGE_STORE_URL: await newDatabase(postgres.url) };
    const demo = await runToEnd(root, ['demo', '--once'], { TEMPORAL_ADDRESS: temporal.address });
    judge(`demo: ${/5 hires.*/.exec(demo)?.[0] ?? demo.slice(-2_000)}`, demo.includes('5 written back and verified'));
    const migrated = await runToEnd(root, ['migrate'], fleet);
    judge(`migrate: ${migrated.split('\n')[0]}`, migrated.startsWith('Run:'));
    for (const part of ['serve', 'worker', 'console']) await judgePart(root, part, fleet);
  } finally {
    await Promise.all([temporal.stop(), postgres.stop()]);
  }
}

function start(root: string, args: readonly string[], settings: Readonly<Record<string, string>>) {
  const HIREBRIDGE_ENV = Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
  return spawnTied('sh', [join(IMAGE, 'run-root.sh'), root, ...args], { env: { ...process.env, HIREBRIDGE_ENV } });
}

async function runToEnd(...given: Parameters<typeof start>): Promise<string> {
  const child = start(...given);
  const said = Promise.all([child.stdout, child.stderr].map((stream) => text(stream as NodeJS.ReadableStream)));
  await once(child, 'exit');
  return (await said).join('');
}

async function judgePart(root: string, part: string, fleet: Readonly<Record<string, string>>): Promise<void> {
  const port = `${await freePort()}`;
  const own = part === 'console' ? 'HIREBRIDGE_CONSOLE_PORT' : `HIREBRIDGE_${part.toUpperCase()}_HEALTH_PORT`;
  const settings = { ...fleet, HIREBRIDGE_PORT: '0', [own]: port };
  const child = start(root, [part], settings);
  const ended = once(child, 'exit');
  try {
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        () => true,
        () => false,
      );
    await until(`${part} answers`, answers, { timeoutMs: 60_000 });
    const pid = await nodeOf(child.pid ?? 0);
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const mounts = (await readFile(`/proc/${pid}/mountinfo`, 'utf8')).split('\n');
    const isUser = /^Uid:\t65532\t65532\t65532\t65532$/m.test(status) && /^CapEff:\t0+$/m.test(status);
    const isReadOnly = mounts.some((line) => / \/ ro[, ]/.test(line.split(' - ')[0] ?? ''));
    const memory = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024;
    const began = performance.now();
    process.kill(pid, 'SIGTERM');
    const [code] = (await ended) as [number | null];
    const stopMs = Math.round(performance.now() - began);
    const seen = `user 65532 without rights ${isUser}, root read-only ${isReadOnly}, ${memory.toFixed(0)} MB`;
    judge(
      `${part}: ${seen}; SIGTERM ended it with ${code} after ${stopMs} ms`,
      isUser && isReadOnly && code === 0 && stopMs <= MOST_STOP_MS,
    );
  } finally {
    await endChild(child, 'SIGKILL');
  }
}

/** The process of Node below the one that made its namespaces. */
async function nodeOf(pid: number): Promise<number> {
  const { stdout } = await run('ps', ['-e', '-o', 'pid=,ppid=,comm=']);
  const all = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  for (let above = [String(pid)]; above.length > 0; ) {
    const below = all.filter(([, parent = '']) => above.includes(parent));
    const node = below.find(([, , name = '']) => /node|Main/i.test(name));
    if (node !== undefined) return Number(node[0]);
    above = below.map(([own = '']) => own);
  }
  throw new Error('No process of Node runs in the image.');
}

await main();
