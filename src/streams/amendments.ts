import type { ExchangeStream } from './stream.ts';

/** What changes at the partner once the employee exists: a person is asked, or the HR system gets it. */
export const amendments: ExchangeStream = { kind: 'exchange', workflow: 'exchangeStream', entity: 'candidate' };
