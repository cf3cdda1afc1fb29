import { z } from 'zod';
import type { WebhookSigning } from '../../http/signed-delivery.ts';
import { duration, employeeUrl, pageBelow } from '../option-types.ts';
import type { FieldDef } from '../port.ts';

const fieldName = z.string().regex(/^[\w.]+$/, "expected the field's name or alias in BambooHR, or its id");

const field = z.strictObject({
  name: fieldName,
  /** The field's name in answers, if it differs from its name in writes. */
  readAs: fieldName.optional(),
  label: z.string().optional(),
  type: z.enum(['text', 'number', 'date', 'boolean', 'list', 'country']).default('text'),
  required: z.boolean().default(false),
});

type FieldInput = z.input<typeof field>;

/** Standard fields of an employee; a tenant adds or replaces fields with `fields`. */
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
  // Written as dateOfBirth, but read as birthDate.
  birthDate: { name: 'dateOfBirth', readAs: 'birthDate', label: 'Birth date', type: 'date' },
};

/** The page of an employee. Assumed: the vendor's document shows no such page (README). */
const PROFILE = '/employees/employee.php?id={id}';

/** The options beside `kind: bamboohr` and `connection` in a tenant file. */
export const bamboohrOptions = z
  .strictObject({
    url: z.url({ protocol: /^https?$/, error: 'expected the address of the company, https://acme.bamboohr.com' }),
    /** A reference in the tenant file. */
    apiKey: z.string().min(1),
    /** Private keys of the webhooks made for us, as references; without any, no webhook is accepted. */
    webhookKeys: z
      .array(z.string().min(1), 'expected a list such as [file:bamboohr-hook.key]')
      .max(2, 'expected at most two keys: the current one and the one being rotated')
      .optional(),
    /** A single key, as in tenant files of earlier versions. */
    webhookKey: z.string().min(1).optional(),
    /** A text field that the customer made for our reference, or `none`. */
    referenceField: fieldName,
    /** The dataset in which employees are looked up. */
    dataset: fieldName.default('employee'),
    /** How long the dataset may lack a new employee. Not documented; a minute is our assumption. */
    readLag: duration.default(60_000),
    /** The account's names of employment statuses; without them nobody is rehired or terminated. */
    employment: z.strictObject({ active: z.string().min(1), ended: z.string().min(1) }).optional(),
    /** Id of the section of employees' files for our files; without it none is delivered. */
    fileCategory: z.int().positive().optional(),
    /** The page of an employee, if it is not at `url`: https://hr.example/people/{id}. */
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

/** The signature covers body and time. Event-based payloads name one employee, field-based ones several. */
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

/** The fields that an employee mapping may write. Countries are ISO codes here, and names in BambooHR. */
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
