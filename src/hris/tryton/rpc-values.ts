/**
 * Tryton's JSON: dates, instants and decimals are objects with `__class__` (trytond/protocols/jsonrpc.py). Here dates
 * are `YYYY-MM-DD`, instants UTC ISO text, decimals text, and bytes base64 text.
 */
export function encodeDate(text: string): unknown {
  const [year, month, day] = text.split('-').map(Number);
  return { __class__: 'date', year, month, day };
}

/** An instant in the form of `decodeValue`. */
export function encodeInstant(text: string): unknown {
  const [year, month, day, hour, minute, second, microsecond] = (text.match(/\d+/g) ?? []).map(Number);
  return { __class__: 'datetime', year, month, day, hour, minute, second, microsecond };
}

export function decodeValue(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || !('__class__' in value)) return value;
  const parts = value as Record<string, unknown>;
  return DECODERS[String(parts['__class__'])]?.(parts) ?? value;
}

const DECODERS: Readonly<Record<string, (parts: Record<string, unknown>) => string>> = {
  date: (parts) => dayOf(parts),
  datetime: (parts) =>
    `${dayOf(parts)}T${['hour', 'minute', 'second'].map((name) => padded(parts[name], 2)).join(':')}` +
    `.${padded(parts['microsecond'], 6)}Z`,
  Decimal: (parts) => String(parts['decimal']),
  bytes: (parts) => String(parts['base64']),
};

function dayOf(parts: Record<string, unknown>): string {
  return `${padded(parts['year'], 4)}-${padded(parts['month'], 2)}-${padded(parts['day'], 2)}`;
}

function padded(value: unknown, length: number): string {
  return String(Number(value ?? 0)).padStart(length, '0');
}
