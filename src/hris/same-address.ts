/** An address over HTTP, written one way: the host in small letters, no usual port, nothing behind a last slash. */
export function sameAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}
