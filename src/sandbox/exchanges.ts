/** One request as it came and what went back, for whoever debugs a client at the page. */
export interface Exchange {
  at: number;
  method: string;
  url: string;
  operation: string;
  /** Absent when no answer was sent. */
  status?: number | undefined;
  companyId?: number | undefined;
  requestId: string;
  fault?: string | undefined;
  ms: number;
  sent: string;
  answered: string;
}

const KEPT = 100;
const BODY_CHARS = 16_000;

/** The last exchanges, bodies included; in memory only, for a body may hold anything and is nobody's record. */
export class Exchanges {
  #kept: (Exchange & { seq: number })[] = [];
  #seq = 0;

  add(exchange: Exchange): void {
    this.#seq += 1;
    const { sent, answered } = exchange;
    this.#kept.push({ ...exchange, seq: this.#seq, sent: shortened(sent), answered: shortened(answered) });
    if (this.#kept.length > KEPT) this.#kept.shift();
  }

  /** The newest first. */
  list(companyId: number): (Exchange & { seq: number })[] {
    return this.#kept.filter((one) => one.companyId === undefined || one.companyId === companyId).toReversed();
  }
}

function shortened(body: string): string {
  if (body.length <= BODY_CHARS) return body;
  // Copied: a slice alone would keep the whole body in memory.
  const beginning = Buffer.from(body.slice(0, BODY_CHARS)).toString();
  return `${beginning}\n(${String(body.length - BODY_CHARS)} more characters)`;
}
