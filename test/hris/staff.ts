import type { HrisConnection } from '../../src/hris/port.ts';

/** Employees of one HR system, as somebody over there edits them. */
export interface Staff {
  kind: string;
  /** As they stand in a tenant file, with secrets resolved. */
  options: Record<string, unknown>;
  hris: HrisConnection;
  /** The field that is edited. */
  field: string;
  /** What else an edit does: they have left, or their number is another one. */
  tells: 'left' | 'number';
  add(count: number): Promise<string[]>;
  /** Sets the field to a text of their own, and more (`tells`), all with one stamp: that of the edit before too. */
  edit(ids: readonly string[], textOf: (id: string) => string): Promise<void>;
}
