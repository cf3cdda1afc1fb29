import english from 'i18n-iso-countries';
import { z } from 'zod';
import { type ConnectorError, isConnectorError } from '../../errors.ts';
import type { EmployeeFields } from '../../hire/hire.ts';
import type { HttpAnswer, HttpMethod } from '../../http/http-error.ts';
import type { WebhookSigning } from '../../http/signed-delivery.ts';
import {
  callHris,
  type HrisLimits,
  type HrisLine,
  type HrisRequest,
  openLine,
  type Refusal,
  readJson,
} from '../http-line.ts';
import { duration, employeeUrl, pageBelow } from '../option-types.ts';
import type { FieldDef } from '../port.ts';
import { withoutValues } from '../records.ts';

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

/** One company's account. */
export interface Bamboo {
  options: BambooOptions;
  /** Makes one call. */
  send(call: BambooCall): Promise<HttpAnswer>;
  /** Reads or searches: the answer as JSON. */
  json(call: BambooCall): Promise<unknown>;
  /** The account's own names of countries, by their ISO code: it takes no others. Read once. */
  countries(signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
  close(): Promise<void>;
}

interface BambooCall extends Pick<HrisRequest, 'signal' | 'beforeSend' | 'priority'> {
  /** GET by default. */
  method?: HttpMethod;
  /** Below the version of the API; `what` names it in messages where it holds an id or a query. */
  path: string;
  what?: string;
  version?: 'v2';
  body?: object;
  /** A body that is not JSON. */
  upload?: FormData;
  /** JSON by default. */
  accept?: string;
  /** All calls but a create may be repeated. */
  idempotent?: false;
  /** The values sent: they are removed from BambooHR's error text before it is shown. Without any, none is shown. */
  sent?: EmployeeFields;
}

/** The key may not see the list of countries, or the account has none. */
const UNLISTED = [400, 403, 404, 405, 501];
const Countries = z.array(z.looseObject({ name: z.string(), isoCode: z.string().nullish() }));

/** Basic authentication: the key is the user, and the password can be any text. */
export function openBamboo(options: BambooOptions, limits: HrisLimits): Bamboo {
  const line = openLine(options.url, { allowPrivate: options.allowPrivateAddress, limits });
  const authorization = `Basic ${Buffer.from(`${options.apiKey}:x`).toString('base64')}`;
  const send = (call: BambooCall): Promise<HttpAnswer> => request(line, authorization, call);
  const json = async (call: BambooCall): Promise<unknown> =>
    readJson(await send(call), { what: nameOf(call), idempotent: true });
  let known: ReadonlyMap<string, string> | undefined;
  const readCountries = async (signal: AbortSignal): Promise<ReadonlyMap<string, string>> => {
    const answer = await json({ path: 'meta/countries/options', signal }).catch((error: unknown) => {
      if (!isConnectorError(error) || !UNLISTED.includes(error.status ?? 0)) throw error;
    });
    const listed = Countries.safeParse(answer).data ?? [];
    const names = listed.flatMap(({ name, isoCode }) => (isoCode ? [[isoCode.toUpperCase(), name] as const] : []));
    // English names, most of which are the same.
    return new Map(names.length > 0 ? names : Object.entries(english.getNames('en')));
  };
  return {
    options,
    send,
    json,
    countries: async (signal) => (known ??= await readCountries(signal)),
    close: () => line.close(),
  };
}

function nameOf({ method = 'GET', path, what = path }: BambooCall): string {
  return `${method} ${what}`;
}

async function request(line: HrisLine, authorization: string, call: BambooCall): Promise<HttpAnswer> {
  const { path, version = 'v1', body, upload, sent, accept = 'application/json', ...rest } = call;
  const form = upload && new Response(upload);
  const json = body === undefined ? undefined : 'application/json';
  const type = form === undefined ? json : (form.headers.get('content-type') ?? '');
  const message = {
    method: 'GET' as HttpMethod,
    idempotent: true,
    ...rest,
    what: nameOf(call),
    path: `/api/${version}/${path}`,
    body: form === undefined ? body && JSON.stringify(body) : Buffer.from(await form.bytes()),
    // Without Accept some answers are XML.
    headers: { accept, authorization, ...(type !== undefined && { 'content-type': type }) },
  };
  try {
    return await callHris(line, message, (answer) => whatItSaid(answer, sent));
  } catch (error) {
    throw isConnectorError(error) ? asThrottled(error) : error;
  }
}

/** Until 2026-09-16 a throttled call was answered 503 with Retry-After; some accounts may still do so. */
function asThrottled(error: ConnectorError): ConnectorError {
  if (error.status !== 503 || error.retryAfterMs === undefined) return error;
  return error.but({ code: 'RATE_LIMITED', action: 'throttle' });
}

/**
 * The reason is in a header, and the body is often empty. 409: a field's value was not accepted. Only about a write,
 * whose values are known and cut, is it told: about a search it may quote anybody.
 */
function whatItSaid({ status, headers }: HttpAnswer, sent: EmployeeFields | undefined): Refusal {
  const text = headers['x-bamboohr-error-message'] ?? headers['x-bamboohr-message'] ?? '';
  const said = sent === undefined ? '' : withoutValues(String(text), Object.values(sent));
  return {
    ...(status === 409 || status === 400 ? { code: 'INVALID_VALUE' } : {}),
    ...(said === '' ? {} : { said }),
  };
}
