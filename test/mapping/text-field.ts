import type { FieldDef } from '../../src/hris/port.ts';

/** A field of text that may be written, unless it is said otherwise. */
export function textField(key: string, more: Partial<FieldDef> = {}): FieldDef {
  return { key, label: key, type: 'text', required: false, writable: true, ...more };
}
