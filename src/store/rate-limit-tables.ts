/** The learned request budget of one (tenant, upstream), shared by every process. */
export interface RateLimitTable {
  tenant_id: string;
  upstream: string;
  /** Counts changes: a change is written only over what it was made from. */
  version: number;
  /** The limiter's saved state, JSON; times are of the database's clock. */
  state: string;
  /** Nobody may call before: the upstream asked for a pause. */
  paused_until: number | null;
}
