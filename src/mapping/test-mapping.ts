import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { explainIssues, type Place, placeOf, problemAt, readYamlFile, refuse } from '../yaml/yaml-file.ts';
import { type TableName, type TableRows, tableNames } from './compile-rule.ts';
import { evaluateMapping } from './evaluate.ts';
import { bindTables, type Mapping } from './load-mapping.ts';

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

/** Result of one case; `wrong` describes each difference in words. */
export interface CaseResult {
  name: string;
  at: Place;
  wrong: string[];
}

/** The cases of `acme-mapping.yaml` are in `acme-mapping.cases.yaml`. */
function casesFileOf(mappingFile: string): string {
  return mappingFile.replace(/(\.ya?ml)$/, '.cases$1');
}

export function isCasesFile(file: string): boolean {
  return /\.cases\.ya?ml$/.test(file);
}

/**
 * Runs the cases next to a mapping file; undefined if there are none. Throws MAPPING_CASES_INVALID with
 * file:line:column for unreadable cases.
 */
export async function testMapping(mapping: Mapping, file: string): Promise<CaseResult[] | undefined> {
  const beside = casesFileOf(file);
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
    wrong: differences(mapping, one),
  }));
}

type Case = z.output<typeof casesFile>['cases'][number];

function differences(
  mapping: Mapping,
  { record: sources, tables, fields: expected, problems: waiting }: Case,
): string[] {
  const { fields, problems } = evaluateMapping(bindTables(mapping, rowsOf(tables)), sources);
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

function rowsOf(tables: Case['tables']): Map<TableName, TableRows> {
  return new Map(tableNames.map((name) => [name, new Map(Object.entries(tables[name] ?? {}))]));
}
