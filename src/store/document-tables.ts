import type { Selectable } from 'kysely';

/**
 * sent: on its way, outcome unknown. taken: the HRIS accepted it but does not show it yet. delivered: the HRIS has it.
 * unlike: the HRIS accepted it, but shows other bytes or none. absent: it did not arrive. refused: the HRIS cannot take
 * it as it is.
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
  /** How many times it was sent. */
  attempt: number;
  /** Hash of the bytes last sent. */
  sha256: string | null;
  reason: string | null;
  sent_at: number | null;
  /** The request must not leave after this moment. */
  give_up_at: number | null;
  /** The run that sent it last. */
  run_id: string | null;
  /** When the HRIS was seen to hold these bytes; null if it cannot show them. */
  read_back_at: number | null;
}

export type HireDocumentRow = Selectable<HireDocumentTable>;

/** When a hire's documents were last listed. */
export interface DocumentLookTable {
  tenant_id: string;
  job_candidate_id: string;
  period: number;
  looked_at: number;
  /** 1: some documents were left over, so the next pass looks again. */
  again: number;
}
