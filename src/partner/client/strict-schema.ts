import { z } from 'zod';

const made = new WeakMap<z.ZodType, z.ZodType>();

/**
 * The schema with unknown keys refused at every depth: a misspelt key would be ignored by the partner and missed by us.
 * Objects that the contract leaves open on purpose stay open.
 */
export function strictSchema(schema: z.ZodType): z.ZodType {
  const known = made.get(schema);
  if (known !== undefined) return known;
  const strict = makeStrict(schema);
  made.set(schema, strict);
  return strict;
}

function makeStrict(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const shape = Object.fromEntries(
      Object.entries(schema.def.shape).map(([key, field]) => [key, strictSchema(field as z.ZodType)]),
    );
    return schema.clone({ ...schema.def, shape, catchall: schema.def.catchall ?? z.never() });
  }
  if (schema instanceof z.ZodArray)
    return schema.clone({ ...schema.def, element: strictSchema(schema.def.element as z.ZodType) });
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return schema.clone({ ...schema.def, innerType: strictSchema(schema.def.innerType as z.ZodType) } as never);
  return schema;
}
