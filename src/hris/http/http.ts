import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ConnectorError } from '../../errors.ts';
import { refuse } from '../../yaml/yaml-file.ts';
import { duration } from '../duration.ts';
import type { HrisLimits } from '../http-line.ts';
import type { FieldDef, HrisAdapter, HrisConnection } from '../port.ts';
import { probed } from '../probed.ts';
import { sameAddress } from '../same-address.ts';
import { changedEmployees } from './changes.ts';
import {
  amendEmployee,
  askCreate,
  createEmployee,
  type Defined,
  findEmployee,
  readEmployee,
  rehireEmployee,
  terminateEmployee,
  updateEmployee,
} from './employees.ts';
import { openDefinedLine } from './line.ts';
import { type HttpDefinition, loadDefinition } from './load-definition.ts';

/** A definition as a tenant's options carry it: where it stands, and what it says. */
const definitionFile = z.object({ file: z.string(), text: z.string() });
export type DefinitionFile = z.output<typeof definitionFile>;

/** What stands beside `kind` and `connection` in a tenant file, whatever the definition. */
interface CommonOptions {
  url: string;
  readLag?: number | undefined;
  allowPrivateAddress: boolean;
  [own: string]: unknown;
}

/** Definitions that were read: a thousand tenants share a few. */
const adapters = new Map<string, HrisAdapter<CommonOptions>>();
const MOST_ADAPTERS = 1_000;

/** An HR system that a definition file describes: `hris: { kind: http, definition: ./acme-hr.yaml, url: ... }`. */
export const http: HrisAdapter<CommonOptions> = {
  optionsSchema: () => optionsOf(undefined),
  systemOf: ({ url }) => ({ url: sameAddress(url) }),
  definedBy: ({ definition }) => {
    const given = definitionFile.safeParse(definition);
    return given.success ? adapterOf(given.data) : undefined;
  },
  employeeFields: () => [],
  open: async () => {
    throw new ConnectorError({
      code: 'HRIS_OPTIONS_INVALID',
      action: 'reject',
      message: 'The HR system of kind http has no definition. Name its file under hris.definition.',
    });
  },
};

/** A kind of its own that a definition of ours describes: `src/hris/kinds/NAME.yaml`. */
export function definedKind(name: string): HrisAdapter<CommonOptions> {
  let made: HrisAdapter<CommonOptions> | undefined;
  const make = (): HrisAdapter<CommonOptions> => {
    const file = fileURLToPath(new URL(`../kinds/${name}.yaml`, import.meta.url));
    return adapterOf({ file, text: readFileSync(file, 'utf8') });
  };
  // Every process lists the kinds, and few need this one: it is read where it is asked for.
  return { ...http, definedBy: () => (made ??= make()) };
}

/** @throws ConnectorError HRIS_DEFINITION_INVALID with file:line:column of each problem */
function adapterOf({ file, text }: DefinitionFile): HrisAdapter<CommonOptions> {
  const key = `${file}\n${text}`;
  const known = adapters.get(key);
  if (known !== undefined) return known;
  const { definition, problems } = loadDefinition(file, text);
  if (definition === undefined) throw refuse('HRIS_DEFINITION_INVALID', problems);
  if (adapters.size >= MOST_ADAPTERS) adapters.clear();
  const made = build(definition);
  adapters.set(key, made);
  return made;
}

function build(definition: HttpDefinition): HrisAdapter<CommonOptions> {
  const fields: FieldDef[] = definition.fields.map((field) => ({
    key: field.key,
    place: field.at,
    label: field.label ?? field.key,
    type: field.type,
    required: field.required,
    writable: field.write,
    ...(field.values === undefined ? {} : { options: Object.keys(field.values) }),
    ...(field.options === undefined ? {} : { options: field.options }),
    ...(field.maxLength === undefined ? {} : { maxLength: field.maxLength }),
    ...(field.decimals === undefined ? {} : { decimals: field.decimals }),
  }));
  const secrets = Object.entries(definition.options).flatMap(([key, { secret }]) => (secret ? [key] : []));
  return {
    optionsSchema: () => optionsOf(definition),
    systemOf: (options) => ({ url: sameAddress(options.url), ...openOptions(definition, options) }),
    secrets,
    employeeFields: () => fields,
    open: async (options, limits) => openConnection(definition, options, limits),
  };
}

/** Those of the definition's own that are no secrets: which of them names a company, only its author knows. */
function openOptions(definition: HttpDefinition, options: CommonOptions): Record<string, string> {
  const open = Object.entries(definition.options).filter(([, { secret }]) => !secret);
  return Object.fromEntries(open.map(([key]) => [key, String(options[key])]));
}

function optionsOf(definition: HttpDefinition | undefined): z.ZodType<CommonOptions> {
  const own = Object.entries(definition?.options ?? {}).map(([key, option]) => {
    const text = z.string(`expected a text${option.about === undefined ? '' : `: ${option.about}`}`).min(1);
    return [key, option.default === undefined ? text : text.default(option.default)] as const;
  });
  const common = {
    definition: z.unknown().optional().describe('The file that describes the HR system'),
    url: z.url({ protocol: /^https?$/, error: 'expected the address of the HR system, https://hr.example/api' }),
    readLag: duration.optional(),
    allowPrivateAddress: z.boolean('expected true or false').default(false),
  };
  return z.strictObject({ ...common, ...Object.fromEntries(own) }) as unknown as z.ZodType<CommonOptions>;
}

function openConnection(definition: HttpDefinition, options: CommonOptions, limits: HrisLimits): HrisConnection {
  const { url, allowPrivateAddress } = options;
  const own = Object.fromEntries(Object.keys(definition.options).map((key) => [`options.${key}`, options[key]]));
  const line = openDefinedLine(definition, { url, allowPrivateAddress, own }, limits);
  const defined: Defined = { definition, line };
  const { terminating, rehiring, changing, asking } = definition;
  return {
    capabilities: {
      storesReference: definition.record.reference !== undefined,
      readLagMs: options.readLag ?? definition.readLag,
    },
    employees: {
      find: (key, signal) => findEmployee(defined, key, signal),
      read: (id, signal) => readEmployee(defined, id, signal),
      create: (fields, reference, write) => createEmployee(defined, fields, reference, write),
      update: (id, fields, write) => updateEmployee(defined, id, fields, write),
      amend: (id, amendment, write) => amendEmployee(defined, id, amendment, write),
      ...(terminating && {
        terminate: (id, lastDay, write) => terminateEmployee(defined, terminating, { id, lastDay }, write),
      }),
      ...(rehiring && { rehire: (id, fields, write) => rehireEmployee(defined, rehiring, { id, fields }, write) }),
    },
    ...(changing && { changes: { since: (cursor, signal) => changedEmployees(defined, changing, cursor, signal) } }),
    ...(asking && { pending: { resolve: (ticket, signal) => askCreate(defined, ticket, signal) } }),
    probe: (signal) => probed(line.send({ plan: definition.probing, signal, idempotent: true })),
    close: () => line.close(),
  };
}
