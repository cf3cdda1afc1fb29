import { z } from 'zod';
import { duration, employeePage } from '../option-types.ts';

/**
 * The file that describes one HR system over HTTP (`hris: { kind: http, definition: ./acme.yaml }`). Expressions read
 * answers (a path, or JSONata); templates with `{placeholders}` make requests. load-definition checks both.
 */
const expression = z.string().min(1).describe('A path such as name.givenName, or a JSONata expression');
const maybe = (about: string) => expression.optional().describe(about);
const template = z.string().min(1).describe('Text with {placeholders}');
const name = z.string().regex(/^[A-Za-z]\w*$/, 'expected a name of letters and digits');

const paging = z
  .strictObject({
    by: z.enum(['offset', 'page', 'cursor', 'link']),
    size: z.int().min(1).max(1_000).optional().describe('The most records of a page; {page.size} is 100 by default'),
    first: z
      .int()
      .min(0)
      .optional()
      .describe('The number of the first page, 1 by default; or of the first item, which has no default'),
    next: maybe(
      'Where the body has the next cursor, or with link the address of the next page; or a header: ' +
        'headers.x-next-cursor',
    ),
    header: z.string().optional().describe('With link: the header with the address of the next page; Link by default'),
    total: maybe(
      'Where the body has the number of all records, or a header: headers.x-total-count; leave it out if it counts ' +
        'records that the list does not show',
    ),
  })
  .describe('The request uses {page.offset}, {page.number}, {page.size} or {page.cursor}; `link` follows RFC 8288');

const request = {
  get: template.optional(),
  post: template.optional(),
  put: template.optional(),
  patch: template.optional(),
  delete: template.optional(),
  query: z.record(z.string(), z.json()).optional().describe('Templates; what is no text is sent as JSON'),
  headers: z.record(z.string(), template).optional(),
  body: z.json().optional().describe('A JSON template; {record} is the record with the fields in their places'),
};

const listing = {
  ...request,
  items: expression.default('$').describe('Where the list of records is; a single record counts as a list of one'),
  paging: paging.optional(),
};

const search = z.strictObject({
  ...listing,
  trusted: z
    .union([z.boolean(), z.literal('ascii')], 'expected true, false or ascii')
    .default(false)
    .describe('An empty answer proves that nobody is there; ascii: only for values in ASCII'),
  absent: z.array(z.int()).default([]).describe('Statuses that mean that nobody is there'),
});

const write = {
  ...request,
  as: z
    .enum(['merge', 'put', 'json-patch', 'scim-patch', 'flat'])
    .default('merge')
    .describe(
      'How fields are sent: in their places, in the whole record, as operations of RFC 6902 or RFC 7644, or by name',
    ),
  set: z.record(z.string(), z.json()).default({}).describe('What else to write: place -> template'),
  unversioned: z
    .boolean()
    .default(false)
    .describe('With {version}: a record that has no version is written all the same, whatever was edited meanwhile'),
  without: z
    .array(z.string())
    .default([])
    .describe('With put: places that the system returns but does not accept: id, status'),
};

const reading = z.strictObject({
  ...request,
  item: expression.default('$'),
  version: maybe(
    'Of { status, headers, body }: the version of what was read, if the record does not have it: headers.etag',
  ),
  absent: z.array(z.int()).default([404, 410]).describe('Statuses that mean that nobody is there'),
});

const oauth2 = z.strictObject({
  tokenPath: template.describe(
    'The path of the token endpoint, below hris.url; or its address: https://login.example/token',
  ),
  grant: z.enum(['client_credentials', 'refresh_token']).default('client_credentials'),
  clientId: template,
  clientSecret: template,
  refreshToken: template.optional(),
  scope: template.optional(),
  credentials: z.enum(['basic', 'body']).default('basic'),
});

const login = z.strictObject({
  ...request,
  check: z
    .strictObject({ ...request, refused: expression.describe('Of { status, headers, body }') })
    .optional()
    .describe('Asked after a login that is answered 500 or above: whether the credentials are wrong'),
  token: expression.describe('Where { status, headers, body } has the token of the session'),
  carry: z.record(z.string(), template).describe('Headers that every later call carries, with {token}'),
});

const auth = z
  .strictObject({
    bearer: template.optional(),
    basic: z.strictObject({ user: template, password: template }).optional(),
    headers: z.record(z.string(), template).optional(),
    query: z.record(z.string(), template).optional(),
    oauth2: oauth2.optional(),
    login: login.optional(),
    none: z.literal(true).optional(),
  })
  .refine(
    (ways) => Object.keys(ways).length === 1,
    'expected one way in: bearer, basic, headers, query, oauth2, login or none',
  );

