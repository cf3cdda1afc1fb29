import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { parseYaml } from '../yaml/yaml-file.ts';
import type { Tenant } from './schema.ts';

type Files = Pick<Tenant, 'file' | 'files'>;

/**
 * What a definition changes in its files, one setting a line: `policies.reconcile.every: 5m -> 30m`. Comments and the
 * order of keys change nothing.
 */
export function describeChanges(before: Files | undefined, after: Files): string[] {
  const [was, is] = [before === undefined ? new Map<string, string>() : settingsOf(before), settingsOf(after)];
  const paths = [...new Set([...was.keys(), ...is.keys()])];
  return paths.flatMap((path) => {
    const [old, next] = [was.get(path), is.get(path)];
    if (old === next) return [];
    if (old === undefined) return [`+ ${path}: ${next}`];
    return [next === undefined ? `- ${path}: ${old}` : `~ ${path}: ${old} -> ${next}`];
  });
}

/** Every value of every file by its path; those of a mapping file behind the file's name. */
function settingsOf({ file, files }: Files): Map<string, string> {
  return new Map(
    Object.entries(files).flatMap(([path, text]) => {
      if (path === file) return flatten(parseYaml(path, text).value, []);
      if (/\.ya?ml$/.test(path)) return flatten(parseYaml(path, text).value, [basename(path)]);
      return [[basename(path), `${text.length} characters, ${fingerprint(text)}`] as [string, string]];
    }),
  );
}

/** Of a table that a mapping looks things up in: that it changed is enough. */
function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

function flatten(value: unknown, path: readonly string[]): [string, string][] {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isMap && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, inner]) => flatten(inner, [...path, key]));
  return [[path.join('.'), typeof value === 'string' ? value : JSON.stringify(value ?? null)]];
}
