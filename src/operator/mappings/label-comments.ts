import { Lexer } from 'yaml';

/** Replaces what stands between two offsets of a text. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** A label, to stand at the end of the line of this offset. */
interface LabelAfter {
  after: number;
  label: string;
}

interface Token {
  start: number;
  text: string;
  isScalar: boolean;
}

/** Where a line's comment stands or, empty, would stand. */
interface Spot {
  start: number;
  text: string;
}

/** Marks of the lexer that stand for no text: begin of a document, end of a broken flow, begin of a scalar. */
const MARKS = ['\u0002', '\u0018', '\u001f'];
/** Labels as this module writes them; what follows is the author's own. */
const OWN_LABELS = /^#[ \t]*"(?:[^"\\]|\\.)*"(?:, "(?:[^"\\]|\\.)*")*(?= - |[ \t]*$)/;

/** The edits that put labels into comments, one a line: `# "Label" - what the author wrote`. */
export function labelComments(text: string, labels: readonly LabelAfter[]): Edit[] {
  const tokens = tokensOf(text);
  const lines = new Map<number, { spot: Spot; labels: Set<string> }>();
  for (const { after, label } of labels.toSorted((a, b) => a.after - b.after)) {
    const spot = spotAfter(tokens, after, text);
    if (spot === undefined) continue;
    const line = lines.get(spot.start) ?? { spot, labels: new Set() };
    lines.set(spot.start, line);
    line.labels.add(JSON.stringify(label));
  }
  return [...lines.values()].map(({ spot: { start, text: old }, labels: quoted }) => {
    const gap = old === '' && !/[ \t]/.test(text[start - 1] ?? '') ? ' ' : '';
    return { start, end: start + old.length, text: `${gap}# ${[...quoted].join(', ')}${authorsPart(old)}` };
  });
}

function authorsPart(comment: string): string {
  if (OWN_LABELS.test(comment)) return comment.replace(OWN_LABELS, '');
  const own = comment.replace(/^#[ \t]*/, '');
  return own === '' ? '' : ` - ${own}`;
}

/** Nothing where the line ends inside a text, which a comment would become part of. */
function spotAfter(tokens: readonly Token[], after: number, text: string): Spot | undefined {
  const next = tokens.find(
    ({ start, text: word, isScalar }) => start >= after && (word.includes('\n') || (!isScalar && word.startsWith('#'))),
  );
  if (next === undefined) return { start: text.length, text: '' };
  if (next.text.startsWith('#')) return next;
  return /^\r?\n$/.test(next.text) ? { start: next.start, text: '' } : undefined;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let start = 0;
  let isScalar = false;
  for (const word of new Lexer().lex(text)) {
    if (!MARKS.includes(word)) {
      tokens.push({ start, text: word, isScalar });
      start += word.length;
    }
    isScalar = word === '\u001f';
  }
  return tokens;
}
