import { z } from 'zod';
import type { Context } from '../context.ts';

/** Something a person does in the dashboard, or a test does to the sandbox. */
export interface Action<Input extends z.ZodType = z.ZodType, Result = unknown> {
  summary: string;
  /** Every field by name; `companyId` is understood by all and means the first company when absent. */
  input: Input;
  run: (ctx: Context, input: z.output<Input>) => Result;
}

/** Names an action; exists only so that its input and result are inferred. */
export function defineAction<Input extends z.ZodType, Result>(action: Action<Input, Result>): Action<Input, Result> {
  return action;
}

export const NoInput = z.strictObject({});
