import type { z } from 'zod';
import { didYouMean } from '../nearest.ts';
import { type Path, type Problem, problemAt, type YamlFile } from './yaml-file.ts';

type Issue = z.core.$ZodIssue;

/**
 * Turns what zod refused into problems with line and column; unknown keys get a did-you-mean. `prefix` is where the
 * schema's root stands in the file.
 */
export function explainIssues(source: YamlFile, schema: z.ZodType, error: z.ZodError, prefix: Path = []): Problem[] {
  return error.issues.flatMap((issue) => explain(source, schema, issue, prefix, []));
}

function explain(source: YamlFile, schema: z.ZodType, issue: Issue, prefix: Path, above: Path): Problem[] {
  const inner: Path = [...above, ...(issue.path as (string | number)[])];
  const path: Path = [...prefix, ...inner];
  const name = path.join('.') || 'the file';
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, inner);
    return issue.keys.map((key) =>
      problemAt(source, path, `"${[...path, key].join('.')}" is not a known key. ${didYouMean(key, known)}`, key),
    );
  }
  if (issue.code === 'invalid_union') {
    const branch = nearestBranch(issue.errors);
    if (branch) return branch.flatMap((child) => explain(source, schema, child, prefix, inner));
  }
  if (!source.doc.hasIn(path)) return [problemAt(source, path, `"${name}" is missing: ${expectation(issue)}. Add it.`)];
  return [problemAt(source, path, `"${name}" is not right: ${expectation(issue)}.`)];
}

/**
 * The branch of a union whose kind fits (a map for a map), so that its own problems are told instead of "invalid
 * input".
 */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return branches.find(
    (issues) =>
      issues.length > 0 &&
      issues.every((issue) => issue.path.length > 0 || issue.code === 'unrecognized_keys' || issue.code === 'custom'),
  );
}

const WORDS: Readonly<Record<string, string>> = {
  object: 'keys with values, as in { key: value }',
  record: 'keys with values, as in { key: value }',
  array: 'a list, as in [one, two]',
  string: 'text',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
};

function expectation(issue: Issue): string {
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? 'this is not a name';
  if (issue.code === 'invalid_union')
    return issue.message === 'Invalid input' ? 'it has none of the forms that are allowed here' : issue.message;
  return issue.message
    .replace(/^Invalid input: expected (\w+), received .*$/, (told, word: string) =>
      WORDS[word] === undefined ? told : `expected ${WORDS[word]}`,
    )
    .replace(/^Invalid (?:input|option|string): /, '')
    .replace(/, received .*$/, '')
    .replace(/\.$/, '');
}

/** The keys that objects of the schema accept at this path, unions taken together. */
function keysAt(schema: z.ZodType, path: Path): string[] {
  let level: z.ZodType[] = [schema];
  for (const step of path)
    level = level.flatMap((s) => unwrap(s).map((one) => child(one, step))).filter((s) => s !== undefined);
  return [...new Set(level.flatMap(unwrap).flatMap((s) => Object.keys((s as z.ZodObject).def.shape ?? {})))];
}

function child(schema: z.ZodType, step: string | number): z.ZodType | undefined {
  const def = schema.def as { shape?: Record<string, z.ZodType>; element?: z.ZodType; valueType?: z.ZodType };
  return def.shape?.[step] ?? def.element ?? def.valueType;
}

function unwrap(schema: z.ZodType): z.ZodType[] {
  const def = schema.def as { innerType?: z.ZodType; in?: z.ZodType; options?: readonly z.ZodType[] };
  if (def.options) return def.options.flatMap(unwrap);
  const inner = def.innerType ?? def.in;
  return inner ? unwrap(inner) : [schema];
}
