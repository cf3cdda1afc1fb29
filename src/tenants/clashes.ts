import { type Problem, problemAt, type YamlFile } from '../mapping/yaml-file.ts';
import type { Tenant } from './schema.ts';

/** A tenant file as far as it could be read. */
export interface Loaded {
  source: YamlFile;
  tenant?: Tenant;
  problems: Problem[];
}

/**
 * Two tenants of one name would share a key; one connection name with two meanings would let a person be created
 * twice.
 */
export function clashes(loaded: readonly Loaded[]): Problem[] {
  const names = new Map<string, string>();
  const connections = new Map<string, { meaning: string; file: string }>();
  return loaded.flatMap(({ source, tenant }) => {
    if (!tenant) return [];
    const problems: Problem[] = [];
    const first = names.get(tenant.tenant);
    if (first !== undefined)
      problems.push(
        problemAt(
          source,
          ['tenant'],
          `"${tenant.tenant}" is already the tenant of ${first}. Give each file its own name.`,
        ),
      );
    names.set(tenant.tenant, first ?? source.file);

    const meaning = JSON.stringify([tenant.hris.kind, tenant.hris.options['url']]);
    const shared = connections.get(tenant.hris.connection);
    if (shared && shared.meaning !== meaning) {
      problems.push(
        problemAt(
          source,
          ['hris', 'connection'],
          `"${tenant.hris.connection}" already names another HRIS in ${shared.file}. One name is one HRIS: ` +
            'use another name, or the same kind and url.',
        ),
      );
    }
    if (!shared) connections.set(tenant.hris.connection, { meaning, file: source.file });
    return problems;
  });
}
