import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { noteDemo, noteFigures } from '../docs/figures.ts';
import { playWalk } from './play-walk.ts';

const root = path.join(import.meta.dirname, '../..');

interface Packed {
  filename: string;
  size: number;
  files: { path: string }[];
}

/** A folder of somebody else's, empty but for the packed tarball. */
let project: string;
let packed: Packed;

async function run(command: string, args: readonly string[], cwd: string = project) {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { stdout, stderr, code };
}

async function succeed(command: string, args: readonly string[], cwd?: string): Promise<string> {
  const { stdout, stderr, code } = await run(command, args, cwd);
  if (code !== 0) throw new Error(`${command} ${args[0]} ended with ${code}: ${(stdout + stderr).slice(-4_000)}`);
  return stdout;
}

async function folderWithin(name: string): Promise<string> {
  const folder = path.join(project, name);
  await mkdir(folder);
  return folder;
}

/** The TypeScript that the documentation shows, in order. */
async function documentedScripts(): Promise<string[]> {
  const page = await readFile(path.join(root, 'docs/library.md'), 'utf8');
  return [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, script]) => script ?? '');
}

beforeAll(async () => {
  project = await mkdtemp(path.join(tmpdir(), 'hirebridge-package-'));
  const listing = await succeed('npm', ['pack', '--json', '--pack-destination', project], root);
  [packed] = JSON.parse(listing.slice(listing.indexOf('[\n'))) as [Packed];
});

afterAll(() => rm(project, { recursive: true, force: true }));

// First, because the others use what its first line installs.
test('README leads from the package in an empty folder to a hire in the HR table', async () => {
  const page = await readFile(path.join(root, 'README.md'), 'utf8');
  const { commands, seconds, output } = await playWalk(page, '## From the package to the first hire', { cwd: project });
  console.log(`README.md: ${commands} commands, ${seconds.toFixed(1)} s`);
  noteFigures("README's walk", [
    { what: 'commands', value: commands },
    { what: 'time', value: seconds, unit: 's' },
  ]);
  await succeed('npm', ['pkg', 'set', 'type=module']);
  expect(commands).toBeLessThanOrEqual(8);
  expect(output).toMatch(/written\s+back\s+and\s+verified/);
  expect(output).toMatch(/planned +"Reyes"[^]*in the HR system +"Reyes"/);
  expect(output).toMatch(/ok +webhooks +The last webhook was accepted/);
  const hr = new DatabaseSync(path.join(project, 'acme.db'), { readOnly: true, timeout: 60_000 });
  expect(hr.prepare('select family_name from employees').all()).toEqual([{ family_name: 'Reyes' }]);
  hr.close();
});

test('the tarball is small, without tests, sources or paths of the machine that packed it', async () => {
  console.log(`${packed.filename}: ${(packed.size / 1e6).toFixed(2)} MB, ${packed.files.length} files`);
  noteFigures('package', [{ what: 'size', value: packed.size / 1e6, unit: 'MB' }]);
  expect(packed.size).toBeLessThan(5_000_000);
  const paths = packed.files.map((file) => file.path);
  const isSource = (file: string) => /^(src|test|packaging)\/.*(?<!\.md)$|(?<!\.d)\.ts$/.test(file);
  expect(paths.filter(isSource)).toEqual([]);
  expect(paths).toContain('dist/src/sandbox/page/main.js');
  const installed = path.join(project, 'node_modules/hirebridge');
  const texts = await Promise.all(paths.map((file) => readFile(path.join(installed, file), 'utf8')));
  expect(paths.filter((_, index) => texts[index]?.includes(`${root}/`))).toEqual([]);
});

