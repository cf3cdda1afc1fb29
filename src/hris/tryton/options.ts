import { z } from 'zod';
import { employeeUrl, pageBelow } from '../option-types.ts';
import type { FieldDef } from '../port.ts';

const scalarTypes = ['text', 'number', 'date', 'boolean'] as const;

/** A field that a Tryton module adds to parties or employees. */
const extraField = z.strictObject({
  model: z.enum(['party', 'employee'], 'expected party or employee'),
  name: z.string().regex(/^[a-z_][a-z0-9_]*$/, "expected the field's name in Tryton"),
  label: z.string().optional(),
  type: z.enum(scalarTypes).default('text'),
  required: z.boolean().default(false),
});

/** The options beside `kind: tryton` and `connection` in a tenant file. */
export const trytonOptions = z
  .strictObject({
    url: z.url({ protocol: /^https?$/, error: 'expected the address of the server, https://...' }),
    database: z.string().min(1),
    user: z.string().min(1),
    /** A reference in the tenant file. */
    password: z.string().min(1),
    /** The id of the company in Tryton in which employees are created. */
    company: z.int().positive(),
    /** The page of an employee, if it is not at `url`: https://hr.example/people/{id}. */
    employeeUrl: employeeUrl.optional(),
    fields: z.record(z.string(), extraField).default({}),
    allowPrivateAddress: z.boolean('expected true or false').default(false),
  })
  .transform((options) => ({ employeeUrl: pageBelow(options.url, webClient(options)), ...options }));

/** The page of an employee in Tryton's web client. Assumed to be on the same server (README). */
function webClient({ database }: { database: string }): string {
  return `/#${encodeURIComponent(database)}/model/company.employee/{id}`;
}

export type TrytonOptions = z.output<typeof trytonOptions>;

/** Names of a party's contact mechanisms, ours and Tryton's. */
export const CONTACTS = { email: 'email', phone: 'phone', mobile: 'mobile', website: 'website' } as const;

/** Parts of a party's first address. */
export const ADDRESS = { street: 'street', postalCode: 'postal_code', city: 'city' } as const;

const LABELS: Readonly<Record<string, string>> = {
  email: 'E-mail',
  phone: 'Phone',
  mobile: 'Mobile phone',
  website: 'Website',
  street: 'Street',
  postalCode: 'Postal code',
  city: 'City',
};

/** The fields that an employee mapping may write. */
export function trytonFields({ fields }: TrytonOptions): FieldDef[] {
  const text = { type: 'text', required: false, writable: true } as const;
  return [
    { ...text, key: 'name', label: 'Name', required: true },
    ...[...Object.keys(CONTACTS), ...Object.keys(ADDRESS)].map((key) => ({
      ...text,
      key,
      label: LABELS[key] ?? key,
      ...(Object.hasOwn(CONTACTS, key) && { isLookedUp: true as const }),
    })),
    { key: 'startDate', label: 'Start date', type: 'date', required: false, writable: true },
    { key: 'endDate', label: 'End date', type: 'date', required: false, writable: true },
    ...Object.entries(fields).map(([key, { model, name, label, type, required }]) => ({
      key,
      place: `${model}.${name}`,
      label: label ?? key,
      type,
      required,
      writable: true,
      ...(type === 'text' && { isLookedUp: true as const }),
    })),
  ];
}
