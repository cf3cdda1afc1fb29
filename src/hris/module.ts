import { createRequire } from 'node:module';
import { z } from 'zod';
import { type ConnectorError, rejected } from '../errors.ts';
import type { HrisAdapter } from './port.ts';

/** The members that an adapter must have. */
const adapterShape = z.looseObject({
  optionsSchema: z.function(),
  systemOf: z.function(),
  employeeFields: z.function(),
  open: z.function(),
});

/**
 * A kind outside this tree: `hris: { kind: module, module: ./acme-hr.ts }`, or the name of a package installed beside
 * the tenant files. The module exports its adapter as `adapter` or by default; every process of the product must be
 * able to load it.
 */
export const module: HrisAdapter<Record<string, unknown>> = {
  optionsSchema: () => z.object({ module: z.string('expected ./FILE.ts or the name of a package') }),
  systemOf: () => ({}),
  definedBy: ({ module: place }) => (typeof place === 'string' ? load(place) : undefined),
  employeeFields: () => [],
  open: async () => {
    throw refuse('The HR system of kind module names no module. Write ./FILE.ts or a package under hris.module.');
  },
};

/** The place of a module that a file names: a path relative to the file, or a package installed there. */
export function modulePlace(named: string, file: string): string {
  try {
    return createRequire(file).resolve(named);
  } catch (cause) {
    throw refuse(
      `There is no module "${named}" here: write ./FILE.ts, or install the package beside this file.`,
      cause,
    );
  }
}

function load(place: string): HrisAdapter {
  const loaded = loadModule(place);
  const adapter = loaded['adapter'] ?? loaded['default'];
  const parsed = adapterShape.safeParse(adapter);
  if (parsed.success) return withModuleOption(adapter as HrisAdapter);
  const missing = parsed.error.issues.map(({ path }) => path.join('.') || 'the adapter itself').join(', ');
  throw refuse(
    `The module ${place} exports no adapter of an HR system as "adapter" or by default: ${missing} missing.`,
  );
}

/** @throws ConnectorError HRIS_MODULE_INVALID if it cannot be loaded */
export function loadModule(place: string): Record<string, unknown> {
  try {
    return createRequire(import.meta.url)(place) as Record<string, unknown>;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n', 1)[0] : 'it threw something other than an error';
    throw refuse(`The module ${place} cannot be loaded: ${why}. It must load without a top-level await.`, cause);
  }
}

/** The adapter's own options, and `module`. */
function withModuleOption(adapter: HrisAdapter): HrisAdapter {
  const named = { module: z.unknown().optional() };
  return {
    ...adapter,
    optionsSchema: (landings) => {
      const own = adapter.optionsSchema(landings);
      if (own instanceof z.ZodObject) return own.extend(named);
      return z.preprocess(({ module: _module, ...others }: Record<string, unknown>) => others, own);
    },
  };
}

function refuse(message: string, cause?: unknown): ConnectorError {
  return rejected('HRIS_MODULE_INVALID', message, { cause });
}
