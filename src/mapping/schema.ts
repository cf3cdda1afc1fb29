import { z } from 'zod';
import { type TransformName, transformOptions, transforms } from './transforms.ts';

const names = Object.keys(transforms) as [TransformName, ...TransformName[]];
const scalar = z.union([z.string(), z.number(), z.boolean()], 'expected text, a number or true/false');
const from = z.string().min(1);

const transform = z
  .union(
    [
      z.enum(names, `expected one of ${names.join(', ')}`),
      z
        .strictObject(transformOptions)
        .partial()
        .refine((one) => Object.keys(one).length === 1, 'expected one transform with its options'),
    ],
    `expected one of ${names.join(', ')}`,
  )
  .describe('A name, or a name with its options: { date: { formats: [dd.MM.yyyy] } }');

/** How one employee field gets its value. */
const fieldRule = z.strictObject({
  from: z
    .union([from, z.array(from).min(1)], 'expected a path such as candidate.firstName, or a list of them')
    .describe(
      'candidate.FIELD, job.FIELD, jobCandidate.FIELD, onboarding.FIELD, candidate.customFields[LABEL] or ' +
        'job.customFields[LABEL]; a list needs first or join',
    )
    .optional(),
  constant: scalar.describe('The same value for everyone').optional(),
  transform: z.array(transform).describe('Applied in order').optional(),
  lookup: z.record(z.string(), scalar).describe('Value after the transforms -> what the HR system calls it').optional(),
  default: scalar.describe('Where the source is empty or the lookup does not know the value').optional(),
  required: z.boolean().describe('Empty means the hire waits for a person').optional(),
  acknowledge: z
    .enum(['previousJob'])
    .describe('candidate.currentJobTitle and currentCompany are the previous job; say that you mean it')
    .optional(),
});

/** One mapping file: employee field -> rule. `null` takes a field of the default mapping away. */
export const mappingFile = z.strictObject({
  $schema: z.string().optional(),
  fields: z.record(z.string(), z.union([fieldRule, z.null()], 'expected { from: ... } or { constant: ... }')),
});

export type FieldRule = z.output<typeof fieldRule>;

/** The JSON Schema for editors, kept as mappings/mapping.schema.json. */
export function mappingJsonSchema(): string {
  const schema = { ...z.toJSONSchema(mappingFile, { io: 'input' }), title: 'hirebridge mapping file' };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
