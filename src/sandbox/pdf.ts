const LINE_HEIGHT = 18;
/** A page of A4 holds so many lines below its title. */
const LINES = 38;

/**
 * A one-page PDF 1.4 of a title and lines of text, in Helvetica, which every reader brings along. Plain ASCII
 * throughout, so it travels as text like every other answer.
 */
export function pdfOf(title: string, lines: readonly string[]): string {
  const text = [
    `BT /F1 18 Tf 60 770 Td (${escaped(title)}) Tj /F1 11 Tf 0 -14 Td`,
    ...lines.slice(0, LINES).map((line) => `0 -${String(LINE_HEIGHT)} Td (${escaped(line)}) Tj`),
    'ET',
  ].join('\n');
  return assemble([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${String(text.length)} >>\nstream\n${text}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< /Title (${escaped(title)}) >>`,
  ]);
}

/** Objects numbered from 1, the table of where each begins, and where the table begins. */
function assemble(objects: readonly string[]): string {
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const at = file.length;
    file += `${String(index + 1)} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const size = String(objects.length + 1);
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R /Info 6 0 R >>\nstartxref\n${String(file.length)}\n%%EOF\n`;
  return `${file}xref\n0 ${size}\n0000000000 65535 f \n${table}${trailer}`;
}

/** Latin-1 as it is, other letters without their accents, what is left as a question mark. */
function escaped(text: string): string {
  return Array.from(text.normalize('NFC'), (letter) => {
    const [plain = '?'] = letter.normalize('NFD');
    return isLatin(letter) ? octal(letter) : isLatin(plain) ? octal(plain) : '?';
  }).join('');
}

function isLatin(letter: string): boolean {
  const code = letter.codePointAt(0) ?? 0;
  return (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff);
}

function octal(letter: string): string {
  return /[^ -~]|[()\\]/.test(letter) ? `\\${(letter.codePointAt(0) ?? 0x3f).toString(8).padStart(3, '0')}` : letter;
}
