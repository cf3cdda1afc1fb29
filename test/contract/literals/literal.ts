/** One call written by hand from the specification: what goes over the wire and what comes back, as data. */
export interface Literal {
  /** Unique; says what the pair shows. */
  id: string;
  /** Operation id of the contract, for runners that call by name. */
  operation: string;
  request: {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    /** Below the base URL, ids filled in. */
    path: string;
    query?: Readonly<Record<string, string>>;
    body?: unknown;
  };
  response: { status: number; body: unknown };
  /**
   * The refusal is in the request itself: the contract's request schema refuses it. Absent on an error that the state
   * of the service gives (unknown id, credits, duplicates).
   */
  badRequest?: true;
}
