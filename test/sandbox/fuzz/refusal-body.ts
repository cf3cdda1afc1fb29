import { z } from 'zod';
import { codes } from '../../../src/partner/contract/endpoint.ts';

/**
 * A refusal as sections 5 and 7 show it, nothing more and nothing less; the client's own reader is far more tolerant.
 */
const code = z.enum(Object.keys(codes) as [string, ...string[]]);
const text = z.string().min(1);

export const RefusalBody = z.union([
  z.strictObject({
    error: z.strictObject({ code, type: text, message: text, details: z.record(z.string(), z.unknown()).optional() }),
  }),
  z.strictObject({ message: z.literal('Invalid API key') }),
  z.strictObject({ code: z.literal('ACCOUNT_INACTIVE'), message: text }),
  z.strictObject({ statusCode: z.int(), code, type: text, errorMessage: text }),
]);
