import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { createRegistry } from '../../src/health.ts';
import { createReceiverMetrics } from '../../src/receiver/receiver.ts';
import { createMetrics } from '../../src/worker/metrics.ts';
import { sqliteStore } from '../store/stores.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = join(ROOT, 'packaging/helm/files');
const read = (path: string) => readFile(join(ROOT, path), 'utf8');

const Rules = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(
        z.union([
          z.strictObject({ record: z.string(), expr: z.string() }),
          z.strictObject({
            alert: z.string().startsWith('Hirebridge'),
            expr: z.string(),
            for: z.string(),
            labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
            annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
          }),
        ]),
      ),
    }),
  ),
});

/** What Grafana needs of a dashboard to load it. */
const Dashboard = z.object({
  uid: z.string().max(40),
  title: z.string(),
  schemaVersion: z.number().min(36),
  templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.enum(['datasource', 'query']) })) }),
  panels: z.array(
    z.object({
      id: z.number(),
      title: z.string(),
      type: z.enum(['stat', 'timeseries', 'table']),
      gridPos: z.object({ x: z.number().max(23), y: z.number(), w: z.number().max(24), h: z.number() }),
      datasource: z.object({ type: z.literal('prometheus'), uid: z.literal('${datasource}') }),
      targets: z.array(z.object({ refId: z.string(), expr: z.string() })).nonempty(),
    }),
  ),
});

const { groups } = Rules.parse(parse(await readFile(join(FILES, 'rules.yaml'), 'utf8')));
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.flatMap((rule) => ('alert' in rule ? [rule] : []));
const dashboards = await Promise.all(
  globSync('dashboards/*.json', { cwd: FILES }).map(async (file) => {
    return Dashboard.parse(JSON.parse(await readFile(join(FILES, file), 'utf8')));
  }),
);

test('no process of the compose file writes outside its volume, gains a right, or dumps memory', async () => {
  const { services } = z
    .object({ services: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .parse(parse(await read('packaging/compose.yaml'), { merge: true }));
  const ours = Object.entries(services).filter(([, { image }]) => String(image).startsWith('hirebridge:'));
  expect(ours.length).toBeGreaterThan(7);
  const held = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'], ulimits: { core: 0 } };
  for (const [name, service] of ours) expect(service, name).toMatchObject(held);
});

test('every alert has its section in the runbook, with the four answers, and no section is left over', async () => {
  const text = await read('docs/runbook.md');
  const sections = new Map(
    text
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf('\n')), section]),
  );
  expect([...sections.keys()].toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  for (const { alert, annotations } of alerts) {
    expect(annotations.runbook).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    const answers = [...(sections.get(alert) ?? '').matchAll(/^\*\*(.*?)\.\*\*/gm)].map(([, answer]) => answer);
    expect([alert, answers]).toEqual([alert, ['Means', 'Look at', 'Do', 'Call']]);
  }
});

test('every command of the runbook is one that the program has', async () => {
  const reference = await read('docs/reference.md');
  const known = [...reference.matchAll(/^### `hirebridge ([a-z -]+?)(?: [<[].*)?`/gm)].map(([, name = '']) => name);
  const named = [...(await read('docs/runbook.md')).matchAll(/`hirebridge ([a-z -]+?)(?: [A-Z].*?)?`/g)];
  expect(named.length).toBeGreaterThan(15);
  expect(named.map(([, name = '']) => name.replace(/ --.*/, '')).filter((name) => !known.includes(name))).toEqual([]);
});

test('every alert is tested twice: where it fires and where it keeps silent', async () => {
  const { tests } = parse(await read('test/packaging/rules.test.yaml')) as { tests: { name: string }[] };
  const cases = alerts.flatMap(({ alert }) => [`${alert} fires`, `${alert} is silent`]);
  expect(tests.map(({ name }) => name).toSorted()).toEqual(cases.toSorted());
});

test('every metric that a rule or a dashboard names is one that serve or worker counts', async () => {
  const store = await sqliteStore();
  const [serve, worker] = [createRegistry('serve'), createRegistry('worker')];
  createReceiverMetrics(serve);
  createMetrics(store, worker, { byTenant: false });
  const counted = new Set([serve, worker].flatMap((one) => one.getMetricsAsArray().map(({ name }) => name)));
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...dashboards.flatMap(({ panels }) => panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))),
  ];
  const named = new Set(expressions.flatMap((expr) => expr.match(/\bhirebridge_\w+/g) ?? []));
  expect(named.size).toBeGreaterThan(15);
  expect([...named].map((name) => name.replace(/_(bucket|count)$/, '')).filter((name) => !counted.has(name))).toEqual(
    [],
  );
});

test('dashboards have ids of their own, and no two panels of one are the same', () => {
  expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(dashboards.length);
  for (const { panels } of dashboards) {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const places = panels.map(({ gridPos: { x, y } }) => `${x} ${y}`);
    expect(new Set(places).size).toBe(places.length);
  }
});

test('the units run each part as a user of its own, and nothing of the host can be written', async () => {
  const units = globSync('packaging/systemd/*.service', { cwd: ROOT });
  expect(units.length).toBe(3);
  for (const unit of units)
    for (const line of ['User=hirebridge', 'ProtectSystem=strict', 'NoNewPrivileges=yes', 'CapabilityBoundingSet=\n'])
      expect(await read(unit)).toContain(line);
});

test('a dry run of a release says what it would write and run, and changes nothing', async () => {
  const release = (...args: string[]) =>
    promisify(execFile)(process.execPath, ['packaging/release.ts', ...args], { cwd: ROOT });
  const before = await read('package.json');
  const { version } = JSON.parse(before) as { version: string };
  const { stdout } = await release('99.0.0', '--dry-run');
  const written = [...stdout.matchAll(/^\+ (.*)$/gm)].map(([, line = '']) => line.trim());
  expect(written).toEqual(
    expect.arrayContaining([
      '"version": "99.0.0",',
      'appVersion: 99.0.0',
      'image: hirebridge:99.0.0',
      'npm install ./hirebridge-99.0.0.tgz',
      expect.stringMatching(/^## \[99\.0\.0\] - \d{4}-\d\d-\d\d$/),
    ]),
  );
  const pages = globSync('{README.md,docs/*.md}', { cwd: ROOT });
  const texts = await Promise.all(pages.map(read));
  const naming = pages.filter((_page, at) => texts[at]?.includes(`hirebridge-${version}.tgz`));
  expect(naming.filter((page) => !stdout.includes(`${page}\n+ `))).toEqual([]);
  expect(stdout).toMatch(/^\$ git tag [^]*^\$ npm pack /m);
  const withEngine = /^\$ docker buildx build --platform linux\/amd64,linux\/arm64 /m;
  const without = /^\$ sh packaging\/image\/build-root\.sh .* amd64$[^]*build-root\.sh .* arm64$/m;
  expect([withEngine, without].filter((image) => image.test(stdout))).toHaveLength(1);
  expect(stdout).toMatch(/^\$ sh -c cd release && sha256sum hirebridge-99\.0\.0\* > SHA256SUMS$/m);
  expect(await read('package.json')).toBe(before);
  for (const [wrong, why] of [
    [version, 'newer than'],
    ['1.0', 'three numbers'],
    [`v${version}`, 'three numbers'],
  ])
    await expect(release(wrong ?? '', '--dry-run')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining(why ?? ''),
    });
});
