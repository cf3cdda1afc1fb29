import {
  afterBlanks,
  beforeBlanks,
  CLOSE_BRACKET,
  COMMA,
  endOfText,
  endOfValue,
  OPEN_BRACKET,
  parseJson,
  walkObject,
} from './json-text.ts';

export interface CutList {
  /** The text of each record. */
  records: Buffer[];
  /** The whole text with the first two records alone, which tell what a list looks like. */
  short: Buffer;
}

const SHOWN = 2;

/**
 * Cuts the records out of a list's text without reading them. Undefined where no list stands at this dotted path, or
 * where the text is not JSON as far as that was looked at; a record may still prove to be none.
 */
export function cutList(text: Buffer, itemsAt: string): CutList | undefined {
  const found = cutObject(text, afterBlanks(text, 0), itemsAt.split('.'));
  if (found === undefined || afterBlanks(text, found.end) < text.length) return undefined;
  const { records, ends, to } = found;
  const shownTo = ends[Math.min(SHOWN, ends.length) - 1] ?? to;
  return { records, short: Buffer.concat([text.subarray(0, shownTo), text.subarray(to)]) };
}

interface Found {
  records: Buffer[];
  /** Where each of them ends, and the list: at its bracket. */
  ends: number[];
  to: number;
  /** Behind the value that was looked through. */
  end: number;
}

/** Looks through an object for the list at this path. A name that stands there twice is left to who reads it all. */
function cutObject(text: Buffer, start: number, [name, ...path]: readonly string[]): Found | undefined {
  const found: (Found | undefined)[] = [];
  const end = walkObject(text, start, (nameAt, value) => {
    if (parseJson(text.subarray(nameAt, endOfText(text, nameAt) + 1)) !== name) return undefined;
    const list = path.length === 0 ? cutItems(text, value) : cutObject(text, value, path);
    found.push(list);
    return list?.end;
  });
  const [list] = found;
  return end === undefined || list === undefined || found.length > 1 ? undefined : { ...list, end };
}

function cutItems(text: Buffer, start: number): Found | undefined {
  if (text[start] !== OPEN_BRACKET) return undefined;
  const [records, ends]: [Buffer[], number[]] = [[], []];
  let at = afterBlanks(text, start + 1);
  if (text[at] === CLOSE_BRACKET) return { records, ends, to: at, end: at + 1 };
  for (;;) {
    const end = endOfValue(text, at);
    records.push(text.subarray(at, beforeBlanks(text, end)));
    ends.push(end);
    if (text[end] === CLOSE_BRACKET) return { records, ends, to: end, end: end + 1 };
    if (text[end] !== COMMA) return undefined;
    at = afterBlanks(text, end + 1);
  }
}
