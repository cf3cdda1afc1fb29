import { hash } from 'node:crypto';
import type { EmployeeFields } from '../hire/employee.ts';
import type { LandingRow } from '../hris/port.ts';
import { evaluateMapping } from '../mapping/evaluate.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import type { SourcePath } from '../mapping/source-fields.ts';
import type { Quarantined } from '../store/quarantine.ts';
import { type PullName, pullStreams } from './streams.ts';

/**
 * One partner record as it lands, or why it cannot. `before` is what its row holds, of a record that was read by its
 * id: what only the list tells stays as it is.
 */
export function mapRecord(
  mapping: Mapping,
  stream: PullName,
  record: Record<string, unknown>,
  before?: EmployeeFields,
): LandingRow | Quarantined {
  const id = String(record['id']);
  const stays = before === undefined ? [] : listOnlyTargets(mapping, stream);
  const { fields: mapped, problems: all } = evaluateMapping(mapping, { [pullStreams[stream].record.name]: record });
  const problems = all.filter(({ field }) => !stays.includes(field));
  if (problems.length > 0)
    return { key: id, reason: problems.map(({ field, code, text }) => `${field}: ${text} [${code}]`).join(' ') };
  const fields = stays.length === 0 ? mapped : withStanding(mapping, mapped, { stays, before });
  return { id, hash: rowHash(fields), fields };
}

/** Fields of the HR system that are mapped from what only the list tells. */
export function listOnlyTargets(mapping: Mapping, stream: PullName): string[] {
  const { listOnly = [] } = pullStreams[stream];
  const tells = (path: SourcePath): boolean => 'field' in path && listOnly.includes(path.field);
  const depends = mapping.fields.filter(({ from, when }) => from.some(tells) || when.some(({ path }) => tells(path)));
  return depends.map(({ target }) => target);
}

/** In the order of the mapping, as a row's hash is. */
function withStanding(
  { fields }: Mapping,
  mapped: EmployeeFields,
  { stays, before = {} }: { stays: readonly string[]; before: EmployeeFields | undefined },
): EmployeeFields {
  const values = fields.map(
    ({ target }) => [target, (stays.includes(target) ? before : mapped)[target] ?? null] as const,
  );
  return Object.fromEntries(values.filter(([, value]) => value !== null));
}

/** Over a row's fields in the order of its mapping; tells a changed record from one that is stored already. */
export function rowHash(fields: EmployeeFields): string {
  return hash('sha256', JSON.stringify(fields), 'base64url');
}
