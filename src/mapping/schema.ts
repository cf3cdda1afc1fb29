import { z } from 'zod';
import { type TransformName, transformOptions, transforms } from '../values/transforms.ts';

/** `money` has no short form, because an amount means nothing without its currency. */
const names = (Object.keys(transforms) as TransformName[]).filter((name) => name !== 'money') as [TransformName];
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

const condition = z
  .strictObject({
    path: from.describe('The same paths as from'),
    equals: scalar.describe('The value as the partner has it').optional(),
    in: z.array(scalar).min(1).describe('One of these values').optional(),
    present: z.boolean().describe('true: has a value; false: is empty').optional(),
  })
  .refine(
    ({ equals, in: oneOf, present }) => [equals, oneOf, present].filter((one) => one !== undefined).length === 1,
    'expected path with one of equals, in or present',
  );

/** Which way a value flows, and whose edits count if it flows both ways. */
const flow = {
  direction: z
    .enum(['toHris', 'toPartner', 'both'], 'expected toHris, toPartner or both')
    .describe(
      'toHris is the default; toPartner reads the rule backwards, so both and toPartner need a rule that can be',
    )
    .optional(),
  owner: z
    .enum(['partner', 'hris', 'either'], 'expected partner, hris or either')
    .describe('With direction both: whose edits flow')
    .optional(),
  conflict: z
    .enum(['partner', 'hris', 'hold'], 'expected partner, hris or hold')
    .describe('With owner either: whose value stays when both sides changed it; hold asks a person')
    .optional(),
  report: z
    .boolean()
    .describe('With one owner: an edit of the other side stays and is reported, instead of being put back')
    .optional(),
};

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
  template: z
    .string()
    .min(1)
    .describe('Text with paths in braces: "{candidate.lastName}, {candidate.firstName}"; empty when one of them is')
    .optional(),
  when: z
    .array(condition)
    .min(1)
    .describe('The rule applies only where all of these hold; elsewhere the field is left out')
    .optional(),
  transform: z.array(transform).describe('Applied in order').optional(),
  lookup: z
    .union([z.record(z.string(), scalar), from], 'expected { VALUE: what the HR system calls it } or a CSV file')
    .describe(
      'Value after the transforms -> what the HR system calls it; or a CSV file of these two columns with a ' +
        'header line, its path relative to this file',
    )
    .optional(),
  table: from
    .describe(
      'The value after the transforms is the id of a record of the hiring platform: TABLE.FIELD gives what the table ' +
        'says of it (users.email, teams.name, pipelines.name, stages.name, flows.name). TABLE[COLUMN].FIELD looks ' +
        'for it in that column instead: users[email].id, users[email].teamId, teams[name].id',
    )
    .optional(),
  default: scalar.describe('Where the source is empty or the lookup does not know the value').optional(),
  unique: z
    .literal(true, 'expected true, or no "unique" at all')
    .describe(
      'For a user name or work e-mail: if somebody has it, 2 to 99 is added before the @; decided once for each hire',
    )
    .optional(),
  required: z.boolean().describe('Empty means the hire waits for a person').optional(),
  sensitive: z.boolean().describe('Shown masked wherever values are shown').optional(),
  acknowledge: z
    .enum(['previousJob'])
    .describe('candidate.currentJobTitle and currentCompany are the previous job; confirm that you mean it')
    .optional(),
  ...flow,
});

/** One mapping file: employee field -> rule. `null` removes the rule of a lower file. */
export const mappingFile = z.strictObject({
  $schema: z.string().optional(),
  extends: from.describe('A mapping file that this one extends, its path relative to this file').optional(),
  fields: z
    .record(
      z.string(),
      z.union([fieldRule, z.null()], 'expected { from: ... }, { constant: ... } or { template: ... }'),
    )
    .describe('Field of the HR system -> its rule; null removes the rule of an extended file'),
});

export type FieldRule = z.output<typeof fieldRule>;
export type Condition = z.output<typeof condition>;
export type TransformRule = z.output<typeof transform>;
