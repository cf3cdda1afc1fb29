import type { PushStream } from './stream.ts';

/** Employees that change in the HRIS: their number and whether they left reach the partner. */
export const employment: PushStream = { kind: 'push', workflow: 'pushStream' };
