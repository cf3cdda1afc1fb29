import type { WriteOptions } from './port.ts';

/** A write under way in a session of calls. */
export interface Attempt {
  /** It may have reached the server. */
  sent?: boolean;
  /** Thrown by `beforeSend`, and passed on unchanged. */
  forbidden?: unknown;
}

/** Asks directly before a write leaves; from here on it may have reached the server, even if the connection fails. */
export function allow({ signal, beforeSend }: Pick<WriteOptions, 'signal' | 'beforeSend'>, attempt: Attempt): void {
  signal.throwIfAborted();
  try {
    beforeSend();
  } catch (error) {
    attempt.forbidden = error;
    throw error;
  }
  attempt.sent = true;
}