const step = z
  .strictObject({
    fields: z
      .array(name)
      .default([])
      .describe('Fields that are written here and not in the record; without any, the part is always made'),
    from: maybe('Of a record: the id of the part that it already has'),
    find: z
      .strictObject({ ...request, id: expression })
      .optional()
      .describe('Whether the part was made before, by {reference}'),
    create: z.strictObject({ ...request, id: expression.describe('Of { status, headers, body }') }),
    update: z.strictObject(request).optional().describe('{id} is the id of the part'),
  })
  .describe('Written before the record; later calls use its id as {steps.NAME}');

const below = z
  .strictObject({
    find: z.strictObject({
      ...listing,
      id: expression.describe('Of a listed record: its id'),
      absent: z.array(z.int()).default([]).describe('Statuses that mean that there is none'),
    }),
    dated: z
      .string()
      .optional()
      .describe('Where a record has the day from which it counts: effectiveDate. Others than the latest are the past'),
    create: z.strictObject(write).optional().describe('Makes one; with `dated`, a change is a new record'),
    update: z.strictObject(write).optional().describe('Changes the one that counts, whose id is {below.NAME}'),
  })
  .describe('Records below an employee, found by {id}; places that begin with NAME are in the one that counts');

const files = z.strictObject({
  list: z.strictObject({ ...listing, name: expression, id: expression.optional() }),
  same: z
    .strictObject({
      sha1: expression.optional(),
      sha256: expression.optional(),
      md5: expression.optional(),
      base64: expression.optional(),
    })
    .optional()
    .describe('Of a listed file: a digest of its bytes, or the bytes'),
  download: z.strictObject(request).optional().describe('Its bytes, by {id} and {file.id}, if the list has no digest'),
  upload: z.strictObject({
    ...request,
    form: z.record(z.string(), template).optional().describe('A multipart form; {file} is the file'),
  }),
});

const webhooks = z.strictObject({
  header: z.string().describe('The header with the HMAC'),
  algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
  encoding: z.enum(['hex', 'base64']).default('hex'),
  prefix: z.string().default('').describe('Text before the HMAC, such as sha256='),
  timestamp: z.string().optional().describe('The header with the time, in seconds or ms'),
  signed: z.string().default('{body}').describe('What is signed: {body}, {timestamp}.{body}'),
  ids: z
    .union([z.string(), z.array(z.string())])
    .transform((ids) => [ids].flat().map((path) => path.split('.')))
    .describe('Where the ids of employees are, also inside lists: events.employee.id'),
});

const field = z.strictObject({
  at: z.string().min(1).describe('Its place in the record: name.givenName, emails[type="work"].value'),
  read: maybe('How it is read, if not at its place: department_id[1]'),
  label: z.string().optional(),
  type: z.enum(['text', 'number', 'date', 'boolean', 'list']).default('text'),
  required: z.boolean().default(false),
  write: z.boolean().default(true),
  maxLength: z.int().positive().optional(),
  decimals: z.int().min(0).optional(),
  options: z.array(z.string()).optional(),
  values: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('Our value -> their value'),
  date: z.string().optional().describe('How days are written, in tokens of Luxon: dd/MM/yyyy'),
  empty: z.enum(['null', 'text', 'omit']).default('null').describe('How an empty value is written'),
});

const requisitions = z
  .strictObject({
    id: expression.describe('The id of a position'),
    open: maybe('True of an open position; by default all listed ones are open'),
    version: expression.optional(),
    fields: z.record(name, field),
    list: z.strictObject(listing),
    read: reading.describe('One position by {id}'),
    update: z.strictObject(write),
  })
  .describe('Positions to be filled');

const lists = z
  .record(
    z.string(),
    z.strictObject({
      ...listing,
      id: expression.describe('Of an entry: its key, which stays the same when it is renamed'),
      label: expression.describe('Of an entry: its name'),
      active: maybe('True of an entry that can be chosen; by default all listed ones can'),
    }),
  )
  .describe('Lists that the options of select fields follow: departments, cost centres, sites');

const option = z.strictObject({
  about: z.string().optional(),
  secret: z.boolean().default(false),
  default: z.string().optional(),
});

const refusal = z.strictObject({
  status: z
    .union([z.int(), z.array(z.int())], 'expected a status such as 409, or a list: [400, 422]')
    .transform((status) => [status].flat()),
  when: maybe('Of { status, headers, body }: true, or something, if this row applies'),
  means: z.enum(['reject', 'retry', 'throttle', 'reauthorize', 'exists', 'absent', 'stale']),
  field: name.optional().describe('The field that the refusal is about'),
});

const account = z
  .strictObject({ at: expression, is: template })
  .describe('Whose account the credentials are of: where the body says so, and what it must be; asked each minute');

