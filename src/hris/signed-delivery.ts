/** A webhook of an HRIS, as it arrived. */
export interface SignedDelivery {
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body: Buffer;
  /** When it arrived, ms. */
  at: number;
}

/** What a webhook says, once it is known who sent it. A hint: whoever it names is read again. */
export interface NamedEmployees {
  /** Nobody named means that anybody may have changed. */
  ids: string[];
  /** The time that was signed: it tells two deliveries of the same body apart. */
  stamp: string;
}
