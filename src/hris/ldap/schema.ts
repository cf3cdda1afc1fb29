import type { DescribedField } from '../port.ts';

/** Part of a server's schema (RFC 4512, section 4.1); names are in lower case. */
export interface LdapSchema {
  attributes: ReadonlyMap<string, AttributeType>;
  /** These classes and those above them, and their attributes. */
  attributesOf(classes: readonly string[]): Record<'classes' | 'must' | 'may', Set<string>>;
  /** Those of these attributes by which nobody is found, because they have no rule of equality. */
  withoutEquality(names: readonly string[]): string[];
}

interface AttributeType {
  /** As the server writes it. */
  name: string;
  syntax: string | undefined;
}

const SYNTAXES = '1.3.6.1.4.1.1466.115.121.1.';
export const GENERALIZED_TIME = `${SYNTAXES}24`;

const TYPES: Readonly<Record<string, DescribedField['type']>> = {
  [`${SYNTAXES}7`]: 'boolean',
  [`${SYNTAXES}27`]: 'number',
  [GENERALIZED_TIME]: 'date',
  // Names, IA5, printable and directory strings, phone numbers, addresses, distinguished names.
  ...Object.fromEntries(['11', '12', '15', '26', '36', '41', '44', '50'].map((end) => [`${SYNTAXES}${end}`, 'text'])),
};

export function typeOf({ syntax = '' }: AttributeType): DescribedField['type'] {
  return TYPES[syntax] ?? 'other';
}

export function readSchema(attributeTypes: readonly string[], objectClasses: readonly string[]): LdapSchema {
  const types = byName(attributeTypes);
  const classes = byName(objectClasses);
  const partOf = (key: 'syntax' | 'equality', one: Definition | undefined, depth = 0): string | undefined =>
    one === undefined || depth > 20
      ? undefined
      : (one[key] ?? partOf(key, types.get(one.above[0] ?? '')?.definition, depth + 1));
  const attributes = [...types].map(([key, { name, definition }]): [string, AttributeType] => [
    key,
    { name, syntax: partOf('syntax', definition) },
  ]);
  // Some servers tell no rules.
  const tellsRules = [...types.values()].some(({ definition }) => definition.equality !== undefined);
  const isFound = (name: string): boolean => {
    const definition = types.get(name.toLowerCase())?.definition;
    return !tellsRules || definition === undefined || partOf('equality', definition) !== undefined;
  };
  return {
    attributes: new Map(attributes),
    withoutEquality: (names) => names.filter((name) => !isFound(name)),
    attributesOf(names) {
      const [must, may, seen] = [new Set<string>(), new Set<string>(), new Set<string>()];
      const add = (name: string): void => {
        const one = classes.get(name)?.definition;
        if (one === undefined || seen.has(name)) return;
        for (const own of one.names) seen.add(own.toLowerCase());
        for (const attribute of one.must) must.add(attribute);
        for (const attribute of one.may) may.add(attribute);
        one.above.forEach(add);
      };
      for (const name of names) add(name.toLowerCase());
      return { classes: seen, must, may };
    },
  };
}

interface Definition {
  names: string[];
  above: string[];
  syntax: string | undefined;
  equality: string | undefined;
  must: string[];
  may: string[];
}

function byName(definitions: readonly string[]): Map<string, { name: string; definition: Definition }> {
  return new Map(
    definitions.map(read).flatMap((definition) => {
      return definition.names.map((name) => [name.toLowerCase(), { name, definition }] as const);
    }),
  );
}

function read(text: string): Definition {
  // A description is the only part in which words mean nothing.
  const plain = text.replaceAll(/\sDESC\s+'[^']*'/g, ' ');
  const list = (word: string): string[] => {
    const [, several, one = ''] = new RegExp(`\\s${word}\\s+(?:\\(([^)]*)\\)|([^\\s)]+))`).exec(plain) ?? [];
    return (several ?? one).split(/[\s$']+/).filter(Boolean);
  };
  const lower = (word: string): string[] => list(word).map((name) => name.toLowerCase());
  const [syntax, equality] = ['SYNTAX', 'EQUALITY'].map((word) => list(word)[0]);
  return {
    names: list('NAME'),
    above: lower('SUP'),
    syntax: syntax?.replace(/\{\d+\}$/, ''),
    equality,
    must: lower('MUST'),
    may: lower('MAY'),
  };
}
