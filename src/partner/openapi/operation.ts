import { z } from 'zod';
import { assumptions } from '../contract/assumptions.ts';
import type { AnyEndpoint } from '../contract/index.ts';
import { errorResponses } from './error-responses.ts';
import { type Components, type Json, jsonSchemaOf } from './json-schema.ts';

/** One endpoint as an OpenAPI operation; named schemas are added to `components`. */
export function operationOf(endpoint: AnyEndpoint, components: Components): Json {
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    description: descriptionOf(endpoint),
    tags: [endpoint.id.split('.')[0]],
    ...parametersOf(endpoint, components),
    ...requestBodyOf(endpoint, components),
    responses: { ...successesOf(endpoint, components), ...errorResponses(endpoint.errors) },
    'x-section': endpoint.section,
    'x-envelope': endpoint.envelope,
    ...(endpoint.costsCredit ? { 'x-costs-credit': true } : {}),
    ...(endpoint.list?.paging ? { 'x-paging': endpoint.list.paging } : {}),
    ...assumedOf(endpoint),
  };
}

/** `/pipelines/:pipelineId` as `/pipelines/{pipelineId}`. */
export function openApiPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

function descriptionOf(endpoint: AnyEndpoint): string {
  const { paging } = endpoint.list ?? {};
  const sentences = [
    `Section ${endpoint.section} of the specification.`,
    endpoint.costsCredit ? 'Costs credits: do not repeat it unless you know that it did not happen.' : '',
    paging ? `Pages begin at ${paging.pageParam}=${paging.firstPage}.` : '',
    endpoint.chunk ? `Keep to ${endpoint.chunk.max} entries a call.` : '',
    endpoint.assumed?.length ? 'Rests on overrides, see x-assumed.' : '',
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function parametersOf(endpoint: AnyEndpoint, components: Components): Json {
  const parameters = (['path', 'query'] as const).flatMap((place) => {
    const schema = place === 'path' ? endpoint.params : endpoint.query;
    if (!(schema instanceof z.ZodObject)) return [];
    return Object.entries(schema.shape).map(([name, field]) =>
      parameterOf(endpoint, place, name, field as z.ZodType, components),
    );
  });
  return parameters.length === 0 ? {} : { parameters };
}

function parameterOf(
  endpoint: AnyEndpoint,
  place: 'path' | 'query',
  name: string,
  field: z.ZodType,
  components: Components,
): Json {
  const schema = jsonSchemaOf(field, 'output', components);
  const required = place === 'path' || !field.safeParse(undefined).success;
  const list = schema['type'] === 'array' ? { style: 'form', explode: false } : {};
  return { name, in: place, description: parameterText(endpoint, place, name), required, schema, ...list };
}

/** What is known of a parameter: how the pages are counted, or its words. */
function parameterText(endpoint: AnyEndpoint, place: 'path' | 'query', name: string): string {
  const { paging } = endpoint.list ?? {};
  if (name === paging?.pageParam) return `Page, counted from ${String(paging.firstPage)}.`;
  if (name === paging?.sizeParam) return 'Records a page.';
  const words = name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return place === 'path' ? `Path: ${words}.` : `Query: ${words}.`;
}

function requestBodyOf(endpoint: AnyEndpoint, components: Components): Json {
  if (endpoint.body === undefined) return {};
  const schema = jsonSchemaOf(endpoint.body, 'input', components);
  return { requestBody: { required: endpoint.bodyOptional !== true, content: { 'application/json': { schema } } } };
}

function successesOf(endpoint: AnyEndpoint, components: Components): Json {
  const schema = jsonSchemaOf(endpoint.response, 'output', components);
  if (endpoint.list) {
    const items = jsonSchemaOf(endpoint.list.item, 'output', components);
    placeItems(schema, endpoint.list.itemsAt.split('.'), items);
  }
  const response = { description: endpoint.summary, content: { 'application/json': { schema } } };
  return Object.fromEntries((endpoint.okStatuses ?? [endpoint.status]).map((status) => [String(status), response]));
}

/** The contract reads a list's items one by one; the document shows them in their place. */
function placeItems(schema: Json, path: readonly string[], items: Json): void {
  const [key, ...rest] = path;
  const field = key === undefined ? undefined : ((schema['properties'] as Json | undefined)?.[key] as Json | undefined);
  if (field === undefined) throw new Error(`No list at ${path.join('.')} in the response schema.`);
  if (rest.length > 0) placeItems(field, rest, items);
  else field['items'] = items;
}

function assumedOf(endpoint: AnyEndpoint): Json {
  if (!endpoint.assumed?.length) return {};
  const known: Record<string, unknown> = assumptions;
  return {
    'x-assumed': endpoint.assumed.map((question) => ({ question, ...(known[question] as Json) })),
  };
}
