import { existsSync } from 'node:fs';
import { isDeepStrictEqual, styleText } from 'node:util';
import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { storeExists } from '../config.ts';
import { mappingFile, tableNames, writeRule } from '../mapping/compile-rule.ts';
import { evaluateMapping } from '../mapping/evaluate.ts';
import { bindTables, type Mapping, shortVersion } from '../mapping/load-mapping.ts';
import { diffMapping, type MappingDiff, mappingNamed, maskDiff } from '../operator/diff-mapping.ts';
import { withTenant } from '../operator/open-tenant.ts';
import { readOwnTenant } from '../operator/tenants.ts';
import { noteLook } from '../store/audit.ts';
import { exchangeNames, landedNames, type StreamName } from '../streams/streams.ts';
import {
  loadExchangeMapping,
  loadRequisitionMapping,
  loadStreamMapping,
  loadTenantMapping,
} from '../tenants/open-hris.ts';
import type { Tenant } from '../tenants/schema.ts';
import { explainIssues, placeOf, problemAt, readYamlFile, refuse } from '../yaml/yaml-file.ts';
import {
  byOf,
  EXIT,
  example,
  type Flags,
  placesOf,
  print,
  renderChange,
  renderTable,
  say,
  shownFile,
} from './command.ts';
import { withOpened } from './open.ts';

const record = z.record(z.string(), z.unknown());
const value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]);

const tableValue = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/**
 * Test cases stored next to a mapping file: input records and expected fields. A field of `null` must be left out;
 * fields that a case does not name may have any value.
 */
const casesFile = z.strictObject({
  cases: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        record: z.record(z.string(), record).describe('candidate, job, ...; custom fields as { LABEL: value }'),
        tables: z
          .partialRecord(z.enum(tableNames), z.record(z.string(), z.record(z.string(), tableValue)))
          .describe('users, teams, ...: { ID: { COLUMN: value } }')
          .default({}),
        fields: z.record(z.string(), value).default({}),
        problems: z.array(z.string()).describe('Fields for which the hire must wait').default([]),
      }),
    )
    .min(1, 'expected at least one case'),
});

type Case = z.output<typeof casesFile>['cases'][number];

export const commands = { mapping: defineMapping };

function defineMapping(command: Command): void {
  command.description('Look at mapping files, check and test them. Writes nothing.');
  command
    .command('show')
    .description('Print a tenant’s effective mapping, each rule with the file and line it comes from.')
    .argument('<tenant>', 'tenant whose mapping to show')
    .addArgument(subject())
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge mapping show acme', 'hirebridge mapping show acme candidates'))
    .action(runShow);
  command
    .command('check')
    .description('Check every mapping file of a tenant against both sides; exit code 2 when one is rejected.')
    .argument('<tenant>', 'tenant whose mappings to check')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge mapping check acme'))
    .action(runCheck);
  command
    .command('test')
    .description('Run the cases kept beside a tenant’s mapping files (acme.cases.yaml); exit code 2 when one fails.')
    .argument('<tenant>', 'tenant whose mappings to test')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge mapping test acme'))
    .action(runTest);
  command
    .command('schema')
    .description('Print the JSON Schema of mapping files, for editors.')
    .addHelpText('after', example('hirebridge mapping schema > mapping.schema.json'))
    .action(() => print(mappingJsonSchema()));
  addMappingDiff(command);
}

function subject(): Argument {
  return new Argument('[subject]', 'employee, or a stream')
    .choices([
      'employee',
      'jobs',
      'candidates',
      'applications',
      'consents',
      'onboarding',
      'interviews',
      'screenings',
      'bookings',
      'leads',
      'employees',
      'positions',
      'requisitions',
    ])
    .default('employee');
}

async function readViews(tenantId: string, command: Command) {
  return readMappings((await placesOf(command)).tenantsDir, tenantId);
}

