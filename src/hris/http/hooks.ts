import { z } from 'zod';
import { ConnectorError } from '../../errors.ts';
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

const Hooks = z.strictObject({
  request: z.function().optional(),
  record: z.function().optional(),
  write: z.function().optional(),
});

/** @throws ConnectorError HRIS_MODULE_INVALID */
export function readHooks(place: string): DefinitionHooks {
  const { hooks } = loadModule(place);
  const parsed = Hooks.safeParse(hooks);
  if (parsed.success) return hooks as DefinitionHooks;
  throw new ConnectorError({
    code: 'HRIS_MODULE_INVALID',
    action: 'reject',
    message: `The module ${place} must export "hooks" with the functions request, record or write, and nothing else.`,
  });
}
