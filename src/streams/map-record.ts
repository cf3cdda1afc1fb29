import { createHash } from 'node:crypto';
import type { EmployeeFields } from '../hire/employee.ts';
import type { LandingRow } from '../hris/port.ts';
import { evaluateMapping } from '../mapping/evaluate.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import type { Quarantined } from '../store/quarantine.ts';
import { type PullName, pullStreams } from './streams.ts';

/** One partner record as it lands, or why it cannot. */
export function mapRecord(
  mapping: Mapping,
  stream: PullName,
  record: Record<string, unknown>,
): LandingRow | Quarantined {
  const id = String(record['id']);
  const { fields, problems } = evaluateMapping(mapping, { [pullStreams[stream].record.name]: record });
  if (problems.length > 0)
    return { key: id, reason: problems.map(({ field, code, text }) => `${field}: ${text} [${code}]`).join(' ') };
  return { id, hash: rowHash(fields), fields };
}

/** Over a row's fields in the order of its mapping; tells a changed record from one that is stored already. */
export function rowHash(fields: EmployeeFields): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64url');
}
