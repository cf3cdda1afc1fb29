// Checks the files of packaging/ with the tools that read them, where the machine has them: npm run test:packaging
// KUBE_SWAGGER: the OpenAPI document of a Kubernetes, api/openapi-spec/swagger.json of the Go module k8s.io/kubernetes;
// kubeconform asks the network for schemas without it.
// COMPOSE_SCHEMA: the JSON Schema of the Compose Specification, a file; the published one by default.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { writeKubeSchemas } from './kube-schemas.ts';

const ROOT = join(import.meta.dirname, '../..');
const CHART = join(ROOT, 'packaging/helm');
const UNITS = globSync('packaging/systemd/*.service', { cwd: ROOT }).toSorted();
const swagger = process.env['KUBE_SWAGGER'];
const schemasFolder = await mkdtemp(join(tmpdir(), 'hirebridge-kube-'));
const schemas = swagger === undefined ? 'default' : await writeKubeSchemas(swagger, schemasFolder);
const COMPOSE_SPEC = 'https://raw.githubusercontent.com/compose-spec/compose-spec/main';
/** Kinds of the Prometheus operator, whose schemas do not come with Kubernetes. */
const CUSTOM = 'PodMonitor,PrometheusRule';
/** The most that systemd may find exposed. */
const MOST_EXPOSED = 2;
const faults: string[] = [];
const skipped: string[] = [];

function run(tool: string, args: readonly string[], input?: string): { ok: boolean; text: string } | undefined {
  const { error, status, stdout, stderr } = spawnSync(tool, args, { cwd: ROOT, encoding: 'utf8', input });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return undefined;
  return { ok: status === 0, text: `${stdout}${stderr}` };
}

/** Runs a tool and notes how it ended; gives what it printed, or undefined where it is not installed. */
function check(what: string, tool: string, args: readonly string[], input?: string): string | undefined {
  const ran = run(tool, args, input);
  if (ran === undefined) return void skipped.push(`${what}: ${tool} is not installed`);
  process.stdout.write(`${ran.ok ? 'ok  ' : 'FAIL'} ${what}\n`);
  if (!ran.ok) faults.push(`${what}\n${ran.text}`);
  return ran.text;
}

interface Pod {
  containers: (Record<string, unknown> & { name: string; args: string[] })[];
  volumes: (Record<string, unknown> & { name: string })[];
}

interface Part {
  spec?: { template?: { spec: Pod } };
}

/** What a container of a made chart lacks: a quota refuses one without resources, and a Service needs readiness. */
function lacksOf(made: string): string[] {
  const parts = parseAllDocuments(made).map((one) => one.toJS() as Part | null);
  const pods = parts.flatMap((part) => part?.spec?.template?.spec ?? []);
  const containers = pods.flatMap((pod) => pod.containers);
  const stores = new Set(made.match(/secretKeyRef: { name: \S+, key: url }/g));
  if (made.includes('--receiver=') && stores.size < 3)
    return ['serve does not use the role that the migration gives it'];
  // Whoever is reached from outside has neither the key of receipts nor the list of erased people.
  const keeping = pods.filter(({ volumes }) => volumes.some((one) => one.name === 'data' && !('emptyDir' in one)));
  const kept = keeping.flatMap((pod) => pod.containers.map(({ name }) => name)).toSorted();
  if (made.includes('hirebridge-data') && kept.join() !== 'console,worker') return [`${kept.join()} keep the data`];
  // Only who speaks to both sides has the secrets of both; the migration reads neither tenants nor secrets.
  const knowing = pods.filter(({ volumes }) => JSON.stringify(volumes).includes('"hirebridge-secrets"'));
  const known = knowing.flatMap((pod) => pod.containers.map(({ name }) => name)).toSorted();
  if (known.length > 0 && known.join() !== 'console,worker') return [`${known.join()} have the secrets of both sides`];
  const migrating = pods.filter(({ containers }) => containers.some(({ name }) => name === 'migrate'));
  const read = migrating.flatMap(({ volumes }) => volumes.map(({ name }) => name));
  if (read.some((name) => name === 'tenants' || name === 'secrets')) return [`the migration has ${read.join()}`];
  const temporals = pods.filter((pod) => /TEMPORAL_|"name":"temporal"/.test(JSON.stringify(pod)));
  const asking = temporals.flatMap((pod) => pod.containers.map(({ name }) => name));
  if (asking.some((name) => name === 'serve' || name === 'migrate')) return [`${asking.join()} have Temporal's keys`];
  return containers.flatMap(({ name, args, ...has }) => {
    const isServed = name === 'serve' || args.includes('0.0.0.0');
    const needs = ['resources', ...(isServed ? ['readinessProbe'] : []), ...(name === 'serve' ? ['lifecycle'] : [])];
    return needs.filter((one) => !(one in has)).map((one) => `${name} has no ${one}`);
  });
}

