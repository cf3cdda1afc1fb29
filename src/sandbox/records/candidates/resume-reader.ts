import { createHash } from 'node:crypto';
import { createRandom } from '../../random.ts';
import { person } from '../../seed/people.ts';

/** The sandbox opens no document: a file is known by its ending (RESUMES, assumed). */
const READABLE = /\.(pdf|docx?|rtf|odt|txt)$/i;
const NOT_A_NAME = new Set(['cv', 'resume', 'curriculum', 'vitae', 'final', 'new', 'updated', 'copy']);

export type ReadResume = { profile: Record<string, unknown> & { email: string } } | { error: 'UNSUPPORTED_FILE_TYPE' };

/**
 * What the platform reads in a resume: an invented person, the same for the same URL, with the name that the file
 * carries.
 */
export function readResume(url: string): ReadResume {
  const file = fileName(url);
  if (!isReadable(url)) return { error: 'UNSUPPORTED_FILE_TYPE' };
  const number = createHash('sha256').update(url).digest().readUInt32BE(0);
  const invented = person(createRandom(number), number);
  const [firstName, ...rest] = nameIn(file);
  if (firstName === undefined || rest.length === 0) return { profile: { ...invented, resume: url } };
  const lastName = rest.join(' ');
  const address = [firstName, ...rest]
    .map(plain)
    .filter((part) => part !== '')
    .join('.');
  const email = address === '' ? invented.email : `${address}@example.com`;
  return { profile: { ...invented, firstName, lastName, email, resume: url } };
}

/** A file with an ending that is no document's cannot be parsed; one without an ending can. */
export function isReadable(url: string): boolean {
  const file = fileName(url);
  return READABLE.test(file) || !/\.\w{1,5}$/.test(file);
}

function fileName(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** `CV_ada-lovelace 2024.pdf` is Ada Lovelace. */
function nameIn(file: string): string[] {
  const words = file.replace(READABLE, '').match(/\p{L}+/gu) ?? [];
  return words
    .filter((word) => word.length > 1 && !NOT_A_NAME.has(word.toLowerCase()))
    .slice(0, 3)
    .map((word) => `${(word[0] ?? '').toUpperCase()}${word.slice(1).toLowerCase()}`);
}

function plain(word: string): string {
  return word
    .normalize('NFD')
    .replace(/[^A-Za-z]/g, '')
    .toLowerCase();
}
