import type { ErrorCase } from '../contract/endpoint.ts';
import type { Json } from './json-schema.ts';

const text = { type: 'string' };
const code = { type: 'string', examples: ['INVALID_REQUEST'] };

/** The bodies of sections 5 and 7, by the shape an error case names. */
export const errorSchemas: Record<string, Json> = {
  Error: {
    type: 'object',
    description: 'Canonical error body (section 7).',
    properties: {
      error: {
        type: 'object',
        properties: {
          code,
          type: text,
          message: text,
          details: { type: 'object', description: 'Field to message, or the numbers of a credit error.' },
        },
        required: ['code', 'type', 'message'],
      },
    },
    required: ['error'],
  },
  KeyError: {
    type: 'object',
    description: 'Flat body for a key that is not accepted (section 5, rule 5).',
    properties: { message: { type: 'string', examples: ['Invalid API key'] } },
    required: ['message'],
  },
  AccountError: {
    type: 'object',
    description: 'Flat body for an inactive subscription (section 5, rule 6).',
    properties: { code: { type: 'string', const: 'ACCOUNT_INACTIVE' }, message: text },
    required: ['code', 'message'],
  },
  WorkspaceError: {
    type: 'object',
    description: 'Flat body of users and teams (section 7).',
    properties: { statusCode: { type: 'integer' }, code, type: text, errorMessage: text },
    required: ['statusCode', 'code', 'type', 'errorMessage'],
  },
};

const schemaOfShape = { auth: 'KeyError', account: 'AccountError', workspace: 'WorkspaceError', canonical: 'Error' };

/** OpenAPI responses of the errors of an endpoint, one a status. */
export function errorResponses(errors: readonly ErrorCase[]): Json {
  const byStatus = Map.groupBy(errors, (error) => error.status);
  return Object.fromEntries(
    [...byStatus].sort(([a], [b]) => a - b).map(([status, cases]) => [String(status), errorResponse(cases)]),
  );
}

function errorResponse(cases: readonly ErrorCase[]): Json {
  const names = [...new Set(cases.map((error) => schemaOfShape[error.shape ?? 'canonical']))];
  const refs = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return {
    description: cases.map((error) => `${error.code}: ${error.when}`).join('. '),
    content: { 'application/json': { schema: refs.length === 1 ? refs[0] : { anyOf: refs } } },
    'x-errors': cases.map(({ code, type, when }) => ({ code, type, when })),
  };
}