test('the package may be published, and every page that a page of it links to is in it', async () => {
  const installed = path.join(project, 'node_modules/hirebridge');
  expect(JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8'))).not.toHaveProperty('private');
  const pages = packed.files.map((file) => file.path).filter((file) => file.endsWith('.md'));
  expect(pages).toContain('src/hris/tryton/README.md');
  const linked = pages.map(async (page) => {
    // Links to code are for people who change hirebridge, in a clone.
    const links = (await readFile(path.join(installed, page), 'utf8')).matchAll(/\]\((?!\w+:|#)([^)#]+(?<!\.ts))[)#]/g);
    return [...links].map(([, to = '']) => path.posix.join(path.posix.dirname(page), to));
  });
  const there = new Set(packed.files.map((file) => file.path));
  const missing = (await Promise.all(linked)).flat().filter((to) => !there.has(to));
  expect(missing).toEqual([]);
});

test('`npx hirebridge` in an empty folder names the three commands that come next', async () => {
  const { code, stdout } = await run('npx', ['hirebridge'], await folderWithin('empty'));
  expect([code, stdout.match(/^ {2}hirebridge \w+/gm)]).toEqual([0, expect.objectContaining({ length: 3 })]);
});

test('`npx hirebridge sandbox` answers', async () => {
  const sandbox = startNpx(['sandbox', '--port', '0', '--control-port', '0', '--jobs', '2']);
  const told = await firstLines(sandbox, 'Stays until Ctrl-C');
  const [, url] = /partner API\s+(\S+)/.exec(told) ?? [];
  const [, key] = /API key\s+(\S+)/.exec(told) ?? [];
  const answer = await fetch(`${url}/jobs`, { headers: { authorization: `Bearer ${key}` } });
  expect(await answer.json()).toMatchObject({ totalJobs: 2 });
  const [, control] = /control plane\s+(\S+)/.exec(told) ?? [];
  const page = await (await fetch(`${control}/`)).text();
  const parts = [...page.matchAll(/(?:src|href)="(\/page\/[^"]+)"/g)].map(([, part]) => `${control}${part}`);
  const answers = await Promise.all(parts.map(async (part) => (await fetch(part)).status));
  expect(new Set(answers)).toEqual(new Set([200]));
});

test('the documented scripts type-check against the package, and its types are no `any`', async () => {
  const [script = '', ...others] = await documentedScripts();
  const wrong = `${script}// @ts-expect-error: a status is text\nvoid partner.jobs.list({ query: { status: 5 } });\n`;
  const scripts = [script, wrong, ...others];
  await Promise.all(scripts.map((one, index) => writeFile(path.join(project, `script-${index}.ts`), one)));
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  const strict = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
  const files = scripts.map((_, index) => `script-${index}.ts`);
  expect(await run(process.execPath, [tsc, ...strict, ...files])).toMatchObject({ code: 0, stdout: '' });
});

test('the documented client reads from the documented sandbox', async () => {
  const [script = ''] = await documentedScripts();
  await writeFile(path.join(project, 'run.ts'), script);
  const { code, stdout, stderr } = await run(process.execPath, ['run.ts']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^\d+ \w/m);
});

test('a kind of HR system lives in a package of its own: types, suite, and a tenant that names it', async () => {
  const own = path.join(project, 'node_modules/acme-hris');
  await mkdir(own, { recursive: true });
  const exports = { '.': './folder.js', './under-test': './folder-under-test.js' };
  await writeFile(path.join(own, 'package.json'), JSON.stringify({ name: 'acme-hris', type: 'module', exports }));
  const sources = path.join(project, 'acme-hris');
  await mkdir(sources);
  // The example of this tree, as somebody else would write it: everything of ours comes from the package.
  for (const name of ['folder.ts', 'folder-under-test.ts']) {
    const text = await readFile(path.join(root, 'test/hris/example', name), 'utf8');
    await writeFile(path.join(sources, name), text.replaceAll(/from '[^']*\/src\/[^']*'/g, "from 'hirebridge/hris'"));
  }
  await appendFile(path.join(sources, 'folder.ts'), '\nexport { folder as adapter };\n');
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  const strict = ['--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
  const built = ['--rewriteRelativeImportExtensions', '--declaration', '--outDir', own];
  await succeed(process.execPath, [tsc, ...strict, ...built, 'folder.ts', 'folder-under-test.ts'], sources);
  const suite = `import { after, test } from 'node:test';
import { hrisCells } from 'hirebridge/hris';
import { folderUnderTest } from 'acme-hris/under-test';
const hris = await folderUnderTest();
after(() => hris.stop());
for (const { name, impossible, run } of hrisCells(hris)) test(name, { skip: impossible ?? false }, run);
`;
  await writeFile(path.join(project, 'suite.mjs'), suite);
  const told = await succeed(process.execPath, ['--test', '--test-reporter=tap', 'suite.mjs']);
  expect(told).toMatch(/^# fail 0$/m);
  expect(Number(/^# pass (\d+)$/m.exec(told)?.[1])).toBeGreaterThanOrEqual(21);
  const tenants = path.join(project, 'tenants');
  await mkdir(path.join(tenants, 'staff'), { recursive: true });
  await writeFile(path.join(tenants, 'acme.yaml'), tenantOf('kind: module, module: acme-hris, folder: staff'));
  const mapping = 'fields: { startDate: { constant: "2026-02-01" }, phone: null, city: null, country: null }\n';
  await writeFile(path.join(tenants, 'acme-mapping.yaml'), mapping);
  await writeFile(path.join(tenants, 'key'), 'sk_test_0123456789012345678901\n');
  const shown = await run('npx', ['hirebridge', 'mapping', 'show', 'acme', '--tenants', tenants]);
  expect(shown.stderr).toBe('');
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('startDate') });
});

function tenantOf(hris: string): string {
  return `tenant: acme
partner:
  baseUrl: http://127.0.0.1:1/v1/partner
  environment: sandbox
  apiKey: file:key
  webhooks: off
  allowPrivateAddress: true
hris: { connection: acme-hr, ${hris} }
policies: { onboarding: skip }
writeBack: { customField: cf1 }
mapping: acme-mapping.yaml
`;
}

test.each(['partner', 'sandbox', 'hris'])('hirebridge/%s says in one line that a Node is too old', async (entry) => {
  const old = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.1.0'}})`;
  const script = `import('hirebridge/${entry}').catch((error) => console.log(error.stack))`;
  const { stdout } = await run(process.execPath, ['--import', `data:text/javascript,${old}`, '-e', script]);
  expect(stdout).toBe(`hirebridge/${entry} needs Node 24 or newer, and this is Node 20.1.0.\n`);
});

test('`npx hirebridge demo --once` ends with 0', async () => {
  const { code, stdout, stderr } = await run('npx', ['hirebridge', 'demo', '--once'], await folderWithin('demo'));
  expect(code, stdout + stderr).toBe(0);
  expect(stdout).toContain('5 hires, 5 enrolments, 5 employees, 5 written back and verified');
  noteDemo(stdout);
});

/** A command that runs until the test ends, with all that npx started for it. */
function startNpx(args: readonly string[]): ChildProcess {
  const child = spawn('npx', ['hirebridge', ...args], { cwd: project, detached: true });
  onTestFinished(async () => {
    const closed = once(child, 'close');
    process.kill(-(child.pid as number), 'SIGTERM');
    await closed;
  });
  return child;
}

/** What a command wrote up to and with the line that has `end`; one that ends before is an error. */
async function firstLines(child: ChildProcess, end: string): Promise<string> {
  let told = '';
  for await (const chunk of child.stdout ?? []) {
    told += String(chunk);
    if (told.includes(end)) return told;
  }
  throw new Error(`It ended: ${told}`);
}