export const definitionSchema = z.strictObject({
  hrisDefinition: z.literal(1).describe('The version of this format'),
  name: z.string().min(1),
  options: z.record(name, option).default({}).describe('What a tenant file sets beside kind, connection and url'),
  auth,
  headers: z.record(z.string(), template).default({}),
  nothing: z
    .array(z.union([z.string(), z.boolean(), z.number()]))
    .default([])
    .describe('Values that mean that there is none'),
  contentType: z.string().default('application/json'),
  tls: z
    .strictObject({ certificate: template, key: template })
    .optional()
    .describe('Our client certificate and its key, if the system requires one; PEM'),
  limits: z
    .strictObject({ limit: z.string().optional(), remaining: z.string(), reset: z.string() })
    .optional()
    .describe('Headers with the rate limit, if they are not called X-RateLimit-Limit, -Remaining and -Reset'),
  hooks: z.string().optional().describe('A TypeScript module beside the file, for what the file cannot express'),
  timeout: duration.optional(),
  retryAfter: duration.default(30_000).describe('How long to wait after a 429 without Retry-After'),
  readLag: duration
    .optional()
    .describe('How long a read may miss a write, 0s by default; a tenant file may set another time'),
  record: z.strictObject({
    id: expression,
    number: expression.optional(),
    reference: z.string().optional().describe('Where the record stores our reference'),
    former: maybe('True if the employment has ended'),
    version: expression.optional(),
  }),
  fields: z.record(name, field),
  steps: z.record(name, step).default({}).describe('Parts of an employee with their own records'),
  below: z.record(name, below).default({}).describe('Employments, contracts, rows of a table: written by {id}'),
  find: z.strictObject({
    reference: search.optional(),
    number: search.optional(),
    email: search.optional(),
    person: search.optional(),
    name: search.optional(),
    taken: z
      .record(name, search)
      .default({})
      .describe('By field: who has {value} in it, for values that must be unique; without a search, `all` is read'),
    all: z
      .strictObject(listing)
      .optional()
      .describe('Everybody, page by page: read if a search that is not trusted found nobody'),
  }),
  read: reading,
  number: z
    .strictObject({ ...request, item: expression, absent: z.array(z.int()).default([404]) })
    .optional()
    .describe('Asks for the employee number by {id}, if records do not have it'),
  create: z.strictObject({
    ...write,
    id: maybe('Of { status, headers, body }: the id; by default the id of the record in body'),
    number: expression.optional(),
    item: maybe('Of { status, headers, body }: the record'),
    ticket: maybe(
      'Of { status, headers, body, reference }: the ticket to ask with later, if the answer is not final; ' +
        '`reference` is ours',
    ),
  }),
  pending: z
    .strictObject({
      ...request,
      done: expression,
      refused: expression.optional(),
      id: expression,
      number: expression.optional(),
      every: duration.default(60_000),
    })
    .optional()
    .describe('Asks for the outcome of a {ticket}'),
  update: z.strictObject(write),
  terminate: z.strictObject(write).optional().describe('{lastDay} is YYYY-MM-DD'),
  rehire: z.strictObject(write).optional(),
  remove: z
    .strictObject(request)
    .optional()
    .describe('Deletes an employee; used only for test employees of `hris test`'),
  changes: z
    .strictObject({
      ...listing,
      stamp: expression.describe('When a record changed, as ISO 8601 or as text that sorts by time'),
      beginning: z.string().default('1970-01-01T00:00:00Z'),
      overlap: duration.default(60_000).describe('How late a change may appear'),
      gone: maybe('True of a record that was deleted'),
      reread: z.boolean().default(false).describe('The list has only ids, so each record is read separately'),
    })
    .optional()
    .describe('{since} is the time from which changes are requested'),
  requisitions: requisitions.optional(),
  lists: lists.default({}),
  employeeUrl: employeePage
    .optional()
    .describe(
      'Where people see an employee: https://hr.example/people/{id}, /people/{id} below hris.url, or by {number}',
    ),
  files: files.optional(),
  webhooks: webhooks.optional(),
  describe: z
    .strictObject({ ...request, fields: expression })
    .optional()
    .describe('The current fields: a list of { place, label, type, required, options, maxLength }'),
  probe: z
    .strictObject({ ...request, account: account.optional() })
    .describe('A call that reads no person, and fails if the credentials are wrong'),
  errors: z.array(refusal).default([]),
  said: maybe('Of { status, headers, body }: text that people may see; values that were sent are removed'),
});

export function definitionJsonSchema(): string {
  const schema = {
    ...z.toJSONSchema(definitionSchema, { io: 'input' }),
    title: 'hirebridge definition of an HR system',
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

export type Definition = z.output<typeof definitionSchema>;
export type RequestOf = Partial<z.output<z.ZodObject<typeof request>>> & { paging?: PagingOf | undefined };
export type ListOf = RequestOf & { items: string };
export type WriteOf = z.output<z.ZodObject<typeof write>>;
export type FieldOf = z.output<typeof field>;
type PagingOf = z.output<typeof paging>;
