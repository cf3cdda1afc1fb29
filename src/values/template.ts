/** A part of a template: literal text, or a path in braces. */
export type TemplatePart = { text: string } | { path: string };

/** Splits `{candidate.lastName}, {candidate.firstName}`. Undefined if a brace is unmatched or empty. */
export function templateParts(template: string): TemplatePart[] | undefined {
  const parts = template
    .split(/\{([^{}]+)\}/)
    .map((part, index) => (index % 2 === 0 ? { text: part } : { path: part.trim() }));
  const lone = parts.some((part) => ('text' in part ? /[{}]/.test(part.text) : part.path === ''));
  return lone ? undefined : parts.filter((part) => !('text' in part) || part.text !== '');
}
