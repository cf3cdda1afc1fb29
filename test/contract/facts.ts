/** Facts of the specification, written from its text and not from the contract, which they are compared with. */
export { type EndpointFact, endpointFacts, type PageFact, pageFacts } from './facts/endpoints.ts';
export { type EnumerationFact, enumerationFacts } from './facts/enumerations.ts';
export { type CodeFact, codeFacts, eventFacts } from './facts/errors.ts';
export type { LimitFact } from './facts/limit-fact.ts';
export { limitFacts } from './facts/limits.ts';
