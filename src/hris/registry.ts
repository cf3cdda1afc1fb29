import { ConnectorError } from '../errors.ts';
import { holdToPort } from './hold-to-port.ts';
import { type HrisLimits, noLimits } from './http-line.ts';
import * as list from './index.ts';
import type { FieldsInUse, HrisAdapter, HrisConnection, Landings } from './port.ts';

const adapters: Readonly<Record<string, HrisAdapter>> = list;

/** The kinds of HRIS in this build. */
export function hrisKinds(): string[] {
  return Object.keys(adapters);
}

/** The adapter of a kind, or the one that its options describe; undefined if there is none. */
export function findHrisAdapter(
  kind: string,
  options: Readonly<Record<string, unknown>> = {},
): HrisAdapter | undefined {
  const known = Object.hasOwn(adapters, kind) ? adapters[kind] : undefined;
  return known?.definedBy?.(options) ?? known;
}

/** Checks the options and opens a connection. Bad options cause a ConnectorError without their values. */
export async function openHris(
  kind: string,
  connectionName: string,
  options: Record<string, unknown>,
  { landings = {}, limits = noLimits, inUse }: { landings?: Landings; limits?: HrisLimits; inUse?: FieldsInUse } = {},
): Promise<HrisConnection> {
  const adapter = findHrisAdapter(kind, options);
  if (adapter === undefined)
    throw new ConnectorError({
      code: 'HRIS_KIND_UNKNOWN',
      action: 'reject',
      message: `There is no HRIS kind "${kind}". Known: ${hrisKinds().join(', ')}.`,
    });
  const parsed = adapter.optionsSchema(landings).safeParse(options);
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'options'}: ${issue.message}`);
    throw new ConnectorError({
      code: 'HRIS_OPTIONS_INVALID',
      action: 'reject',
      message: `The options of HRIS connection "${connectionName}" are invalid: ${issues.join('; ')}.`,
    });
  }
  const hris = holdToPort(kind, await adapter.open(parsed.data, limits, inUse));
  const employeeUrl = adapter.employeeUrl?.(parsed.data);
  return { ...hris, capabilities: { ...hris.capabilities, ...(employeeUrl && { employeeUrl }) } };
}
