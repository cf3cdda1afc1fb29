interface Bounds {
  options?: string[];
  maxLength?: number;
}

/**
 * What check constraints say of one column, as far as they are of the two forms that people write: a list of values,
 * and a length. Any other is the database's to judge when a row is written.
 */
export function readChecks(checks: readonly string[], column: string): Bounds {
  const text = checks.join('\n');
  const name = `["\`]?${column}["\`]?`;
  // MariaDB prints no brackets around a check.
  // Postgres prints `x in ('a', 'b')` as `(x)::text = ANY ((ARRAY['a'::text, 'b'::text])::text[])`.
  const listed =
    new RegExp(`(?:^|\\()\\s*${name}\\s+in\\s*\\(([^)]*)\\)`, 'im').exec(text) ??
    new RegExp(`\\(*${name}\\)?(?:::[a-z ]+)?\\s*=\\s*ANY\\s*\\(+ARRAY\\[([^\\]]*)\\]`, 'i').exec(text);
  const long = new RegExp(
    `(?:char_length|character_length|length)\\(\\(*${name}\\)?(?:::[a-z ]+)?\\)\\s*<=\\s*(\\d+)`,
    'i',
  ).exec(text);
  const options = quotedTexts(listed?.[1] ?? '');
  return {
    ...(options.length === 0 ? {} : { options }),
    ...(long === null ? {} : { maxLength: Number(long[1]) }),
  };
}

/** The texts between quotes; a quote in them is doubled. */
export function quotedTexts(text: string): string[] {
  return [...text.matchAll(/'((?:[^']|'')*)'/g)].map(([, one = '']) => one.replaceAll("''", "'"));
}
