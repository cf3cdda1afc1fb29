import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { access, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { explainedAt } from '../../src/docs.ts';
import { allEndpoints } from '../../src/partner/contract/index.ts';
import { quirkNames } from '../../src/sandbox/quirks.ts';
import { loadTenants } from '../../src/tenants/load-tenants.ts';
import { readCode } from '../architecture/tree.ts';
import { runCommand } from '../harness/run-command.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { isCodeOfErrors, metCodes, troubleshootingPage } from './error-codes.ts';
import { withFigures } from './figures.ts';
import { streamsPage, wrongReasons } from './partner-table.ts';

const root = path.join(import.meta.dirname, '../..');
const guides = (await readdir(path.join(root, 'docs'))).filter((name) => name.endsWith('.md'));
const documents = ['README.md', 'src/DESIGN.md', 'src/sandbox/README.md', ...guides.map((name) => `docs/${name}`)];

beforeEach(() => {
  vi.stubEnv('ACME_PARTNER_KEY', 'sk_live_1');
  vi.stubEnv('ACME_WEBHOOK_KEY', 'whk_1');
  vi.stubEnv('ACME_HR_URL', 'postgres://hr.example/hr');
});

afterEach(() => {
  vi.unstubAllEnvs();
});

function read(document: string): Promise<string> {
  return readFile(path.join(root, document), 'utf8');
}

async function yamlBlocks(document: string): Promise<string[]> {
  return [...(await read(document)).matchAll(/```yaml\n(.*?)```/gs)].map(([, block]) => block ?? '');
}

test('the tenant file of the first page has at most eight lines and is accepted', async () => {
  const [file = ''] = await yamlBlocks('README.md');
  expect(file.trim().split('\n').length).toBeLessThanOrEqual(8);
  const folder = await scratchFolder();
  await writeFile(path.join(folder, 'acme.yaml'), file);
  expect(await loadTenants(folder)).toMatchObject([{ tenant: 'acme', hris: { kind: 'sql' } }]);
});

test('the tenant file with every key, and the mapping beside it, are accepted', async () => {
  const [file = '', mapping = ''] = await yamlBlocks('docs/tenants.md');
  const folder = await scratchFolder();
  await writeFile(path.join(folder, 'acme.yaml'), file);
  await writeFile(path.join(folder, 'acme-mapping.yaml'), mapping);
  await writeFile(path.join(folder, 'acme-candidates.yaml'), 'fields: {}\n');
  const user = '  userName: { from: employee.email }\n  familyName: { from: candidate.lastName }\n';
  await writeFile(path.join(folder, 'accounts.yaml'), `fields:\n  givenName: { from: candidate.firstName }\n${user}`);
  expect(await loadTenants(folder, { secrets: 'skip' })).toMatchObject([
    { tenant: 'acme', policies: { reconcile: { every: 300_000 } } },
  ]);
});

test('every call of the partner client that a page shows is there', async () => {
  const calls = (await Promise.all(documents.map(read))).flatMap((text) => [
    ...text.matchAll(/\bpartner\.(\w+)\.(\w+)\(/g),
  ]);
  const unknown = calls.filter(
    ([, section = '', name = '']) => !allEndpoints().some(({ id }) => id === `${section}.${name}`),
  );
  expect(unknown.map(([call]) => call)).toEqual([]);
  expect(calls.length).toBeGreaterThan(0);
});

test("the sandbox's own page names files that exist, and every quirk", async () => {
  const page = await read('src/sandbox/README.md');
  const named = [...page.matchAll(/`((?:[\w.*<>-]+\/)*(?:[\w.*<>-]+\.(?:ts|js)|[\w-]+\/))`/g)].map(
    ([, file = '']) => file,
  );
  const isThere = (file: string) =>
    ['src/sandbox', '.'].some(
      (folder) => globSync(file.replaceAll(/<\w+>/g, '*'), { cwd: path.join(root, folder) })[0],
    );
  expect(named.filter((file) => !isThere(file))).toEqual([]);
  expect(named.length).toBeGreaterThan(20);
  expect(quirkNames.filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([]);
});

test.each(['hris-entra', 'hris-odoo', 'hris-scim'])(
  'what docs/%s.md shows of a tenant file is accepted',
  async (page) => {
    vi.stubEnv('ACME_DIRECTORY_TOKEN', 'token');
    vi.stubEnv('ACME_ENTRA_SECRET', 'secret');
    vi.stubEnv('ACME_ODOO_PASSWORD', 'password');
    const [hris = ''] = await yamlBlocks(`docs/${page}.md`);
    const folder = await scratchFolder();
    const address = 'baseUrl: "https://api.partner.example/v1/partner", environment: sandbox';
    const partner = `partner: { ${address}, apiKey: env:ACME_PARTNER_KEY, webhooks: off }`;
    const rest = 'policies: { onboarding: skip }\nwriteBack: { customField: cf1 }';
    await writeFile(path.join(folder, 'acme.yaml'), `tenant: acme\n${partner}\n${rest}\n${hris}`);
    expect(await loadTenants(folder)).toMatchObject([{ tenant: 'acme', hris: { kind: page.replace('hris-', '') } }]);
  },
);

test.each(documents)('%s names only scripts and files that exist', async (document) => {
  const text = await read(document);
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> };
  const named = [...text.matchAll(/npm run (?:-s )?([a-z0-9:-]+)/g)].map(([, name]) => name ?? '');
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link ?? '');
  const folder = path.dirname(path.join(root, document));
  await Promise.all(links.map((link) => access(path.join(folder, link))));
});

test.each(['README.md', ...guides.map((name) => `docs/${name}`)])(
  '%s shows the figures that the suites noted',
  async (page) => {
    const text = await read(page);
    expect(withFigures(page, text)).toBe(text);
  },
);

test('docs/reference.md says of this version what the code says', async () => {
  // In a process of its own, because vitest lists the exports of a module in another order than Node.
  const page = await promisify(execFile)(process.execPath, [path.join(root, 'test/docs/reference.ts')]);
  expect(await read('docs/reference.md')).toBe(page.stdout);
});

test('docs/streams.md says of every event and endpoint what uses it, or why nothing does', async () => {
  expect(wrongReasons()).toEqual([]);
  const page = streamsPage();
  expect(page).not.toMatch(/nothing: *\|/);
  expect(await read('docs/streams.md')).toBe(page);
});

test('the map of data in docs/privacy.md is what `hirebridge person map` prints', async () => {
  const { stdout } = await runCommand(['person', 'map']);
  const [, map] = (await read('docs/privacy.md')).split('## The map of data\n\n');
  expect(map).toBe(stdout);
});

const met = metCodes();

test('docs/troubleshooting.md has each code that a person may meet, with what it says', async () => {
  const page = troubleshootingPage(met);
  expect(page.match(/^## [A-Z_]+$/gm)?.length).toBeGreaterThan(300);
  expect(await read('docs/troubleshooting.md')).toBe(page);
});

test('what is done about a code is said only where it is the same in each case', () => {
  const said = (code: string) => met.filter((one) => one.code === code).flatMap(({ actions }) => actions);
  expect(['INVALID_API_KEY', 'EMAIL_CONFLICT', 'NO_ANSWER'].map(said)).toEqual([['reauthorize'], [], []]);
  expect([said('LANDING_UNREACHABLE'), said('LANDING_NOT_ERASED')]).toEqual([[], []]);
  expect(said('STORE_TOO_OLD')).toEqual(['reject']);
});

/** Texts of the code in the form of a code that no error, alarm or hold of ours has, and whose they are. */
const NO_CODES: Readonly<Record<string, RegExp>> = {
  'variables of the environment': /^(HIREBRIDGE|TEMPORAL|OTEL|LOG)_|^(NO|FORCE)_COLOR$/,
  'of drivers and Node': /^(ERR?_|SQL_ERROR$|PROTOCOL_|INVALID_ARGUMENT$)/,
  'of the hiring platform': /^(ACCESS_DENIED|PERMISSION_DENIED|ACCOUNT_INACTIVE|ALREADY_TERMINAL|DUPLICATE_\w+)$/,
  'of its credits and events': /^(INSUFFICIENT_ONBOARDING_CREDITS|JOB_CANDIDATE|ASSESSMENT_REMINDER|NO_SHOW)$/,
  'of a request that failed, in words beside its code': /^(SENT_TWICE|UNREADABLE_BODY)$/,
  'what became of a lead or an invitation':
    /^(ALREADY_\w+|CONSENT_REFUSED|NO_(APPLICATION|CONSENT_RECORD|EMAIL|OUTCOME)|PHONE_\w+)$/,
  'what became of a resume': /^(BAD_\w+|BATCH_FAILED|NOT_READ|NO_(ADDRESS|FILE|PDF))$/,
  "of Temporal's worker versions": /^AUTO_UPGRADE$/,
  'a pause that a person made, in its own words': /^PAUSED_BY_PERSON$/,
};

test('whatever looks like a code in the code is explained, or known to be none', async () => {
  const found = new Set<string>();
  for (const [file, source] of readCode())
    if (isCodeOfErrors(file))
      for (const [, text = ''] of source.matchAll(/'([A-Z]{2,}(?:_[A-Z0-9]+)+)'/g)) found.add(text);
  expect(found.size).toBeGreaterThan(300);
  const exchange = await read('docs/two-way.md');
  const left = [...found]
    .filter((text) => explainedAt(text) === undefined && !exchange.includes(`\`${text}\``))
    .filter((text) => !Object.values(NO_CODES).some((known) => known.test(text)));
  expect(left).toEqual([]);
});

test('a refusal prints where its code is explained, and every such place exists', async () => {
  const page = await read('docs/troubleshooting.md');
  const places = new Set([...page.matchAll(/^## (\S+)$/gm)].map(([, code = '']) => code.toLowerCase()));
  const links = met.map(({ code }) => explainedAt(code));
  expect(links.filter((link) => !places.has(link?.split('docs/troubleshooting.md#')[1] ?? ''))).toEqual([]);
  expect(['LANDING_BUSY', 'HRIS_SECRET_MISSING', 'CODE_OF_SOME_HR_SYSTEM'].map(explainedAt)).toEqual([
    'docs/troubleshooting.md#hris_busy',
    'docs/troubleshooting.md#secret_missing',
    undefined,
  ]);
  const { stderr } = await runCommand(['status', '--data', await scratchFolder()]);
  expect(stderr).toMatch(/\[STORE_MISSING\]\nSee: docs\/troubleshooting\.md#store_missing\n$/);
});
