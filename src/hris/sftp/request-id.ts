/**
 * The name of a request: `hire-acme~3A17-1` is the first request for the employee of our reference `acme:17`. An
 * attempt always has the same name, so that it can be handed over only once; the next one follows a rejection.
 */
export function hireRequestId(reference: string, attempt: number): string {
  return `hire-${encode(reference)}-${attempt}`;
}

/** The reference of a request for a new employee; undefined for other requests and other names. */
export function referenceOf(requestId: string): string | undefined {
  const encoded = /^hire-([\w~]+)-\d+$/.exec(requestId)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded.replaceAll('~', '%'));
  } catch {
    return undefined;
  }
}

/** Safe in any file system, and readable: letters, digits and `_` stay as they are. */
export function encode(text: string): string {
  return [...Buffer.from(text, 'utf8')]
    .map((byte) => {
      const sign = String.fromCharCode(byte);
      return /\w/.test(sign) ? sign : `~${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}
