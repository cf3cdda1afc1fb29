import type { CallInput } from '../../../src/partner/client/types.ts';
import type { AnyEndpoint, Contract } from '../../../src/partner/contract/index.ts';
import type { Loose } from './loose.ts';
import type { World } from './world.ts';

/** What makes an endpoint succeed, and what makes it refuse with each code it lists. Both prepare what they need. */
export interface Case<E extends AnyEndpoint = AnyEndpoint> {
  success: (world: World) => CallInput<E> | Promise<CallInput<E>>;
  /** By code; those common to all endpoints are looped over by the test. */
  refusals: Record<string, (world: World) => Loose | Promise<Loose>>;
}

/** The cases of a section of the tree: every endpoint of it, or the type checker says which is missing. */
export type Cases<Section extends keyof Contract> = {
  [Id in keyof Contract[Section]]: Contract[Section][Id] extends AnyEndpoint ? Case<Contract[Section][Id]> : never;
};
