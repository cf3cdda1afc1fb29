import { noteTrouble } from '../src/store/alarms.ts';
import type { Store } from '../src/store/open-store.ts';
import type { Connection } from './connections.ts';

interface UnknownValue {
  /** The field's name in the contract. */
  field: string;
  value: string;
  /** What happens to the hires concerned and what may be done, in sentences. */
  goesOn: string;
}

/** Raises an alarm for each value of an enum that the specification does not name. */
export async function noteUnknownValue(
  store: Store,
  { tenant: { tenant: tenantId }, log }: Pick<Connection, 'tenant' | 'log'>,
  { field, value, goesOn }: UnknownValue,
): Promise<void> {
  // A text field may hold anything, so a value that does not look like an enum word is not shown.
  const shown = /^[\w .-]{1,40}$/.test(value) ? value : '(not a word)';
  const message =
    `The hiring platform sent ${field} "${shown}", which the specification does not name. ${goesOn} ` +
    'Ask the platform what it means.';
  const { raised } = await noteTrouble(
    store,
    { tenantId, kind: 'unknown-value', subject: `${field} ${shown}`, reason: 'UNKNOWN_VALUE', message },
    0,
  );
  if (raised)
    log?.warn({ tenantId, field, value: shown }, 'alarm raised: a value that the specification does not name');
}
