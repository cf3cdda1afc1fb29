import { expect } from 'vitest';

/**
 * Reads a PDF the way readers do, from its end: the table of objects, then the page's text. Fails where an offset is
 * wrong.
 */
export function textOfPdf(bytes: Buffer): string[] {
  const file = bytes.toString('latin1');
  expect(file.startsWith('%PDF-1.')).toBe(true);
  const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(file)?.[1]);
  const [, count = '0', rows = ''] = /^xref\n0 (\d+)\n([\s\S]*?)trailer\n/.exec(file.slice(table)) ?? [];
  const offsets = [...rows.matchAll(/^(\d{10}) \d{5} n $/gm)].map((row) => Number(row[1]));
  expect(offsets).toHaveLength(Number(count) - 1);
  for (const [index, at] of offsets.entries())
    expect(file.slice(at)).toMatch(new RegExp(`^${String(index + 1)} 0 obj\n`));
  const [, length = '0'] = /\/Length (\d+) >>/.exec(file) ?? [];
  const start = file.indexOf('stream\n') + 'stream\n'.length;
  const content = file.slice(start, start + Number(length));
  expect(file.slice(start + Number(length))).toMatch(/^\nendstream\n/);
  return [...content.matchAll(/\((.*?)\) Tj/g)].map(([, text = '']) =>
    text.replace(/\\(\d{3})/g, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 8))),
  );
}
