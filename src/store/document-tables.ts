import type { Selectable } from 'kysely';

/**
 * sent: it is on its way, and what became of it is not known. taken: the HRIS said yes, and does not show it yet.
 * delivered: the HRIS has it. unlike: the HRIS said yes, and shows other bytes or none. absent: it did not arrive.
 * refused: it cannot be taken over as it is.
 */
export type DocumentState = 'sent' | 'taken' | 'delivered' | 'unlike' | 'absent' | 'refused';

/** A document of a hire. Its content is never kept. */
export interface HireDocumentTable {
  tenant_id: string;
  job_candidate_id: string;
  period: number;
  /** `resume`, `onboarding:<id>`, `offer:<id>`. */
  document: string;
  state: DocumentState;
  /** How often it was sent. */
  attempt: number;
  /** Of the bytes last sent. */
  sha256: string | null;
  reason: string | null;
  sent_at: number | null;
  /** After this moment the request must not leave. */
  give_up_at: number | null;
  /** The run that last sent it. */
  run_id: string | null;
  /** When the HRIS was seen to hold these bytes; null where it cannot show them. */
  read_back_at: number | null;
}

export type HireDocumentRow = Selectable<HireDocumentTable>;

/** When the documents of a hire were last listed. */
export interface DocumentLookTable {
  tenant_id: string;
  job_candidate_id: string;
  period: number;
  looked_at: number;
  /** 1: something was left over, so that the next pass looks again. */
  again: number;
}
