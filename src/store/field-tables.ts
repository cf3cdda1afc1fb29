/** One field as one side defines it, as it was last seen. */
export interface FieldTable {
  tenant_id: string;
  side: FieldSide;
  /** candidate or job at the partner; employee or a stream in the HRIS. */
  entity: string;
  field_id: string;
  /** JSON of a FieldDefinition. */
  definition: string;
  first_seen_at: number;
  /** When it was first seen missing. */
  gone_at: number | null;
}

export type FieldSide = 'partner' | 'hris';

/** What was seen to change; null where there was or is no such field. */
export interface FieldChangeTable {
  tenant_id: string;
  side: FieldSide;
  entity: string;
  field_id: string;
  at: number;
  before: string | null;
  after: string | null;
}

/** Which definition a path of the mappings means, since it was first met. */
export interface FieldMatchTable {
  tenant_id: string;
  path: string;
  definition: string;
  matched_at: number;
}
