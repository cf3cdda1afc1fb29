export interface LimitFact {
  what: string;
  endpoint: string;
  part: 'query' | 'body';
  accepts: readonly unknown[];
  refuses: readonly unknown[];
  /** Words of the specification. */
  quote: string;
}
