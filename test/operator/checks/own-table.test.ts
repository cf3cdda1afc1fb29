import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { checkTenant } from '../../../src/operator/check-tenant.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { loadTenants } from '../../../src/tenants/load-tenants.ts';
import { openTenantHris, setupStatements } from '../../../src/tenants/open-hris.ts';
import type { Tenant } from '../../../src/tenants/schema.ts';
import { createDatabase } from '../../harness/postgres.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { openSandbox } from '../../sandbox/open-sandbox.ts';

/** Columns in the words of the customer; those of their own that nobody fills stay theirs. */
const OWN = Array.from({ length: 8 }, (_, at) => `eigen${at} text`).join(', ');

const TABLES = {
  SQLite: `create table personal (pnr integer primary key, vorname text not null, nachname text not null,
    mail text, stelle text, ${OWN})`,
  Postgres: `create table personal (pnr bigint generated always as identity primary key, vorname text not null,
    nachname text not null, mail text, stelle text, ${OWN})`,
} as const;

const DATABASES: Record<keyof typeof TABLES, () => Promise<string>> = {
  SQLite: async () => `sqlite:${join(await scratchFolder(), 'hr.db')}`,
  Postgres: async () => {
    const { url, drop } = await createDatabase();
    onTestFinished(drop);
    return url;
  },
};

const MAPPING = `fields:
  phone: null
  city: null
  country: null
  department: null
  startDate: { from: job.createdAt, transform: [date] }
`;

/** A tenant with a table of its own, in which nothing is called as in ours. */
async function ownTable(database: keyof typeof TABLES) {
  const sandbox = await openSandbox({ jobs: 1, candidates: 1 });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  vi.stubEnv('OWN_TABLE_KEY', sandbox.key);
  const url = await DATABASES[database]();
  vi.stubEnv('OWN_TABLE_URL', url);
  const hr = openDatabase(url);
  onTestFinished(() => hr.close());
  const run = (statement: string) => sql.raw(statement).execute(hr.kysely);
  await run(TABLES[database]);
  const [flow] = (await sandbox.partner.readAll(contract.onboarding.listFlows)).items;
  const dir = await scratchFolder();
  await writeFile(join(dir, 'acme-mapping.yaml'), MAPPING);
  await writeFile(
    join(dir, 'acme.yaml'),
    `tenant: acme
partner:
  baseUrl: ${sandbox.url}
  environment: sandbox
  apiKey: env:OWN_TABLE_KEY
  company: "${String(sandbox.companyId)}"
  webhooks: off
  allowPrivateAddress: true
hris:
  kind: sql
  connection: acme-hr
  url: env:OWN_TABLE_URL
  table: personal
  idColumn: pnr
  numberColumn: pnr
  fields:
    givenName: { column: vorname, required: true }
    familyName: { column: nachname, required: true }
    email: { column: mail, required: true }
    title: { column: stelle }
    startDate: { column: eintritt, type: date }
mapping: acme-mapping.yaml
policies: { onboarding: { flow: "${flow?.flowId ?? ''}" } }
streams: { jobs: { every: 1h } }
`,
  );
  const [tenant] = await loadTenants(dir);
  if (tenant === undefined) throw new Error('no tenant');
  const failing = async (asked: Tenant = tenant) =>
    (await checkTenant(asked, undefined)).filter(({ state }) => state === 'fail').map((line) => line.message);
  return { tenant, run, failing };
}

test.each(['SQLite', 'Postgres'] as const)(
  'an own table in %s needs the columns that the mapping names, and the statements that make them',
  async (database) => {
    const { tenant, run, failing } = await ownTable(database);
    const [probe] = await failing();
    expect(probe).toMatch(/has no column (?=.*external_ref)(?=.*eintritt)/);
    expect(probe).not.toMatch(/phone|city|birth_date|location/);
    const statements = (await setupStatements(tenant, [])) ?? [];
    expect(statements.map(({ text }) => text).join('\n')).toMatch(/alter table "personal" add column "eintritt" /);
    for (const { text } of statements) await run(text);
    expect(await failing()).toEqual([]);
    const folder = join(await scratchFolder(), 'files');
    const options = { ...tenant.hris.options, files: { folder } };
    const filed: Tenant = { ...tenant, documents: ['resume'], hris: { ...tenant.hris, options } };
    expect(await failing(filed)).toEqual([
      expect.stringMatching(/^streams\.documents: The folder .* it does not exist/),
    ]);
    await mkdir(folder);
    expect([await failing(filed), await readdir(folder)]).toEqual([[], []]);
    // Tables that are only read: one is not there, the other lacks a column.
    await run('create table positions (id varchar(190) primary key, title text)');
    const lists = { requisitions: { table: 'positions' }, resumes: { table: 'cvs' } };
    const listed = { ...tenant, hris: { ...tenant.hris, options: { ...tenant.hris.options, ...lists } } };
    expect((await failing(listed))[0]).toMatch(/positions has no column .*hirebridge ddl/);
    for (const { text } of (await setupStatements(listed, [])) ?? []) await run(text);
    expect(await failing(listed)).toEqual([]);
    const left = (await setupStatements(listed, [])) ?? [];
    expect(left.filter(({ text }) => !text.startsWith('grant '))).toEqual([]);
    const hris = await openTenantHris(tenant);
    const fields = { givenName: 'Ana', familyName: 'Reyes', email: 'ana@example.org', startDate: '2099-01-11' };
    const signal = AbortSignal.timeout(120_000);
    const made = await hris.employees.create(fields, 'acme:1', { signal, beforeSend: () => undefined });
    expect(made).toMatchObject({ kind: 'created', ref: { number: expect.any(String) } });
    expect(await hris.employees.find({ by: 'reference', value: 'acme:1' }, signal)).toMatchObject({ kind: 'one' });
    await hris.close();
  },
);
