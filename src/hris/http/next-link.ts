/** One link of RFC 8288, section 3: `<target>; name=value; name="value, with anything; inside"`. */
const LINK = /<([^>]*)>((?:[^",<]|"(?:[^"\\]|\\.)*"?)*)/g;
const PARAMETER = /;\s*([^\s=;]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;]*)))?/g;

/** The targets of all links with the relation `next`, in a header that may stand in an answer more than once. */
export function nextTarget(header: unknown): string | undefined {
  const text = [header].flat().join(', ');
  for (const [, target = '', parameters = ''] of text.matchAll(LINK)) {
    // Only the first "rel" counts.
    const rel = parameters.matchAll(PARAMETER).find(([, name = '']) => name.toLowerCase() === 'rel');
    const words = (rel?.[2] ?? rel?.[3] ?? '').toLowerCase().split(/\s+/);
    if (words.includes('next')) return target;
  }
  return undefined;
}

/** Whether a header holds links rather than an address alone. */
export function holdsLinks(header: unknown): boolean {
  return /^\s*</.test([header].flat().join(', '));
}

/**
 * The path and query that a link leads to from the path that was asked: RFC 8288, section 3.1. Leaves out the host, so
 * that no answer leads to another one. Undefined if it is no address.
 */
export function pathFrom(asked: string, target: string): string | undefined {
  const base = `http://same.invalid${asked}`;
  if (!URL.canParse(target, base)) return undefined;
  const { pathname, search } = new URL(target, base);
  return `${pathname}${search}`;
}
