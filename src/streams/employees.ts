import type { ExchangeStream } from './stream.ts';

/** Fields of linked candidates and employees, in whichever direction the tenant's mapping says. */
export const employees: ExchangeStream = { kind: 'exchange', workflow: 'exchangeStream', entity: 'candidate' };
