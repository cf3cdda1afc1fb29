import type { FieldDef } from '../hris/port.ts';
import { templateParts } from '../values/template.ts';
import { type Problem, problemAt } from '../yaml/yaml-file.ts';
import type { PlacedRule } from './placed-rule.ts';

/** Checks that the parts of a rule go together. */
export function checkShape(placed: PlacedRule, fields: readonly FieldDef[]): Problem[] {
  return [...checkOrigin(placed), ...checkConstant(placed), ...checkLists(placed), ...checkOption(placed, fields)];
}

function checkOrigin({ target, rule, source }: PlacedRule): Problem[] {
  const at = ['fields', target];
  const origins = [rule.from, rule.constant, rule.template].filter((one) => one !== undefined);
  if (origins.length !== 1)
    return [problemAt(source, at, `"${target}" needs one of from, constant and template, and no two of them.`)];
  if (rule.template === undefined) return [];
  const parts = templateParts(rule.template);
  if (parts?.some((part) => 'path' in part) === true) return [];
  const wrong = parts === undefined ? 'has a brace that opens or closes alone' : 'names no path';
  const text =
    `the template of "${target}" ${wrong}. Write paths in braces: "{candidate.lastName}"; ` +
    'text alone is a constant.';
  return [problemAt(source, [...at, 'template'], text)];
}

function checkConstant({ target, rule, source }: PlacedRule): Problem[] {
  if (rule.constant === undefined) return [];
  const at = ['fields', target];
  if ((rule.transform ?? rule.table ?? rule.lookup ?? rule.default) !== undefined) {
    const text = `"${target}" is a constant; transform, table, lookup and default do nothing here. Remove them.`;
    return [problemAt(source, at, text)];
  }
  if (typeof rule.constant !== 'string' || rule.constant.trim() !== '') return [];
  const text = `"${target}" is an empty constant. Write a value, or null instead of the rule.`;
  return [problemAt(source, [...at, 'constant'], text)];
}

function checkLists({ target, rule, source }: PlacedRule): Problem[] {
  const collects = (rule.transform ?? []).some(
    (one) => one === 'first' || one === 'join' || (typeof one === 'object' && 'join' in one),
  );
  if (!Array.isArray(rule.from) || collects) return [];
  const text =
    `"${target}" reads several sources. Add "first" or "join" to its transform list ` + 'to say how they become one.';
  return [problemAt(source, ['fields', target, 'from'], text)];
}

/** `option` picks among the values of its field. */
function checkOption({ target, rule, source }: PlacedRule, fields: readonly FieldDef[]): Problem[] {
  const def = fields.find(({ key }) => key === target);
  const index = (rule.transform ?? []).indexOf('option');
  if (index < 0 || def === undefined || def.options !== undefined) return [];
  const text = `"${target}" has no list of values in the HR system to pick from. Remove "option", or name its options.`;
  return [problemAt(source, ['fields', target, 'transform', index], text)];
}
