/** A field as one side last defined it. */
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

/** A change of a field; null where the field did not exist before, or does not exist now. */
export interface FieldChangeTable {
  tenant_id: string;
  side: FieldSide;
  entity: string;
  field_id: string;
  at: number;
  before: string | null;
  after: string | null;
}

/** The definition that a path in the mappings stood for when it was first met. */
export interface FieldMatchTable {
  tenant_id: string;
  path: string;
  definition: string;
  matched_at: number;
}
