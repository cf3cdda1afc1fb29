import { z } from 'zod';
import { cleanEmail } from '../contract/email.ts';

/** The same body with its e-mails cleaned, wherever the schema asks for one. */
export function cleanEmails(schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return cleanEmails(schema.def.innerType as z.ZodType, value);
  if (schema instanceof z.ZodEmail) return typeof value === 'string' ? cleanEmail(value) : value;
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((entry) => cleanEmails(schema.def.element as z.ZodType, entry));
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return value;
  const fields: Record<string, z.ZodType> = schema.def.shape;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, cleanEmails(fields[key], field)]));
}
