import { z } from 'zod';
import { account, machinery, workspace } from './account.ts';
import type { Action } from './action.ts';
import { assessments, booking, campaigns, invitations } from './assessments-and-booking.ts';
import { offers, onboarding } from './onboarding.ts';
import { customFields, jobs, recruiting } from './recruiting.ts';
/** Every action of the control plane by name. A family adds a file and one line here. */
export const actions = {
  ...recruiting,
  ...jobs,
  ...customFields,
  ...onboarding,
  ...offers,
  ...workspace,
  ...booking,
  ...campaigns,
  ...assessments,
  ...invitations,
  ...account,
  ...machinery,
};
export type Actions = typeof actions;
export type ActionName = keyof Actions;

/** Acts outside the usual transaction: time moves, and each due task then commits by itself. */
export const UNWRAPPED: ReadonlySet<string> = new Set<ActionName>(['advanceClock']);

/** The machine-readable list: name, effect, and fields as JSON Schema. */
export function describeActions(): { name: string; method: 'POST'; path: string; summary: string; input: unknown }[] {
  return Object.entries(actions as unknown as Record<string, Action>).map(([name, action]) => ({
    name,
    method: 'POST',
    path: `/actions/${name}`,
    summary: action.summary,
    input: z.toJSONSchema(action.input, { io: 'input', unrepresentable: 'any' }),
  }));
}
