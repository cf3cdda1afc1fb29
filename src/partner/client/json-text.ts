// JSON (RFC 8259), scanned only to find where a value begins and ends.

const QUOTE = 0x22;
export const COMMA = 0x2c;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const BACKSLASH = 0x5c;

/**
 * Walks the members of the object that begins here. `onMember` gets the positions of each name and value, and may
 * return the value's end. Returns the position after the object; undefined if no end was found.
 */
export function walkObject(
  text: Buffer,
  start: number,
  onMember: (name: number, value: number) => number | undefined,
): number | undefined {
  if (text[start] !== OPEN_BRACE) return undefined;
  let at = start;
  do {
    const name = afterBlanks(text, at + 1);
    if (text[name] !== QUOTE) return undefined;
    const colon = afterBlanks(text, endOfText(text, name) + 1);
    const value = afterBlanks(text, colon + 1);
    at = afterBlanks(text, onMember(name, value) ?? endOfValue(text, value));
  } while (text[at] === COMMA);
  return text[at] === CLOSE_BRACE ? at + 1 : undefined;
}

/** The position of the comma, bracket or brace after the value that begins here, or of the text's end. */
export function endOfValue(text: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const one = text[at];
    if (one === QUOTE) at = endOfText(text, at);
    else if (one === OPEN_BRACE || one === OPEN_BRACKET) depth += 1;
    else if (depth === 0 && (one === COMMA || isClosing(one))) return at;
    else if (isClosing(one)) depth -= 1;
  }
  return text.length;
}

function isClosing(one: number | undefined): boolean {
  return one === CLOSE_BRACE || one === CLOSE_BRACKET;
}

/** The position of the quote that ends the text that begins here. */
export function endOfText(text: Buffer, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1;
  return at;
}

export function afterBlanks(text: Buffer, start: number): number {
  let at = start;
  while (isBlank(text[at])) at += 1;
  return at;
}

export function beforeBlanks(text: Buffer, end: number): number {
  let at = end;
  while (isBlank(text[at - 1])) at -= 1;
  return at;
}

function isBlank(one: number | undefined): boolean {
  return one === 0x20 || one === 0x0a || one === 0x0d || one === 0x09;
}

/** The value in a text; undefined if it is not JSON. */
export function parseJson(text: Buffer): unknown {
  return parseJsonText(text.toString('utf8'));
}

/**
 * The same for a text. An integer that a number would round stays the text of its digits: two ids must not become one.
 */
export function parseJsonText(text: string): unknown {
  try {
    return holdsLongInteger(text) ? JSON.parse(text, exactInteger) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Shorter integers are never rounded. */
const LONG = 16;

/** Whether the text contains an integer of that many digits. Such a run covers one position in each sixteen. */
function holdsLongInteger(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let [from, to] = [at, at + 1];
    while (isDigit(text.charCodeAt(from - 1))) from -= 1;
    while (isDigit(text.charCodeAt(to))) to += 1;
    if (to - from >= LONG && !'"\\.eE+'.includes(text[from - 1] ?? ' ') && !'".eE'.includes(text[to] ?? ' '))
      return true;
    // On behind the run: a run of a million digits, looked at from each position in it, stops the process for minutes.
    at = to;
  }
  return false;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function exactInteger(_key: string, value: unknown, { source }: { source?: string } = {}): unknown {
  const isRounded = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded && source !== undefined && /^-?\d+$/.test(source) ? source : value;
}
