import type { PushStream } from './stream.ts';

/** Documents of a finished hire go into the employee's record in the HRIS. */
export const documents: PushStream = { kind: 'push', workflow: 'pushStream' };
