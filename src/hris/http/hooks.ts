import { isAsyncFunction } from 'node:util/types';
import { z } from 'zod';
import { rejected } from '../../errors.ts';
import { loadModule } from '../module.ts';

/** Functions for what a definition's file cannot express; a module beside it exports them. All are synchronous. */
export interface DefinitionHooks {
  /** Changes a request directly before it is sent, for example to sign it. */
  request?(request: HookedRequest, options: Readonly<Record<string, string>>): HookedRequest;
  /** Changes a record from the system before its fields are read. */
  record?(raw: unknown): unknown;
  /** Changes a record before it becomes the body; `purpose` is the definition's: `create`. */
  write?(record: unknown, purpose: string): unknown;
}

export interface HookedRequest {
  method: string;
  /** Includes the query. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** Hooks as the engine calls them; a hook that is not there changes nothing. */
export type CalledHooks = Readonly<Required<DefinitionHooks>>;

export const noHooks: CalledHooks = {
  request: (request) => request,
  record: (raw) => raw,
  write: (record) => record,
};

const Hooks = z.strictObject({
  request: z.function().optional(),
  record: z.function().optional(),
  write: z.function().optional(),
});

/** @throws ConnectorError HRIS_MODULE_INVALID */
export function readHooks(place: string): CalledHooks {
  const { hooks } = loadModule(place);
  if (!Hooks.safeParse(hooks).success)
    throw rejected(
      'HRIS_MODULE_INVALID',
      `The module ${place} must export "hooks" with the functions request, record or write, and nothing else.`,
    );
  const own = hooks as DefinitionHooks;
  const called = Object.keys(own).map((name) => {
    const call = own[name as keyof DefinitionHooks] as ((given: unknown, more: unknown) => unknown) | undefined;
    if (isAsyncFunction(call))
      throw rejected(
        'HRIS_MODULE_INVALID',
        `The hook "${name}" of the module ${place} must return at once: write it without async.`,
      );
    return [
      name,
      (given: unknown, more: unknown) => changed(given, (copy) => call?.call(own, copy, more), { place, name }),
    ];
  });
  return { ...noHooks, ...(Object.fromEntries(called) as DefinitionHooks) };
}

/**
 * A hook may change what it is given in place, and need not return it: the engine reads the original again. Its faults
 * are told by their names alone, because their texts may quote a record.
 */
function changed(given: unknown, hook: (copy: unknown) => unknown, { place, name }: { place: string; name: string }) {
  const copy = structuredClone(given);
  const fault = (what: string): Error =>
    Object.assign(new Error(''), { name: `${what} in the hook "${name}" of ${place}` });
  let made: unknown;
  try {
    made = hook(copy) ?? copy;
  } catch (cause) {
    throw Object.assign(fault(cause instanceof Error ? cause.name : `a ${typeof cause}`), { cause });
  }
  if (!(made instanceof Promise)) return made;
  // Nobody awaits it: its failure would end the process.
  made.catch(() => undefined);
  throw fault('a promise, where it must return at once,');
}
