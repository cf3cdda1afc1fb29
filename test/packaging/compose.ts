// Plays packaging/compose.yaml without an engine: npm run test:compose
// Each service of ours runs as a process, with the command, environment, health check and order that the file says; in
// the place of the images of others stand a Postgres and a Temporal of this machine. Twice, as somebody who stops it
// and starts it again.
import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { z } from 'zod';
import { asAdmin, rowsOf, startPostgres, type TestPostgres } from '../../src/counterparts/start-postgres.ts';
import { freePort } from '../../src/free-port.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli } from '../../src/temporal/dev-server/resolve-cli.ts';
import { endChild, spawnTied } from '../../src/temporal/dev-server/spawn-tied.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);
/** That of the image, where we may become another. */
const USER = process.getuid?.() === 0 ? { uid: 65_532, gid: 65_532 } : {};

const Service = z.object({
  image: z.string(),
  entrypoint: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  ports: z.array(z.string().startsWith('127.0.0.1:')).default([]),
  network_mode: z.literal('host').optional(),
  restart: z.literal('unless-stopped').optional(),
  read_only: z.boolean().optional(),
  depends_on: z
    .record(z.string(), z.object({ condition: z.enum(['service_healthy', 'service_completed_successfully']) }))
    .default({}),
  healthcheck: z.object({ test: z.tuple([z.literal('CMD')], z.string()) }).optional(),
});
type Service = z.infer<typeof Service>;
const Compose = z.object({
  services: z.record(z.string(), Service),
  configs: z.record(z.string(), z.object({ content: z.string() })),
});

const folder = await mkdtemp(join(tmpdir(), 'hirebridge-compose-'));
const data = join(folder, 'data');
const children = new Map<string, ChildProcess>();
const printed = new Map<string, string>();
/** Of parts that ended although nobody stopped them. */
const faults: string[] = [];

