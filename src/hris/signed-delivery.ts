/** A webhook of an HRIS, as it arrived. */
export interface SignedDelivery {
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body: Buffer;
  /** When it arrived, ms. */
  at: number;
}

/** Webhooks that a kind of HRIS signs. */
export interface SignedWebhooks {
  /**
   * Whether its headers carry a signature of about now, by their form alone: what carries none is refused before its
   * body is read.
   */
  looksSigned(delivery: Omit<SignedDelivery, 'body'>): boolean;
  /** Undefined where this key, one of `webhookKeys`, did not sign it just now. */
  read(delivery: SignedDelivery, key: string): NamedEmployees | undefined;
}

/** What a webhook says, once it is known who sent it. A hint: whoever it names is read again. */
export interface NamedEmployees {
  /** Nobody named means that anybody may have changed. */
  ids: string[];
  /** The time that was signed: it tells two deliveries of the same body apart. */
  stamp: string;
}
