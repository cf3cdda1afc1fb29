import type { FieldDef } from '../hris/port.ts';
import { didYouMean } from '../yaml/explain-issues.ts';
import { type Path, type Problem, problemAt, type YamlFile } from '../yaml/yaml-file.ts';
import { checkDirection, checkTwice, type WayBack } from './check-direction.ts';
import { checkShape } from './check-shape.ts';
import { lengthOf } from './fit-value.ts';
import { parseTableColumn } from './lookup-tables.ts';
import { flowsToHris, type PlacedRule, pathsOf } from './placed-rule.ts';
import { parseSourcePath, type SourceRecords, sourceRecords } from './source-fields.ts';

const PREVIOUS_JOB: Record<string, string> = {
  'candidate.currentJobTitle': 'the title of the job the person is leaving; the new one is job.title',
  'candidate.currentCompany': 'the company the person is leaving',
};

/**
 * Checks rules against both ends. `complete` is the file to blame for required fields that nothing fills; undefined
 * leaves that check out.
 */
export function checkRules(
  rules: readonly PlacedRule[],
  { fields, reads, way }: { fields: readonly FieldDef[]; reads: SourceRecords; way?: WayBack },
  complete: YamlFile | undefined,
): Problem[] {
  const problems = rules.flatMap((placed) => [
    ...checkTarget(placed, fields),
    ...checkShape(placed, fields),
    ...checkSources(placed, reads),
    ...checkTable(placed),
    ...checkValues(placed, fields),
    ...checkDirection(placed, fields, way),
  ]);
  problems.push(...checkTwice(rules));
  if (!complete) return problems;
  for (const field of fields) {
    if (!field.required || rules.some(({ target, rule }) => target === field.key && flowsToHris(rule))) continue;
    problems.push(
      problemAt(
        complete,
        [],
        `"${field.key}" (${field.label}) is required by the HR system and nothing fills it. Add a rule with ` +
          'from, constant or template.',
        'fields',
      ),
    );
  }
  return problems;
}

function checkTarget({ target, rule, source }: PlacedRule, fields: readonly FieldDef[]): Problem[] {
  const def = fields.find((field) => field.key === target);
  const writable = fields.filter((field) => field.writable).map((field) => field.key);
  if (!def)
    return [
      problemAt(
        source,
        ['fields'],
        `"${target}" is not a field of the HR system. ${didYouMean(target, writable)}`,
        target,
      ),
    ];
  return def.writable || !flowsToHris(rule)
    ? []
    : [
        problemAt(
          source,
          ['fields'],
          `"${target}" is filled by the HR system itself and cannot be written. Remove the rule.`,
          target,
        ),
      ];
}

function checkSources(placed: PlacedRule, reads: SourceRecords): Problem[] {
  const { target, rule, source } = placed;
  const at = ['fields', target];
  const own = pathsOf(rule).flatMap((path, index) => {
    const [key, ...inner] =
      rule.template === undefined ? ['from', ...(Array.isArray(rule.from) ? [index] : [])] : ['template'];
    return checkPath({ path, at: [...at, key ?? '', ...inner] }, placed, reads);
  });
  const asked = (rule.when ?? []).flatMap(({ path }, index) =>
    checkPath(
      { path, at: [...at, 'when', index, 'path'] },
      { target, source, rule: { ...rule, acknowledge: 'previousJob' } },
      reads,
    ),
  );
  return [...own, ...asked];
}

function checkPath(
  { path, at }: { path: string; at: Path },
  { target, rule, source }: PlacedRule,
  reads: SourceRecords,
): Problem[] {
  const parsed = parseSourcePath(path, { ...sourceRecords, ...reads });
  if ('wrong' in parsed) {
    const instead = parsed.known.length > 0 ? didYouMean(parsed.word, parsed.known) : '';
    return [problemAt(source, at, `${parsed.wrong}. ${instead}`.trim())];
  }
  if (!Object.hasOwn(reads, parsed.source)) {
    const text = `${path} is not at hand here: this mapping reads ${Object.keys(reads).join(', ')}. Remove the rule.`;
    return [problemAt(source, at, text)];
  }
  const previous = PREVIOUS_JOB[path];
  if (previous === undefined || rule.acknowledge === 'previousJob') return [];
  const text =
    `${path} is ${previous}. If the previous job is what "${target}" should hold, ` + 'add "acknowledge: previousJob".';
  return [problemAt(source, at, text)];
}

function checkTable({ target, rule, source }: PlacedRule): Problem[] {
  const column = rule.table === undefined ? undefined : parseTableColumn(rule.table);
  if (column === undefined || !('wrong' in column)) return [];
  const text = `${column.wrong}. ${didYouMean(column.word, column.known)}`;
  return [problemAt(source, ['fields', target, 'table'], text)];
}

/** What stands in the file is known now, so a value the HR system would refuse or cut is refused now. */
function checkValues({ target, rule, source }: PlacedRule, fields: readonly FieldDef[]): Problem[] {
  const def = fields.find((field) => field.key === target);
  if (def === undefined) return [];
  type Given = [path: string[], value: string | number | boolean | undefined];
  const looked = Object.entries(rule.lookup ?? {}).map(([key, value]): Given => [['lookup', key], value]);
  const given: Given[] = [[['constant'], rule.constant], [['default'], rule.default], ...looked];
  return given.flatMap(([path, value]) => {
    const text = value === undefined ? undefined : refusalOf(value, def);
    return text === undefined ? [] : [problemAt(source, ['fields', target, ...path], text)];
  });
}

function refusalOf(value: string | number | boolean, { key, options, maxLength }: FieldDef): string | undefined {
  const text = String(value);
  if (options !== undefined && !options.includes(text))
    return `"${text}" is not one of the values of "${key}". ${didYouMean(text, options)}`;
  if (maxLength === undefined || lengthOf(text) <= maxLength) return undefined;
  return `is ${lengthOf(text)} characters long, and "${key}" holds ${maxLength}. Shorten it.`;
}
