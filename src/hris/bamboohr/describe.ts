import { z } from 'zod';
import type { DescribedField } from '../port.ts';
import type { Bamboo } from './find.ts';

const Id = z.union([z.string(), z.number()]).transform(String);
const Fields = z.array(
  z.looseObject({
    id: Id,
    name: z.string(),
    type: z.string(),
    alias: z.string().optional(),
    deprecated: z.boolean().optional(),
  }),
);
const Lists = z.array(
  z.looseObject({
    fieldId: Id,
    options: z.array(z.looseObject({ name: z.string().nullish(), archived: z.string().optional() })),
  }),
);

/** Every field of the account that is not retired. */
export async function readFields({ api }: Bamboo, signal: AbortSignal) {
  const answer = await api.json({ what: 'GET meta/fields', method: 'GET', path: '/api/v1/meta/fields', signal });
  return Fields.parse(answer).filter(({ deprecated }) => deprecated !== true);
}

/** Nobody is created without them; whatever else an account requires is published nowhere. */
const REQUIRED: ReadonlySet<string> = new Set(['firstName', 'lastName']);

/** The account's fields with the values of its lists, custom ones beside the standard ones. */
export async function describeFields(bamboo: Bamboo, signal: AbortSignal): Promise<DescribedField[]> {
  const path = '/api/v1/meta/lists';
  const [fields, lists] = await Promise.all([
    readFields(bamboo, signal),
    bamboo.api.json({ what: 'GET meta/lists', method: 'GET', path, signal }),
  ]);
  const options = new Map(
    Lists.parse(lists).map(({ fieldId, options: all }) => [
      fieldId,
      all.flatMap(({ name, archived }) => (archived === 'yes' || !name ? [] : [name])),
    ]),
  );
  const ours = Object.entries(bamboo.options.fields).map(([key, field]) => [field.name, { key, field }] as const);
  const known = new Map(ours);
  return fields.map(({ id, name, type, alias }) => {
    const { key, field } = known.get(alias ?? id) ?? known.get(id) ?? {};
    // Countries are codes here, whatever they are called there.
    const values = field?.type === 'country' ? [] : (options.get(id) ?? []);
    return {
      key: key ?? alias ?? id,
      label: name,
      isField: key !== undefined,
      type: TYPES[type] ?? 'other',
      required: REQUIRED.has(alias ?? ''),
      ...(values.length === 0 ? {} : { options: values }),
    };
  });
}

/** A list holds one of its values, so it is a text here. */
const TYPES: Readonly<Record<string, DescribedField['type']>> = {
  text: 'text',
  textarea: 'text',
  email: 'text',
  phone: 'text',
  list: 'text',
  state: 'text',
  country: 'text',
  date: 'date',
  checkbox: 'boolean',
  bool: 'boolean',
  int: 'number',
  integer: 'number',
};
