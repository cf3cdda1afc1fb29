import type { z } from 'zod';

/**
 * An endpoint of the Recruitment Partner API as data. Client, sandbox and OpenAPI are three folds over a tree of these
 * (src/partner/contract/index.ts), so what stands here is law for all three.
 */
export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  /** Path in the tree: `jobCandidates.move`. Unique. */
  id: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the base URL, which ends in /v1/partner: `/job-candidates/:jobCandidateId/stage`. */
  path: `/${string}`;
  /** Section of the specification, for example `4.4`. */
  section: string;
  summary: string;
  /** Path parameters as they arrive in the URL (text); coerced where the spec says integer. */
  params?: Params;
  /** Query as it arrives in the URL (text values). */
  query?: Query;
  body?: Body;
  /** The body may be left out altogether (terminate). */
  bodyOptional?: boolean;
  /** The one success status; `okStatuses` where two are possible (stage upsert: 201 create, 200 update). */
  status: 200 | 201 | 202;
  okStatuses?: readonly number[];
  /** Family of the success body, section 1 rule 4. */
  envelope: 'bare' | 'status-data' | 'success-data' | 'campaign';
  /**
   * The whole success body, envelope included. Tolerant: unknown keys are kept. Lists hold `unknown` items, see `list`.
   */
  response: Response;
  /**
   * For lists: where the items stand in the body and how one is read, so one unreadable record does not spoil its page.
   */
  list?: ListShape;
  errors: readonly ErrorCase[];
  /** Costs a credit: never sent twice by the client and never split. */
  costsCredit?: boolean;
  /** Over-limit input the client may split into chunks: the body key that holds the array, and its limit. */
  chunk?: { key: string | null; max: number };
  /** What the spec leaves open here and which reading was chosen: keys of `assumptions`. */
  assumed?: readonly string[];
}

export interface ListShape<Item extends z.ZodType = z.ZodType> {
  /** Dotted path of the array in the parsed body: `data`, `jobs`, `data.candidates`. */
  itemsAt: string;
  item: Item;
  /** Dotted path of the record's id in an item, for quarantine messages. */
  idKey: string;
  /** Where it stands instead at some partners. */
  idAlso?: string;
  /** How pages are asked for; absent where the list has no pages. */
  paging?: {
    pageParam: string;
    firstPage: 0 | 1;
    sizeParam: string;
    /** The sizes allowed, or the maximum. */
    sizes: readonly number[] | { max: number };
    /**
     * How the end is known: a total at this dotted path, a flag, or a short page. Where that is absent: an empty page.
     */
    end: { totalAt: string } | { hasNextAt: string } | 'short-page';
  };
}

export interface ErrorCase {
  code: string;
  type: string;
  status: 400 | 401 | 402 | 403 | 404 | 409 | 429 | 500;
  /** The condition of section 7, in a few words. */
  when: string;
  /**
   * The query or body field this code is about: a bad `perPage` is INVALID_PER_PAGE, any other field INVALID_REQUEST.
   */
  field?: string;
  /**
   * Form of the body where it is not the canonical `{ error: {...} }`: `auth` is `{ message }`, `account` is
   * `{ code, message }`, `workspace` (users, teams) is `{ statusCode, code, type, errorMessage }`.
   */
  shape?: 'auth' | 'account' | 'workspace';
}

/** Names an endpoint; only there so that the schemas' types are inferred. */
export function defineEndpoint<
  P extends z.ZodType = z.ZodUndefined,
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
  R extends z.ZodType = z.ZodType,
  const L extends ListShape | undefined = undefined,
>(endpoint: Omit<Endpoint<P, Q, B, R>, 'list'> & { list?: L }): Omit<Endpoint<P, Q, B, R>, 'list'> & { list: L } {
  return endpoint as Omit<Endpoint<P, Q, B, R>, 'list'> & { list: L };
}
