import { templateParts } from '../values/transforms.ts';
import { type Place, placeOf, type YamlFile } from '../yaml/yaml-file.ts';
import type { Lookup } from './read-lookup.ts';
import type { FieldRule } from './schema.ts';

/** A rule with its lookup loaded, and the file it comes from. */
export interface PlacedRule {
  target: string;
  rule: Omit<FieldRule, 'lookup'> & { lookup?: Lookup };
  source: YamlFile;
  /** Place of each value, if the lookup is in a file of its own. */
  lookupPlaces?: Readonly<Record<string, Place>>;
}

export function flowsToHris({ direction }: PlacedRule['rule']): boolean {
  return direction !== 'toPartner';
}

export function flowsToPartner({ direction }: PlacedRule['rule']): boolean {
  return direction === 'toPartner' || direction === 'both';
}

/** Place of one value of the rule's lookup. */
export function placeOfValue({ target, source, lookupPlaces }: PlacedRule, key: string): Place {
  return lookupPlaces?.[key] ?? { file: source.file, ...placeOf(source, ['fields', target, 'lookup'], key) };
}

/** The paths that give the value, in written order; none for a broken template. */
export function pathsOf({ from, template }: PlacedRule['rule']): string[] {
  if (template === undefined) return from === undefined ? [] : [from].flat();
  return (templateParts(template) ?? []).flatMap((part) => ('path' in part ? part.path : []));
}
