import { createHash } from 'node:crypto';
import type { FieldValue } from '../hire/hire.ts';
import { isEmpty } from '../mapping/apply-transforms.ts';

/** Form of a field without a value. */
export const EMPTY_FORM = '';

/**
 * A hash that is equal for equal values of one field, so that no personal value is stored for comparison. `salt` names
 * the field, so that equal hashes do not reveal who shares a value. The items of a list have no order.
 */
export function formOf(salt: string, value: FieldValue | undefined): string {
  if (value === null || isEmpty(value)) return EMPTY_FORM;
  const plain = Array.isArray(value) ? [...new Set(value)].sort() : value;
  return createHash('sha256')
    .update(JSON.stringify([salt, plain]))
    .digest('base64url')
    .slice(0, 22);
}
