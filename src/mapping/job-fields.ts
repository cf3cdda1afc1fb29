import type { FieldDef } from '../hris/port.ts';
import { contractTypes, degreeLevels, jobRoles, workModes } from '../partner/contract/jobs.ts';

const text = (key: string, more: Partial<FieldDef> = {}): FieldDef => ({
  key,
  label: key,
  type: 'text',
  required: false,
  writable: true,
  ...more,
});

/** What a requisition's mapping may say of the partner's job (section 2.2); nothing of it can be edited later. */
export const jobFields: readonly FieldDef[] = [
  text('title', { required: true, maxLength: 120 }),
  text('city', { required: true, maxLength: 200 }),
  text('state', { required: true, maxLength: 200 }),
  text('country', { required: true, maxLength: 200 }),
  text('description', { maxLength: 10_000 }),
  text('status', { options: ['DRAFT', 'ACTIVE'] }),
  text('workMode', { options: [...workModes] }),
  text('teamId'),
  text('contractType', { options: [...contractTypes] }),
  text('degreeLevel', { options: [...degreeLevels] }),
  text('jobRole', { options: [...jobRoles] }),
  text('salaryRangeFrom', { type: 'number', decimals: 0 }),
  text('salaryRangeTo', { type: 'number', decimals: 0 }),
  text('salaryCurrency', { maxLength: 3 }),
];