async function main(): Promise<void> {
  const source = await readFile(join(ROOT, 'packaging/compose.yaml'), 'utf8');
  const postgres = await startPostgres();
  const cli = (await resolveTemporalCli({ onProgress: () => undefined })).path;
  try {
    const { services, configs } = await read(source, new URL(postgres.url).port);
    await writePrograms(cli);
    const temporal = await startDevServer({ cliPath: cli, headless: true, port: portOf(services['temporal']) });
    await leaveHalf();
    try {
      const standIns: StandIns = {
        postgres: () => preparePostgres(postgres, services['postgres'], configs),
        'temporal-schema': async () => undefined,
        temporal: async () => undefined,
      };
      for (const id of ['600041', '600042']) await playOnce(services, standIns, id);
    } finally {
      await stopAll();
      await temporal.stop();
    }
    const rows = await rowsOf(postgres.url.replace(/\/postgres$/, '/hr'), 'select family_name from employees');
    process.stdout.write(`${rows.length} employees in the HR database\n`);
    if (rows.length !== 2) throw new Error(`2 hires made ${rows.length} employees`);
  } finally {
    await stopAll();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The file with ports that are free here, and with its volume in a folder. */
async function read(source: string, postgresPort: string): Promise<z.infer<typeof Compose>> {
  let own = source.replaceAll('15432', postgresPort).replaceAll(/(?<![\w/.])\/data\b/g, data);
  for (const port of new Set(source.match(/\b(?:17233|87\d\d|88\d\d)\b/g)))
    own = own.replaceAll(port, `${await freePort()}`);
  const compose = Compose.parse(parse(own.replaceAll('$$', '$'), { merge: true }));
  const open = Object.entries(compose.services).filter(([, one]) => isOurs(one) && one.read_only !== true);
  if (open.length > 0) throw new Error(`${open.map(([name]) => name).join(', ')} may write to the image`);
  return compose;
}

/** As a first start that was cut off leaves them: files that may only be read, and not all of them. */
async function leaveHalf(): Promise<void> {
  const secrets = join(data, 'secrets');
  await mkdir(secrets, { recursive: true });
  await writeFile(join(secrets, 'postgres.password'), 'cut off', { mode: 0o444 });
  await writeFile(join(secrets, 'hr.url'), 'cut off', { mode: 0o400 });
  await chmod(folder, 0o755);
  if (USER.uid !== undefined) await run('chown', ['-R', `${USER.uid}:${USER.gid}`, data]);
}

function isOurs({ image }: Service): boolean {
  return image.startsWith('hirebridge:');
}

function portOf(service: Service | undefined): number {
  return Number(service?.ports[0]?.split(':')[1]);
}

/** What stands in the images at /usr/local/bin, and Temporal's own tool. */
async function writePrograms(cli: string): Promise<void> {
  const programs = { hirebridge: `"${process.execPath}" "${join(ROOT, 'src/cli/main.ts')}"`, temporal: `"${cli}"` };
  await mkdir(join(folder, 'bin'));
  for (const [name, program] of Object.entries(programs)) {
    await writeFile(join(folder, 'bin', name), `#!/bin/sh\nexec ${program} "$@"\n`);
    await chmod(join(folder, 'bin', name), 0o755);
  }
}

type StandIns = Readonly<Record<string, () => Promise<void>>>;

/** The role and databases that the image makes at its first start; the password counts. */
async function preparePostgres(
  { url, cluster }: TestPostgres,
  service: Service | undefined,
  configs: Readonly<Record<string, { content: string }>>,
): Promise<void> {
  const { POSTGRES_USER: user = '', POSTGRES_DB: name = '' } = service?.environment ?? {};
  const [known] = await rowsOf(url, `select 1 from pg_roles where rolname = '${user}'`);
  if (known !== undefined) return;
  const password = await readFile(join(data, 'secrets/postgres.password'), 'utf8');
  await asAdmin(url, `create role ${user} superuser login password '${password}'`);
  await asAdmin(url, `create database ${name} owner ${user}`);
  await asAdmin(url, configs['hr']?.content ?? '');
  const trusted = 'host all postgres 127.0.0.1/32 trust\n';
  await writeFile(join(cluster, 'pg_hba.conf'), `${trusted}host all all 127.0.0.1/32 scram-sha-256\n`);
  await asAdmin(url, 'select pg_reload_conf()');
}

/** Every service once what it waits for is there, until the hire has ended; then all of them are stopped. */
async function playOnce(services: Readonly<Record<string, Service>>, standIns: StandIns, hired: string): Promise<void> {
  const began = performance.now();
  const started = new Map<string, Promise<void>>();
  const start = (name: string): Promise<void> => {
    const service = services[name];
    if (service === undefined) throw new Error(`No service is called ${name}.`);
    const known = started.get(name);
    if (known !== undefined) return known;
    const starting = Promise.all(Object.keys(service.depends_on).map(start)).then(async () => {
      await (standIns[name]?.() ?? startService(name, service));
      process.stdout.write(`${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${name}\n`);
    });
    started.set(name, starting);
    return starting;
  };
  await Promise.all(Object.keys(services).map(start));
  const told = printed.get('hire') ?? '';
  process.stdout.write(told);
  if (!told.includes(`job candidate ${hired}`) || !/verified/.test(told)) throw new Error('The hire is not verified.');
  await checkMetrics(services);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  await stopAll();
}

/** Every metric that a rule or a dashboard names is in what Prometheus would scrape of these processes. */
async function checkMetrics(services: Readonly<Record<string, Service>>): Promise<void> {
  const ports = Object.values(services).flatMap(({ environment }) =>
    Object.entries(environment).flatMap(([name, value]) => (name.endsWith('_HEALTH_PORT') ? [value] : [])),
  );
  const scrapes = ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  const scraped = (await Promise.all(scrapes)).join('\n');
  const known = new Set([...scraped.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name));
  const files = globSync('packaging/helm/files/{rules.yaml,dashboards/*.json}', { cwd: ROOT });
  const texts = await Promise.all(files.map((file) => readFile(join(ROOT, file), 'utf8')));
  const named = new Set(texts.flatMap((one) => one.match(/\bhirebridge_\w+/g) ?? []));
  const missing = [...named].filter((name) => !known.has(name.replace(/_(bucket|count|sum)$/, '')));
  process.stdout.write(
    `${named.size} metrics of rules and dashboards, ${missing.length} not in ${ports.length} scrapes\n`,
  );
  if (named.size < 15 || missing.length > 0) throw new Error(`Not scraped: ${missing.join(', ')}`);
}

/** Until a job has ended well, or a part is healthy. */
async function startService(name: string, service: Service): Promise<void> {
  const isPart = service.restart !== undefined;
  const env = {
    PATH: [join(folder, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: data,
    LOG_LEVEL: 'warn',
    ...service.environment,
  };
  const words = [...(service.entrypoint ?? ['hirebridge']), ...(service.command ?? [])].map(hereOf);
  const child = spawnTied(words[0] ?? '', words.slice(1), { env, cwd: data, ...(isOurs(service) ? USER : {}) });
  children.set(name, child);
  const said = Promise.all([text(child.stdout as NodeJS.ReadableStream), text(child.stderr as NodeJS.ReadableStream)]);
  const ended = once(child, 'exit').then(async ([code]) => ({ code, output: (await said).join('') }));
  const failed = ended.then(({ code, output }) => {
    printed.set(name, output);
    if (code !== 0) throw new Error(`${name} ended with ${code}:\n${output}`);
  });
  if (!isPart) return failed;
  failed.catch((error: Error) => faults.push(error.message));
  await Promise.race([untilHealthy(name, service, env), failed.then(() => Promise.reject(new Error(`${name} ended`)))]);
}

function hereOf(word: string): string {
  return word === '/usr/local/bin/node' ? process.execPath : word;
}

async function untilHealthy(name: string, { healthcheck }: Service, env: NodeJS.ProcessEnv): Promise<void> {
  const [, ...words] = healthcheck?.test ?? ['CMD'];
  const [command = '', ...args] = words.map(hereOf);
  for (let tries = 1; ; tries += 1) {
    const isHealthy = await run(command, args, { env }).then(
      () => true,
      () => false,
    );
    if (isHealthy) return;
    if (tries === 120) throw new Error(`${name} does not become healthy`);
    await pause(500);
  }
}

async function stopAll(): Promise<void> {
  await Promise.all([...children.values()].map((child) => endChild(child, 'SIGTERM', 20_000)));
  children.clear();
}

await main();
