import { createHash } from 'node:crypto';
import type { CompiledField } from '../mapping/compile-rule.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import type { SourcePath } from '../mapping/source-fields.ts';
import type { PairState } from '../store/exchange-pairs.ts';
import type { FieldDefinition } from '../store/fields.ts';
import { customFieldOf } from './say-to-partner.ts';
import { exchangedFields } from './see-fields.ts';

/** Which field of either side each field of a mapping is, by target. */
export type FieldIdentities = Readonly<Record<string, string>>;

/**
 * What each field of the mapping is on both sides: the partner's definition by its id and type, and the HR system's
 * column. A label that another definition has by now, or a rule that names another field, is another field: what both
 * sides agreed on before says nothing about it.
 */
export function fieldIdentities(
  mapping: Pick<Mapping, 'fields' | 'back'>,
  connection: string,
  defined: readonly FieldDefinition[],
): FieldIdentities {
  return Object.fromEntries(
    exchangedFields(mapping).map((field) => [field.target, identityOf(field, connection, defined)]),
  );
}

function identityOf({ from, def }: CompiledField, connection: string, defined: readonly FieldDefinition[]): string {
  const partner = from.map((path) => partnerField(path, defined));
  return createHash('sha256')
    .update(JSON.stringify([partner, connection, def.place ?? def.key, def.type]))
    .digest('base64url')
    .slice(0, 10);
}

function partnerField(path: SourcePath, defined: readonly FieldDefinition[]): readonly (string | undefined)[] {
  if (!('customField' in path)) return [path.source, path.field, path.key];
  const definition = customFieldOf(path, defined);
  return [path.source, 'customFields', definition?.id, definition?.type];
}

/** What is still known of a pair: of a field that is another one by now, nothing is. */
export function knownOf(
  { bases, sent, echoes, identities }: Pick<PairState, 'bases' | 'sent' | 'echoes' | 'identities'>,
  now: FieldIdentities,
) {
  const renewed = new Set(
    Object.keys(now).filter((field) => identities[field] !== undefined && identities[field] !== now[field]),
  );
  const isKept = ([field]: [string, unknown]): boolean => !renewed.has(field);
  return {
    bases: Object.fromEntries(Object.entries(bases).filter(isKept)),
    sent: Object.fromEntries(Object.entries(sent).filter(isKept)),
    echoes: Object.fromEntries(Object.entries(echoes).filter(isKept)),
    renewed,
    /** As they are to be saved; absent where they are known. */
    ...(Object.keys(now).some((field) => identities[field] !== now[field])
      ? { identities: { ...identities, ...now } }
      : {}),
  };
}
