/** Parts of pages whose commands a test reads from the page and plays, all of them and in their order. */
export const WALKS: Readonly<Record<string, string>> = {
  'README.md ## From the package to the first hire': 'test/slow/package.test.ts',
  'docs/own-table.md # A table of your own': 'test/slow/own-table.test.ts',
  'docs/http-definitions.md ## From the file to the first hire': 'test/slow/definition-walk.test.ts',
  'docs/two-way.md ## From an empty folder to a field that flows': 'test/slow/documented-commands.test.ts',
};

/**
 * Parts of pages that list commands; `test/slow/documented-commands.test.ts` plays each line against a running tenant,
 * with every alternative and with what stands there for TENANT, HOLD and the like.
 */
export const LISTS: readonly string[] = [
  'README.md ## Run it',
  'README.md ## Operate it',
  'README.md ## The sandbox',
  'docs/operations.md ## Every day',
  'docs/mapping.md ## Commands',
  'docs/mapping.md ## Versions',
  'docs/sandbox.md # The sandbox',
];

/** Lines, or one of the commands that a line stands for, that another test plays: its file, and words in it. */
export const ELSEWHERE: Readonly<Record<string, readonly [file: string, words: string]>> = {
  'hirebridge keys status': ['test/cli/keys.test.ts', "['keys', 'status'"],
  'hirebridge keys rotate acme': ['test/cli/keys.test.ts', "['keys', 'rotate'"],
  'hirebridge keys new': ['test/cli/keys.test.ts', "['keys', 'new']"],
  'hirebridge person find acme eva.lind@example.com': ['test/slow/person.test.ts', "'find'"],
  'hirebridge person export acme 501 --out eva.json': ['test/slow/person.test.ts', "'export'"],
  'hirebridge person erase acme 501 --employee keep --reason "request of 25 November"': [
    'test/slow/person.test.ts',
    "'erase'",
  ],
  'hirebridge tenant remove acme': ['test/slow/person.test.ts', "'tenant', 'remove', world.tenant"],
  'hirebridge tenant remove acme --erase --landing keep --reason "end of contract"': [
    'test/slow/person.test.ts',
    "'--erase', '--landing'",
  ],
  'hirebridge person receipts acme --json': ['test/slow/person.test.ts', "'receipts'"],
  'hirebridge person hold acme 501 --reason "case 12/26"': ['test/slow/person.test.ts', "'hold'"],
  'hirebridge person due acme': ['test/cli/operator-commands.test.ts', "'person', 'due', 'acme'"],
  'hirebridge person decide acme 501 --keep': [
    'test/cli/operator-commands.test.ts',
    "'person', 'decide', 'acme', '501', '--keep'",
  ],
  'hirebridge audit verify': ['test/cli/audit.test.ts', "'audit', 'verify'"],
  'hirebridge audit verify acme --heads worker.log': ['test/cli/audit.test.ts', "'--heads'"],
  'hirebridge audit export acme --since 2026-11-01 > acme.jsonl': ['test/cli/audit.test.ts', "'audit', 'export'"],
  'npm run demo': ['test/e2e/demo.test.ts', "'demo'"],
  'npm pack': ['test/slow/package.test.ts', "'pack'"],
  'npm install ./hirebridge-0.1.0.tgz': ['test/slow/package.test.ts', 'README leads from the package'],
  'npx hirebridge sandbox --jobs 3 --candidates 40': ['test/slow/package.test.ts', '`npx hirebridge sandbox` answers'],
  'npx hirebridge demo --once': ['test/slow/package.test.ts', '`npx hirebridge demo --once` ends with 0'],
  'npx hirebridge up --tenants ./tenants': ['test/slow/package.test.ts', 'README leads from the package'],
  'npm run -s hirebridge -- up --tenants ./tenants': ['test/slow/package.test.ts', 'README leads from the package'],
  'hirebridge tenant confirm-company TENANT': ['test/console/verbs.test.ts', "'confirm-company'"],
  'hirebridge hris init acme-hr.yaml --openapi openapi.json': ['test/hris/draft.test.ts', "'--openapi'"],
  'hirebridge hris init acme-hr.yaml --scim https://hr.acme.example/scim/v2 --token env:ACME_TOKEN': [
    'test/hris/draft.test.ts',
    "'--scim'",
  ],
  'hirebridge hris test acme-hr.yaml --url https://test.hr.acme.example/api --option token=env:ACME_TEST_TOKEN': [
    'test/cli/hris.test.ts',
    "['hris', 'test', file",
  ],
  'hirebridge tenant go-live TENANT --since DATE': ['test/cli/go-live.test.ts', "'go-live'"],
  'npx newman run http://127.0.0.1:8801/collection.json -e http://127.0.0.1:8801/environment.json': [
    'test/contract-tools/run.ts',
    'newman',
  ],
  'hirebridge inbox retry DELIVERY': ['test/console/verbs.test.ts', "['inbox', 'retry', DELIVERY"],
  'hirebridge hold answer HOLD ANSWER ID': ['test/scenarios/scenario.ts', "'answer', hold.holdId, ...words"],
  'docker compose -f packaging/compose.yaml up --build': ['test/packaging/compose.ts', 'packaging/compose.yaml'],
  'helm install hirebridge packaging/helm --values mine.yaml': ['test/packaging/run.ts', 'helm'],
};

const AS_ROOT = 'changes users and units of the machine; npm run test:packaging has systemd judge the units';
const THIS_RUN = 'it is the run that plays this';

/** Lines that cannot be run here, and why. */
export const CANNOT: Readonly<Record<string, string>> = {
  'hirebridge sync TENANT --one ID': 'a record belongs to a stream; the same with STREAM is played',
  'npm test': THIS_RUN,
  'npm run check': 'CI runs its parts, each for itself',
  'export HIREBRIDGE_KEYS=file:/etc/hirebridge/keys': 'sets up a shell',
  'export PATH=$PWD/node_modules/.bin:$PATH': 'sets up a shell',
  'npx vitest run --config test/vitest.config.ts test/store/inbox.test.ts': THIS_RUN,
  'open http://127.0.0.1:8801': 'opens a browser; test/sandbox/page plays the page in one',
  'useradd --system --home-dir /var/lib/hirebridge --shell /usr/sbin/nologin hirebridge': AS_ROOT,
  'install -d -m 0750 -g hirebridge /etc/hirebridge /etc/hirebridge/tenants': AS_ROOT,
  'cp packaging/systemd/*.service /etc/systemd/system/': AS_ROOT,
  'systemctl enable --now hirebridge-serve hirebridge-worker@8789 hirebridge-worker@8791 hirebridge-console': AS_ROOT,
};
