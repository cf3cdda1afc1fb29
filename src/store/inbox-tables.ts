export interface InboxTable {
  tenant_id: string;
  /** SHA-256 of the raw body, since the sender gives no delivery id. */
  body_hash: string;
  event: string;
  /** JSON: the ids that the event carries, by kind. */
  ids: string;
  body: string;
  state: InboxState;
  received_at: number;
  /** Outages do not count as failures. */
  failures: number;
  /** When a relay may take it; for a leased delivery, when the lease ends. */
  due_at: number;
  last_error: string | null;
  done_at: number | null;
}

/**
 * waiting: to be relayed. relayed: Temporal or `hints` has it. ignored: nothing acts upon it yet. unknown: unknown
 * event name. other-company: names another company. undeliverable: failed ten times.
 */
export type InboxState = 'waiting' | 'relayed' | 'ignored' | LeftState;

/** Nothing acts upon these although something should: a person decides. */
export const leftStates = ['undeliverable', 'other-company', 'unknown'] as const;
export type LeftState = (typeof leftStates)[number];

/** Refused deliveries: one row for each tenant and reason. */
export interface WebhookRefusalTable {
  tenant_id: string;
  reason: string;
  count: number;
  last_at: number;
}
