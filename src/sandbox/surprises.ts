type Json = Record<string, unknown>;

/** What the platform may one day answer without asking us: name to what it does to one record. */
const SURPRISES = {
  'unknown-key': (record: Json): Json => ({ ...record, introducedLater: { since: 2027, flags: [true, null] } }),
  'unknown-enum': (record: Json): Json =>
    mapEntries(record, (key, value) => (isEnum(key, value) ? 'INTRODUCED_LATER' : value)),
  'id-as-text': (record: Json): Json =>
    mapEntries(record, (key, value) => (isId(key) && typeof value === 'number' ? String(value) : value)),
  'null-for-absent': (record: Json): Json =>
    mapEntries(record, (key, value) => (isId(key) || isEnum(key, value) ? value : nulled(value))),
  /** No reader can make sense of it: the id is gone. */
  unreadable: (record: Json): Json => mapEntries(record, (key, value) => (isId(key) ? { broken: true } : value)),
} as const;

export type Surprise = keyof typeof SURPRISES;
export const surpriseNames = Object.keys(SURPRISES) as [Surprise];

/** The body with its first `items` records changed; for a single record, that one. */
export function surprised(body: string, itemsAt: string | undefined, surprise: Surprise, items: number): string {
  const parsed = JSON.parse(body) as Json;
  const change = (value: unknown): unknown => (isRecord(value) ? SURPRISES[surprise](value) : value);
  const keys = (itemsAt ?? 'data').split('.');
  const last = keys.pop() ?? '';
  const holder = keys.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), parsed);
  if (!isRecord(holder)) return body;
  const at = holder[last];
  holder[last] = Array.isArray(at) ? at.map((value, index) => (index < items ? change(value) : value)) : change(at);
  return JSON.stringify(parsed);
}

function mapEntries(record: Json, change: (key: string, value: unknown) => unknown): Json {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      key,
      isRecord(value) ? mapEntries(value, change) : change(key, value),
    ]),
  );
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(key: string): boolean {
  return key === 'id' || key.endsWith('Id');
}

function isEnum(key: string, value: unknown): boolean {
  return typeof value === 'string' && /(^|S|s)tatus$|^type$|^workMode$|^stepKey$/.test(key);
}

function nulled(value: unknown): unknown {
  return typeof value === 'string' || Array.isArray(value) ? null : value;
}
