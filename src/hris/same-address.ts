/** Normalises an HTTP address: host in lower case, no default port, no trailing slash. */
export function sameAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}
