import type { ApiResponse } from '../api-message.ts';
import type { Context } from '../context.ts';

/** How a hosted page is opened. */
export interface Visit {
  /** The part of the path that says whose page it is. */
  key: string;
  /** What follows the key in the path. */
  rest: string;
  query: URLSearchParams;
  /** Why the form that was sent is refused; the page shows it. */
  refusal?: string | undefined;
}

export interface HostedPage {
  show: (ctx: Context, visit: Visit) => ApiResponse;
  /** What a form does; without an answer of its own the page is fetched anew, so that a reload does not act twice. */
  act: (ctx: Context, visit: Visit, form: URLSearchParams) => ApiResponse | undefined;
}
