import type { PushStream } from './stream.ts';

/** Open positions of the HRIS become jobs of the partner. */
export const requisitions: PushStream = { kind: 'push', workflow: 'pushStream' };
