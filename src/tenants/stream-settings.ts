import { z } from 'zod';
import { duration } from '../hris/duration.ts';
import { isLookup, type StreamName } from '../streams/streams.ts';

/** How often something is done; zero would mean without pause. */
export const interval = duration.refine((ms) => ms > 0, 'expected a duration above zero');

const times = {
  /** How often the stream runs by itself; never if absent. Between two runs it follows webhooks. */
  every: interval.optional(),
  /** The whole list is read again within this time, no matter what webhooks said. */
  wholeWithin: interval.default(86_400_000),
};

const streamSettings = z
  .strictObject({
    ...times,
    /**
     * What happens to a landed record that the partner no longer has; if absent, it is marked if its table allows that.
     */
    deletion: z.enum(['ignore', 'mark', 'delete'], 'expected ignore, mark or delete').optional(),
    /** File with the differences from the default mapping. */
    mapping: z
      .string('expected text; write a number in quotes')
      .trim()
      .min(1, 'expected text that is not empty')
      .optional(),
  })
  .prefault({});

export type StreamSettings = z.output<typeof streamSettings>;

/** A lookup table is kept as the partner has it: without a mapping, and what is gone there is deleted here. */
const tableSettings = z
  .strictObject(times)
  .transform((own): StreamSettings => ({ ...own, deletion: 'delete' }))
  .prefault({});

export function settingsOf(name: StreamName): typeof tableSettings | typeof streamSettings {
  return isLookup(name) ? tableSettings : streamSettings;
}