async function runShow(tenantId: string, wanted: string, options: Flags, command: Command): Promise<void> {
  const view = (await readViews(tenantId, command)).find(({ name }) => name === wanted);
  const rows = (view?.rules ?? []).map(({ field, rule, file, line }) => [field, rule, `${shownFile(file)}:${line}`]);
  const text =
    view === undefined
      ? `${tenantId} maps no ${wanted}: its tenant file names no mapping for them, or its HR system has none.\n`
      : `${renderTable(['field', 'rule', 'from'], rows)}\n\nversion ${view.version}\n`;
  say(options, view ?? null, text);
}

async function runCheck(tenantId: string, options: Flags, command: Command): Promise<void> {
  const views = await readViews(tenantId, command);
  const checked = views.map(({ name, rules, version }) => ({ name, fields: rules.length, version }));
  const lines = checked.map((one) => `ok    ${one.name}: ${one.fields} fields, version ${one.version}\n`);
  say(options, checked, lines.join(''));
}

async function runTest(tenantId: string, options: Flags, command: Command): Promise<void> {
  const results = await testMappings((await placesOf(command)).tenantsDir, tenantId);
  if (results.some(({ wrong }) => wrong.length > 0)) process.exitCode = EXIT.refused;
  const lines = results.map(({ at, name, wrong }) => {
    const state = wrong.length === 0 ? styleText('green', 'ok  ') : styleText('red', 'fail');
    const reasons = wrong.map((text) => `\n      ${text}`).join('');
    return `${state}  ${shownFile(at.file)}:${at.line}  ${name}${reasons}\n`;
  });
  const none = 'There are no cases. Keep some beside the mapping: docs/mapping.md says how.\n';
  say(options, results, lines.length === 0 ? none : lines.join(''));
}

/** The JSON Schema for editors, kept as mappings/mapping.schema.json. */
export function mappingJsonSchema(): string {
  const schema = { ...z.toJSONSchema(mappingFile, { io: 'input' }), title: 'hirebridge mapping file' };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function addMappingDiff(mapping: Command): void {
  mapping
    .command('diff')
    .description(
      'Show which records a new mapping would change, and how, before it is live: counts per field, and samples. ' +
        'Fields that a mapping calls sensitive are masked. Reads the partner; writes nothing. ' +
        'Exit code 2: some differ.',
    )
    .argument('<tenant>', 'tenant whose mapping would change')
    .argument('<file>', 'the new mapping file')
    .option('--stream <stream>', 'the file maps this stream (jobs, candidates, employees), not the employee of a hire')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      example('hirebridge mapping diff acme new.yaml', 'hirebridge mapping diff acme new.yaml --stream candidates'),
    )
    .action(runDiff);
}

async function runDiff(
  tenantId: string,
  file: string,
  options: Flags & { stream?: string },
  command: Command,
): Promise<void> {
  const places = await placesOf(command);
  if (!storeExists(places.dataDir)) await readOwnTenant(places.tenantsDir, tenantId);
  const diff = await withOpened(places, 'if-empty', (store) =>
    withTenant({ store, places, tenantId }, async (open) => {
      const subject = mappingNamed(options.stream);
      const found = await diffMapping(open, subject, file);
      await noteLook(store, { by: byOf({}), tenantId, what: `what another mapping of ${subject} changes` });
      return found;
    }),
  );
  const shown = maskDiff(diff);
  say(options, shown, render(shown));
  if (diff.changed > 0) process.exitCode = EXIT.refused;
}

function render({ subject, from, to, compared, changed, fields }: MappingDiff): string {
  const head = `${subject}: mapping ${from} -> ${to}: ${changed} of ${compared} records would change\n`;
  const rows = fields.flatMap(({ field, count, broken, samples }) =>
    samples.map((sample, at) => [
      ...(at === 0 ? [field, String(count), String(broken)] : ['', '', '']),
      sample.record,
      renderChange(sample),
    ]),
  );
  if (rows.length === 0) return head;
  return `${head}\n${renderTable(['field', 'records', 'without a value', 'for example', 'change'], rows)}\n`;
}

/**
 * A tenant's effective mappings: of employees, of each stream that can land or goes both ways, and of requisitions if
 * the HR system has them.
 */