for (const values of globSync('ci/*.yaml', { cwd: CHART }).toSorted()) {
  const options = ['--values', join(CHART, values)];
  check(`helm lint, ${values}`, 'helm', ['lint', '--strict', CHART, ...options]);
  const made = run('helm', ['template', 'hb', CHART, '--kube-version', '1.31.0', ...options]);
  if (made === undefined) continue;
  if (!made.ok) faults.push(`helm template, ${values}\n${made.text}`);
  const kubeconform = ['-strict', '-summary', '-skip', CUSTOM, '-schema-location', schemas];
  check(`kubeconform, ${values}`, 'kubeconform', kubeconform, made.text);
  faults.push(...lacksOf(made.text).map((lack) => `${values}: ${lack}`));
}
const refused = run('helm', ['template', 'hb', CHART, '--kube-version', '1.31.0', '--set', 'serve.replica=2']);
if (refused?.ok) faults.push('the chart took a value that its schema does not know');
const composeSchema = process.env['COMPOSE_SCHEMA'] ?? `${COMPOSE_SPEC}/schema/compose-spec.json`;
check('check-jsonschema, compose.yaml', 'check-jsonschema', [
  '--schemafile',
  composeSchema,
  join(ROOT, 'packaging/compose.yaml'),
]);
check('promtool check rules', 'promtool', ['check', 'rules', join(CHART, 'files/rules.yaml')]);
check('promtool test rules', 'promtool', ['test', 'rules', join(ROOT, 'test/packaging/rules.test.yaml')]);
for (const unit of UNITS) {
  const told = run('systemd-analyze', ['verify', '--man=no', unit]);
  if (told === undefined) {
    skipped.push(`${unit}: systemd-analyze is not installed`);
    continue;
  }
  // The program is on no machine where this runs; everything else that it says counts.
  const problems = told.text
    .split('\n')
    .filter((line) => line.includes('hirebridge') && !line.includes('not executable'));
  const exposed = run('systemd-analyze', ['security', '--offline=true', unit])?.text ?? '';
  const level = Number(/exposure level for \S+: ([\d.]+)/.exec(exposed)?.[1] ?? Number.NaN);
  process.stdout.write(
    `${problems.length === 0 && level < MOST_EXPOSED ? 'ok  ' : 'FAIL'} ${unit}, exposure ${level}\n`,
  );
  if (problems.length > 0) faults.push(`${unit}\n${problems.join('\n')}`);
  if (!(level < MOST_EXPOSED)) faults.push(`${unit} is exposed ${level}, not below ${MOST_EXPOSED}\n${exposed}`);
}
await rm(schemasFolder, { recursive: true });
for (const what of skipped) process.stdout.write(`skip ${what}\n`);
for (const fault of faults) process.stdout.write(`\nFAULT ${fault}\n`);
process.stdout.write(`${faults.length} faults, ${skipped.length} skipped\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
