import { z } from 'zod';
import { duration } from '../hris/duration.ts';
import { isLookup, type StreamName } from '../streams/streams.ts';

/** How often something is done; zero would be without pause. */
export const interval = duration.refine((ms) => ms > 0, 'expected a duration above zero');

const times = {
  /** How often it runs by itself; never where absent. Between two runs it follows the webhooks. */
  every: interval.optional(),
  /** Its whole list is read again within this time, whatever webhooks said. */
  wholeWithin: interval.default(86_400_000),
};

const streamSettings = z
  .strictObject({
    ...times,
    /** What becomes of a landed record that the partner no longer has; marked where absent, if its table can. */
    deletion: z.enum(['ignore', 'mark', 'delete'], 'expected ignore, mark or delete').optional(),
    /** What differs from its default mapping. */
    mapping: z
      .string('expected text; write a number in quotes')
      .trim()
      .min(1, 'expected text that is not empty')
      .optional(),
  })
  .prefault({});

export type StreamSettings = z.output<typeof streamSettings>;

/** A table to look up in is kept as the partner has it: nothing maps it, and what is gone there is gone here. */
const tableSettings = z
  .strictObject(times)
  .transform((own): StreamSettings => ({ ...own, deletion: 'delete' }))
  .prefault({});

export function settingsOf(name: StreamName): typeof tableSettings | typeof streamSettings {
  return isLookup(name) ? tableSettings : streamSettings;
}
