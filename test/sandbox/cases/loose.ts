/** Input of any call, right or wrong; `text` stands in place of the JSON of the body. */
export interface Loose {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}
