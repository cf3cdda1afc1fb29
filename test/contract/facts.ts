/** Facts of the specification, written from its text and not from the contract, which they are compared with. */
export { endpointFacts, pageFacts } from './facts/endpoints.ts';
export { type EnumerationFact, enumerationFacts } from './facts/enumerations.ts';
export { codeFacts, eventFacts } from './facts/errors.ts';
export { limitFacts } from './facts/limits.ts';
