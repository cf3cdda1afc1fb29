import type { z } from 'zod';
import { ConnectorError } from '../errors.ts';
import type { FieldDef, HrisAdapter, Landings } from './port.ts';
import { sql } from './sql/sql.ts';

export { duration } from './duration.ts';

/** What an adapter gives the registry. `options` is always the output of `optionsSchema`. */
export interface HrisKind<Options = unknown> {
  /**
   * Checks everything beside `kind` and `connection` in a tenant file, given what may land. A `url` may still be a reference to a secret (env:,
   * file:).
   */
  optionsSchema(landings: Landings): z.ZodType<Options>;
  /** What the mapping may write, without a connection. */
  fields(options: Options): readonly FieldDef[];
  /** What a stream's mapping may write; absent where nothing lands. */
  landingFields?(options: Options, stream: string): readonly FieldDef[];
  /** Opens one connection; every reference is resolved by now. Nothing is sent before the first call. */
  open(options: Options, connectionName: string): Promise<HrisAdapter>;
}

const KINDS: Record<string, HrisKind> = { sql: sql as HrisKind };

/** The kinds of HRIS this build knows. */
export function hrisKinds(): string[] {
  return Object.keys(KINDS);
}

/** The adapter of a kind; undefined when there is none. */
export function findHrisKind(kind: string): HrisKind | undefined {
  return Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
}

/** Checks the options and opens a connection. Bad options are a ConnectorError without their values. */
export async function openHris(
  kind: string,
  connectionName: string,
  options: Record<string, unknown>,
  landings: Landings = {},
): Promise<HrisAdapter> {
  const found = findHrisKind(kind);
  if (!found)
    throw new ConnectorError({
      code: 'HRIS_KIND_UNKNOWN',
      action: 'reject',
      message: `There is no HRIS kind "${kind}". Known: ${hrisKinds().join(', ')}.`,
    });
  const parsed = found.optionsSchema(landings).safeParse(options);
  if (!parsed.success) {
    const where = parsed.error.issues
      .map((issue) => `${issue.path.join('.') || 'options'}: ${issue.message}`)
      .join('; ');
    throw new ConnectorError({
      code: 'HRIS_OPTIONS_INVALID',
      action: 'reject',
      message: `The options of HRIS connection "${connectionName}" are not right: ${where}.`,
    });
  }
  return found.open(parsed.data, connectionName);
}