export async function readMappings(tenantsDir: string, tenantId: string) {
  const tenant = await readOwnTenant(tenantsDir, tenantId);
  return (await mappingsOf(tenant)).map(({ name, mapping }) => ({
    name,
    version: shortVersion(mapping.hash),
    rules: [...new Set([...mapping.fields, ...mapping.back])].map(({ target, rule, sensitive, at }) => {
      const { file, line } = at;
      return { field: target, rule: writeRule(rule), sensitive, file, line };
    }),
  }));
}

async function testMappings(tenantsDir: string, tenantId: string) {
  const tenant = await readOwnTenant(tenantsDir, tenantId);
  const named = (await mappingsOf(tenant)).flatMap(({ file, mapping }) =>
    file === undefined ? [] : [{ file, mapping }],
  );
  const results = await Promise.all(named.map(({ file, mapping }) => testMapping(mapping, file)));
  return results.flatMap((cases) => cases ?? []);
}

/**
 * Runs the cases next to a mapping file; undefined if there are none. Throws MAPPING_CASES_INVALID with
 * file:line:column for unreadable cases.
 */
async function testMapping(mapping: Mapping, file: string) {
  // The cases of `acme-mapping.yaml` are in `acme-mapping.cases.yaml`.
  const beside = file.replace(/(\.ya?ml)$/, '.cases$1');
  if (!existsSync(beside)) return undefined;
  const source = await readYamlFile(beside);
  const parsed = casesFile.safeParse(source.value);
  const problems = [...source.problems];
  if (problems.length === 0 && !parsed.success) problems.push(...explainIssues(source, casesFile, parsed.error));
  const targets = mapping.fields.map(({ target }) => target);
  for (const [index, one] of (parsed.data?.cases ?? []).entries())
    for (const [key, part] of [
      ...Object.keys(one.fields).map((name) => [name, 'fields']),
      ...one.problems.map((name) => [name, 'problems']),
    ])
      if (key !== undefined && part !== undefined && !targets.includes(key) && one.fields[key] !== null)
        problems.push(
          problemAt(source, ['cases', index, part], `"${key}" is not a field of this mapping. Correct the case.`, key),
        );
  if (problems.length > 0 || !parsed.success) throw refuse('MAPPING_CASES_INVALID', problems);
  return parsed.data.cases.map((one, index) => ({
    name: one.name,
    at: { file: beside, ...placeOf(source, ['cases', index]) },
    /** Each difference in words. */
    wrong: differences(mapping, one),
  }));
}

function differences(
  mapping: Mapping,
  { record: sources, tables, fields: expected, problems: waiting }: Case,
): string[] {
  const rows = tableNames.map((name) => [name, new Map(Object.entries(tables[name] ?? {}))] as const);
  const { fields, problems } = evaluateMapping(bindTables(mapping, new Map(rows)), sources);
  const unequal = Object.entries(expected).flatMap(([key, wanted]) => {
    const given = fields[key] ?? null;
    return isDeepStrictEqual(given, wanted)
      ? []
      : [`${key} is ${JSON.stringify(given)}, expected ${JSON.stringify(wanted)}`];
  });
  const unexpected = problems
    .filter(({ field }) => !waiting.includes(field))
    .map(({ field, text }) => `${field}: ${text}`);
  const found = problems.map(({ field }) => field);
  const absent = waiting
    .filter((field) => !found.includes(field))
    .map((field) => `${field} was expected to have a problem and has none`);
  return [...unequal, ...unexpected, ...absent];
}

async function mappingsOf(tenant: Tenant): Promise<{ name: string; file: string | undefined; mapping: Mapping }[]> {
  const streams = await Promise.all([
    ...landedNames.map((name) => ofStream(tenant, name, loadStreamMapping(tenant, name))),
    ...exchangeNames.map((name) => ofStream(tenant, name, loadExchangeMapping(tenant, name))),
    ofStream(tenant, 'requisitions', loadRequisitionMapping(tenant)),
  ]);
  const employee = { name: 'employee', file: tenant.mapping, mapping: await loadTenantMapping(tenant) };
  return [employee, ...streams.flat()];
}

async function ofStream({ streams }: Tenant, name: StreamName, loading: Promise<Mapping | undefined>) {
  const mapping = await loading;
  return mapping === undefined ? [] : [{ name, file: streams[name].mapping, mapping }];
}
