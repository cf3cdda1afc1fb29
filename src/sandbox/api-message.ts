export interface ApiRequest {
  method: string;
  /** Path and query as sent: `/v1/partner/jobs?perPage=10`. */
  url: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body?: string | undefined;
}

export interface ApiResponse {
  status: number;
  headers: Record<string, string>;
  /** JSON text. */
  body: string;
}
