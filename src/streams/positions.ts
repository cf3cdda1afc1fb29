import type { ExchangeStream } from './stream.ts';

/** Fields of open positions and of the jobs that they became, in whichever direction the tenant's mapping says. */
export const positions: ExchangeStream = { kind: 'exchange', workflow: 'exchangeStream', entity: 'job' };
