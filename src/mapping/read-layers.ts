import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { problemAt, readYamlFile, type Texts, type YamlFile } from '../yaml/yaml-file.ts';

/**
 * A mapping file and, before it, those that it extends, lowest first. A file that extends itself, however far around,
 * and one that is not there are problems of the file that names them.
 */
export async function readLayers(file: string, texts?: Texts, above: readonly YamlFile[] = []): Promise<YamlFile[]> {
  const source = await readYamlFile(file, texts);
  const named = extended(source);
  if (named === undefined) return [source];
  const below = resolve(dirname(file), named);
  const chain = [...above, source];
  const wrong = chain.some((one) => resolve(one.file) === below)
    ? `"${named}" leads back to this file. Let each file extend only one that does not extend it in turn.`
    : isThere(below, texts)
      ? undefined
      : `"${named}" does not exist. Correct the path; it is read as seen from this file.`;
  if (wrong !== undefined) {
    source.problems.push(problemAt(source, ['extends'], wrong));
    return [source];
  }
  return [...(await readLayers(below, texts, chain)), source];
}

function isThere(file: string, texts: Texts | undefined): boolean {
  return texts === undefined ? existsSync(file) : Object.hasOwn(texts, file);
}

/** Whatever else `extends` holds is the schema's to refuse. */
function extended({ value }: YamlFile): string | undefined {
  const named = (value as { extends?: unknown } | null | undefined)?.extends;
  return typeof named === 'string' && named !== '' ? named : undefined;
}
