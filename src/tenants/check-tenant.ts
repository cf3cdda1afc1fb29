import { dirname, resolve } from 'node:path';
import { isConnectorError } from '../errors.ts';
import { findHrisKind, hrisKinds, streamNames } from '../hris/registry.ts';
import { didYouMean, explainIssues } from '../mapping/explain-issues.ts';
import { loadMapping } from '../mapping/load-mapping.ts';
import { type Path, type Problem, problemAt, type YamlFile } from '../mapping/yaml-file.ts';
import { loadStreamMapping } from './open-hris.ts';
import type { Tenant } from './schema.ts';
import { anchorSecret, isSecretRef, resolveSecret } from './secrets.ts';

/** The adapter's own part of the file, checked by the adapter's own schema. */
export function checkHris(source: YamlFile): { options?: Record<string, unknown>; problems: Problem[] } {
  const value = (source.value as { hris?: unknown } | null)?.hris;
  if (typeof value !== 'object' || value === null) return { problems: [] };
  const { kind, connection: _connection, ...options } = value as Record<string, unknown>;
  if (typeof kind !== 'string') return { problems: [] };
  const found = findHrisKind(kind);
  if (!found)
    return {
      problems: [
        problemAt(source, ['hris', 'kind'], `"${kind}" is not a kind of HRIS. ${didYouMean(kind, hrisKinds())}`),
      ],
    };
  const literal = Object.entries(options).filter(
    ([, option]) => typeof option === 'string' && URL.canParse(option) && new URL(option).password !== '',
  );
  if (literal.length > 0) {
    return {
      problems: literal.map(([key]) =>
        problemAt(
          source,
          ['hris', key],
          `"hris.${key}" holds a password. Put the whole address into the environment or a file of its own and write env:NAME or file:/path here.`,
        ),
      ),
    };
  }
  const parsed = found.optionsSchema.safeParse(options);
  if (!parsed.success) return { problems: explainIssues(source, found.optionsSchema, parsed.error, ['hris']) };
  return { options, problems: [] };
}

/** A relative SQLite path or secret file is meant from where the tenant file stands. */
export function anchorUrl(url: string, file: string): string {
  if (url.startsWith('sqlite:')) return `sqlite:${resolve(dirname(file), url.slice('sqlite:'.length))}`;
  return anchorSecret(url, file);
}

/** Names every reference that leads nowhere, at its place. */
export function missingSecrets(source: YamlFile, tenant: Tenant): Problem[] {
  const refs: [Path, unknown][] = [
    [['partner', 'apiKey'], tenant.partner.apiKey],
    ...tenant.partner.webhookKeys.map((ref, index): [Path, unknown] => [['partner', 'webhookKeys', index], ref]),
    ...Object.entries(tenant.hris.options).map(([key, value]): [Path, unknown] => [['hris', key], value]),
  ];
  return refs.flatMap(([path, ref]) => {
    if (typeof ref !== 'string' || !isSecretRef(ref)) return [];
    try {
      resolveSecret(ref);
      return [];
    } catch (error) {
      return [problemAt(source, path, (error as Error).message)];
    }
  });
}

/** Loads the tenant's mapping over the default one, so that its faults are told together with the tenant's. */
export async function checkMapping(source: YamlFile, tenant: Tenant): Promise<{ hash: string; problems: Problem[] }> {
  const kind = findHrisKind(tenant.hris.kind);
  try {
    const parsed = kind?.optionsSchema.parse(tenant.hris.options);
    const mapping = await loadMapping({
      kind: tenant.hris.kind,
      fields: kind?.fields(parsed) ?? [],
      ...(tenant.mapping === undefined ? {} : { file: tenant.mapping }),
    });
    const unmapped = tenant.writeBack.values.flatMap((value, index) =>
      mapping.fields.some((field) => field.target === value.field)
        ? []
        : [
            problemAt(
              source,
              ['writeBack', 'values', index, 'field'],
              `"${value.field}" is not a mapped field. ${didYouMean(
                value.field,
                mapping.fields.map((field) => field.target),
              )}`,
            ),
          ],
    );
    return { hash: mapping.hash, problems: unmapped };
  } catch (error) {
    return { hash: '', problems: problemsOf(error, source, ['mapping']) };
  }
}

/** The same for the mappings of its streams. */
export async function checkStreams(source: YamlFile, tenant: Tenant): Promise<{ hash: string; problems: Problem[] }> {
  const checked = await Promise.all(
    streamNames.map(async (stream) => {
      try {
        return { hash: (await loadStreamMapping(tenant, stream))?.hash ?? '', problems: [] };
      } catch (error) {
        return { hash: '', problems: problemsOf(error, source, ['streams', stream, 'mapping']) };
      }
    }),
  );
  return { hash: checked.map((one) => one.hash).join(), problems: checked.flatMap((one) => one.problems) };
}

function problemsOf(error: unknown, source: YamlFile, path: Path): Problem[] {
  if (!isConnectorError(error)) throw error;
  const listed = error.details?.['problems'] as Problem[] | undefined;
  return listed ?? [problemAt(source, path, error.message)];
}
