export interface ClaimTable {
  connection: string;
  partner_company: string;
  candidate_id: string;
  tenant_id: string;
  job_candidate_id: string;
  period: number;
  claimed_at: number;
}

export interface LinkTable {
  connection: string;
  employee_id: string;
  employee_number: string | null;
  partner_company: string;
  candidate_id: string;
  tenant_id: string;
  job_candidate_id: string;
  period: number;
  linked_at: number;
}
