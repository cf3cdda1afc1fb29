import type { Selectable } from 'kysely';

/** Columns that name a hire. */
export interface OfHire {
  tenant_id: string;
  job_candidate_id: string;
  period: number;
}

/** A request that must not be made twice. */
interface Request {
  /** Number of requests so far. */
  attempt: number;
  sent_at: number | null;
  /** The request must not leave after this moment. */
  give_up_at: number | null;
}

/** A request that a rule makes. */
interface RequestByRule extends Request {
  /** The recorded write of the latest request. */
  write_id: string | null;
  /** The reason for a refusal; also set if it was done before we asked. */
  code: string | null;
  decided_at: number | null;
}

/** The tables of what goes to either side record by record. */
export interface PushTables {
  /** A requisition that became a job at the partner, or is about to. */
  requisitions: Request & {
    tenant_id: string;
    requisition_id: string;
    /**
     * sent: a job was requested, outcome unknown. created: its job is known. absent: no job was made. held: a person
     * must say what happened. dismissed: a person wants no job.
     */
    state: 'sent' | 'created' | 'absent' | 'held' | 'dismissed';
    job_id: string | null;
    /** The open hold about it. */
    hold_id: string | null;
    /** The run that made the job. */
    run_id: string | null;
  };
  /** A person whom a rule invited to an assessment, or is about to. */
  invitations: RequestByRule & {
    tenant_id: string;
    assessment_id: string;
    candidate_id: string;
    /** The application that matched the rule. */
    job_candidate_id: string;
    /**
     * sent: the invitation was requested, no answer came. taken: the partner accepted the batch, outcome unknown.
     * invited: the person is invited. absent: nothing happened, so it is tried again. refused: the partner does not
     * invite the person.
     */
    state: 'sent' | 'taken' | 'invited' | 'absent' | 'refused';
    /** 1: a request of ours without an answer may have invited the person, so a duplicate is ours. */
    in_doubt: number;
    batch_id: string | null;
  };
  /** A person who completed an assessment flow and was moved to another stage for it, or is about to be. */
  stage_moves: RequestByRule & {
    tenant_id: string;
    /** `flow:7` */
    flow: string;
    job_candidate_id: string;
    candidate_id: string;
    stage_id: string;
    /**
     * sent: no answer came. left: the person is in another stage. absent: it did not arrive. done and left are final.
     */
    state: 'sent' | 'done' | 'left' | 'absent' | 'refused';
  };
  /** A lead whom a rule made a candidate of a job, or is about to. */
  sourced_leads: RequestByRule & {
    tenant_id: string;
    lead_id: string;
    job_id: string;
    /** sent: no answer came. done: the lead is in the job. absent: nothing happened. refused: it is not tried again. */
    state: 'sent' | 'done' | 'absent' | 'refused';
    candidate_id: string | null;
    job_candidate_id: string | null;
  };
  /** A file of the customer that becomes a candidate of a job, or is about to. */
  resumes: RequestByRule & {
    tenant_id: string;
    /** The customer's own key for the file. */
    resume_id: string;
    job_id: string;
    /** The HR system that listed it; null in rows of an earlier version. */
    connection: string | null;
    /**
     * sent: no answer came. taken: the partner accepted the batch, outcome unknown. done: a candidate was read from the
     * file. absent: nothing happened, so it is tried again. refused: it is not tried again.
     */
    state: 'sent' | 'taken' | 'done' | 'absent' | 'refused';
    /** The address from which the partner reads it; cleared once it is decided. */
    url: string | null;
    /** The secret in an address of ours, and the file that it serves, in base64; cleared once it is decided. */
    token: string | null;
    content: string | null;
    batch_id: string | null;
    /** The candidate who was read from it, if the partner says so. */
    candidate_id: string | null;
  };
  /** A booked slot, as calendars show it. */
  calendar_events: {
    tenant_id: string;
    booking_id: string;
    schedule_id: string;
    /** The schedule's name. */
    title: string | null;
    /** The schedule's time zone, as an IANA name. */
    timezone: string | null;
    entity_type: string | null;
    entity_id: string | null;
    /** UTC, ISO text; so is the end. */
    starts_at: string;
    ends_at: string | null;
    /** As the partner spells it: CHECKED_IN, NO_SHOW. */
    attendance: string | null;
    /** Number of changes so far, for RFC 5545's SEQUENCE. */
    sequence: number;
    changed_at: number;
    /** How many passes in a row did not find the booking. */
    missed: number;
    cancelled_at: number | null;
  };
  /** An address from which a calendar application reads a tenant's events. */
  calendar_feeds: {
    feed_id: string;
    tenant_id: string;
    /** SHA-256 of the secret in the address; the address itself is not stored. */
    token_hash: string;
    /** JSON list of ids; null for all schedules. */
    schedules: string | null;
    made_at: number;
    made_by: string;
    revoked_at: number | null;
  };
  /** A label that an option of a select field has or had. */
  option_labels: {
    tenant_id: string;
    field_id: string;
    label: string;
    /** The entry of the HR system's list that has the label or had it last; null if the option is not ours. */
    entry_id: string | null;
    /** The first run that did not find it in the list; null while the list has it. */
    missed_run: string | null;
    /** 1: a request to remove it may have left, and nobody has checked since whether it was in use. */
    leaving: number;
    /** When it was last found in use, or could not be checked, although it should be removed. */
    in_use_at: number | null;
  };
  /** What the partner was last told of an employee. */
  employments: {
    tenant_id: string;
    employee_id: string;
    /** The Employee ID in the tenant's format. */
    written_id: string;
    status: string;
    written_at: number;
  };
  /** How far the changed employees of an HRIS were read. */
  change_cursors: {
    tenant_id: string;
    connection: string;
    cursor: string;
    /** When reading last started from the beginning. */
    began_at: number;
  };
  /** A document of a hire. Its content is never kept. */
  hire_documents: OfHire &
    Request & {
      /** `resume`, `onboarding:<id>`, `offer:<id>`. */
      document: string;
      /**
       * sent: on its way, outcome unknown. taken: the HRIS accepted it but does not show it yet. delivered: the HRIS
       * has it. unlike: the HRIS accepted it, but shows other bytes or none. absent: it did not arrive. refused: the
       * HRIS cannot take it as it is.
       */
      state: 'sent' | 'taken' | 'delivered' | 'unlike' | 'absent' | 'refused';
      /** Hash of the bytes last sent. */
      sha256: string | null;
      reason: string | null;
      /** The run that sent it last. */
      run_id: string | null;
      /** When the HRIS was seen to hold these bytes; null if it cannot show them. */
      read_back_at: number | null;
    };
  /** When a hire's documents were last listed. */
  document_looks: OfHire & {
    looked_at: number;
    /** 1: some documents were left over, so the next pass looks again. */
    again: number;
  };
}

export type RequisitionRow = Selectable<PushTables['requisitions']>;
export type InvitationRow = Selectable<PushTables['invitations']>;
export type StageMoveRow = Selectable<PushTables['stage_moves']>;
export type SourcedLeadRow = Selectable<PushTables['sourced_leads']>;
export type ResumeRow = Omit<Selectable<PushTables['resumes']>, 'token' | 'content'>;
export type CalendarEvent = Selectable<PushTables['calendar_events']>;
export type CalendarFeed = Selectable<PushTables['calendar_feeds']>;
export type HireDocumentRow = Selectable<PushTables['hire_documents']>;
