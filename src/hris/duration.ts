import { z } from 'zod';

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * A duration as text (`30d`, `1h`, `15m`, `2s`, `250ms`), parsed to milliseconds. A bare number is refused, because its
 * unit would be a guess.
 */
export const duration = z.string('expected a duration such as 30d, 1h, 15m, 2s or 250ms').transform((text, context) => {
  const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  if (amount === undefined || unit === undefined) {
    context.addIssue('expected a duration such as 30d, 1h, 15m, 2s or 250ms');
    return z.NEVER;
  }
  return Number(amount) * (UNIT_MS[unit] ?? 1);
});
