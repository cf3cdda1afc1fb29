import type { FieldDef } from '../hris/port.ts';
import { didYouMean } from './explain-issues.ts';
import type { FieldRule } from './schema.ts';
import { parseSourcePath, type SourceRecords, sourceRecords } from './source-fields.ts';
import { type Problem, problemAt, type YamlFile } from './yaml-file.ts';

/** A rule and where it stands. */
export interface PlacedRule {
  target: string;
  rule: FieldRule;
  source: YamlFile;
}

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
  { fields, reads }: { fields: readonly FieldDef[]; reads: SourceRecords },
  complete: YamlFile | undefined,
): Problem[] {
  const problems = rules.flatMap((placed) => [
    ...checkTarget(placed, fields),
    ...checkShape(placed),
    ...checkSources(placed, reads),
    ...checkOptions(placed, fields),
  ]);
  if (!complete) return problems;
  for (const field of fields) {
    if (!field.required || rules.some((placed) => placed.target === field.key)) continue;
    problems.push(
      problemAt(
        complete,
        [],
        `"${field.key}" (${field.label}) is required by the HR system and nothing fills it. Add a rule with ` +
          'from or constant.',
        'fields',
      ),
    );
  }
  return problems;
}

function checkTarget({ target, source }: PlacedRule, fields: readonly FieldDef[]): Problem[] {
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
  return def.writable
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

function checkShape({ target, rule, source }: PlacedRule): Problem[] {
  const at = ['fields', target];
  const problems: Problem[] = [];
  if ((rule.from === undefined) === (rule.constant === undefined))
    problems.push(problemAt(source, at, `"${target}" needs either from or constant, and not both.`));
  if (rule.constant !== undefined && (rule.transform ?? rule.lookup ?? rule.default) !== undefined)
    problems.push(
      problemAt(source, at, `"${target}" is a constant; transform, lookup and default do nothing here. Remove them.`),
    );
  if (typeof rule.constant === 'string' && rule.constant.trim() === '') {
    problems.push(
      problemAt(
        source,
        [...at, 'constant'],
        `"${target}" is an empty constant. Write a value, or null instead of the rule.`,
      ),
    );
  }
  const collects = (rule.transform ?? []).some(
    (one) => one === 'first' || one === 'join' || (typeof one === 'object' && 'join' in one),
  );
  if (Array.isArray(rule.from) && !collects)
    problems.push(
      problemAt(
        source,
        [...at, 'from'],
        `"${target}" reads several sources. Add "first" or "join" to its transform list to say how they become one.`,
      ),
    );
  return problems;
}

function checkSources({ target, rule, source }: PlacedRule, reads: SourceRecords): Problem[] {
  const paths = rule.from === undefined ? [] : [rule.from].flat();
  return paths.flatMap((path, index) => {
    const at = ['fields', target, 'from', ...(Array.isArray(rule.from) ? [index] : [])];
    const parsed = parseSourcePath(path, { ...sourceRecords, ...reads });
    if ('wrong' in parsed)
      return [
        problemAt(
          source,
          at,
          `${parsed.wrong}. ${parsed.known.length > 0 ? didYouMean(parsed.word, parsed.known) : ''}`.trim(),
        ),
      ];
    if (!Object.hasOwn(reads, parsed.source))
      return [
        problemAt(
          source,
          at,
          `${path} is not at hand here: this mapping reads ${Object.keys(reads).join(', ')}. Remove the rule.`,
        ),
      ];
    const previous = PREVIOUS_JOB[path];
    if (previous === undefined || rule.acknowledge === 'previousJob') return [];
    return [
      problemAt(
        source,
        at,
        `${path} is ${previous}. If the previous job is what "${target}" should hold, add "acknowledge: previousJob".`,
      ),
    ];
  });
}

/** Constants and lookup results are known now, so a value the HR system would refuse is refused now. */
function checkOptions({ target, rule, source }: PlacedRule, fields: readonly FieldDef[]): Problem[] {
  const options = fields.find((field) => field.key === target)?.options;
  if (!options) return [];
  type Given = [path: string[], value: string | number | boolean | undefined];
  const looked = Object.entries(rule.lookup ?? {}).map(([key, value]): Given => [['lookup', key], value]);
  const given: Given[] = [[['constant'], rule.constant], [['default'], rule.default], ...looked];
  return given.flatMap(([path, value]) => {
    if (value === undefined || options.includes(String(value))) return [];
    return [
      problemAt(
        source,
        ['fields', target, ...path],
        `"${value}" is not one of the values of "${target}". ${didYouMean(String(value), options)}`,
      ),
    ];
  });
}
