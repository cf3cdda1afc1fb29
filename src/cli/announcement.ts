import { z } from 'zod';

/** What a supervised part tells its parent once it listens: names of addresses and ids -> values. */
export const Announcement = z.object({ kind: z.literal('listening'), facts: z.record(z.string(), z.string()) });
export type Announcement = z.infer<typeof Announcement>;
