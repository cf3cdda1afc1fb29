import { z } from 'zod';
import type { WebhookSigning } from '../../http/signed-delivery.ts';
import { duration } from '../duration.ts';
import { employeeUrl, pageBelow } from '../employee-url.ts';
import type { FieldDef } from '../port.ts';

const fieldName = z.string().regex(/^[\w.]+$/, "expected the field's name or alias in BambooHR, or its id");

const field = z.strictObject({
  name: fieldName,
  /** Where reading calls it otherwise than writing. */
  readAs: fieldName.optional(),
  label: z.string().optional(),
  type: z.enum(['text', 'number', 'date', 'boolean', 'list', 'country']).default('text'),
  required: z.boolean().default(false),
});

type FieldInput = z.input<typeof field>;

/** Standard fields of an employee; a tenant adds its own, or names others, with `fields`. */
const DEFAULT_FIELDS: Record<string, FieldInput> = {
  givenName: { name: 'firstName', label: 'First name', required: true },
  familyName: { name: 'lastName', label: 'Last name', required: true },
  email: { name: 'homeEmail', label: 'Home e-mail' },
  workEmail: { name: 'workEmail', label: 'Work e-mail' },
  phone: { name: 'mobilePhone', label: 'Mobile phone' },
  title: { name: 'jobTitle', label: 'Job title' },
  department: { name: 'department', label: 'Department' },
  location: { name: 'location', label: 'Location' },
  city: { name: 'city', label: 'City' },
  country: { name: 'country', label: 'Country', type: 'country' },
  startDate: { name: 'hireDate', label: 'Hire date', type: 'date' },
  // Written as dateOfBirth, and read as birthDate.
  birthDate: { name: 'dateOfBirth', readAs: 'birthDate', label: 'Birth date', type: 'date' },
};

/** Where people see an employee. Assumed: the vendor's document shows no page of one (README). */
const PROFILE = '/employees/employee.php?id={id}';

/** What stands beside `kind: bamboohr` and `connection` in a tenant file. */
export const bamboohrOptions = z
  .strictObject({
    url: z.url({ protocol: /^https?$/, error: 'expected the address of the company, https://acme.bamboohr.com' }),
    /** A reference to it in the tenant file. */
    apiKey: z.string().min(1),
    /** Private keys of the webhooks that were made for us, as references; without one none is taken. */
    webhookKeys: z
      .array(z.string().min(1), 'expected a list such as [file:bamboohr-hook.key]')
      .max(2, 'expected at most two keys: the current one and the one being rotated')
      .optional(),
    /** One of them, as tenant files had it before there were several. */
    webhookKey: z.string().min(1).optional(),
    /** A text field that the customer made for our reference; `none` where there is none. */
    referenceField: fieldName,
    /** The dataset that employees are looked up in. */
    dataset: fieldName.default('employee'),
    /** How long a new employee may be missing there. Unpublished; a minute is our assumption. */
    readLag: duration.default(60_000),
    /** Names of the account's employment statuses; without them nobody is rehired or terminated. */
    employment: z.strictObject({ active: z.string().min(1), ended: z.string().min(1) }).optional(),
    /** The id of the section of employees' files that ours go to; without it none is delivered. */
    fileCategory: z.int().positive().optional(),
    /** Where people see an employee, where it is not at `url`: https://hr.example/people/{id}. */
    employeeUrl: employeeUrl.optional(),
    fields: z.record(z.string(), field).default({}),
    allowPrivateAddress: z.boolean('expected true or false').default(false),
  })
  .transform((options) => ({
    employeeUrl: pageBelow(options.url, PROFILE),
    ...options,
    referenceField: options.referenceField === 'none' ? undefined : options.referenceField,
    fields: { ...z.record(z.string(), field).parse(DEFAULT_FIELDS), ...options.fields },
  }));

/** The time is signed behind the body. Event-based payloads name one employee, field-based ones some. */
export const bamboohrWebhooks: WebhookSigning = {
  header: 'x-bamboohr-signature',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: '',
  timestamp: 'x-bamboohr-timestamp',
  signed: '{body}{timestamp}',
  ids: [
    ['data', 'employeeId'],
    ['employees', 'id'],
  ],
};

export type BambooField = z.output<typeof field>;
export type BambooOptions = z.output<typeof bamboohrOptions>;

/** What the mapping of an employee may write. Countries are ISO codes here, and names over there. */
export function bamboohrFields({ fields }: BambooOptions): FieldDef[] {
  return Object.entries(fields).map(([key, { name, label, type, required }]) => ({
    key,
    place: name,
    label: label ?? key,
    type: type === 'country' ? 'text' : type,
    required,
    writable: true,
    ...(type === 'text' && { isLookedUp: true }),
  }));
}

export function readName({ name, readAs }: BambooField): string {
  return readAs ?? name;
}
