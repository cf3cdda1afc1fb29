import { exchangedFields } from '../exchange/see-fields.ts';
import { didYouMean } from '../in-words.ts';
import type { CompiledField } from '../mapping/compile-rule.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import { type Problem, problemAt, type YamlFile } from '../yaml/yaml-file.ts';
import type { Tenant } from './schema.ts';

/** Fields to ask about if the tenant file names none. */
const USUAL = ['startDate', 'title', 'department'];

/** The fields of an employee's mapping that are amended, and how; undefined if there are none. */
export function amendmentMapping(
  { amendments }: Pick<Tenant, 'amendments'>,
  employee: Mapping,
  exchanged: Mapping | undefined,
): Mapping | undefined {
  const { ask = USUAL, apply } = amendments ?? { apply: [] };
  const elsewhere = targetsOf(exchanged);
  const fields = employee.fields.flatMap((field): CompiledField[] => {
    const { target } = field;
    if (whyNot(field, elsewhere) !== undefined || ![...ask, ...apply].includes(target)) return [];
    return [{ ...field, amends: apply.includes(target) ? 'apply' : 'ask' }];
  });
  return fields.length === 0 ? undefined : { ...employee, fields, back: [] };
}

/** Reports every field of the section `amendments` that cannot be amended, and why. */
export function checkAmendments(
  source: YamlFile,
  { amendments, streams }: Tenant,
  employee: Mapping,
  exchanged: Mapping | undefined,
): Problem[] {
  if (streams.amendments.mapping !== undefined)
    return [
      problemAt(source, ['streams', 'amendments', 'mapping'], 'amendments use the mapping of employees. Remove it.'),
    ];
  const targets = employee.fields.map(({ target }) => target);
  const elsewhere = targetsOf(exchanged);
  return (['ask', 'apply'] as const).flatMap((key) =>
    (amendments?.[key] ?? []).flatMap((name, index) => {
      const field = employee.fields.find(({ target }) => target === name);
      const unknown = `"${name}" is not a mapped field. ${didYouMean(name, targets)}`;
      const text = field === undefined ? unknown : whyNot(field, elsewhere);
      return text === undefined ? [] : [problemAt(source, ['amendments', key, index], text)];
    }),
  );
}

function targetsOf(exchanged: Mapping | undefined): string[] {
  return exchanged === undefined ? [] : exchangedFields(exchanged).map(({ target }) => target);
}

function whyNot({ target, from, rule }: CompiledField, elsewhere: readonly string[]): string | undefined {
  if (elsewhere.includes(target))
    return `the stream employees already writes "${target}" to the HR system. Keep one of the two.`;
  if (rule.direction === 'both') return `"${target}" flows both ways, so its later edits are the HR system’s.`;
  if (from.some((path) => 'customField' in path && path.of !== undefined))
    return `"${target}" is read from an entry of a list, and later edits of it are not reported. Remove it here.`;
  if (from.some((path) => path.source === 'application'))
    return `"${target}" is read from the application, which is sent once. Remove it here.`;
  const onboarding = from.some((path) => path.source === 'onboarding');
  return onboarding ? `"${target}" is read from the onboarding, which is over by then. Remove it here.` : undefined;
}
