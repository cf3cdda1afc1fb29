import type { Overrides } from '../overrides.ts';

export interface Assumption {
  /** Section of the specification. */
  section: string;
  choice: string;
  /** The reading a tenant's configuration may set instead (overrides.ts). */
  override?: keyof Overrides;
}
