import type { Answer } from './answers.ts';

/** One reason to ask a person. `what` and `asks` are its message: ids, codes and field names only. */
export interface HoldEntry {
  /** Of one hire, or of the whole tenant. */
  scope: 'hire' | 'tenant';
  answers: readonly Answer[];
  what: (about: never) => string;
  /** What to look at, and what each answer means. */
  asks: string;
}
