import { z } from 'zod';

type Issue = z.core.$ZodIssue;

const FORMATS: Record<string, string> = {
  email: 'must be an e-mail address',
  url: 'must be a URL',
  uuid: 'must be a UUID',
  date: 'must be a date of the calendar, YYYY-MM-DD',
  datetime: 'must be a time in ISO 8601',
  e164: 'must be a phone number in E.164, such as +4915112345678',
};
const NOUNS: Record<string, string> = { string: 'a text', int: 'an integer', array: 'a list', record: 'an object' };
const defaults = z.locales.en();

/** What is wrong with a field, in words a person can act on; what the contract says of it in its own words stays. */
export function issueWords(issue: Issue): string {
  const { message, ...raw } = issue;
  const told = defaults.localeError(raw as Parameters<typeof defaults.localeError>[0]);
  const isDefault = message === (typeof told === 'string' ? told : told?.message);
  // What was received is no longer known here, so the default cannot be made again whole.
  const isDefaultType = issue.code === 'invalid_type' && message.startsWith('Invalid input: expected');
  return isDefault || isDefaultType ? plainWords(issue) : message;
}

function plainWords(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined')
        ? 'is required'
        : `must be ${NOUNS[issue.expected] ?? `a ${issue.expected}`}`;
    case 'too_small':
      return `must ${sized(issue.origin)} at least ${String(issue.minimum)}${unit(issue.origin)}`;
    case 'too_big':
      return `must ${sized(issue.origin)} at most ${String(issue.maximum)}${unit(issue.origin)}`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'has the wrong form';
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`;
    case 'unrecognized_keys':
      return 'is not a known field';
    case 'invalid_union':
      return 'has a type that is not allowed here';
    case 'custom':
    case 'invalid_element':
    case 'invalid_key':
    case 'not_multiple_of':
      return 'is not valid';
  }
}

function sized(origin: string): string {
  return unit(origin) === '' ? 'be' : 'have';
}

function unit(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' || origin === 'set' ? ' entries' : '';
}

/** Each field that an issue is about, by its path: unknown keys by their own names, the body where it is no field. */
export function issuePaths(issue: Issue): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => dotted([...issue.path, key]));
  return [issue.path.length === 0 ? 'body' : dotted(issue.path)];
}

/** `candidates[3].email`. */
function dotted(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${String(key)}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}

/** One issue as a sentence that names the field. */
export function issueSentence(issue: Issue): string {
  const words = issueWords(issue);
  const [path = 'body'] = issuePaths(issue);
  if (words.includes(path)) return words;
  return /^(is|has|must) /.test(words) ? `${path} ${words}` : `${path}: ${words}`;
}
