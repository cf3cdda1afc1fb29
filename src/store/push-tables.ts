import type { Selectable } from 'kysely';

/**
 * sent: a job was asked for, and what became of it is not known. created: its job is known. absent: no job came of it.
 * held: a person must say what became of it. dismissed: a person wants no job.
 */
export type RequisitionState = 'sent' | 'created' | 'absent' | 'held' | 'dismissed';

/** A requisition that became a job of the partner, or is about to. */
export interface RequisitionTable {
  tenant_id: string;
  requisition_id: string;
  state: RequisitionState;
  /** Jobs asked for so far. */
  attempt: number;
  job_id: string | null;
  /** The question that stands open about it. */
  hold_id: string | null;
  sent_at: number | null;
  /** After this moment the request must not leave. */
  give_up_at: number | null;
  /** The run that made the job. */
  run_id: string | null;
}

export type RequisitionRow = Selectable<RequisitionTable>;

/**
 * sent: somebody was asked to be invited, and no answer came. taken: the partner took the batch, and has not said what
 * became of them. invited: they are. absent: nothing came of it, and it is tried again. refused: the partner does not
 * invite them.
 */
export type InvitationState = 'sent' | 'taken' | 'invited' | 'absent' | 'refused';

/** A person whom a rule invited to an assessment, or is about to. */
export interface InvitationTable {
  tenant_id: string;
  assessment_id: string;
  candidate_id: string;
  /** The application that the rule met. */
  job_candidate_id: string;
  state: InvitationState;
  /** Requests so far. */
  attempt: number;
  /** 1: a request of ours without an answer may have invited them, so a duplicate is ours. */
  in_doubt: number;
  batch_id: string | null;
  /** Of the foreign write that the latest request is. */
  write_id: string | null;
  /** Why not, as the partner says it; of somebody who was invited before we asked, that. */
  code: string | null;
  sent_at: number | null;
  /** After this moment the request must not leave. */
  give_up_at: number | null;
  decided_at: number | null;
}

export type InvitationRow = Selectable<InvitationTable>;

/** Somebody who completed an assessment flow, and was moved to another stage for it, or is about to be. */
export interface StageMoveTable {
  tenant_id: string;
  /** `flow:7` */
  flow: string;
  job_candidate_id: string;
  candidate_id: string;
  stage_id: string;
  /** sent: no answer came. left: they are elsewhere. absent: it did not arrive. done and left are for good. */
  state: 'sent' | 'done' | 'left' | 'absent' | 'refused';
  /** Requests so far. */
  attempt: number;
  /** Of the foreign write that the latest request is. */
  write_id: string | null;
  code: string | null;
  sent_at: number | null;
  /** After this moment the request must not leave. */
  give_up_at: number | null;
  decided_at: number | null;
}

export type StageMoveRow = Selectable<StageMoveTable>;

/** A lead whom a rule made a candidate of a job, or is about to. */
export interface SourcedLeadTable {
  tenant_id: string;
  lead_id: string;
  job_id: string;
  /** sent: no answer came. done: they are in the job. absent: nothing came of it. refused: it is not tried again. */
  state: 'sent' | 'done' | 'absent' | 'refused';
  /** Requests so far. */
  attempt: number;
  candidate_id: string | null;
  job_candidate_id: string | null;
  /** Of the foreign write that the latest request is. */
  write_id: string | null;
  /** Why not; of somebody who was in the job before we asked, that. */
  code: string | null;
  sent_at: number | null;
  /** After this moment the request must not leave. */
  give_up_at: number | null;
  decided_at: number | null;
}

export type SourcedLeadRow = Selectable<SourcedLeadTable>;

/** A file of the customer that becomes a candidate of a job, or is about to. */
export interface ResumeTable {
  tenant_id: string;
  /** The customer's own key of it. */
  resume_id: string;
  job_id: string;
  /**
   * sent: no answer came. taken: the partner took the batch, and has not said what became of it. done: somebody was
   * read from it. absent: nothing came of it, and it is tried again. refused: it is not tried again.
   */
  state: 'sent' | 'taken' | 'done' | 'absent' | 'refused';
  /** Requests so far. */
  attempt: number;
  /** Where the partner reads it; gone once it is decided. */
  url: string | null;
  /** The secret in an address of ours, and the file that it leads to, in base64; gone once it is decided. */
  token: string | null;
  content: string | null;
  batch_id: string | null;
  /** Who was read from it, where the partner says so. */
  candidate_id: string | null;
  /** Of the foreign write that the latest request is. */
  write_id: string | null;
  /** Why not. */
  code: string | null;
  sent_at: number | null;
  /** After this moment the request must not leave. */
  give_up_at: number | null;
  decided_at: number | null;
}

export type ResumeRow = Omit<Selectable<ResumeTable>, 'token' | 'content'>;

/** What an option of a select field is or was called. */
export interface OptionLabelTable {
  tenant_id: string;
  field_id: string;
  label: string;
  /** The entry of the HR system's list that bears it, or bore it last; null where somebody else made the option. */
  entry_id: string | null;
  /** The first run that missed it in the list; null while the list has it. */
  missed_run: string | null;
  /** 1: a request that takes it away may have left, and nobody has looked since whether it was in use. */
  leaving: number;
  /** When it was last found in use, or nobody could tell, although it should go. */
  in_use_at: number | null;
}

/** What the partner was last told of an employee. */
export interface EmploymentTable {
  tenant_id: string;
  employee_id: string;
  /** The Employee ID, as the tenant calls it. */
  written_id: string;
  status: string;
  written_at: number;
}

/** How far the changed employees of an HRIS were read. */
export interface ChangeCursorTable {
  tenant_id: string;
  connection: string;
  cursor: string;
  /** When it last began at the beginning. */
  began_at: number;
}

export type EmploymentRow = Selectable<EmploymentTable>;
