import { z } from 'zod';
import { cleanEmail } from '../contract/email.ts';

/**
 * The same body as it goes over the wire: e-mails cleaned, and digits in text as numbers wherever the schema asks for
 * a number. Ids are text for callers and integers on the wire where the specification has them so (`"jobIds": [12]`).
 */
export function asSent(schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return asSent(schema.def.innerType as z.ZodType, value);
  if (typeof value === 'string') return textAsSent(schema, value);
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((entry) => asSent(schema.def.element as z.ZodType, entry));
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return value;
  const fields: Record<string, z.ZodType> = schema.def.shape;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, asSent(fields[key], field)]));
}

function textAsSent(schema: z.ZodType | undefined, text: string): unknown {
  if (schema instanceof z.ZodEmail) return cleanEmail(text);
  return schema instanceof z.ZodNumber && /^\d{1,15}$/.test(text) ? Number(text) : text;
}
