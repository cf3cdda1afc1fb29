/** Random ids, digests and signatures hold any few letters or digits by chance: 32 characters or more, or a UUID. */
const RANDOM = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w+/-]{32,}/g;

/** A text without what is random in it, for a test that something short is nowhere in it. */
export function withoutRandom(text: string): string {
  return text.replace(RANDOM, '');
}
