import { ConnectorError } from '../../src/errors.ts';
import { encodeValue } from '../../src/partner/custom-field-forms.ts';
import type { TargetValue } from '../../src/plan/plan-write-back.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import type { Connection } from '../connections.ts';
import type { HireContext } from '../hire/with-hire.ts';
import { readDefinitions } from './read-definitions.ts';
import { fieldsInUse, judgeFields } from './watch-fields.ts';

/**
 * Values in the form that each custom field takes now, read for this write. Throws `reject`, which becomes a hold,
 * where a field is gone or cannot take its value: nothing of this candidate is written then.
 */
export async function encodeTargets(
  { deps, connection }: HireContext,
  values: readonly TargetValue[],
): Promise<TargetValue[]> {
  const { fields } = await readDefinitions(connection);
  await judgeChanged(deps, connection, fields);
  return values.map(({ customFieldId, value }) => {
    const field = fields.find(({ id, entity }) => id === customFieldId && entity === 'candidate');
    if (field === undefined) throw fieldMissing(customFieldId);
    const encoded = encodeValue(field, value);
    if ('wrong' in encoded) throw valueMisfit(field, encoded.wrong);
    return { customFieldId, value: encoded.sent };
  });
}

/** Definitions that were found in order, and when. */
const inOrder = new WeakMap<Connection, { text: string; at: number }>();
const FRESH_MS = 60_000;

/** Judges what is not, word for word, what was in order a minute ago: each judgement reads three tables. */
async function judgeChanged(
  deps: HireContext['deps'],
  connection: Connection,
  fields: readonly FieldDefinition[],
): Promise<void> {
  const [text, at] = [JSON.stringify(fields), performance.now()];
  const known = inOrder.get(connection);
  if (known?.text === text && at - known.at <= FRESH_MS) return;
  inOrder.delete(connection);
  const { troubles } = await judgeFields(deps, connection.tenant.tenant, fieldsInUse(connection), fields);
  if (troubles.length === 0) inOrder.set(connection, { text, at });
}

function fieldMissing(id: string): ConnectorError {
  return new ConnectorError({
    code: 'CUSTOM_FIELD_NOT_FOUND',
    action: 'reject',
    message:
      `The hiring platform has no candidate custom field ${id}, which the tenant file writes back to. Define it ` +
      'again and name its id in writeBack, or take it out there; then answer retry.',
  });
}

function valueMisfit({ id, label, type }: FieldDefinition, wrong: string): ConnectorError {
  return new ConnectorError({
    code: 'VALUE_MISFIT',
    action: 'reject',
    message:
      `Custom field "${label}" (${id}, ${type}) ${wrong}, and the HR system's value is none. Correct the value ` +
      'there, add the option in the hiring platform, or name another field in writeBack; then answer retry.',
  });
}
