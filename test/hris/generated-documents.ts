export const query = (name: string) => ({ in: 'query', name, schema: { type: 'string' } });
export const json = (schema: unknown) => ({ content: { 'application/json': { schema } } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const text = { type: 'string' };
const asNumber = (name: string, schema: object) => ({ in: 'query', name, schema: { type: 'integer', ...schema } });
const nullable = (schema: object) => ({ anyOf: [schema, { type: 'null' }], title: 'Nullable' });

const person = { type: 'object', properties: { id: text, first_name: text } };

/** Documents as frameworks generate them, and what of a definition they say. */
export const GENERATED: Record<string, { document: object; says: object; notes: RegExp[] }> = {
  'FastAPI: what may be null, a list without former employees, a login by password': {
    document: {
      openapi: '3.1.0',
      paths: {
        '/api/v1/users/me': { get: {} },
        '/api/v1/employees/': {
          get: {
            parameters: [
              { in: 'query', name: 'external_ref', schema: nullable(text) },
              { in: 'query', name: 'include_inactive', schema: { type: 'boolean', default: false } },
              asNumber('page', { default: 1 }),
              asNumber('size', { maximum: 50 }),
            ],
            responses: {
              200: json({ properties: { items: { type: 'array', items: ref('Read') }, total: { type: 'integer' } } }),
            },
          },
          post: { requestBody: json(ref('Read')), responses: { 201: json(ref('Read')) } },
        },
        '/api/v1/employees/{employee_id}': { get: { responses: { 200: json(ref('Read')) } } },
        '/api/v1/employees/{employee_id}/terminate': { post: {} },
      },
      components: {
        schemas: {
          Read: {
            type: 'object',
            properties: {
              id: text,
              first_name: text,
              job_title: nullable({ type: 'string', maxLength: 120 }),
              date_of_birth: nullable({ type: 'string', format: 'date' }),
              external_ref: nullable(text),
              address: { oneOf: [{ type: 'null' }, ref('Address')] },
              starts_on: { type: 'string', format: 'date' },
            },
          },
          Address: { type: 'object', properties: { city: nullable(text), name: text } },
        },
        securitySchemes: { OAuth2PasswordBearer: { type: 'oauth2', flows: { password: { tokenUrl: 'token' } } } },
      },
    },
    says: {
      auth: { login: { post: '/token', token: 'body.access_token', carry: { authorization: 'Bearer {token}' } } },
      record: { reference: 'external_ref' },
      fields: {
        title: { at: 'job_title', maxLength: 120 },
        birthDate: { at: 'date_of_birth', type: 'date' },
        city: { at: 'address.city' },
        addressName: { at: 'address.name' },
        startDate: { at: 'starts_on' },
      },
      find: {
        reference: { query: { external_ref: '{value}', include_inactive: 'true' } },
        all: { query: { include_inactive: 'true' }, paging: { by: 'page', first: 1, size: 50 } },
      },
      probe: { get: '/api/v1/users/me' },
    },
    notes: [/"terminate" and "rehire".* Perhaps: POST \/api\/v1\/employees\/\{employee_id\}\/terminate/],
  },
  'Spring: lists in _embedded, pages from 0, links that a PUT does not take, a key for repeats': {
    document: {
      openapi: '3.0.1',
      servers: [{ url: 'http://{host}/core', variables: { host: { default: 'hr.example' } } }],
      security: [{ oauth: ['workers.write'] }],
      paths: {
        '/v2/workers': {
          get: {
            parameters: [asNumber('page', { minimum: 0 }), query('status'), query('sort')],
            responses: { 200: { content: { '*/*': { schema: ref('Page') } } } },
          },
          post: {
            parameters: [{ in: 'header', name: 'Idempotency-Key', required: true, schema: text }],
            requestBody: json(ref('Worker')),
            responses: { 202: {} },
          },
        },
        '/v2/workers/{workerId}': {
          get: { responses: { 200: json(ref('Worker')) } },
          put: { requestBody: json({ properties: { name: ref('Name'), workEmail: text } }) },
        },
        '/v2/operations/{operationId}': { get: {} },
      },
      components: {
        schemas: {
          Page: {
            properties: {
              _embedded: { type: 'object', properties: { workerList: { type: 'array', items: ref('Worker') } } },
              page: { type: 'object', properties: { totalElements: { type: 'integer' } } },
            },
          },
          Name: { type: 'object', properties: { first: text, last: text } },
          Worker: {
            properties: {
              workerId: text,
              name: ref('Name'),
              workEmail: text,
              phones: { type: 'array', items: { type: 'object', properties: { number: text } } },
              _links: { type: 'object', additionalProperties: { type: 'object' } },
            },
          },
        },
        securitySchemes: {
          oauth: {
            type: 'oauth2',
            flows: { clientCredentials: { tokenUrl: 'http://hr.example/core/token', scopes: { 'workers.read': 'r' } } },
          },
        },
      },
    },
    says: {
      auth: { oauth2: { tokenPath: '/token', scope: 'workers.write' } },
      record: { id: 'workerId' },
      find: {
        all: {
          items: 'page.totalElements = 0 ? [] : _embedded.workerList',
          paging: { by: 'page', first: 0, total: 'page.totalElements' },
        },
      },
      create: { headers: { 'idempotency-key': '{record | uuid}' } },
      update: { put: '/v2/workers/{id}', without: ['workerId', 'phones', '_links'] },
    },
    notes: [
      /which the document gives as http:\/\/hr\.example\/core/,
      /"fields": phones is a list of records/,
      /"find": the list also takes status\./,
      /may be answered 202.* Perhaps: GET \/v2\/operations\/\{operationId\}/,
    ],
  },
  'OData: keys in parentheses, one filter for all, the next page as an address': {
    document: {
      openapi: '3.0.4',
      paths: {
        '/Employees': {
          get: {
            parameters: [query('$filter'), asNumber('$top', {}), asNumber('$skip', {}), query('$search')].concat({
              in: 'query',
              name: '$count',
              schema: { type: 'boolean' },
            }),
            responses: {
              '2XX': json({
                allOf: [
                  { properties: { '@odata.count': { type: 'integer' }, '@odata.nextLink': text } },
                  { properties: { value: { type: 'array', items: ref('Employee') } } },
                ],
              }),
            },
          },
          post: { requestBody: json(ref('Employee')), responses: { '2XX': json(ref('Employee')) } },
        },
        "/Employees('{EmployeeID}')": {
          get: { responses: { '2XX': json(ref('Employee')) } },
          patch: { requestBody: json(ref('Employee')), responses: { 204: {} } },
        },
      },
      components: {
        schemas: {
          Employee: {
            required: ['@odata.type', 'Grade'],
            properties: {
              '@odata.type': text,
              '@odata.etag': text,
              EmployeeID: { type: 'string', readOnly: true },
              EmployeeNumber: { type: 'integer' },
              ExternalId: text,
              WorkEmail: text,
              Grade: { type: 'integer', enum: [0, 1], 'x-enum-varnames': ['Junior', 'Senior'] },
              Department: { anyOf: [ref('Department'), { nullable: true }], 'x-ms-navigationProperty': true },
              ModifiedDateTime: { type: 'string', format: 'date-time', readOnly: true },
            },
          },
          Department: { properties: { Name: text } },
        },
      },
    },
    says: {
      fields: { grade: { at: 'Grade', required: true, values: { Junior: 0, Senior: 1 } } },
      find: {
        reference: { query: { $filter: 'ExternalId eq {value | odata}' }, items: 'value' },
        number: { query: { $filter: 'EmployeeNumber eq {value | number}' } },
        email: { query: { $filter: 'WorkEmail eq {value | lower | odata}' } },
        all: {
          query: { $count: 'true' },
          paging: { by: 'link', next: '`@odata.nextLink`', total: '`@odata.count`' },
        },
      },
      record: { version: '`@odata.etag`' },
      read: { get: "/Employees('{id}')" },
      update: { patch: "/Employees('{id}')", headers: { 'if-match': '{version}' } },
      changes: { query: { $filter: 'ModifiedDateTime ge {since}' } },
    },
    notes: [/"find": the list also takes \$search\./],
  },
  'JSON:API: a type of its own, filters in brackets, values that never differ': {
    document: {
      openapi: '3.0.1',
      paths: {
        '/v1/employees': {
          get: {
            parameters: ['filter[email]', 'filter[external_key]', 'page[number]', 'page[size]'].map(query),
            responses: {
              200: json({
                properties: {
                  included: { type: 'array', items: ref('resource') },
                  data: { type: 'array', items: ref('resource') },
                  links: { properties: { next: text } },
                  meta: { properties: { total: { type: 'integer' } } },
                },
              }),
            },
          },
          post: {
            requestBody: {
              content: { 'application/vnd.api+json': { schema: { properties: { data: ref('resource') } } } },
            },
            responses: { 201: json({ properties: { data: ref('resource') } }) },
          },
        },
        '/v1/employees/{id}': {
          get: { responses: { 200: json({ properties: { data: ref('resource') } }) } },
          patch: {
            requestBody: {
              content: { 'application/vnd.api+json': { schema: { properties: { data: ref('resource') } } } },
            },
          },
        },
      },
      components: {
        schemas: {
          resource: {
            required: ['type'],
            properties: {
              id: text,
              type: { type: 'string', enum: ['employees'] },
              attributes: { properties: { first_name: text, last_name: text, email: text, external_key: text } },
              relationships: {
                properties: { department: { properties: { data: { properties: { id: text } } } } },
              },
            },
          },
        },
        securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } },
      },
    },
    says: {
      contentType: 'application/vnd.api+json',
      record: { id: 'id', reference: 'attributes.external_key' },
      fields: { departmentId: { at: 'relationships.department.data.id' } },
      find: {
        reference: { query: { 'filter[external_key]': '{value}' }, items: 'data' },
        all: {
          query: { 'page[size]': '{page.size}' },
          paging: { by: 'link', next: 'links.next', total: 'meta.total' },
        },
      },
      create: { post: '/v1/employees', set: { type: 'employees' }, body: { data: '{record}' } },
      update: { patch: '/v1/employees/{id}', set: { id: '{id}', type: 'employees' }, body: { data: '{record}' } },
    },
    notes: [/"auth": whether a word such as Bearer/],
  },
  'Swagger: a form, an envelope that says whether it worked, a search of its own': {
    document: {
      swagger: '2.0',
      host: 'hr.example',
      basePath: '/api.php',
      schemes: ['https'],
      paths: {
        '/staff': {
          get: {
            parameters: [
              { in: 'query', name: 'start', type: 'integer' },
              { in: 'query', name: 'limit', type: 'integer', maximum: 20 },
            ],
            responses: {
              200: { schema: { properties: { success: { type: 'boolean' }, rows: { type: 'array', items: person } } } },
            },
          },
          post: {
            parameters: [
              { in: 'formData', name: 'first_name', type: 'string', required: true },
              { in: 'formData', name: 'licence', type: 'string', enum: ['Y', 'N'] },
            ],
            responses: { 200: { schema: { properties: { success: { type: 'boolean' }, person } } } },
          },
        },
        '/staff/search': { post: {} },
        '/staff/{id}': { get: { responses: { 200: { schema: { properties: { person } } } } } },
      },
    },
    says: {
      contentType: 'application/x-www-form-urlencoded',
      fields: { givenName: { at: 'first_name', required: true }, licence: { options: ['Y', 'N'] } },
      find: { all: { items: 'rows', paging: { by: 'offset', first: 0, size: 20 } } },
      read: { item: 'person' },
      create: { item: 'body.person' },
      errors: [{ status: 200, when: 'body.success = false', means: 'reject' }],
    },
    notes: [/gives as https:\/\/hr\.example\/api\.php/, /"find\.email".* Perhaps: POST \/staff\/search/],
  },
};
