import { createHash } from 'node:crypto';
import type { FieldValue } from '../hire/employee.ts';
import { isEmpty } from '../mapping/apply-transforms.ts';

/** Of a field without a value. */
export const EMPTY_FORM = '';

/**
 * Text that is equal where two values of one field are: a hash, so that no value of a person is kept to compare with.
 * `salt` names the field, lest equal hashes tell whose values are equal. The items of a list have no order.
 */
export function formOf(salt: string, value: FieldValue | undefined): string {
  if (value === null || isEmpty(value)) return EMPTY_FORM;
  const plain = Array.isArray(value) ? [...new Set(value)].sort() : value;
  return createHash('sha256')
    .update(JSON.stringify([salt, plain]))
    .digest('base64url')
    .slice(0, 22);
}
