import type { Lookup } from './read-lookup.ts';
import type { FieldRule } from './schema.ts';
import { templateParts } from './template.ts';
import type { YamlFile } from './yaml-file.ts';

/** A rule, its lookup read, and the file where it stands. */
export interface PlacedRule {
  target: string;
  rule: Omit<FieldRule, 'lookup'> & { lookup?: Lookup };
  source: YamlFile;
}

/** The paths that give the value, in the order they are written; those of a broken template are none. */
export function pathsOf({ from, template }: PlacedRule['rule']): string[] {
  if (template === undefined) return from === undefined ? [] : [from].flat();
  return (templateParts(template) ?? []).flatMap((part) => ('path' in part ? part.path : []));
}
