import { z } from 'zod';

/** Blanks that String.trim leaves: zero-width ones, the soft hyphen and the marks of writing direction. */
const INVISIBLE = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/gu;

/**
 * An e-mail as it is sent and compared: without blanks around it, without invisible characters, the domain in lower
 * case. The part before the @ keeps its capitals, since by the standard they may matter.
 */
export function cleanEmail(text: string): string {
  const visible = text.replaceAll(INVISIBLE, '').trim();
  const at = visible.lastIndexOf('@');
  return visible.slice(0, at + 1) + visible.slice(at + 1).toLowerCase();
}

/** An e-mail of an answer, whatever stands around it there. */
export const Email = z.preprocess((value) => (typeof value === 'string' ? cleanEmail(value) : value), z.string());
