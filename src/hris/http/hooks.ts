import { z } from 'zod';
import { ConnectorError } from '../../errors.ts';
import { loadModule } from '../module.ts';

/** What a definition's file cannot say, as functions that a module beside it exports as `hooks`. None may wait. */
export interface DefinitionHooks {
  /** Changes a request directly before it is sent: signs it, for example. */
  request?(request: HookedRequest, options: Readonly<Record<string, string>>): HookedRequest;
  /** A record as the system gave it, before its fields are read. */
  record?(raw: unknown): unknown;
  /** What is about to be written, before it becomes the body; `purpose` is that of the definition: `create`. */
  write?(record: unknown, purpose: string): unknown;
}

export interface HookedRequest {
  method: string;
  /** With its query. */
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
    message: `The module ${place} exports no "hooks" with request, record or write as functions, and nothing else.`,
  });
}
